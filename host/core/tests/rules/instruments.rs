//! I. Instruments.

use expect_test::expect;
use passdock::{PassContext, Sequential, create_host_pass};

use crate::common::{Log, error, info, module};

#[test]
fn r097_r098_the_order_of_callbacks() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("one"))
        .instrument(log.tap("two"));
    let cx = cx.build().unwrap();
    cx.scope(|_| log.pass(info("p")).call(module())).unwrap();
    log.check(expect![[r#"
        one enter
        two enter
        one should_run p
        two should_run p
        one before p
        two before p
        run p
        one after p
        two after p
        one exit
        two exit"#]]);
}

#[test]
fn r100_one_veto_is_enough_and_all_are_asked() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("one").vetoes("p"))
        .instrument(log.tap("two"));
    let cx = cx.build().unwrap();
    let before = module();
    let after = cx
        .scope(|_| log.change(info("p")).call(before.clone()))
        .unwrap();
    assert!(after.is_same(&before));
    log.check(expect![[r#"
        one enter
        two enter
        one should_run p
        two should_run p
        one exit
        two exit"#]]);
}

#[test]
fn r101_should_run_is_not_asked_for_a_required_pass() {
    let log = Log::new();
    let cx = PassContext::builder()
        .required_pass(["p"])
        .instrument(log.tap("tap").vetoes("p"));
    let cx = cx.build().unwrap();
    cx.scope(|_| log.pass(info("p")).call(module())).unwrap();
    log.check(expect![[r#"
        tap enter
        tap before p
        run p
        tap after p
        tap exit"#]]);
}

#[test]
fn r102_r103_the_sequential_and_passes_in_passes_are_seen_too() {
    let log = Log::new();
    let inner = log.pass(info("inner"));
    let outer = create_host_pass(info("outer"), move |module, _| inner.call(module.clone()));
    let cx = PassContext::builder()
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    cx.scope(|_| Sequential::new([outer]).name("s").call(module()))
        .unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run s
        tap before s
        tap should_run outer
        tap before outer
        tap should_run inner
        tap before inner
        run inner
        tap after inner
        tap after outer
        tap after s
        tap exit"#]]);
    let vetoed = PassContext::builder()
        .instrument(log.tap("tap").vetoes("s"))
        .build()
        .unwrap();
    vetoed
        .scope(|_| {
            Sequential::new([log.pass(info("p"))])
                .name("s")
                .call(module())
        })
        .unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run s
        tap exit"#]]);
}

#[test]
fn r107_a_failing_pass_has_no_after() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("one"))
        .instrument(log.tap("two"));
    let cx = cx.build().unwrap();
    let sequential = Sequential::new([log.fail(info("p")), log.pass(info("q"))]).name("s");
    expect!["Error in pass p: it is broken"]
        .assert_eq(&error(cx.scope(|_| sequential.call(module()))));
    log.check(expect![[r#"
        one enter
        two enter
        one should_run s
        two should_run s
        one before s
        two before s
        one should_run p
        two should_run p
        one before p
        two before p
        fail p
        one failed p
        two failed p
        one failed s
        two failed s
        one exit
        two exit"#]]);
}

/// What happens if the second of three instruments fails in a callback.
fn failing(callback: &'static str) -> (Log, PassContext, String) {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("one"))
        .instrument(log.tap("two").fails(callback))
        .instrument(log.tap("three"))
        .on_diagnostic(|_| ())
        .build()
        .unwrap();
    let text = error(cx.scope(|_| log.pass(info("p")).call(module())));
    (log, cx, text)
}

#[test]
fn r108_should_run_or_before_fails() {
    let (log, cx, text) = failing("should_run");
    expect!["Error in pass p: The instrument `two` failed in should_run: two is broken."]
        .assert_eq(&text);
    log.check(expect![[r#"
        one enter
        two enter
        three enter
        one should_run p
        two should_run p
        one exit
        two exit
        three exit"#]]);
    assert_eq!(cx.instruments().len(), 3, "rule 110: they stay");
    let (log, _, text) = failing("before");
    expect!["Error in pass p: The instrument `two` failed in run_before_pass: two is broken."]
        .assert_eq(&text);
    log.check(expect![[r#"
        one enter
        two enter
        three enter
        one should_run p
        two should_run p
        three should_run p
        one before p
        two before p
        one failed p
        one exit
        two exit
        three exit"#]]);
}

#[test]
fn r109_after_fails() {
    let (log, _, text) = failing("after");
    expect!["Error in pass p: The instrument `two` failed in run_after_pass: two is broken."]
        .assert_eq(&text);
    log.check(expect![[r#"
        one enter
        two enter
        three enter
        one should_run p
        two should_run p
        three should_run p
        one before p
        two before p
        three before p
        run p
        one after p
        two after p
        three failed p
        one exit
        two exit
        three exit"#]]);
}

#[test]
fn r111_enter_fails() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("one"))
        .instrument(log.tap("two").fails("exit"))
        .instrument(log.tap("three").fails("enter"))
        .instrument(log.tap("four"))
        .on_diagnostic(|_| ())
        .build()
        .unwrap();
    // Rule 112: an exit that fails meanwhile doesn't keep the others from being exited.
    expect!["The instrument `three` failed in enter_pass_ctx: three is broken. (The instrument `two` failed in exit_pass_ctx: two is broken.)"]
        .assert_eq(&error(cx.scope(|_| Ok(()))));
    log.check(expect![[r#"
        one enter
        two enter
        three enter
        two exit
        one exit"#]]);
    assert!(cx.instruments().is_empty());
    assert!(!PassContext::current().is(&cx));
}

#[test]
fn r113_r114_exit_fails() {
    let log = Log::new();
    let said = log.clone();
    let cx = PassContext::builder()
        .instrument(log.tap("one").fails("exit"))
        .instrument(log.tap("two"))
        .on_diagnostic(move |d| said.add(d.message))
        .build()
        .unwrap();
    expect!["The instrument `one` failed in exit_pass_ctx: one is broken."]
        .assert_eq(&error(cx.scope(|_| Ok(()))));
    log.check(expect![[r#"
        one enter
        two enter
        one exit
        The context goes on without instruments, because one failed: The instrument `one` failed in exit_pass_ctx: one is broken."#]]);
    assert!(cx.instruments().is_empty());
    assert!(!PassContext::current().is(&cx), "it is off the stack");
}

#[test]
fn r117_the_error_object_is_kept() {
    #[derive(Debug)]
    struct Mine(u32);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "mine {}", self.0)
        }
    }
    impl std::error::Error for Mine {}
    struct Throws;
    impl passdock::PassInstrument for Throws {
        fn name(&self) -> &str {
            "throws"
        }
        fn enter_pass_ctx(&self) -> passdock::InstrumentResult {
            Err(Box::new(Mine(7)))
        }
    }
    let cx = PassContext::builder()
        .instrument(Throws)
        .on_diagnostic(|_| ())
        .build()
        .unwrap();
    let error = cx.scope(|_| Ok(())).unwrap_err();
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Mine>());
    assert_eq!(source.map(|mine| mine.0), Some(7));
}

#[test]
fn r119_passes_that_an_instrument_runs_are_not_watched() {
    struct Runs(Log);
    impl passdock::PassInstrument for Runs {
        fn name(&self) -> &str {
            "runs"
        }
        fn run_before_pass(
            &self,
            module: &passdock::ModuleRef,
            _: &passdock::PassInfo,
        ) -> passdock::InstrumentResult {
            self.0.pass(info("inside")).call(module.clone())?;
            Ok(())
        }
    }
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(Runs(log.clone()))
        .build()
        .unwrap();
    cx.scope(|_| log.pass(info("p")).call(module())).unwrap();
    log.check(expect![[r#"
        run inside
        run p"#]]);
}

#[test]
fn a_panicking_instrument_is_a_failing_one() {
    struct Panics;
    impl passdock::PassInstrument for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn should_run(
            &self,
            _: &passdock::ModuleRef,
            _: &passdock::PassInfo,
        ) -> passdock::InstrumentResult<bool> {
            std::panic::resume_unwind(Box::new("ouch"))
        }
    }
    let log = Log::new();
    let cx = PassContext::builder().instrument(Panics).build().unwrap();
    expect!["Error in pass p: The instrument `panics` panicked in should_run: ouch."]
        .assert_eq(&error(cx.scope(|_| log.pass(info("p")).call(module()))));
}
