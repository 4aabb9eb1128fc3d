//! What may become larger, and by how much.

use expect_test::expect;

use passdock_plugin_api::OptionValue;

use super::{PASS, check, check_stays, support};

#[test]
fn what_would_grow_the_model_stays() {
    check(
        r#"module {
  fn @main() -> (%y: f32[1]) opset("" = 17) {
    %a = const f32[] 1.0
    %shape = const i64[2] [5000, 5000]
    %0 = onnx.Expand(%a, %shape) : f32[5000,5000]
    %1 = onnx.ReduceMean(%0) {axes = [0, 1], keepdims = 0} : f32[]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[1]) opset("" = 17) {
                %0 = const f32[] 1.0
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_leads_to_a_small_value_may_be_large_but_not_what_is_used() {
    check_stays(
        r#"module {
  fn @main(%x: f32[5000,5000]) -> (%y: f32[5000,5000]) opset("" = 17) {
    %one = const f32[] 1.0
    %shape = const i64[2] [5000, 5000]
    %0 = onnx.Expand(%one, %shape) : f32[5000,5000]
    %1 = onnx.MatMul(%x, %0) : f32[5000,5000]
    return %1
  }
}"#,
        expect![[r#"
            1 onnx.Expand: would make the model larger (100 MB; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn small_growth_is_allowed_large_is_not() {
    check(
        r#"module {
  fn @main() -> (%y: f32[64], %z: f32[1024]) opset("" = 17) {
    %one = const f32[] 1.0
    %small = const i64[1] [64]
    %large = const i64[1] [1024]
    %0 = onnx.Expand(%one, %small) : f32[64]
    %1 = onnx.Expand(%one, %large) : f32[1024]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[64], %z: f32[1024]) opset("" = 17) {
                %one = const f32[] 1.0
                %large = const i64[1] [1024]
                %0 = const f32[64] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1…
                %1 = onnx.Expand(%one, %large) : f32[1024]
                return %0, %1
              }
            }
            ; 1 onnx.Expand: would make the model larger (4096 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_weight_is_transposed_if_nobody_else_needs_it() {
    check(
        r#"module {
  fn @main(%x: f32[2,64]) -> (%y: f32[2,64], %z: f32[512,2], %i2: f32[2,512]) opset("" = 17) {
    %w = const f32[64,64] splat(1.0)
    %i = const f32[2,512] splat(2.0)
    %0 = onnx.Transpose(%w) {perm = [1, 0]} : f32[64,64]
    %1 = onnx.MatMul(%x, %0) : f32[2,64]
    %2 = onnx.Transpose(%i) {perm = [1, 0]} : f32[512,2]
    return %1, %2, %i
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,64]) -> (%y: f32[2,64], %z: f32[512,2], %i2: f32[2,512]) opset("" = 17) {
                %i = const f32[2,512] splat(2.0)
                %0 = const f32[64,64] blob(0)
                %1 = onnx.MatMul(%x, %0) : f32[2,64]
                %2 = onnx.Transpose(%i) {perm = [1, 0]} : f32[512,2]
                return %1, %2, %i
              }
              blob 0 = "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACA…
            }
            ; 1 onnx.Transpose: would make the model larger (4096 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_chain_stays_whole_if_its_end_is_too_large() {
    check_stays(
        r#"module {
  fn @main(%x: f32[4096]) -> (%y: f32[4096]) opset("" = 17) {
    %w = const i8[4096] splat(1)
    %0 = onnx.Cast(%w) {to = 1} : f32[4096]
    %1 = onnx.Neg(%0) : f32[4096]
    %2 = onnx.Add(%x, %1) : f32[4096]
    return %2
  }
}"#,
        expect![[r#"
            1 onnx.Cast: would make the model larger (16 kB; --allow-growth folds it).
            1 onnx.Neg: would make the model larger (16 kB; --allow-growth folds it).
        "#]],
    );
}

/// Boxes that a detector starts from: made of a few numbers by seven ops, and much smaller than its weights. `%x` and what
/// comes of it, `%y`, are told apart by a number.
const GRID: &str = r#"
    %stride@ = const f32[] @2.0
    %@0 = onnx.Range(%zero, %side, %one) : i64[64]
    %@1 = onnx.Cast(%@0) {to = 1} : f32[64]
    %@2 = onnx.Mul(%@1, %stride@) : f32[64]
    %@3 = onnx.Reshape(%@2, %column) : f32[64,1]
    %@4 = onnx.Reshape(%@2, %row) : f32[1,64]
    %@5 = onnx.Expand(%@3, %both) : f32[64,64]
    %@6 = onnx.Expand(%@4, %both) : f32[64,64]
    %@7 = onnx.Add(%@5, %@6) : f32[64,64]
    %y@ = onnx.Add(%x@, %@7) : f32[64,64]"#;

/// A model with so many grids and weights of `[side,side]`.
fn grids(count: usize, side: usize) -> String {
    let each = |text: &str| -> String {
        (1..=count)
            .map(|at| text.replace('@', &at.to_string()))
            .collect()
    };
    format!(
        r#"module {{
  fn @main({}%w: f32[1]) -> ({}%z: f32[{side},{side}]) opset("" = 17) {{
    %weights = const f32[{side},{side}] splat(1.0)
    %zero = const i64[] 0
    %one = const i64[] 1
    %side = const i64[] 64
    %column = const i64[2] [64, 1]
    %row = const i64[2] [1, 64]
    %both = const i64[2] [64, 64]{}
    return {}%weights
  }}
}}"#,
        each("%x@: f32[64,64], "),
        each("%y@: f32[64,64], "),
        each(GRID),
        each("%y@, "),
    )
}

/// The model after the pass, and the ops that are left in it.
fn folded(source: &str) -> (String, usize) {
    let folded = crate::support::run("relax.transform.FoldConstant", source);
    let ops = folded
        .lines()
        .filter(|line| line.contains("= onnx."))
        .count();
    (folded, ops)
}

#[test]
fn a_grid_is_folded_in_a_model_of_much_larger_weights() {
    let ops = |side: usize| folded(&grids(1, side)).1;
    // The grid has 16 kB; 1/1600 of the weights is a little more, then a fourth and a fifteenth of it.
    assert_eq!(ops(3000), 1);
    assert_eq!(ops(1500), 1);
    assert_eq!(ops(600), 4);
}

#[test]
fn many_grids_are_all_folded_or_none_and_then_not_the_next_time_either() {
    // Seven ops may cost 7/1600 of the weights, and a grid costs three of them; eight are there for all grids.
    let (all, ops) = folded(&grids(2, 1500));
    assert_eq!(ops, 2);
    assert_eq!(folded(&all).0, all);
    let (none, ops) = folded(&grids(3, 1500));
    assert_eq!(ops, 3 * 4);
    assert_eq!(folded(&none).0, none);
}

#[test]
fn what_is_quantised_stays_so() {
    // As large as it is, and in float16.
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %y: f16[2]) -> (%a: f32[2], %b: f16[2]) opset("" = 19) {
    %w = const i32[2] [1, 2]
    %v = const u8[2] [1, 2]
    %scale = const f32[] 0.5
    %half = const f16[] 0.5
    %0 = onnx.DequantizeLinear(%w, %scale) : f32[2]
    %1 = onnx.DequantizeLinear(%v, %half) : f16[2]
    %2 = onnx.Add(%x, %0) : f32[2]
    %3 = onnx.Add(%y, %1) : f16[2]
    return %2, %3
  }
}"#,
        expect![[r#"
            2 onnx.DequantizeLinear: what is quantised stays so; --allow-growth folds it.
        "#]],
    );
}

#[test]
fn where_growth_is_allowed_memory_is_the_limit() {
    let source = r#"module {
  fn @main(%x: i64[1]) -> (%y: i64[400000000], %z: i64[1000]) opset("" = 17) {
    %a = const i64[] 0
    %b = const i64[] 400000000
    %c = const i64[] 1000
    %s = const i64[] 1
    %r = onnx.Range(%a, %b, %s) : i64[400000000]
    %y = onnx.Add(%r, %x) : i64[400000000]
    %q = onnx.Range(%a, %c, %s) : i64[1000]
    %z = onnx.Add(%q, %x) : i64[1000]
    return %y, %z
  }
}"#;
    let grow = OptionValue::Table(vec![("allow_growth".to_owned(), OptionValue::Bool(true))]);
    let result = support::run_saying(PASS, "relax.FoldConstant", grow, source);
    let (said, text) = result
        .split_once("\nmodule {")
        .expect("a note, and the module");
    expect![[r#"
        note[relax::not-folded]: 1 op on constants is not folded.
         |
         = in pass relax.transform.FoldConstant of plugin relax, function @main
         = note: 1 onnx.Range (%r): would take more than folding may: 2 GiB, or 4 times what the constants take.
    "#]]
    .assert_eq(&format!("{said}\n"));
    assert_eq!(text.matches("onnx.Range").count(), 1, "{text}");
}

/// A table of positions resized and cut out of angles; what makes it larger stays as small as it is.
#[test]
fn tables_of_positions_are_computed_once() {
    check(
        r#"module {
  fn @main(%x: f32[n,9,4]) -> (%y: f32[n,9,4], %z: f32[1,4,90,90]) opset("" = 18) {
    %p = const f32[1,4,2,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.5, 0.5, 0.5, 0.5, 4.0, 3.0, 2.0, 1.0]
    %sizes = const i64[4] [1, 4, 3, 3]
    %more = const i64[4] [1, 4, 90, 90]
    %flat = const i64[3] [1, 9, 4]
    %at = const f32[9] [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    %pace = const f32[2] [1.0, 0.5]
    %four = const i64[] 4
    %line = const i64[1] [4]
    %k = const f32[4,4,1,1] splat(0.5)
    %0 = onnx.Resize(%p, _, _, %sizes) {mode = "linear"} : f32[1,4,3,3]
    %1 = onnx.Transpose(%0) {perm = [0, 2, 3, 1]} : f32[1,3,3,4]
    %2 = onnx.Reshape(%1, %flat) : f32[1,9,4]
    %3 = onnx.Add(%x, %2) : f32[n,9,4]
    %4 = onnx.Einsum(%at, %pace) {equation = "i,j->ij"} : f32[9,2]
    %5 = onnx.Concat(%4, %4) {axis = 1} : f32[9,4]
    %6 = onnx.Mul(%3, %5) : f32[n,9,4]
    %7 = onnx.HammingWindow(%four) : f32[4]
    %8 = onnx.Mul(%6, %7) : f32[n,9,4]
    %9 = onnx.Conv(%p, %k) : f32[1,4,2,2]
    %10 = onnx.GlobalMaxPool(%9) : f32[1,4,1,1]
    %11 = onnx.Reshape(%10, %line) : f32[4]
    %12 = onnx.Add(%8, %11) : f32[n,9,4]
    %13 = onnx.Resize(%p, _, _, %more) {mode = "cubic"} : f32[1,4,90,90]
    return %12, %13
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,9,4]) -> (%y: f32[n,9,4], %z: f32[1,4,90,90]) opset("" = 18) {
                %p = const f32[1,4,2,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.5, 0.5, 0.5, 0.5, 4.0, 3.0, 2.0, 1.0]
                %more = const i64[4] [1, 4, 90, 90]
                %0 = const f32[1,9,4] [1.0, 5.0, 0.5, 4.0, 1.5, 5.5, 0.5, 3.5, 2.0, 6.0, 0.5, 3.0, 2.0, 6.0, 0.5, 3.0, 2.5, 6.5, 0.5, 2.5, 3.0, 7.0, 0.5, 2.0, 3.0, 7.0, 0.5…
                %1 = const f32[9,4] [0.0, 0.0, 0.0, 0.0, 1.0, 0.5, 1.0, 0.5, 2.0, 1.0, 2.0, 1.0, 3.0, 1.5, 3.0, 1.5, 4.0, 2.0, 4.0, 2.0, 5.0, 2.5, 5.0, 2.5, 6.0, 3.0, 6.0, …
                %2 = const f32[4] [0.0869565, 0.54347825, 1.0, 0.54347825]
                %3 = const f32[4] [6.75, 6.75, 6.75, 6.75]
                %4 = onnx.Add(%x, %0) : f32[n,9,4]
                %5 = onnx.Mul(%4, %1) : f32[n,9,4]
                %6 = onnx.Mul(%5, %2) : f32[n,9,4]
                %7 = onnx.Add(%6, %3) : f32[n,9,4]
                %8 = onnx.Resize(%p, _, _, %more) {mode = "cubic"} : f32[1,4,90,90]
                return %7, %8
              }
            }
            ; 1 onnx.Resize: would make the model larger (129 kB; --allow-growth folds it).
        "#]],
    );
}
