//! L. Diagnostics.

use expect_test::expect;
use passdock::{PassContext, PassRef, Sequential, create_function_pass};
use passdock_plugin_api::{Diagnostic, Severity};

use crate::common::{Log, error, info, module};

/// A function pass that says something about each op of `main`.
fn says(severity: Severity) -> PassRef {
    create_function_pass(info("acme.transform.Says"), move |f, cx| {
        if f.function_name() == "main" {
            for op in f.ops_named("onnx.Relu") {
                cx.emit(
                    &Diagnostic::new(severity, "This op is odd.")
                        .at(op)
                        .code("acme::odd"),
                );
            }
        }
        Ok(())
    })
}

#[test]
fn r143_r144_r145_an_error_fails_the_pass_after_it_returned() {
    for severity in [Severity::ERROR, Severity::BUG] {
        let log = Log::new();
        let said = log.clone();
        let cx = PassContext::builder()
            .instrument(log.tap("tap"))
            .on_diagnostic(move |d| {
                said.add(format!("{} in {:?}: {}", d.code, d.function, d.message))
            })
            .build()
            .unwrap();
        let sequential = Sequential::new([says(severity), log.pass(info("next"))]).name("s");
        expect!["Error in pass acme.transform.Says, function @main: One or more error diagnostics were emitted, please check diagnostic render for output."]
            .assert_eq(&error(cx.scope(|_| sequential.call(module()))));
        log.check(expect![[r#"
            tap enter
            tap should_run s
            tap before s
            tap should_run acme.transform.Says
            tap before acme.transform.Says
            acme::odd in Some("main"): This op is odd.
            tap failed acme.transform.Says
            tap failed s
            tap exit"#]]);
    }
}

#[test]
fn r146_r152_warnings_stop_nothing_and_are_shown_with_their_place() {
    let log = Log::new();
    let said = log.clone();
    let cx = PassContext::builder()
        .on_diagnostic(move |d| said.add(d.render(false)))
        .build()
        .unwrap();
    cx.scope(|_| Sequential::new([says(Severity::WARNING), log.pass(info("next"))]).call(module()))
        .unwrap();
    log.check(expect![[r#"
        warning[acme::odd]: This op is odd.
         |
         | %0 = onnx.Relu(%x) : f32[2]
         | ^^^^^^^^^^^^^^^^^^
         |
         = in pass acme.transform.Says, function @main, op0 (onnx.Relu)
        run next"#]]);
}

#[test]
fn r149_what_a_failing_pass_said_is_not_lost() {
    let log = Log::new();
    let said = log.clone();
    let pass = create_function_pass(info("p"), |f, cx| {
        cx.emit(&Diagnostic::note(format!("at {}", f.function_name())));
        Err("it is broken".into())
    });
    let cx = PassContext::builder()
        .on_diagnostic(move |d| said.add(d.message))
        .build()
        .unwrap();
    expect!["Error in pass p, function @main: it is broken"]
        .assert_eq(&error(cx.scope(|_| pass.call(module()))));
    log.check(expect!["at main"]);
}

#[test]
fn r155_an_error_names_pass_function_and_op_once() {
    let pass = create_function_pass(info("acme.transform.Fails"), |f, _| {
        match f.ops_named("onnx.Neg").next() {
            Some(op) => Err(passdock_plugin_api::PassError::new("It has no axis.").at(op)),
            None => Ok(()),
        }
    });
    let nested = Sequential::new([Sequential::new([pass])]);
    expect!["Error in pass acme.transform.Fails, function @other, op0 (onnx.Neg): It has no axis."]
        .assert_eq(&error(nested.call(module())));
}
