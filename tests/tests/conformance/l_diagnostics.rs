//! L. Diagnostics.

use expect_test::expect;
use std::sync::Arc;

use passdock::diagnostic::{Renderer, get_renderer, override_renderer};
use passdock::{Diagnostic, Module, PassContext, PassInfo, Severity, create_function_pass};
use passdock_plugin_api as sdk;

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::rule::{by_hand, check};
use crate::system::{
    Log, System, cx, emits, fails_on_other, full, pass, runs, seq, tap, warns_of_prim,
    warns_then_fails,
};
use crate::tvm::thrown;

/// KEEP. Outside of passes a context has no diagnostic context; each pass gets a new one.
#[test]
fn r141_each_pass_gets_a_new_diagnostic_context() {
    rule!(|s| {
        let looks = |name| {
            runs(name, |s: &S, cx, module| {
                s.note(format!("before: {:?}", s.diagnostics(cx)));
                s.warn(cx, "This is odd.");
                s.note(format!("after: {:?}", s.diagnostics(cx)));
                Ok(module)
            })
        };
        let cx = s.context(cx())?;
        s.note(format!("outside: {:?}", s.diagnostics(&cx)));
        let all = s.pass(seq([looks("Looks"), looks("LooksAgain")]))?;
        s.scope(&cx, |s| s.call(&all, s.module()).map(drop))
    })
    .keep("r141");
}

/// KEEP. The levels are bug 10, error 20, warning 30, note 40 and help 50.
#[test]
fn r142_levels() {
    let levels = [
        Severity::Bug,
        Severity::Error,
        Severity::Warning,
        Severity::Note,
        Severity::Help,
    ];
    let shown = levels.map(|level| format!("{level:?} {}", level as u32));
    expect!["Bug 10, Error 20, Warning 30, Note 40, Help 50"].assert_eq(&shown.join(", "));
}

/// KEEP. The diagnostics of a pass are collected and shown once, in order, after it returns. If one
/// is an error, the pass has failed.
#[test]
fn r143_errors_fail_the_pass_after_it_returns() {
    rule!(|s| s.run(cx(), [emits(Severity::Error), pass("Last")]))
        .plugins()
        .keep("r143");
}

/// FIX. A bug also fails the pass.
///
/// TVM: a bug raises nothing.
#[test]
fn r144_bugs_fail_the_pass() {
    rule!(|s| {
        let cx = cx().watch(tap("tap").quiet().unwinds());
        s.run(cx, [emits(Severity::Bug), pass("Last")])
    })
    .plugins()
    .fix("r144");
}

/// KEEP. A pass with error diagnostics has failed: `run_after_pass` isn't called, and the rest of a
/// Sequential doesn't run.
#[test]
fn r145_pass_with_errors_has_failed() {
    rule!(|s| s.run(
        cx().watch(tap("tap")),
        [emits(Severity::Error), pass("Last")]
    ))
    .plugins()
    .keep("r145");
}

/// KEEP. Warnings, notes and helps don't stop a run.
#[test]
fn r146_warnings_do_not_stop_the_run() {
    rule!(|s| s.run(
        cx().watch(tap("tap")),
        [emits(Severity::Warning), pass("Last")]
    ))
    .plugins()
    .keep("r146");
}

/// KEEP. A pass that runs another gets its own diagnostic context back afterwards; each diagnostic
/// is shown for its own pass.
#[test]
fn r147_nested_pass_has_its_own_diagnostics() {
    rule!(|s| {
        let inner = s.pass(emits(Severity::Warning))?;
        let outer = runs("Outer", move |s: &S, cx, module| {
            s.warn(cx, "Before the inner one.");
            let module = s.call(&inner, module)?;
            let (own, current) = (s.diagnostics(cx), s.diagnostics(&s.current()));
            s.note(format!("back: {own:?}, {current:?}"));
            s.warn(cx, "After the inner one.");
            Ok(module)
        });
        s.call_in(cx(), outer).map(drop)
    })
    .plugins()
    .keep("r147");
}

/// FIX. After a pass, the diagnostic context is as it was before.
///
/// TVM: it keeps the first pass's diagnostics, which were shown, forever.
#[test]
fn r148_diagnostics_are_not_kept_after_a_pass() {
    rule!(|s| {
        let (cx, warns) = (s.context(cx())?, s.pass(emits(Severity::Warning))?);
        s.scope(&cx, |s| s.call(&warns, s.module()).map(drop))?;
        s.note(format!("afterwards: {:?}", s.diagnostics(&cx)));
        Ok(())
    })
    .plugins()
    .fix("r148");
}

/// FIX. The diagnostics of a failing pass are shown before its error propagates.
///
/// TVM: they are lost.
#[test]
fn r149_diagnostics_of_failing_pass_are_shown() {
    rule!(|s| s.run(cx(), [warns_then_fails(), pass("Last")]))
        .plugins()
        .fix("r149");
}

/// FIX. Prim function passes can emit diagnostics, too.
///
/// TVM: they get no diagnostic context.
#[test]
fn r150_prim_function_passes_emit_diagnostics() {
    rule!(|s| s.run(cx(), [warns_of_prim(), pass("Last")]))
        .plugins()
        .fix("r150");
}

