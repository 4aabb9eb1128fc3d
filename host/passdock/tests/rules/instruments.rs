//! Instruments that panic, fail runs, and print.

use std::sync::Arc;

use expect_test::expect;
use passdock::instruments::{PrintChanged, Sink};
use passdock::{ErrorKind, InstrumentSetup, PassContext, PassError, Registry, Sequential, filter};
use passdock_abi::FunctionKind;

use crate::common::{Log, REJECTING, error, info, module};

#[test]
fn panicking_instrument_fails_the_run() {
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
    expect!["Error in pass p: instrument `panics` panicked in should_run: ouch"]
        .assert_eq(&error(cx.scope(|_| log.pass(info("p")).call(module()))));
}

#[test]
fn panic_in_prepare_is_an_error() {
    struct Panics;
    impl passdock::PassInstrument for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn prepare(&self, _: &dyn passdock::Frame) -> Result<(), PassError> {
            std::panic::resume_unwind(Box::new("ouch"))
        }
    }
    let cx = PassContext::builder().instrument(Panics).build().unwrap();
    expect!["instrument `panics` panicked in prepare: ouch"].assert_eq(&error(
        cx.scope(|_| Log::new().pass(info("p")).call(module())),
    ));
}

/// A plugin with two instruments, of which one uses an op definition.
mod watching {
    use passdock_plugin_api::{
        Instrument, Module, PassContext, PassError, PassInfo, PassResult, plugin,
    };

    struct Asks;

    impl Instrument for Asks {
        fn new(_: &PassContext) -> Result<Self, PassError> {
            Ok(Asks)
        }

        fn run_before_pass(&mut self, m: &Module, _: &PassInfo, _: &PassContext) -> PassResult {
            let f = m.snapshot("main")?;
            for op in f.iter() {
                f.traits(op);
            }
            Ok(())
        }
    }

    struct Quiet;

    impl Instrument for Quiet {
        fn new(_: &PassContext) -> Result<Self, PassError> {
            Ok(Quiet)
        }
    }

    plugin! {
        name: "watching",
        instruments: [
            /// Uses op definitions.
            "watching.asks" => Asks,
            /// Uses no op definitions.
            "watching.quiet" => Quiet,
        ],
    }
}

/// An instrument isn't blamed for an op definition that another one used.
#[test]
fn load_error_is_attributed_to_the_using_instrument() {
    let registry = Registry::new();
    registry.load_static(REJECTING).unwrap();
    registry.load_static(watching::PLUGIN).unwrap();
    let setup = InstrumentSetup::new(&registry);
    let named = |name| {
        registry
            .get_instrument(name, &Default::default(), &setup)
            .unwrap()
    };
    let cx = PassContext::builder()
        .registry(&registry)
        .shared_instrument(named("watching.quiet"))
        .shared_instrument(named("watching.asks"));
    let cx = cx.build().unwrap();
    let failed = cx.scope(|_| Log::new().pass(info("p")).call(module()));
    let failed = failed.unwrap_err();
    expect![["
        Error in pass p: instrument `watching.asks` of plugin `watching` (built in) failed in run_before_pass: \
          cannot load plugin `gone` (built in): the plugin rejected the host (ABI 1.0, IR 1.0): it has no license \
          (the plugin defines `onnx.Relu`)
        []"]].assert_eq(&format!("{failed}\n{:?}", failed.notes));
}

#[test]
fn numerics_error_of_instrument_is_the_pass_error() {
    struct Oracle(ErrorKind);
    impl passdock::PassInstrument for Oracle {
        fn name(&self) -> &str {
            "judge"
        }
        fn run_after_pass(&self, _: &passdock::PassCall<'_>) -> passdock::InstrumentResult {
            Err(PassError::new(self.0, "The results are others.").into())
        }
    }
    let check = |kind| {
        let cx = PassContext::builder().instrument(Oracle(kind)).build();
        let pass = Log::new().pass(info("p"));
        error(cx.unwrap().scope(|_| pass.call(module())))
    };
    for kind in [ErrorKind::Numerics, ErrorKind::NotChecked] {
        expect!["Error in pass p: The results are others."].assert_eq(&check(kind));
    }
    expect!["Error in pass p: instrument `judge` failed in run_after_pass: The results are others"]
        .assert_eq(&check(ErrorKind::Failed));
}

#[test]
fn removed_functions_are_printed_as_changes() {
    let log = Log::new();
    let changes = log.clone();
    let sink: Sink = Arc::new(move |text| changes.add(text));
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
