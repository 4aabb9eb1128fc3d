//! The cases of TVM's own tests, in ONNX's operators; what ONNX has no word for is said by the nearest one.

mod legalize;
mod npu;
mod relax_bindings;
mod relax_bindings_sizes;

use expect_test::Expect;

use crate::support;

const INFER: &str = "relax.transform.InferType";
const BINDINGS: &str = "relax.transform.CanonicalizeBindings";

/// Takes the copies out of `@main`, and compares what becomes of it. A second run has to change nothing.
#[track_caller]
fn check_bindings(params: &str, results: &str, body: &str, expected: Expect) {
    let source = module_of(params, results, body);
    let run = |passes: &[&str], text: &str| {
        passdock::testing::run_on_text(&support::registry(), passes, text, |context| context)
    };
    let once = run(&[INFER, BINDINGS], &source);
    if once.starts_with("module") {
        assert_eq!(once, run(&[BINDINGS], &once));
    }
    expected.assert_eq(&once);
}

/// A module of this function.
fn module_of(params: &str, results: &str, body: &str) -> String {
    format!(
        r#"module {{ fn @main({params}) -> {results} opset("" = 20, "acme" = 1, "npu" = 1) {{ {body} }} }}"#
    )
}