/// KEEP. A fatal diagnostic is shown, and ends the pass immediately.
#[test]
fn r151_fatal_diagnostics_end_the_pass() {
    rule!(|s| {
        let gives_up = runs("Fatal", |s: &S, cx, module: S::Module| {
            s.warn(cx, "This is odd.");
            match s.functions(&module).is_empty() {
                true => Ok(module),
                false => Err(s.emit_fatal(cx, "This is fatal.")),
            }
        });
        s.run(cx(), [gives_up, pass("Last")])
    })
    .keep("r151");
}

/// Returns the text of a warning about the first op of `main`.
fn shown(ours: &Passdock, module: Module) -> String {
    rendered(ours, module, false)
}

/// Returns the text of a warning about the first op of `main`, with colors or without.
fn rendered(ours: &Passdock, module: Module, color: bool) -> String {
    let log = Log::default();
    let out = log.clone();
    let cx = PassContext::builder().registry(&ours.registry);
    let cx = cx.renderer(move |all| all.iter().for_each(|d| out.add(d.render(color))));
    let warns = create_function_pass(PassInfo::new(full("Warns")), |f, cx| {
        let op = f.ops_named("onnx.Relu").next();
        op.iter()
            .for_each(|op| cx.emit(&sdk::Diagnostic::warning("This op is odd.").at(*op)));
        Ok(())
    });
    let cx = cx.build().expect("a context");
    cx.scope(|_| warns.call(module))
        .expect("a warning stops nothing");
    log.text()
}

/// KEEP. A diagnostic is shown with the source line underlined.
#[test]
fn r152_source_line_is_underlined() {
    let ours = Passdock::new(&Log::default(), Way::Host);
    check("r152", &shown(&ours, ours.module()));
}

/// KEEP. Colors are only for terminals, and change nothing else.
#[test]
fn r152_colors_are_for_terminals_only() {
    let ours = Passdock::new(&Log::default(), Way::Host);
    let plain = shown(&ours, ours.module());
    let colored = rendered(&ours, ours.module(), true);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let visible = colored.replace('\u{1b}', "ESC");
    expect!["ESC[1mESC[33mwarningESC[0mESC[1m: This op is odd.ESC[0m"]
        .assert_eq(visible.lines().next().unwrap_or_default());
    let mut parts = colored.split('\u{1b}');
    let start = parts.next().unwrap_or_default().to_owned();
    // `ESC [ … m`
    let stripped = parts.fold(start, |text, part| {
        text + part.split_once('m').map_or(part, |(_, text)| text)
    });
    assert_eq!(stripped, plain);
}

/// FIX. If the source isn't available, the diagnostic is shown without its line.
///
/// TVM: a separate fatal error, which hides the diagnostic.
#[test]
fn r153_diagnostic_without_source_has_no_line() {
    let ours = Passdock::new(&Log::default(), Way::Host);
    let text = passdock_ir::text::print(&ours.module());
    let module = passdock_ir::text::parse(&text).expect("the host's own text");
    let tvm = thrown("InternalError", "Check failed: (it != source_map.end())");
    by_hand(shown(&ours, module), tvm).fix("r153");
}

/// KEEP. One renderer serves all contexts without their own, and can be replaced; existing contexts
/// keep theirs.
#[test]
fn r154_renderer_can_be_replaced() {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let logs = |label: &'static str| {
        let log = log.clone();
        move |all: &[Diagnostic]| log.add(format!("{label}: {}", all[0].message))
    };
    let later: Arc<Renderer> = Arc::new(logs("later"));
    let renderer = later.clone();
    let warns = runs("Warns", move |s: &Passdock, cx, module| {
        // The context already has a renderer.
        override_renderer(Some(renderer.clone()));
        s.warn(cx, "This is odd.");
        Ok(module)
    });
    let warns = ours.pass(warns).expect("a pass");
    let plain = || PassContext::builder().registry(&ours.registry);
    let all: Arc<Renderer> = Arc::new(logs("all"));
    override_renderer(Some(all.clone()));
    assert!(Arc::ptr_eq(&get_renderer(), &all));
    for cx in [plain(), plain(), plain().renderer(logs("its own"))] {
        let cx = cx.build().expect("a context");
        cx.scope(|_| warns.call(ours.module()))
            .expect("a warning stops nothing");
    }
    get_renderer()(&[Diagnostic::new(Severity::Note, "", "asked for")]);
    override_renderer(None);
    assert!(!Arc::ptr_eq(&get_renderer(), &later));
    check("r154", &log.text());
}

/// FIX. An error of a pass names pass, function and location, once, also through Sequentials.
///
/// TVM: only errors with a location are extended, and then only name the pass.
#[test]
fn r155_error_names_pass_and_function_once() {
    rule!(|s| {
        let inner = seq([fails_on_other()]).name("Inner");
        s.run(cx(), [pass("First"), inner])
    })
    .plugins()
    .fix_message("r155");
    // A renderer that fails hides no error, and doesn't fail the pass.
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let cx = || ours.builder().renderer(|_| panic!("no paper"));
    for warns in [warns_then_fails(), emits(Severity::Warning)] {
        let (cx, warns) = (
            cx().build().expect("a context"),
            ours.pass(warns).expect("a pass"),
        );
        let done = ours.scope(&cx, |ours| ours.call(&warns, ours.module()));
        ours.note(format!("done: {}", done.is_ok()));
        ours.log_failure(done);
    }
    check("r155.2", &log.text());
}
