//! Contexts that are left by a drop or a panic, and what they refuse.

use expect_test::expect;
use passdock::{PassContext, PassError};

use crate::common::{Log, error};

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
