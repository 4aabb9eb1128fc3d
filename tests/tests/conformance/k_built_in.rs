//! K. Instruments that come with the host.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use passdock::instruments::{
    DumpIr, PassFilter, PassMemory, PassTimingInstrument, PrintIr, Sink, WellFormed, print_ir,
};
use passdock::{
    ContextBuilder, Module, PassContext, PassInfo, PassInstrument, Verify, create_module_pass,
};
use passdock_ir::text;
use passdock_plugin_api::FunctionKind;

use crate::ours::{Failure, Passdock, Way};
use crate::rule::{by_hand, check};
use crate::system::{Body, Log, Spec, System, changes, fails, full, pass, seq};
use crate::tvm::{Profile, thrown};

/// Returns passdock with the instruments that `add` adds to a context.
fn watched(add: impl FnOnce(ContextBuilder) -> ContextBuilder) -> (Log, Passdock, PassContext) {
    let log = Log::default();
    let ours = Passdock::new(&log, Way::Host);
    let cx = add(ours.builder()).build().expect("a context");
    (log, ours, cx)
}

/// Calls a pass, and logs a failure.
fn call(ours: &Passdock, spec: Spec<Passdock>) {
    let pass = ours.pass(spec).expect("a pass");
    ours.log_failure(ours.call(&pass, ours.module()));
}

/// Returns the output of instruments while a pass is called.
fn output_of(
    add: impl FnOnce(ContextBuilder, Sink) -> ContextBuilder,
    spec: Spec<Passdock>,
) -> String {
    let log = Log::default();
    let out = log.clone();
    let sink: Sink = Arc::new(move |text| out.add(text.trim_end_matches('\n')));
    let (_, ours, cx) = watched(|cx| add(cx, sink));
    ours.log_failure(ours.scope(&cx, |ours| {
        call(ours, spec);
        Ok(())
    }));
    log.text()
}

/// Replaces all numbers.
fn numberless(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' | '.' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out.replace("t.transform.", "")
}

/// Returns the output of timing after these calls.
fn timed(calls: impl FnOnce(&Passdock), disabled: &str) -> String {
    let timing = Arc::new(PassTimingInstrument::new());
    let shared = timing.clone();
    let (_, ours, cx) = watched(|cx| cx.shared_instrument(shared).disabled_pass([disabled]));
    let mut shown = String::new();
    let done = ours.scope(&cx, |ours| {
        calls(ours);
        shown = numberless(&timing.render());
        Ok(())
    });
    done.expect("the names are known");
    // Rule 130.
    assert_eq!(timing.render(), "", "afterwards there is nothing");
    shown
}

/// KEEP. Timing is a tree with a line for each pass: tabs for its depth, its total time, its own
/// time, and its share of the whole and of the parent pass.
#[test]
fn r129_timing_is_a_tree() {
    let inner = || seq([pass("First"), pass("Leaf")]).name("Inner");
    let shown = timed(
        |ours| call(ours, seq([inner(), changes(), pass("Last")])),
        &full("Last"),
    );
    check("r129", &shown);
    let mut tvm = Profile::default();
    tvm.enter("sequential");
    tvm.enter("Inner");
    for name in ["First", "Leaf"] {
        tvm.enter(name);
        tvm.exit();
    }
    tvm.exit();
    tvm.enter("Changes");
    tvm.exit();
    tvm.exit();
    assert_eq!(tvm.render().ok(), Some(shown), "TVM's format");
}

