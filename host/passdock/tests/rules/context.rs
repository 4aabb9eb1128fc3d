//! C. PassContext.

use expect_test::expect;
use passdock::{DeviceType, PassContext, PassError, Sequential, apply_pass_to_function};

use crate::common::{Log, error, info, module, registered};

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
        instrument: The context goes on without instruments, because one failed.
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

#[test]
fn r029_what_a_pass_for_some_functions_would_have_run() {
    let log = Log::new();
    let said = log.clone();
    let pass = apply_pass_to_function(log.pass(info("inner")), "none", false).unwrap();
    let cx = PassContext::builder()
        .disabled_pass(["inner", "iner"])
        .on_diagnostic(move |d| said.add(d.render(false)))
        .build()
        .unwrap();
    cx.scope(|_| pass.call(module())).unwrap();
    log.check(expect!["warning[unknown-pass]: `disabled_pass` names `iner`, and no such pass was met; one that didn't run may be what runs it."]);
}

#[test]
fn r054_a_misspelt_name_in_a_sequentials_own_list() {
    let log = Log::new();
    for disabled in ["fold", "Short", "relax.transform.Short", "Shrt"] {
        let known = [
            log.pass(info("fold")),
            log.pass(info("relax.transform.Short")),
        ];
        let (_, context) = registered(known);
        // Its name is short for that of a registered pass, too.
        let own = Sequential::new([log.pass(info("Short"))]).disabled([disabled]);
        log.add(format!("{disabled}:"));
        if let Err(error) = context.build().unwrap().scope(|_| own.call(module())) {
            log.add(error.to_string());
        }
    }
    log.check(expect![[r#"
        fold:
        run Short
        Short:
        relax.transform.Short:
        run Short
        Shrt:
        The Sequential `sequential` disables `Shrt`, and there is no such pass in it. Did you mean `Short`?"#]]);
}
