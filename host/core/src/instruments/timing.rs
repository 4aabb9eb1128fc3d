//! How long each pass takes, as a tree: a pass that runs others stands above them.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Mutex;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use passdock_ir::Module;

use crate::error::PassError;
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;
use crate::util;

/// Times each pass. Ask for the result before the context is left: leaving it forgets.
#[derive(Default)]
pub struct PassTimingInstrument(Mutex<State>);

#[derive(Default)]
struct State {
    /// The passes' names, one after the other: no allocation for each.
    names: String,
    /// In the order in which they started.
    passes: Vec<Timed>,
    /// The pass that runs on each thread.
    running: Vec<(ThreadId, usize)>,
}

struct Timed {
    /// In `names`.
    name: Range<usize>,
    parent: Option<usize>,
    depth: usize,
    start: Instant,
    total: Duration,
    /// The part of `total` that passes inside it took.
    inside: Duration,
    failed: bool,
}

impl PassTimingInstrument {
    /// Nothing timed yet.
    pub fn new() -> PassTimingInstrument {
        PassTimingInstrument::default()
    }

    /// One line a pass, indented by tabs: `name: TOTALus [SELFus] (P% of all; P% of parent)`. Empty
    /// if nothing was timed since the context was entered.
    pub fn render(&self) -> String {
        let state = util::lock(&self.0);
        let roots = state.passes.iter().filter(|pass| pass.parent.is_none());
        let all: Duration = roots.map(|pass| pass.total).sum();
        let mut text = String::new();
        for pass in &state.passes {
            let parent = pass.parent.map_or(all, |at| state.passes[at].total);
            // Writing to a string doesn't fail.
            let _ = writeln!(
                text,
                "{}{}: {}us [{}us] ({:.2}%; {:.2}%){}",
                "\t".repeat(pass.depth),
                &state.names[pass.name.clone()],
                pass.total.as_micros(),
                pass.total.saturating_sub(pass.inside).as_micros(),
                percent(pass.total, all),
                percent(pass.total, parent),
                if pass.failed { " failed" } else { "" },
            );
        }
        text
    }

    fn finish(&self, failed: bool) {
        let now = Instant::now();
        let mut state = util::lock(&self.0);
        let state = &mut *state;
        let thread = thread::current().id();
        let Some(slot) = state.running.iter().position(|(id, _)| *id == thread) else {
            return;
        };
        let at = state.running[slot].1;
        let pass = &mut state.passes[at];
        pass.total = now.duration_since(pass.start);
        pass.failed = failed;
        let total = pass.total;
        match pass.parent {
            Some(parent) => {
                state.passes[parent].inside += total;
                state.running[slot].1 = parent;
            }
            None => _ = state.running.swap_remove(slot),
        }
    }
}

fn percent(part: Duration, whole: Duration) -> f64 {
    match whole.is_zero() {
        true => 0.0,
        false => 100.0 * part.as_secs_f64() / whole.as_secs_f64(),
    }
}

impl PassInstrument for PassTimingInstrument {
    fn name(&self) -> &str {
        "timing"
    }

    fn enter_pass_ctx(&self) -> InstrumentResult {
        *util::lock(&self.0) = State::default();
        Ok(())
    }

    fn exit_pass_ctx(&self) -> InstrumentResult {
        *util::lock(&self.0) = State::default();
        Ok(())
    }

    fn run_before_pass(&self, _module: &Module, info: &PassInfo) -> InstrumentResult {
        let mut state = util::lock(&self.0);
        let state = &mut *state;
        let at = state.passes.len();
        let start = state.names.len();
        state.names.push_str(&info.name);
        let thread = thread::current().id();
        let running = state.running.iter_mut().find(|(id, _)| *id == thread);
        let parent = match running {
            Some((_, running)) => Some(std::mem::replace(running, at)),
            None => {
                state.running.push((thread, at));
                None
            }
        };
        state.passes.push(Timed {
            name: start..state.names.len(),
            parent,
            depth: parent.map_or(0, |parent| state.passes[parent].depth + 1),
            start: Instant::now(),
            total: Duration::ZERO,
            inside: Duration::ZERO,
            failed: false,
        });
        Ok(())
    }

    fn run_after_pass(&self, _module: &Module, _info: &PassInfo) -> InstrumentResult {
        self.finish(false);
        Ok(())
    }

    fn pass_failed(&self, _module: &Module, _info: &PassInfo, _error: &PassError) {
        self.finish(true);
    }

    fn report(&self) -> Option<String> {
        Some(self.render()).filter(|text| !text.is_empty())
    }
}
