//! J. override_instruments.

use std::sync::Arc;

use expect_test::expect;
use passdock::{InstrumentRef, PassContext, create_host_pass};

use crate::common::{Log, Tap, error, info, module};

fn list(taps: impl IntoIterator<Item = Tap>) -> Vec<InstrumentRef> {
    taps.into_iter()
        .map(|tap| Arc::new(tap) as InstrumentRef)
        .collect()
}

#[test]
fn r121_old_ones_are_exited_and_new_ones_entered() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("old"))
        .build()
        .unwrap();
    cx.scope(|cx| {
        cx.override_instruments(list([log.tap("new")]))?;
        log.pass(info("p")).call(module())
    })
    .unwrap();
    log.check(expect![[r#"
        old enter
        old exit
        new enter
        new should_run p
        new before p
        run p
        new after p
        new exit"#]]);
}

#[test]
fn r122_r123_the_threads_default_context_and_an_empty_list() {
    let log = Log::new();
    let here = log.clone();
    // A thread of its own: its default context is nobody else's.
    std::thread::spawn(move || {
        PassContext::current().override_instruments(list([here.tap("tap")]))?;
        here.pass(info("p")).call(module())?;
        PassContext::current().override_instruments(Vec::new())?;
        here.pass(info("q")).call(module())
    })
    .join()
    .unwrap()
    .unwrap();
    log.check(expect![[r#"
        tap enter
        tap should_run p
        tap before p
        run p
        tap after p
        tap exit
        run q"#]]);
}

#[test]
fn r124_r125_if_an_exit_or_an_enter_fails_the_list_is_empty() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("old").fails("exit"))
        .on_diagnostic(|_| ());
    let cx = cx.build().unwrap();
    cx.scope(|cx| {
        expect!["The instrument `old` failed in exit_pass_ctx: old is broken."]
            .assert_eq(&error(cx.override_instruments(list([log.tap("new")]))));
        assert!(cx.instruments().is_empty());
        expect!["The instrument `b` failed in enter_pass_ctx: b is broken."].assert_eq(&error(
            cx.override_instruments(list([log.tap("a"), log.tap("b").fails("enter")])),
        ));
        assert!(cx.instruments().is_empty());
        Ok(())
    })
    .unwrap();
    log.check(expect![[r#"
        old enter
        old exit
        a enter
        b enter
        a exit"#]]);
}

#[test]
fn r126_on_a_context_that_was_never_entered_nothing_is_exited() {
    let log = Log::new();
    let cx = PassContext::builder()
        .instrument(log.tap("old"))
        .build()
        .unwrap();
    cx.override_instruments(list([log.tap("new")])).unwrap();
    log.check(expect![""]);
    cx.scope(|_| Ok(())).unwrap();
    log.check(expect![[r#"
        new enter
        new exit"#]]);
}

#[test]
fn r127_a_running_pass_keeps_the_list_it_started_with() {
    let log = Log::new();
    let at = log.clone();
    let pass = create_host_pass(info("p"), move |module, cx| {
        cx.override_instruments(list([at.tap("new")]))?;
        Ok(module.clone())
    });
    let cx = PassContext::builder()
        .instrument(log.tap("old"))
        .build()
        .unwrap();
    cx.scope(|_| pass.call(module())).unwrap();
    log.check(expect![[r#"
        old enter
        old should_run p
        old before p
        old exit
        new enter
        old after p
        new exit"#]]);
}

#[test]
fn r128_refused_while_a_callback_runs() {
    struct Overrides;
    impl passdock::PassInstrument for Overrides {
        fn name(&self) -> &str {
            "overrides"
        }
        fn exit_pass_ctx(&self) -> passdock::InstrumentResult {
            Ok(PassContext::current().override_instruments(Vec::new())?)
        }
    }
    let cx = PassContext::builder()
        .instrument(Overrides)
        .on_diagnostic(|_| ())
        .build()
        .unwrap();
    expect!["The instrument `overrides` failed in exit_pass_ctx: The instruments can't be replaced while one of their callbacks runs. Replace them before or after the pass."]
        .assert_eq(&error(cx.scope(|_| Ok(()))));
}
