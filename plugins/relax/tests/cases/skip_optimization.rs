//! Module passes and functions that skip optimization: what function passes leave alone, they leave
//! alone, too.

use crate::support;

/// A model with a function `@acme.F` that has these attributes: a dead op, an order of its own, a
/// region and a call.
fn model(attributes: &str) -> String {
    format!(
        r#"module {{
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {{
    %y = acme.F(%c, %x) : f32[2]
    return %y
  }}
  fn @acme.F(%c, %x) -> (%y) opset("" = 17, "acme" = 1){attributes} {{
    %dead = onnx.Relu(%x)
    %a = acme.G(%x)
    %e = onnx.Exp(%x)
    %b = onnx.Neg(%a)
    %d = onnx.Sub(%b, %e)
    %y = onnx.If(%c)
      region then_branch {{
        %s = onnx.Mul(%d, %d)
        yield %s
      }}
      region else_branch {{
        yield %d
      }}
    return %y
  }}
  fn @acme.G(%x) -> (%y) opset("" = 17) {{
    %y = onnx.Abs(%x)
    return %y
  }}
}}"#
    )
}

/// The model as text, after types are inferred and a pass has run.
fn run(pass: Option<&str>, attribute: &str) -> String {
    let passes: Vec<&str> = ["relax.transform.InferType"]
        .into_iter()
        .chain(pass)
        .collect();
    let source = model(&format!(" attributes {{{attribute}}}"));
    passdock::testing::run_on_text(&support::registry(), &passes, &source, |context| context)
}

#[test]
fn what_skips_optimization_stays_as_it_is() {
    for pass in [
        "relax.transform.DeadCodeElimination",
        "relax.transform.InlineFunctions",
        "relax.transform.LambdaLift",
        "relax.transform.ToANormalForm",
    ] {
        for attribute in ["SkipOptimization = 1", "Compiler = \"trt\"", "Extern = 2"] {
            assert_eq!(run(Some(pass), attribute), run(None, attribute), "{pass}");
        }
        let plain = "SkipOptimization = 0";
        assert_ne!(run(Some(pass), plain), run(None, plain), "{pass}");
    }
}
