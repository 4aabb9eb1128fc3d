//! I. Instruments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;
use passdock::{ErrorKind, InstrumentRef, PassContext, PassError};

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

/// Can be entered once.
struct Once(Log, AtomicBool);

impl Once {
    fn new(log: &Log) -> Arc<Once> {
        Arc::new(Once(log.clone(), AtomicBool::new(false)))
    }
}

impl passdock::PassInstrument for Once {
    fn name(&self) -> &str {
        "once"
    }
    fn enter_pass_ctx(&self, _: &dyn passdock::Frame) -> passdock::InstrumentResult {
        self.0.add("once enter");
        match self.1.swap(true, Ordering::Relaxed) {
            true => Err("it was entered".into()),
            false => Ok(()),
        }
    }
    fn exit_pass_ctx(&self, _: &dyn passdock::Frame) -> passdock::InstrumentResult {
        self.0.add("once exit");
        Ok(())
    }
}

#[test]
fn r111_what_was_entered_twice_is_exited_twice() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("a"))
        .shared_instrument(Once::new(&log))
        .on_diagnostic(|_| ())
        .build()
        .unwrap();
    let outcome = cx.scope(|_| {
        log.add("in it");
        let inner = cx.scope(|_| Ok(()));
        log.add(format!("{} instruments", cx.instruments().len()));
        inner
    });
    assert!(outcome.is_err());
    log.check(expect![[r#"
        a enter
        once enter
        in it
        a enter
        once enter
        a exit
        once exit
        a exit
        0 instruments"#]]);
}

#[test]
fn r125_a_new_enter_fails_in_a_context_that_was_entered_twice() {
    let log = Log::new();
    let cx = PassContext::builder().build().unwrap();
    cx.scope(|_| {
        cx.scope(|_| {
            let new: Vec<InstrumentRef> = vec![Arc::new(log.tap("a")), Once::new(&log)];
            log.add(error(cx.override_instruments(new)));
            Ok(())
        })
    })
    .unwrap();
    log.check(expect![[r#"
        a enter
        once enter
        a enter
        once enter
        a exit
        once exit
        a exit
        The instrument `once` failed in enter_pass_ctx: it was entered."#]]);
}
