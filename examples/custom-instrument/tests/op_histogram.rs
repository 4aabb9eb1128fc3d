//! The instrument beside a mock host: what it counts, and what it leaves out.

use custom_instrument::PLUGIN;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::mock::Watch;
use passdock_plugin_api::OptionValue;

fn add(f: &mut Function, kind: &str) {
    let mut b = FunctionBuilder::new(f);
    b.value(kind, []).unwrap();
}

fn watch(options: &[(&str, OptionValue)]) -> String {
    let mut histogram = Watch::new(&PLUGIN, "acme.op-histogram", options).unwrap();
    histogram.run_before_pass("acme.transform.Outer").unwrap();
    histogram.run_before_pass("acme.transform.Inner").unwrap();
    histogram.edit(|f| add(f, "onnx.Relu"));
    histogram.run_after_pass("acme.transform.Inner").unwrap();
    histogram.run_before_pass("acme.transform.Fails").unwrap();
    histogram
        .pass_failed("acme.transform.Fails", "It fails.")
        .unwrap();
    histogram.edit(|f| add(f, "onnx.Relu"));
    histogram.edit(|f| add(f, "onnx.Neg"));
    histogram.run_after_pass("acme.transform.Outer").unwrap();
    histogram.report().unwrap()
}

#[test]
fn growth_is_reported_pass_by_pass() {
    let expected = "acme.transform.Inner adds 1 onnx.Relu\n\
                    acme.transform.Outer adds 1 onnx.Neg\n\
                    acme.transform.Outer adds 2 onnx.Relu";
    assert_eq!(watch(&[]), expected);
}

#[test]
fn a_little_growth_may_be_left_out() {
    let report = watch(&[("min_growth", OptionValue::Int(2))]);
    assert_eq!(report, "acme.transform.Outer adds 2 onnx.Relu");
}
