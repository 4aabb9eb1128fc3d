//! L. Diagnostics.

use expect_test::expect;
use passdock::Severity;

use crate::rule;
use crate::system::{cx, emits, pass, tap, warns_of_prim, warns_then_fails};

/// KEEP. What a pass says is collected and shown once, in order, when it has returned; if an error
/// is among it, the pass has failed.
#[test]
fn r143_errors_fail_the_pass_when_it_has_returned() {
    rule!(|s| s.run(cx(), [emits(Severity::Error), pass("Last")]))
        .plugins()
        .keep(expect![[r#"
            error[wrong] in Complains: This is wrong.
            went on Complains
            error[pass-failed] in Complains: The pass emitted error diagnostics; the first: This is wrong."#]]);
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
            error[pass-failed] in ReportsBug: The pass emitted error diagnostics; the first: This can't be."#]], expect![[r#"
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
        error[pass-failed] in Complains: The pass emitted error diagnostics; the first: This is wrong."#]]);
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
