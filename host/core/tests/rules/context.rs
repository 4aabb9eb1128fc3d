//! C. PassContext.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::{DeviceType, ErrorKind, PassContext, PassError, Sequential, create_host_pass};

use crate::common::{Log, error, info, module, registered};

#[test]
fn r016_defaults() {
    let cx = PassContext::builder().build().unwrap();
    expect![[r#"
        Pass context information:
        	opt_level: 2
        	required passes: []
        	disabled passes: []
        	instruments: []
        	config: {}"#]]
    .assert_eq(&cx.to_string());
}

#[test]
fn r017_r018_r020_a_stack_per_thread_over_one_default() {
    let default = PassContext::current();
    assert!(default.is(&PassContext::current()));
    let outer = PassContext::builder().opt_level(3).build().unwrap();
    let inner = PassContext::builder().build().unwrap();
    outer
        .scope(|cx| {
            assert!(cx.is(&PassContext::current()));
            inner.scope(|_| {
                assert!(PassContext::current().is(&inner));
                // Nothing is inherited.
                assert_eq!(PassContext::current().opt_level(), 2);
                Ok(())
            })?;
            assert!(PassContext::current().is(&outer));
            Ok(())
        })
        .unwrap();
    assert!(PassContext::current().is(&default));
}

#[test]
fn r019_a_new_thread_starts_with_its_own_default_and_can_be_given_a_context() {
    let cx = PassContext::builder().opt_level(3).build().unwrap();
    cx.scope(|cx| {
        let here = cx.clone();
        std::thread::spawn(move || {
            assert!(!PassContext::current().is(&here));
            assert_eq!(PassContext::current().opt_level(), 2);
            here.scope(|_| {
                assert_eq!(PassContext::current().opt_level(), 3);
                Ok(())
            })
        })
        .join()
        .unwrap()
    })
    .unwrap();
}

#[test]
fn r019_a_context_can_be_carried_to_a_worker() {
    let log = Log::new();
    let cx = PassContext::builder()
        .opt_level(3)
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    cx.scope(|cx| {
        std::thread::scope(|scope| {
            scope.spawn(|| cx.carry(|| assert!(PassContext::current().is(cx))));
        });
        Ok(())
    })
    .unwrap();
    log.check(expect![[r#"
        tap enter
        tap exit"#]]);
}

#[test]
fn r016_the_fallback_device_is_the_cpu_unless_it_is_set() {
    let builder = PassContext::builder;
    assert_eq!(
        builder().build().unwrap().fallback_device(),
        DeviceType::CPU
    );
    let cx = builder().fallback_device(DeviceType::CUDA).build().unwrap();
    assert_eq!(cx.fallback_device(), DeviceType::CUDA);
    assert_eq!(
        cx.get_config::<i64>("relax.fallback_device_type").unwrap(),
        Some(2)
    );
    let cx = builder()
        .config("relax.fallback_device_type", 8)
        .build()
        .unwrap();
    assert_eq!(cx.fallback_device(), DeviceType::METAL);
    assert!(builder().fallback_device(DeviceType(0)).build().is_err());
}

#[test]
fn r021_r115_r116_leaving_swallows_no_error_and_attaches_its_own() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    let body = || Err::<(), _>(PassError::new(ErrorKind::Failed, "The body failed."));
    expect!["The body failed."].assert_eq(&error(cx.scope(|_| body())));
    log.check(expect![[r#"
        tap enter
        tap exit"#]]);
    let both = PassContext::builder()
        .instrument(log.tap("tap").fails("exit"))
        .on_diagnostic(|_| ());
    let both = both.build().unwrap();
    expect!["The body failed. (The instrument `tap` failed in exit_pass_ctx: tap is broken.)"]
        .assert_eq(&error(both.scope(|_| body())));
}

#[test]
fn r022_leaving_a_context_that_is_not_on_top_is_an_error() {
    let outer = PassContext::builder().opt_level(1).build().unwrap();
    let inner = PassContext::builder().opt_level(3).build().unwrap();
    let entered = outer.enter().unwrap();
    let nested = inner.enter().unwrap();
    expect!["The pass context of opt_level 1 can't be left: the innermost one has opt_level 3. Leave contexts in the reverse order of entering them."]
        .assert_eq(&error(entered.exit()));
    assert!(PassContext::current().is(&inner), "the stack is as it was");
    nested.exit().unwrap();
    assert!(PassContext::current().is(&outer));
}

#[test]
fn r023_the_same_context_may_be_entered_again() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    cx.scope(|cx| cx.scope(|_| Ok(()))).unwrap();
    log.check(expect![[r#"
        tap enter
        tap enter
        tap exit
        tap exit"#]]);
}

#[test]
fn r024_callbacks_see_the_outer_context() {
    struct Looks(Arc<Mutex<Vec<u32>>>);
    impl passdock::PassInstrument for Looks {
        fn name(&self) -> &str {
            "looks"
        }
        fn enter_pass_ctx(&self) -> passdock::InstrumentResult {
            self.0
                .lock()
                .unwrap()
                .push(PassContext::current().opt_level());
            Ok(())
        }
        fn exit_pass_ctx(&self) -> passdock::InstrumentResult {
            self.0
                .lock()
                .unwrap()
                .push(PassContext::current().opt_level());
            Ok(())
        }
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let outer = PassContext::builder().opt_level(1).build().unwrap();
    let inner = PassContext::builder()
        .opt_level(3)
        .instrument(Looks(seen.clone()))
        .build()
        .unwrap();
    outer.scope(|_| inner.scope(|_| Ok(()))).unwrap();
    assert_eq!(*seen.lock().unwrap(), [1, 1]);
}

#[test]
fn r025_a_context_that_a_pass_opens_is_not_its_own() {
    let log = Log::new();
    let at = log.clone();
    let opens = create_host_pass(info("opens"), move |module, cx| {
        let inner = PassContext::builder().opt_level(0).build()?;
        inner.scope(|_| {
            at.add(format!(
                "{} {}",
                cx.opt_level(),
                PassContext::current().opt_level()
            ));
            Ok(module.clone())
        })
    });
    let cx = PassContext::builder().opt_level(3).build().unwrap();
    cx.scope(|_| opens.call(module())).unwrap();
    log.check(expect!["3 0"]);
}

#[test]
fn r029_a_misspelt_name_is_an_error_when_the_context_is_left() {
    let log = Log::new();
    let (_, context) = registered([log.pass(info("relax.transform.FoldConstant"))]);
    let cx = context
        .disabled_pass(["relax.transform.FoldConstnt"])
        .build()
        .unwrap();
    expect!["`disabled_pass` names `relax.transform.FoldConstnt`, and there is no such pass. Did you mean `relax.transform.FoldConstant`?"]
        .assert_eq(&error(cx.scope(|_| Ok(()))));
    // An unregistered pass that occurs may be named.
    let (_, context) = registered([]);
    let cx = context.disabled_pass(["mine"]).build().unwrap();
    let sequential = Sequential::new([log.pass(info("mine"))]);
    cx.scope(|_| sequential.call(module())).unwrap();
    log.check(expect![""]);
}

#[test]
fn r031_both_required_and_disabled_is_disabled_with_a_warning() {
    let log = Log::new();
    let said = log.clone();
    let cx = PassContext::builder()
        .required_pass(["a"])
        .disabled_pass(["a"])
        .on_diagnostic(move |d| said.add(d.message))
        .build()
        .unwrap();
    let sequential = Sequential::new([log.pass(info("a"))]);
    cx.scope(|_| sequential.call(module())).unwrap();
    log.check(expect![
        "The pass `a` is both required and disabled; it is disabled."
    ]);
}

#[test]
fn dropping_the_guard_leaves_the_context_and_keeps_the_error_as_a_diagnostic() {
    let log = Log::new();
    let said = log.clone();
    let cx = PassContext::builder()
        .instrument(log.tap("tap").fails("exit"))
        .on_diagnostic(move |d| said.add(format!("{}: {}", d.code, d.message)))
        .build()
        .unwrap();
    drop(cx.enter().unwrap());
    log.check(expect![[r#"
        tap enter
        tap exit
        instrument: The context goes on without instruments, because one failed: The instrument `tap` failed in exit_pass_ctx: tap is broken.
        instrument: The instrument `tap` failed in exit_pass_ctx: tap is broken."#]]);
    assert!(!PassContext::current().is(&cx));
}

#[test]
fn more_jobs_than_threads_make_sense_are_refused() {
    expect!["5000 jobs are asked for; the limit is 1024. Ask for fewer jobs."]
        .assert_eq(&error(PassContext::builder().jobs(5000).build()));
}

#[test]
fn a_panic_leaves_the_context_too() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("tap"))
        .build()
        .unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cx.scope(|_| -> Result<(), PassError> { std::panic::resume_unwind(Box::new("ouch")) })
    }));
    assert!(caught.is_err());
    assert!(!PassContext::current().is(&cx));
    log.check(expect![[r#"
        tap enter
        tap exit"#]]);
}
