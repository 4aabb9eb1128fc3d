//! Instruments that panic, judge and print.

use std::sync::Arc;

use expect_test::expect;
use passdock::instruments::{PrintChanged, Sink};
use passdock::{ErrorKind, PassContext, PassError, Sequential, filter};
use passdock_abi::FunctionKind;

use crate::common::{Log, error, info, module};

#[test]
fn a_panicking_instrument_is_a_failing_one() {
    struct Panics;
    impl passdock::PassInstrument for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn should_run(&self, _: &passdock::PassCall<'_>) -> passdock::InstrumentResult<bool> {
            std::panic::resume_unwind(Box::new("ouch"))
        }
    }
    let log = Log::new();
    let cx = PassContext::builder().instrument(Panics).build().unwrap();
    expect!["Error in pass p: The instrument `panics` panicked in should_run: ouch."]
        .assert_eq(&error(cx.scope(|_| log.pass(info("p")).call(module()))));
}

#[test]
fn what_an_instrument_finds_out_about_a_pass_is_the_pass_s_error() {
    struct Judge(ErrorKind);
    impl passdock::PassInstrument for Judge {
        fn name(&self) -> &str {
            "judge"
        }
        fn run_after_pass(&self, _: &passdock::PassCall<'_>) -> passdock::InstrumentResult {
            Err(PassError::new(self.0, "The results are others.").into())
        }
    }
    let judged = |kind| {
        let cx = PassContext::builder().instrument(Judge(kind)).build();
        let pass = Log::new().pass(info("p"));
        error(cx.unwrap().scope(|_| pass.call(module())))
    };
    for kind in [ErrorKind::Numerics, ErrorKind::NotChecked] {
        expect!["Error in pass p: The results are others."].assert_eq(&judged(kind));
    }
    expect![
        "Error in pass p: The instrument `judge` failed in run_after_pass: The results are others."
    ]
    .assert_eq(&judged(ErrorKind::Failed));
}

#[test]
fn functions_that_are_removed_are_printed_as_changes() {
    let log = Log::new();
    let said = log.clone();
    let sink: Sink = Arc::new(move |text| said.add(text));
    let cx = PassContext::builder().instrument(PrintChanged::new(sink));
    let keep = filter(|function| function.kind() == FunctionKind::PRIM);
    let passes = Sequential::new([keep, log.pass(info("same"))]);
    cx.build()
        .unwrap()
        .scope(|_| passes.call(module()))
        .unwrap();
    log.check(expect![[r#"
        Changed by Filter:
        --- @main
        +++ @main
        @@ -1,4 +0,0 @@
        -fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Relu(%x) : f32[2]
        -  return %0
        -}
        --- @other
        +++ @other
        @@ -1,4 +0,0 @@
        -fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Neg(%x) : f32[2]
        -  return %0
        -}


        run same"#]]);
}
