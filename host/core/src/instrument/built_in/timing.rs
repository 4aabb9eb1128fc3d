//! The `timing` instrument, which reports the time of each pass: as a tree of nested passes, as a table by name, and as
//! a trace file.

use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use passdock_diagnostic::table::{TextTable, duration, percent};
use passdock_ir::Module;
use passdock_loader::loading_time;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::trace;
use crate::error::PassError;
use crate::instrument::{
    Entries, Frame, InstrumentResult, InstrumentSpec, PassCall, PassInstrument,
};
use crate::util::{self, thread_number};
use passdock_files::Target;

passdock_plugin_api::options! {
    /// The options of `timing`.
    struct Options {
        /// The file to write a trace to, for ui.perfetto.dev or chrome://tracing.
        trace: String = "",
        /// Whether to write only the trace and report nothing.
        quiet: bool = false,
    }
}

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Reports the time of each pass, as a tree and per pass.";
    InstrumentSpec::new("timing", summary, |options: Options, setup| {
        let mut timing = PassTimingInstrument::new();
        if !options.trace.is_empty() {
            let path = setup.new_file("timing", "trace", &options.trace)?;
            timing = timing.trace(path);
        }
        Ok(Arc::new(match options.quiet {
            true => timing.quiet(),
            false => timing,
        }))
    })
    .watching()
    .paths(["trace"])
    .aliases(["PassTimingInstrument"])
}

/// An instrument that times each pass, without the loading of plugins, but with the instruments after this one in the
/// list. Get the results before the context is exited, which discards them.
#[derive(Default)]
pub struct PassTimingInstrument {
    state: Mutex<State>,
    entries: Entries,
    /// The path of the trace file.
    trace: Option<PathBuf>,
    quiet: bool,
}

#[derive(Default)]
pub(super) struct State {
    /// The time at which the context was first entered.
    start: Option<Instant>,
    /// The trace file, created at the beginning, so that an invalid path is an error before any pass runs.
    file: Option<Target>,
    /// The concatenated names of the passes, so that a pass needs no allocation.
    pub(super) names: String,
    /// The times of the passes, in the order in which they started.
    pub(super) passes: Vec<Timed>,
    /// The current pass of each thread: the thread's number, and the pass's index.
    running: Vec<(u32, usize)>,
}

/// The times of one run of a pass.
pub(super) struct Timed {
    /// The range of the name in `names`.
    pub(super) name: Range<usize>,
    parent: Option<usize>,
    depth: u32,
    pub(super) thread: u32,
    pub(super) start: Instant,
    /// The time of the pass, without the loading of plugins.
    pub(super) total: Duration,
    /// The time spent loading plugins during the pass. While the pass runs, it is the time spent before it.
    pub(super) loading: Duration,
    /// The part of `total` that nested passes took.
    inside: Duration,
    pub(super) failed: bool,
    /// The arguments of the trace event: the numbers of ops before and after the pass, the plugin, and a failure.
    pub(super) args: Option<Box<Value>>,
}

/// The times of all runs of a pass.
struct ByName<'s> {
    name: &'s str,
    calls: u32,
    /// The total time. Nested runs of the same pass aren't added to it.
    total: Duration,
    own: Duration,
}

impl PassTimingInstrument {
    /// Creates an instrument without times.
    pub fn new() -> PassTimingInstrument {
        PassTimingInstrument::default()
    }

    /// Sets a trace file, which is written when the context is exited, in the format of Chrome and Perfetto.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> PassTimingInstrument {
        self.trace = Some(path.into());
        self
    }

    /// Disables the report: only the trace is written.
    pub fn quiet(mut self) -> PassTimingInstrument {
        self.quiet = true;
        self
    }

    /// Formats the times as a tree, one line for each pass, indented by tabs:
    /// `name: TOTALus [SELFus] (P% of all; P% of parent)`. Empty if no pass was timed since the context was entered.
    pub fn render(&self) -> String {
        let state = util::lock(&self.state);
        let all = state.all();
        let mut text = String::new();
        for pass in &state.passes {
            let parent = pass.parent.map_or(all, |at| state.passes[at].total);
            // Writing to a string doesn't fail.
            let _ = writeln!(
                text,
                "{}{}: {}us [{}us] ({:.2}%; {:.2}%){}",
                "\t".repeat(pass.depth as usize),
                &state.names[pass.name.clone()],
                pass.total.as_micros(),
                pass.own().as_micros(),
                percent(pass.total, all),
                percent(pass.total, parent),
                if pass.failed { " failed" } else { "" },
            );
        }
        text
    }

    /// Formats the times by name, one line for each: the number of calls, their time with and without nested passes,
    /// the mean time, and the share of all time. The most expensive passes come first.
    pub fn render_by_name(&self) -> String {
        let state = util::lock(&self.state);
        let all = state.all();
        let mut table = TextTable::new(["pass", ">calls", ">total", ">self", ">mean", ">self %"]);
        for pass in state.by_name() {
            table.row([
                pass.name.to_owned(),
                pass.calls.to_string(),
                duration(pass.total),
                duration(pass.own),
                duration(pass.total / pass.calls.max(1)),
                format!("{:.1}", percent(pass.own, all)),
            ]);
        }
        table.render()
    }

    fn finish(&self, module: &Module, failed: bool) {
        let now = Instant::now();
        let mut state = util::lock(&self.state);
        let state = &mut *state;
        let thread = thread_number();
        let Some(slot) = state.running.iter().position(|(id, _)| *id == thread) else {
            return;
        };
        let at = state.running[slot].1;
        let pass = &mut state.passes[at];
        pass.loading = loading_time().saturating_sub(pass.loading);
        pass.total = now.duration_since(pass.start).saturating_sub(pass.loading);
        pass.failed = failed;
        if let Some(args) = &mut pass.args {
            args["ops_after"] = module.op_count().into();
            if failed {
                args["failed"] = true.into();
            }
        }
        let total = pass.total;
        match pass.parent {
            Some(parent) => {
                state.passes[parent].inside += total;
                state.running[slot].1 = parent;
            }
            None => _ = state.running.swap_remove(slot),
        }
    }

    /// Writes the trace file, and moves it to its path.
    fn write_trace(&self, state: &mut State) -> std::io::Result<()> {
        let (Some(target), Some(start)) = (state.file.take(), state.start) else {
            return Ok(());
        };
        target.write(false, |file| trace::write(file, state, start))
    }
}

