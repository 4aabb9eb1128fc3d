//! Contexts that exit by a drop or a panic, and invalid contexts.

use std::sync::Mutex;

use expect_test::expect;
use passdock::{PassContext, PassError, PassRef, create_function_pass};
use passdock_plugin_api as sdk;

use crate::common::{Log, error, info, module};

#[test]
fn dropped_guard_exits_context_and_reports_error() {
    let log = Log::new();
    let sink = log.clone();
    let cx = PassContext::builder()
        .instrument(log.tap("tap").fails("exit"))
        .on_diagnostic(move |d| sink.add(format!("{}: {}", d.code, d.message)))
        .build()
        .unwrap();
    drop(cx.enter().unwrap());
    log.check(expect![[r#"
        tap enter
        tap exit
        instrument: the context continues without instruments because one failed
        instrument: instrument `tap` failed in exit_pass_ctx: tap is broken"#]]);
    assert!(!PassContext::current().is(&cx));
}

#[test]
fn too_many_jobs_are_rejected() {
    expect!["5000 jobs exceed the limit of 1024; request fewer jobs"]
        .assert_eq(&error(PassContext::builder().jobs(5000).build()));
}

#[test]
fn panic_exits_the_context() {
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

/// An analysis that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("it went off");
    }
}

impl sdk::Analysis for Bomb {
    fn compute(_: &sdk::Function, _: &sdk::PassContext) -> Result<Bomb, sdk::PassError> {
        Ok(Bomb)
    }
}

/// A pass that computes this analysis for a function, and changes nothing.
fn keeps_bomb() -> PassRef {
    create_function_pass(info("keeps_bomb"), |f, cx| f.analysis::<Bomb>(cx).map(drop))
}

/// Returns the error's text without the location of the panic in this file.
fn error_text(error: &PassError) -> String {
    let text = error.to_string();
    let lines = text.split(" at ").map(|part| match part.split_once(": ") {
        Some((location, rest)) if location.contains(".rs:") => rest,
        _ => part,
    });
    lines.collect::<Vec<_>>().join(": ")
}

const DROP_PANICKED: &str =
    "Error in pass keeps_bomb: the destructor of an analysis of the pass panicked: it went off";

fn context(log: &Log) -> PassContext {
    let sink = log.clone();
    let builder = PassContext::builder().on_diagnostic(move |d| {
        sink.add(format!("{:?}: {}", d.severity, d.code));
    });
    builder.build().unwrap()
}

#[test]
fn panic_in_destructor_fails_the_scope() {
    let log = Log::new();
    let cx = context(&log);
    let failed = cx.scope(|_| keeps_bomb().call(module()).map(drop));
    assert!(error_text(&failed.unwrap_err()).starts_with(DROP_PANICKED));
    // It is reported only once.
    cx.scope(|_| Ok::<_, PassError>(())).unwrap();
    drop(cx);
    log.check(expect![""]);
}

#[test]
fn panic_in_destructor_is_a_note_of_another_error() {
    let log = Log::new();
    let cx = context(&log);
    let failed = cx.scope(|_| {
        drop(keeps_bomb().call(module())?);
        Err::<(), _>(PassError::new(passdock::ErrorKind::Failed, "It is Monday."))
    });
    let failed = failed.unwrap_err();
    assert_eq!(failed.message, "It is Monday.");
    assert!(failed.notes[0].starts_with("Error in pass keeps_bomb: the destructor of an analysis"));
    let failed = cx.scope(|_| {
        drop(keeps_bomb().call(module()).unwrap());
        Err::<(), Box<dyn std::error::Error>>("a program's own".into())
    });
    assert_eq!(failed.unwrap_err().to_string(), "a program's own");
    log.check(expect!["Error: pass-panicked"]);
}

#[test]
fn panic_in_destructor_after_scopes_is_reported() {
    let log = Log::new();
    let cx = context(&log);
    let after = cx.scope(|_| keeps_bomb().call(module())).unwrap();
    drop(cx);
    log.check(expect![""]);
    drop(after);
    log.check(expect!["Error: pass-panicked"]);
}

#[test]
fn panic_in_destructor_fails_call_without_entered_context() {
    let log = Log::new();
    let cx = context(&log);
    // The first function with ops is changed after its analysis was computed. The analysis is dropped with the input
    // module.
    let changes = create_function_pass(info("changes"), |f, _| Ok(f.set_function_attr("is", 1)?));
    let cached = keeps_bomb().call_in(module(), &cx).unwrap();
    let failed = changes.call_in(cached, &cx).unwrap_err();
    assert!(error_text(&failed).starts_with(DROP_PANICKED));
    log.check(expect![""]);
    // Failures of drops between calls don't fail the next call.
    drop(keeps_bomb().call_in(module(), &cx).unwrap());
    log.check(expect![""]);
    let nothing = create_function_pass(info("nothing"), |_, _| Ok(()));
    drop(nothing.call_in(module(), &cx).unwrap());
    log.check(expect!["Error: pass-panicked"]);
    drop(keeps_bomb().call_in(module(), &cx).unwrap());
    cx.scope(|_| Ok::<_, PassError>(())).unwrap();
    log.check(expect!["Error: pass-panicked"]);
}

#[test]
fn concurrent_call_does_not_take_the_panic() {
    let log = Log::new();
    let cx = context(&log);
    let cached = keeps_bomb().call_in(module(), &cx).unwrap();
    let (cached, other) = (Mutex::new(Some(cached)), cx.clone());
    let frees = create_function_pass(info("frees"), move |_, _| {
        if let Some(cached) = cached.lock().unwrap().take() {
            drop(cached);
            let nothing = create_function_pass(info("nothing"), |_, _| Ok(()));
            let other = other.clone();
            let call = std::thread::spawn(move || nothing.call_in(module(), &other).map(drop));
            call.join().unwrap().unwrap();
        }
        Ok(())
    });
    let failed = frees.call_in(module(), &cx).unwrap_err();
    assert!(error_text(&failed).starts_with(DROP_PANICKED), "{failed}");
    log.check(expect![""]);
}
