//! Where a function of the module has an operator's name, no pass takes an op to be either: which one
//! it is, ONNX leaves to the runtime.

use expect_test::expect;

use crate::support::{self, check, check_stays};

#[test]
fn a_call_of_what_has_an_effect_isnt_dead() {
    check_stays(
        "relax.transform.DeadCodeElimination",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    return %x
  }
  fn @onnx.Relu(%v) -> (%r) opset("" = 17, "acme" = 1) {
    %0 = acme.Log(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn the_operators_evaluation_isnt_the_functions() {
    check_stays(
        "relax.transform.FoldConstant",
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %c = const f32[2] [-1.0, 2.0]
    %0 = onnx.Relu(%c) : f32[2]
    return %0
  }
  fn @onnx.Relu(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn what_is_called_like_an_if_isnt_one() {
    check_stays(
        "relax.transform.FoldConstant",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %0 = onnx.If(%c) : f32[2]
    region then_branch -> (%t: f32[2]) {
      %1 = onnx.Relu(%x) : f32[2]
      yield %1
    }
    region else_branch -> (%e: f32[2]) {
      %1 = onnx.Neg(%x) : f32[2]
      yield %1
    }
    return %0
  }
  fn @onnx.If(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Not(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn calls_of_what_is_random_arent_common() {
    check_stays(
        "relax.transform.EliminateCommonSubexpr",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Relu(%x) : f32[2]
    %2 = onnx.Add(%0, %1) : f32[2]
    return %2
  }
  fn @onnx.Relu(%v) -> (%r) opset("" = 17) {
    %0 = onnx.RandomUniformLike(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn what_is_called_like_a_copy_isnt_one() {
    check_stays(
        "relax.transform.CanonicalizeBindings",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Identity(%x) : f32[2]
    %1 = onnx.Relu(%0) : f32[2]
    return %1
  }
  fn @onnx.Identity(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn a_function_isnt_decomposed_like_the_operator() {
    check_stays(
        "relax.transform.DecomposeOps",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 20) {
    %0 = onnx.Gelu(%x) : f32[2]
    return %0
  }
  fn @onnx.Gelu(%v) -> (%r) opset("" = 20) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn a_body_doesnt_call_functions_by_mistake() {
    check_stays(
        "relax.transform.DecomposeOps",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 20) {
    %0 = onnx.Gelu(%x) : f32[2]
    return %0
  }
  fn @onnx.Mul(%v, %w) -> (%r) opset("" = 20) {
    %0 = onnx.Sub(%v, %w)
    return %0
  }
}"#,
    );
}

#[test]
fn a_batch_normalization_doesnt_either() {
    let source = |name: &str| {
        r#"module {
  fn @main(%x: f32[1,2]) -> (%y: f32[1,2]) opset("" = 17) {
    %s = const f32[2] [1.0, 2.0]
    %0 = onnx.BatchNormalization(%x, %s, %s, %s, %s) : f32[1,2]
    return %0
  }
  fn @NAME(%v, %w) -> (%r) opset("" = 17) {
    %0 = onnx.Pow(%v, %w)
    return %0
  }
}"#
        .replace("NAME", name)
    };
    let run = |name: &str, options: &str| {
        support::run_options("relax.transform.SimplifyInference", options, &source(name))
    };
    for name in ["onnx.Mul", "onnx.BatchNormalization"] {
        let stays = run(name, "batch_norm = false");
        assert_eq!(run(name, "batch_norm = true"), stays);
    }
    assert!(!run("onnx.Max", "batch_norm = true").contains("BatchNormalization"));
}

#[test]
fn what_is_called_like_a_dropout_isnt_one() {
    check_stays(
        "relax.transform.SimplifyInference",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Dropout(%x) : f32[2]
    return %0
  }
  fn @onnx.Dropout(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn types_are_neithers() {
    check_stays(
        "relax.transform.InferType",
        r#"module {
  fn @main(%x: f32[2]) -> (%y) opset("" = 17) {
    %0 = onnx.Relu(%x)
    return %0
  }
  fn @onnx.Relu(%v: f32[2]) -> (%r) opset("" = 17) {
    %0 = onnx.Shape(%v) : i64[1]
    return %0
  }
}"#,
    );
}

#[test]
fn an_operators_name_isnt_inlined() {
    check_stays(
        "relax.transform.InlineFunctions",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    return %0
  }
  fn @onnx.Relu(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn the_operator_may_have_an_effect_that_the_function_hasnt() {
    check_stays(
        "relax.transform.DeadCodeElimination",
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.RandomNormalLike(%x) : f32[2]
    return %x
  }
  fn @onnx.RandomNormalLike(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
    );
}

#[test]
fn other_functions_change_nothing() {
    check(
        "relax.transform.FoldConstant",
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
    %c = const f32[2] [-1.0, 2.0]
    %0 = onnx.Relu(%c) : f32[2]
    return %0
  }
  fn @acme.Relu(%v) -> (%r) opset("" = 17) {
    %0 = onnx.Neg(%v)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
                %0 = const f32[2] [0.0, 2.0]
                return %0
              }
              fn @acme.Relu(%v: ?) -> (%r) opset("" = 17) {
                %0 = onnx.Neg(%v)
                return %0
              }
            }
        "#]],
    );
}