/// KEEP. Timing is read before the context is left; afterwards it is empty.
#[test]
fn r130_timing_is_rendered_before_the_context_is_left() {
    let timing = Arc::new(PassTimingInstrument::new());
    let shared = timing.clone();
    let (_, ours, cx) = watched(|cx| cx.shared_instrument(shared));
    let before = timing.render();
    let done = ours.scope(&cx, |ours| {
        call(ours, pass("Leaf"));
        Ok(numberless(&timing.render()))
    });
    let texts = [before, done.expect("it works"), timing.render()];
    expect![[r#"["", "Leaf: #us [#us] (#%; #%)\n", ""]"#]].assert_eq(&format!("{texts:?}"));
}

/// KEEP. Passes that are vetoed or disabled don't appear.
#[test]
fn r131_only_passes_that_ran_appear() {
    let shown = timed(
        |ours| {
            call(
                ours,
                seq([pass("First"), pass("Leaf").opt_level(3), pass("Last")]),
            )
        },
        &full("Last"),
    );
    check("r131", &shown);
}

/// FIX. A failed pass is closed and marked, and the next one is recorded normally.
///
/// TVM: nothing can be rendered any more.
#[test]
fn r132_failed_pass_is_closed_and_marked() {
    let shown = timed(
        |ours| {
            call(ours, seq([pass("First"), fails()]));
            call(ours, pass("Leaf"));
        },
        &full("First"),
    );
    let mut tvm = Profile::default();
    tvm.enter("sequential");
    tvm.enter("Fails");
    tvm.enter("Leaf");
    tvm.exit();
    by_hand(shown, tvm.render().expect_err("it is lost")).fix("r132");
}

/// FIX. Each instrument keeps its own record.
///
/// TVM: there is one for the thread, which a nested context clears.
#[test]
fn r133_each_timing_instrument_has_its_own_record() {
    let (outer, inner) = <(Arc<PassTimingInstrument>, Arc<PassTimingInstrument>)>::default();
    let shared = outer.clone();
    let (_, ours, cx) = watched(|cx| cx.shared_instrument(shared));
    let shared = inner.clone();
    let nested = ours
        .builder()
        .shared_instrument(shared)
        .build()
        .expect("a context");
    let shown = ours.scope(&cx, |ours| {
        call(ours, pass("First"));
        let within = ours.scope(&nested, |ours| {
            call(ours, pass("Leaf"));
            Ok(inner.render())
        })?;
        Ok(numberless(&format!("{within}\n{}", outer.render())))
    });
    let mut tvm = Profile::default();
    tvm.enter("First");
    tvm.exit();
    tvm.enter("Leaf");
    tvm.exit();
    let within = tvm.render().expect("no pass runs");
    tvm.clear();
    let theirs = format!("{within}\n{}", tvm.render().expect("no pass runs"));
    by_hand(shown.expect("it works"), theirs).fix("r133");
}

/// KEEP. The memory of each pass can be measured.
#[test]
fn r134_memory_of_each_pass() {
    let memory = Arc::new(PassMemory::new());
    let shared = memory.clone();
    let (_, ours, cx) = watched(|cx| cx.shared_instrument(shared));
    let shown = ours.scope(&cx, |ours| {
        call(ours, seq([pass("First"), changes()]));
        Ok(memory.report().unwrap_or_default())
    });
    let shown = shown.expect("it works").replace("t.transform.", "");
    // Units and signs depend on the machine, too.
    let lines = shown.lines().map(|line| {
        let cells = line.split("  ").map(str::trim);
        let cells = cells.filter(|cell| !cell.is_empty());
        cells.map(measured).collect::<Vec<_>>().join(" | ")
    });
    check("r134", &lines.collect::<Vec<_>>().join("\n"));
}

/// Returns a cell of a table; `#` for an amount of memory or an unmeasured one.
fn measured(cell: &str) -> &str {
    let is_amount = |cell: &str| {
        cell.trim_start_matches(['+', '-'])
            .starts_with(char::is_numeric)
    };
    match is_amount(cell) || cell == "not measured" {
        true => "#",
        false => cell,
    }
}

/// KEEP. Printing before and after all passes prints a line that names the pass, then the module.
#[test]
fn r135_print_before_and_after_all() {
    let output = output_of(
        |cx, sink| cx.instrument(PrintIr::new(PassFilter::All, PassFilter::All, sink)),
        changes(),
    );
    check("r135", &without_modules(&output));
}

/// Replaces the text of the scenarios' input module, and of that module after `Changes`.
fn without_modules(output: &str) -> String {
    let ours = Passdock::new(&Log::default(), Way::Host);
    let changes = ours.pass(changes()).expect("a pass");
    let changed = ours.call(&changes, ours.module()).expect("it works");
    let text = |module: &Module| text::print(module).trim_end().to_owned();
    output
        .replace(&text(&ours.module()), "MODULE")
        .replace(&text(&changed), "MODULE with count = 1")
}

/// FIX. Printing before and after named passes compares complete names.
///
/// TVM: a string instead of a list matches every pass whose name is a part of it.
#[test]
fn r136_print_around_named_passes() {
    let only = |name: &str| PassFilter::These(vec![full(name)]);
    let output = output_of(
        |cx, sink| cx.instrument(PrintIr::new(only("Leaf"), only("NeedsLeaf"), sink)),
        seq([pass("Leaf"), pass("NeedsLeaf")]),
    );
    let heads = output.lines().filter(|line| line.starts_with("Print IR"));
    let heads: Vec<&str> = heads.collect();
    // `pass_info.name in before_names`
    let (before, after) = ("Leaf", "NeedsLeaf");
    let tvm = ["Leaf", "NeedsLeaf"].map(|name| {
        let printed = |names: &str, when: &str| match names.contains(name) {
            true => format!("Print IR {when}: {name}\n"),
            false => String::new(),
        };
        printed(before, "before") + &printed(after, "after")
    });
    by_hand(heads.join("\n"), tvm.concat().trim_end()).fix("r136");
}

/// Lists the files that dumps of these passes, each called alone, write to a directory.
fn dumped<const N: usize>(dir: &Path, refresh: bool, passes: [Spec<Passdock>; N]) -> String {
    let dump = DumpIr::new(dir.to_owned());
    let dump = if refresh { dump.refresh() } else { dump };
    let (_, ours, cx) = watched(|cx| cx.instrument(dump));
    let done = ours.scope(&cx, |ours| {
        passes.into_iter().for_each(|pass| call(ours, pass));
        Ok(())
    });
    done.expect("the context is left");
    let entries = dir.read_dir().expect("it was made").flatten();
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .replace("t.transform.", "")
        })
        .collect();
    names.sort();
    names.join(" ")
}