impl State {
    /// Removes all times, and keeps the allocations.
    fn clear(&mut self) {
        self.file = None;
        self.names.clear();
        self.passes.clear();
        self.running.clear();
    }

    fn all(&self) -> Duration {
        let roots = self.passes.iter().filter(|pass| pass.parent.is_none());
        roots.map(|pass| pass.total).sum()
    }

    fn by_name(&self) -> Vec<ByName<'_>> {
        let mut indices: FxHashMap<&str, usize> = FxHashMap::default();
        let mut all: Vec<ByName<'_>> = Vec::new();
        for pass in &self.passes {
            let name = &self.names[pass.name.clone()];
            let at = *indices.entry(name).or_insert_with(|| {
                all.push(ByName {
                    name,
                    calls: 0,
                    total: Duration::ZERO,
                    own: Duration::ZERO,
                });
                all.len() - 1
            });
            all[at].calls += 1;
            all[at].own += pass.own();
            if !self.is_inside(pass.parent, name) {
                all[at].total += pass.total;
            }
        }
        all.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.name.cmp(b.name)));
        all
    }

    fn is_inside(&self, mut outer: Option<usize>, name: &str) -> bool {
        while let Some(at) = outer {
            if self.names[self.passes[at].name.clone()] == *name {
                return true;
            }
            outer = self.passes[at].parent;
        }
        false
    }
}

impl Timed {
    fn own(&self) -> Duration {
        self.total.saturating_sub(self.inside)
    }
}

