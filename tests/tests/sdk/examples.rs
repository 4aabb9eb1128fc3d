//! The examples of instruments in the SDK's documentation.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::{InstrumentSetup, PassContext, Sequential};
use passdock_ir::text;

use crate::{CHAIN, registry};

/// Returns the report and the diagnostics of an instrument for a Sequential.
fn watched(instrument: &str, options: &str, passes: &[&str]) -> String {
    let registry = registry();
    let options = options.parse().expect("options are TOML");
    let setup = InstrumentSetup::new(&registry);
    let instrument = registry.get_instrument(instrument, &options, &setup);
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = messages.clone();
    let context = PassContext::builder()
        .registry(&registry)
        .shared_instrument(instrument.expect("an instrument"))
        .on_diagnostic(move |diagnostic| sink.lock().unwrap().push(diagnostic.message))
        .build()
        .expect("a context");
    let passes = passes
        .iter()
        .map(|name| registry.get_pass(name).expect("a pass"));
    let passes = Sequential::new(passes);
    let module = text::parse(CHAIN).expect("the test's own text");
    let ran = context.scope(|cx| {
        let after = passes.call(module);
        for report in cx.instrument_reports() {
            let report = report.expect("a report");
            messages
                .lock()
                .unwrap()
                .push(format!("{}: {}", report.name, report.text));
        }
        after
    });
    ran.expect("they work");
    let messages = messages.lock().unwrap();
    messages.join("\n")
}

#[test]
fn instrument_examples_have_documented_output() {
    let passes = [
        "doc.transform.MakeType",
        "doc.transform.AddRelu",
        "doc.transform.Stamp",
    ];
    expect!["sdk.growth: doc.transform.AddRelu"].assert_eq(&watched("sdk.growth", "", &passes));
    expect![[r#"
        doc.transform.AddRelu was the last pass
        sequential was the last pass
        sdk.budget: 2 ops were added"#]]
    .assert_eq(&watched("sdk.budget", "ops = 1", &passes));
    expect!["sdk.budget: 2 ops were added"].assert_eq(&watched("sdk.budget", "", &passes));
}
