//! L. Diagnostics.

use expect_test::expect;
use passdock::{PassContext, Severity};

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::system::{
    Log, System, cx, emits, fails_on_other, pass, seq, tap, warns_of_prim, warns_then_fails,
};

/// KEEP. What a pass says is collected and shown once, in order, when it has returned; if an error
/// is among it, the pass has failed.
#[test]
fn r143_errors_fail_the_pass_when_it_has_returned() {
    rule!(|s| s.run(cx(), [emits(Severity::Error), pass("Last")]))
        .plugins()
        .keep(expect![[r#"
            error[wrong] in Complains: This is wrong.
            went on Complains
            error[error-diagnostics] in Complains: One or more error diagnostics were emitted, please check diagnostic render for output."#]]);
}

/// FIX. So does a bug.
///
/// TVM: a bug raises nothing.
#[test]
fn r144_bugs_fail_the_pass_too() {
    rule!(|s| s.run(cx(), [emits(Severity::Bug), pass("Last")]))
        .plugins()
        .fix(expect![[r#"
            bug[bug] in ReportsBug: This can't be.
            went on ReportsBug
            error[error-diagnostics] in ReportsBug: One or more error diagnostics were emitted, please check diagnostic render for output."#]], expect![[r#"
            bug[bug] in ReportsBug: This can't be.
            went on ReportsBug
            run Last"#]]);
}

/// KEEP. A pass with error diagnostics counts as failed: no `run_after_pass`, and the rest of a
/// Sequential doesn't run.
#[test]
fn r145_a_pass_with_errors_counts_as_failed() {
    rule!(|s| s.run(
        cx().watch(tap("tap")),
        [emits(Severity::Error), pass("Last")]
    ))
    .plugins()
    .keep(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap should_run Complains
        tap before Complains
        error[wrong] in Complains: This is wrong.
        went on Complains
        tap exit
        error[error-diagnostics] in Complains: One or more error diagnostics were emitted, please check diagnostic render for output."#]]);
}

/// KEEP. Warnings, notes and helps stop nothing.
#[test]
fn r146_warnings_stop_nothing() {
    rule!(|s| s.run(
        cx().watch(tap("tap")),
        [emits(Severity::Warning), pass("Last")]
    ))
    .plugins()
    .keep(expect![[r#"
        tap enter
        tap should_run sequential
        tap before sequential
        tap should_run Warns
        tap before Warns
        warning[odd] in Warns: This is odd.
        went on Warns
        tap after Warns
        tap should_run Last
        tap before Last
        run Last
        tap after Last
        tap after sequential
        tap exit"#]]);
}

/// FIX. What a failing pass said is shown, then its error goes out.
///
/// TVM: it is lost.
#[test]
fn r149_what_a_failing_pass_said_is_shown() {
    rule!(|s| s.run(cx(), [warns_then_fails(), pass("Last")]))
        .plugins()
        .fix(
            expect![[r#"
            warning[odd] in WarnsThenFails: This is odd.
            error[pass-failed] in WarnsThenFails: it is broken"#]],
            expect!["error[pass-failed]: it is broken"],
        );
}

/// FIX. Prim function passes can say something, too.
///
/// TVM: they get no diagnostic context.
#[test]
fn r150_prim_function_passes_can_speak() {
    rule!(|s| s.run(cx(), [warns_of_prim(), pass("Last")]))
        .plugins()
        .fix(
            expect![[r#"
            warning[odd] in WarnsOfPrim @loop: This is odd.
            went on WarnsOfPrim @loop
            run Last"#]],
            expect!["error[pass-failed]: 'NoneType' object has no attribute 'emit'"],
        );
}

/// KEEP. The default renderer shows code, message and place.
#[test]
fn r152_diagnostics_name_their_place() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Linked);
    let said = log.clone();
    let cx = PassContext::builder().registry(&ours.registry);
    let cx = cx.on_diagnostic(move |diagnostic| said.add(diagnostic.render(false)));
    let warns = ours.pass(emits(Severity::Warning)).expect("a pass");
    let cx = cx.build().expect("a context");
    ours.say_if_failed(ours.scope(&cx, |ours| ours.call(&warns, ours.module())));
    expect![[r#"
        warning[odd]: This is odd.
         |
         = in pass Warns of plugin conformance
        note[event]: went on
         |
         = in pass Warns of plugin conformance"#]]
    .assert_eq(&log.text());
}

/// FIX. An error of a pass names pass, function and place, once, also through Sequentials.
///
/// TVM: only errors with a location are enriched, and then name the pass only.
#[test]
fn r155_an_error_names_pass_and_function_once() {
    rule!(|s| {
        let inner = seq([fails_on_other()]).name("Inner");
        s.run(cx(), [pass("First"), inner])
    })
    .plugins()
    .fix_message(
        expect![[r#"
        run First
        mark FailsOnOther @main
        mark FailsOnOther @other
        error[pass-failed] in FailsOnOther @other: it is broken"#]],
        expect![[r#"
        run First
        mark FailsOnOther @main
        mark FailsOnOther @other
        error[pass-failed]: it is broken"#]],
    );
}
