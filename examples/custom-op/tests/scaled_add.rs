//! Tests of the definition with the standard passes and the plugin's pass.
use passdock_plugin_api::testing::{check, check_unchanged, Check};

fn main(params: &str, body: &str) -> String {
    let opsets = "opset(\"\" = 17, \"acme\" = 1)";
    format!("module {{ fn @main({params}) {opsets} {{ {body} return %y }} }}")
}

#[test]
fn result_type_is_operand_type() {
    let add = "%y = acme.ScaledAdd(%a, %b) {scale = 0.5}";
    Check::new().passes(&["relax.transform.InferType"]).run(
        &main("%a, %b: f32[n,4]", add),
        &main("%a, %b: f32[n,4]", &format!("{add} : f32[n,4]")),
    );
}

#[test]
fn constants_are_folded() {
    let folds = |attributes: &str, result: &str| {
        let constants = "%a = const f32[2] [1.0, -2.0] %b = const f32[2] [3.0, 4.0]";
        let op = format!("{constants} %y = acme.ScaledAdd(%a, %b) {attributes} : f32[2]");
        Check::new().passes(&["relax.transform.FoldConstant"]).run(
            &main("", &op),
            &main("", &format!("%y = const f32[2] {result}")),
        );
    };
    folds("{scale = 0.5}", "[3.5, 3.0]");
    folds("", "[4.0, 2.0]");
}

#[test]
fn folded_result_matches_within_tolerance() {
    let text = "%a = const f32[2] [1.1, -2.0] %b = const f32[2] [2.2, 4.0]
                %y = acme.ScaledAdd(%a, %b) : f32[2]";
    let fold = Check::new().passes(&["relax.transform.FoldConstant"]);
    fold.relative_tolerance(1e-6)
        .args(["-O", "3"])
        .run(&main("", text), &main("", "%y = const f32[2] [3.3, 2.0]"));
}

#[test]
fn decomposes_into_mul_and_add() {
    let params = "%a: f32[n,4], %b: f32[n,4]";
    check(
        &main(
            params,
            "%y = acme.ScaledAdd(%a, %b) {scale = 0.5} : f32[n,4]",
        ),
        &main(
            params,
            "%0 = const f32[] 0.5
             %1 = onnx.Mul(%a, %0)
             %y = onnx.Add(%1, %b) : f32[n,4]",
        ),
    );
}

#[test]
fn unsupported_element_type_is_unchanged() {
    let params = "%a: f64[n,4], %b: f64[n,4]";
    check_unchanged(&main(params, "%y = acme.ScaledAdd(%a, %b) : f64[n,4]"));
}
