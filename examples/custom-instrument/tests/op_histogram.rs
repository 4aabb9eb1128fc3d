//! Tests of the instrument with a pass of a standard plugin.

use passdock_plugin_api::testing::Check;

/// Returns the instrument's report on a pass that decomposes a Celu, and on its pipeline.
fn report(instrument: &str) -> Vec<String> {
    let text = "module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 20) {
        %y = onnx.Celu(%x) : f32[2]
        return %y
      }
    }";
    let check = Check::new().passes(&["relax.transform.DecomposeOps"]);
    let messages = check.args(["--instrument", instrument]).messages(text);
    let lines = messages.lines().filter(|line| line.contains(" adds "));
    lines.map(str::to_owned).collect()
}

#[test]
fn growth_is_reported_per_pass() {
    let report = report("acme.op-histogram");
    assert_eq!(report[0], "relax.transform.DecomposeOps adds 1 onnx.Div");
    // Passes are nested: the pipeline's counts include those of its passes.
    assert_eq!(report.last().unwrap(), "pipeline adds 1 onnx.Where");
    assert_eq!(report.len(), 12);
}

#[test]
fn growth_below_minimum_is_omitted() {
    assert_eq!(
        report("acme.op-histogram={min_growth=2}"),
        [
            "relax.transform.DecomposeOps adds 2 onnx.Mul",
            "pipeline adds 2 onnx.Mul"
        ]
    );
}
