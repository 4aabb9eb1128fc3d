//! Large values of one element: they stay splats. Operands of which only the type matters.

use expect_test::expect;

use super::{check, check_stays};

#[test]
fn arithmetic_on_splats_is_a_splat() {
    check(
        r#"module {
  fn @main(%x: f32[1,64,8,8]) -> (%y: f32[1,32,8,8]) opset("" = 17) {
    %shape = const i64[4] [32, 64, 1, 1]
    %flat = const i64[1] [2048]
    %eps = const f32[] 0.5
    %w = onnx.ConstantOfShape(%shape) {value = tensor f32[1] [2.0]} : f32[32,64,1,1]
    %v = onnx.ConstantOfShape(%flat) {value = tensor f32[1] [3.5]} : f32[2048]
    %0 = onnx.Add(%v, %eps) : f32[2048]
    %1 = onnx.Sqrt(%0) : f32[2048]
    %2 = onnx.Reshape(%1, %shape) : f32[32,64,1,1]
    %3 = onnx.Div(%w, %2) : f32[32,64,1,1]
    %4 = onnx.Conv(%x, %3) : f32[1,32,8,8]
    return %4
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1,64,8,8]) -> (%y: f32[1,32,8,8]) opset("" = 17) {
                %0 = const i64[4] [32, 64, 1, 1]
                %1 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [1.0]} : f32[32,64,1,1]
                %2 = onnx.Conv(%x, %1) : f32[1,32,8,8]
                return %2
              }
            }
            ; 1 onnx.ConstantOfShape: would make the model larger (8192 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn casts_and_expands_of_splats_too_inside_of_regions() {
    check(
        r#"module {
  fn @main(%c: bool[], %x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
    %one = const i64[] 3
    %n = const i64[1] [512]
    %0 = onnx.If(%c) : f32[512]
      region then_branch {
        %1 = onnx.Expand(%one, %n) : i64[512]
        %2 = onnx.Cast(%1) {to = 1} : f32[512]
        yield %2
      }
      region else_branch {
        yield %x
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%c: bool[], %x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
                %0 = const i64[1] [512]
                %1 = onnx.If(%c) : f32[512]
                  region then_branch {
                    %2 = onnx.ConstantOfShape(%0) {value = tensor f32[1] [3.0]} : f32[512]
                    yield %2
                  }
                  region else_branch {
                    yield %x
                  }
                return %1
              }
            }
            ; 1 onnx.ConstantOfShape: would make the model larger (2048 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn an_op_that_broadcasts_takes_one_element() {
    check(
        r#"module {
  fn @main(%x: f32[n,128,w,w], %z: f32[n,?,w,w]) -> (%y: f32[*], %k: f32[*]) opset("" = 17) {
    %shape = const i64[3] [128, 1, 1]
    %s = onnx.ConstantOfShape(%shape) {value = tensor f32[1] [2.0]} : f32[128,1,1]
    %0 = onnx.Mul(%x, %s) : f32[n,128,w,w]
    %1 = onnx.Add(%z, %s) : f32[n,128,w,w]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,128,w,w], %z: f32[n,?,w,w]) -> (%y: f32[*], %k: f32[*]) opset("" = 17) {
                %shape = const i64[3] [128, 1, 1]
                %0 = const f32[] 2.0
                %s = onnx.ConstantOfShape(%shape) {value = tensor f32[1] [2.0]} : f32[128,1,1]
                %1 = onnx.Mul(%x, %0) : f32[n,128,w,w]
                %2 = onnx.Add(%z, %s) : f32[n,128,w,w]
                return %1, %2
              }
            }
            ; 1 onnx.ConstantOfShape (%s): would make the model larger (512 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn what_is_no_splat_stays() {
    // Two different elements; a sum over an unknown shape; a version that has no ConstantOfShape.
    check_stays(
        r#"module {
  fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
    %pair = const f32[2,1] [1.0, 2.0]
    %shape = const i64[2] [2, 256]
    %flat = const i64[1] [512]
    %0 = onnx.Expand(%pair, %shape) : f32[2,256]
    %1 = onnx.Reshape(%0, %flat) : f32[512]
    %2 = onnx.Add(%x, %1) : f32[512]
    return %2
  }
}"#,
        expect![[r#"
            1 onnx.Expand: would make the model larger (2048 bytes; --allow-growth folds it).
            1 onnx.Reshape: would make the model larger (2048 bytes; --allow-growth folds it).
        "#]],
    );
    check_stays(
        r#"module {
  fn @main(%x: f32[1]) -> (%y: f32[512]) opset("" = 8) {
    %one = const f32[] 1.0
    %n = const i64[1] [512]
    %0 = onnx.Expand(%one, %n) : f32[512]
    %1 = onnx.Sub(%0, %x) : f32[512]
    return %1
  }
}"#,
        expect![[r#"
            1 onnx.Expand: would make the model larger (2048 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_splat_that_says_the_shape_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[1], %z: f32[n]) -> (%y: f32[512], %k: f32[512]) opset("" = 17) {
    %n = const i64[1] [512]
    %s = onnx.ConstantOfShape(%n) {value = tensor f32[1] [2.0]} : f32[512]
    %0 = onnx.Mul(%x, %s) : f32[512]
    %1 = onnx.Mul(%z, %s) : f32[512]
    return %0, %1
  }
}"#,
        expect![[r#"
            1 onnx.ConstantOfShape (%s): would make the model larger (2048 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_cast_to_the_type_of_what_isnt_constant() {
    check(
        r#"module {
  fn @main(%x: f16[n], %k: i64[3,3]) -> (%y: f16[n], %z: i64[3,3]) opset("" = 17) {
    %two = const f32[] 2.0
    %0 = onnx.CastLike(%two, %x) : f16[]
    %1 = onnx.Mul(%x, %0) : f16[n]
    %2 = onnx.EyeLike(%k) {k = 1} : i64[3,3]
    return %1, %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f16[n], %k: i64[3,3]) -> (%y: f16[n], %z: i64[3,3]) opset("" = 17) {
                %0 = const f16[] 2.0
                %1 = const i64[3,3] [0, 1, 0, 0, 0, 1, 0, 0, 0]
                %2 = onnx.Mul(%x, %0) : f16[n]
                return %2, %1
              }
            }
        "#]],
    );
}

#[test]
fn a_cast_to_an_unknown_type_stays() {
    check_stays(
        r#"module {
  fn @main(%x: ?, %k: f32[n,n]) -> (%y: ?, %z: f32[n,n]) opset("" = 17) {
    %two = const f32[] 2.0
    %0 = onnx.CastLike(%two, %x) : ?
    %1 = onnx.Mul(%x, %0) : ?
    %2 = onnx.EyeLike(%k) : f32[n,n]
    return %1, %2
  }
}"#,
        expect![[""]],
    );
}