impl PassInstrument for PassTimingInstrument {
    fn name(&self) -> &str {
        "timing"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        let mut state = util::lock(&self.state);
        if self.entries.enter() {
            state.clear();
            if let Some(path) = &self.trace {
                let target = Target::new(path).inspect_err(|_| _ = self.entries.exit());
                state.file = Some(target.map_err(|error| super::in_file(path, &error))?);
            }
            state.start = Some(Instant::now());
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        let mut state = util::lock(&self.state);
        if !self.entries.exit() {
            return Ok(());
        }
        let written = match &self.trace {
            Some(path) => self
                .write_trace(&mut state)
                .map_err(|error| super::in_file(path, &error)),
            None => Ok(()),
        };
        state.clear();
        Ok(written?)
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let mut state = util::lock(&self.state);
        let state = &mut *state;
        let at = state.passes.len();
        let start = state.names.len();
        state.names.push_str(&call.info.name);
        let thread = thread_number();
        let running = state.running.iter_mut().find(|(id, _)| *id == thread);
        let parent = match running {
            Some((_, running)) => Some(std::mem::replace(running, at)),
            None => {
                state.running.push((thread, at));
                None
            }
        };
        let args = self.trace.as_ref().map(|_| {
            let mut args = json!({ "ops_before": call.module.op_count() });
            if let Some(provider) = call.provider {
                args["plugin"] = provider.plugin.as_str().into();
            }
            Box::new(args)
        });
        state.passes.push(Timed {
            name: start..state.names.len(),
            parent,
            depth: parent.map_or(0, |parent| state.passes[parent].depth + 1),
            thread,
            start: Instant::now(),
            total: Duration::ZERO,
            loading: loading_time(),
            inside: Duration::ZERO,
            failed: false,
            args,
        });
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.finish(call.module, false);
        Ok(())
    }

    fn pass_failed(&self, call: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.finish(call.module, true);
        Ok(())
    }

    fn report(&self) -> Option<String> {
        let tree = self.render();
        (!tree.is_empty() && !self.quiet).then(|| format!("{tree}\n{}", self.render_by_name()))
    }

    fn report_data(&self) -> Option<Value> {
        let state = util::lock(&self.state);
        let tree = state.passes.iter().map(|pass| {
            json!({
                "name": &state.names[pass.name.clone()],
                "depth": pass.depth,
                "seconds": pass.total.as_secs_f64(),
                "self_seconds": pass.own().as_secs_f64(),
                "failed": pass.failed,
            })
        });
        let by_name = state.by_name();
        let passes = by_name.iter().map(|pass| {
            json!({
                "name": pass.name,
                "calls": pass.calls,
                "seconds": pass.total.as_secs_f64(),
                "self_seconds": pass.own.as_secs_f64(),
            })
        });
        Some(json!({ "tree": tree.collect::<Vec<_>>(), "passes": passes.collect::<Vec<_>>() }))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::testing::{
        failing, fuse, module, no_op, run_in, run_with, sequential, without_numbers,
    };

    #[test]
    fn report_has_a_tree_and_a_table() {
        let passes = sequential(
            "outer",
            [no_op("a"), sequential("inner", [fuse(), no_op("a")])],
        );
        let timing = Arc::new(PassTimingInstrument::new());
        let text = run_with(timing, &passes, module());
        let (tree, table) = text.split_once("\n\n").unwrap();
        expect![[r#"
            outer: #us [#us] (#%; #%)
            	a: #us [#us] (#%; #%)
            	inner: #us [#us] (#%; #%)
            		demo.transform.Fuse: #us [#us] (#%; #%)
            		a: #us [#us] (#%; #%)"#]]
        .assert_eq(&without_numbers(tree));
        let mut lines: Vec<String> = table.lines().map(without_numbers).collect();
        // The order depends on the times, which vary.
        lines.sort();
        expect![[r#"
            a  #  TIME  TIME  TIME  #
            demo.transform.Fuse  #  TIME  TIME  TIME  #
            inner  #  TIME  TIME  TIME  #
            outer  #  TIME  TIME  TIME  #
            pass  calls  total  self  mean  self %"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn recursive_pass_is_counted_once() {
        let timing = Arc::new(PassTimingInstrument::new());
        let cx = PassContext::builder().shared_instrument(timing.clone());
        let cx = cx.build().unwrap();
        cx.scope(|_| {
            let after = sequential("p", [sequential("p", [no_op("q")])]).call(module());
            let state = util::lock(&timing.state);
            let by_name = state.by_name();
            let p = by_name.iter().find(|pass| pass.name == "p").unwrap();
            assert_eq!((p.calls, p.total), (2, state.all()));
            after
        })
        .unwrap();
    }

    #[test]
    fn reentering_keeps_earlier_times() {
        let timing = Arc::new(PassTimingInstrument::new());
        let cx = PassContext::builder().shared_instrument(timing.clone());
        let cx = cx.build().unwrap();
        cx.scope(|cx| {
            no_op("a").call(module())?;
            cx.scope(|_| no_op("b").call(module()))?;
            assert_eq!(timing.render().lines().count(), 2);
            Ok::<(), PassError>(())
        })
        .unwrap();
        assert_eq!(timing.render(), "");
    }

    #[test]
    fn trace_has_chrome_format() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        let timing = || PassTimingInstrument::new().trace(&path).quiet();
        let context = PassContext::builder().instrument(timing());
        let passes = sequential("outer", [fuse(), sequential("inner", [no_op("a")])]);
        assert_eq!(
            run_in(context, &passes, module()).unwrap(),
            "",
            "it is quiet"
        );
        let trace: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let complete: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
        let shown = complete.iter().map(|event| {
            assert_eq!(event["pid"], std::process::id());
            format!("{} {} {}\n", event["name"], event["cat"], event["args"])
        });
        expect![[r#"
            "outer" "pass" {"ops_after":3,"ops_before":4}
            "demo.transform.Fuse" "pass" {"ops_after":3,"ops_before":4}
            "inner" "pass" {"ops_after":3,"ops_before":3}
            "a" "pass" {"ops_after":3,"ops_before":3}
        "#]]
        .assert_eq(&shown.collect::<String>());
        let span = |at: usize| {
            let nanos = |key: &str| (complete[at][key].as_f64().unwrap() * 1e3).round() as u64;
            nanos("ts")..nanos("ts") + nanos("dur")
        };
        for (outer, inner) in [(0, 1), (0, 2), (2, 3)] {
            let (outer, inner) = (span(outer), span(inner));
            assert!(outer.start <= inner.start && inner.end <= outer.end);
        }
        // The trace has the failed pass, too. No other files remain.
        let context = PassContext::builder().instrument(timing());
        run_in(context, &failing("p"), module()).unwrap_err();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"failed\":true"), "{text}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn unwritable_trace_is_rejected_before_the_run() {
        let timing = PassTimingInstrument::new().trace("nowhere/trace.json");
        let text = run_with(Arc::new(timing), &no_op("p"), module());
        assert!(
            text.ends_with("`nowhere/trace.json`: directory `nowhere` does not exist"),
            "{text}"
        );
    }
}