fn odd_name() -> Spec<Passdock> {
    let keeps = |_: &Passdock, _: &PassContext, module| Ok(module);
    let mut spec = pass("c:d/e");
    spec.body = Body::Runs(Arc::new(keeps));
    spec
}

/// KEEP. Dumps are numbered, counting failed passes too, and named after their passes.
#[test]
fn r137_dumps_are_numbered_and_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let files = dumped(
        &dir.path().join("ir"),
        false,
        [pass("Leaf"), fails(), odd_name()],
    );
    expect!["000_Leaf.ir 002_c_d_e.ir"].assert_eq(&files);
}

/// KEEP. A directory of dumps is emptied before it is used again, if it contains nothing but dumps.
#[test]
fn r138_only_dumps_are_deleted() {
    let dir = tempfile::tempdir().expect("a directory");
    let ir = dir.path().join("ir");
    let first = dumped(&ir, true, [pass("Leaf"), changes()]);
    let refreshed = dumped(&ir, true, [pass("First")]);
    std::fs::write(ir.join("mine.txt"), "").expect("a file");
    let kept = dumped(&ir, true, [pass("Last")]);
    check("r138", &[first, refreshed, kept].join("\n"));
}

/// FIX. The verifier as an instrument names the pass and the invariant that it broke.
///
/// TVM: a bare assertion.
#[test]
fn r139_verifier_names_pass_and_invariant() {
    // A function without a terminator; without the instrument, it isn't verified.
    let breaks = create_module_pass(PassInfo::new(full("Breaks")), |module, _| {
        module.create("unfinished", FunctionKind::GRAPH, None)?;
        Ok(())
    });
    let (_, ours, cx) = watched(|cx| cx.instrument(WellFormed::new()).verify(Verify::Off));
    let broken = ours.scope(&cx, |ours| ours.call(&breaks, ours.module()));
    let error: Failure = broken.map(drop).expect_err("it is broken");
    let tvm = thrown("AssertionError", "");
    by_hand(error.to_string().replace("t.transform.", ""), tvm).fix("r139");
}

/// KEEP. The pass PrintIR can be anywhere in a pipeline; it prints the module under a header and
/// changes nothing.
#[test]
fn r140_print_ir_runs_anywhere() {
    let out = Log::default();
    let printed = out.clone();
    let sink: Sink = Arc::new(move |text| printed.add(text.trim_end()));
    let ours = Passdock::new(&Log::default(), Way::Host);
    let print = print_ir("here", sink);
    out.add(format!("{:?}", ours.info(&print)));
    let all = ours
        .pass(seq([changes(), crate::system::spec_of(&print)]))
        .expect("passes");
    let before = ours.module();
    let after = ours.call(&print, before.clone()).expect("it works");
    out.add(format!("the same: {}", ours.same(&before, &after)));
    ours.call(&all, before).expect("it works");
    check("r140", &without_modules(&out.text()));
}
