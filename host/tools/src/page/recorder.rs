//! The instrument `page`, which records the data of the HTML report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::diff;
use passdock_core::instrument::Entries;
use passdock_core::sdk;
use passdock_core::{
    Frame, InstrumentResult, InstrumentSpec, PassCall, PassContext, PassError, PassInstrument,
    terminal, util,
};
use passdock_driver::pipeline::counted_kinds;
use passdock_ir::Module;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lineage::Lineage;
use super::picture::{DrawnFunction, OpHistory, draw};

/// The instrument's name.
pub const NAME: &str = "html-report";

/// The maximum number of diff lines of a pass, and of all passes.
const MAX_LINES: usize = 1_500;
const MAX_ALL_LINES: usize = 12_000;
/// The maximum length of a line, in characters.
const MAX_WIDTH: usize = 400;

sdk::options! {
    /// The options of `page`.
    struct PageOptions {
        /// The file that the HTML report is written to after the run.
        file: String,
    }
}

/// Returns the instrument `html-report`, for a registry.
///
/// The instrument only records. The program writes the report, so a run whose process crashed has one, too.
pub fn instrument() -> InstrumentSpec {
    let summary = "Records the changes of each pass for the HTML report of `--html-report`.";
    InstrumentSpec::new(NAME, summary, |options: PageOptions, setup| {
        let file = setup.new_file(NAME, "file", &options.file)?;
        Ok(Arc::new(PageRecorder {
            file,
            state: Mutex::default(),
            entries: Entries::default(),
        }))
    })
    .watching()
    .paths(["file"])
}

/// The data that the instrument reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The file that the HTML report is written to.
    pub file: PathBuf,
    /// The passes that ran, in the order in which they started.
    pub passes: Vec<PassTrail>,
    /// The plugins that those passes come from.
    pub plugins: Vec<PluginRelease>,
    /// The ops by kind before the first pass and after the last.
    pub kinds: BTreeMap<String, [usize; 2]>,
    /// The bytes of constants before the first pass and after the last.
    pub constant_bytes: [u64; 2],
    /// The module before the first pass.
    pub before: Vec<DrawnFunction>,
    /// The module after the last pass, or before the one that failed.
    pub after: Vec<DrawnFunction>,
}

/// The effect of one run of a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassTrail {
    /// The pass's name.
    pub name: String,
    /// The differences of op counts, by kind.
    pub kinds: BTreeMap<String, i64>,
    /// The number of ops that the pass created. An op that it changed isn't counted.
    pub made: usize,
    /// The number of ops that the pass changed.
    pub changed: usize,
    /// The number of ops that the pass removed.
    pub removed: usize,
    /// The changes of the IR text, as a unified diff.
    pub diff: String,
    /// The number of lines of the diff that were omitted.
    pub left_out: usize,
}

/// A plugin and its version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginRelease {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The plugin's file, or a note that it is built into the program.
    pub from: String,
}

struct PageRecorder {
    file: PathBuf,
    state: Mutex<State>,
    entries: Entries,
}

#[derive(Default)]
struct State {
    /// The first module and the most recent one.
    modules: Option<[Module; 2]>,
    lineage: Lineage,
    passes: Vec<PassTrail>,
    /// The indices of the running passes, innermost last.
    running: Vec<usize>,
    plugins: BTreeSet<String>,
    lines: usize,
}

impl PageRecorder {
    /// Records the module after a pass, and ends the pass.
    fn end(&self, call: &PassCall<'_>) -> InstrumentResult {
        let mut state = util::lock(&self.state);
        let seen = state.see(call.module);
        state.running.pop();
        Ok(seen?)
    }
}

impl PassInstrument for PageRecorder {
    fn name(&self) -> &str {
        NAME
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            *util::lock(&self.state) = State::default();
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let mut state = util::lock(&self.state);
        // Changes up to here belong to the pass around this one.
        state.see(call.module)?;
        let number = state.passes.len();
        state.passes.push(PassTrail {
            name: call.info.name.clone(),
            ..PassTrail::default()
        });
        state.running.push(number);
        let plugin = call.provider.map(|provider| provider.plugin.clone());
        state.plugins.extend(plugin);
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.end(call)
    }

    fn pass_failed(&self, call: &PassCall<'_>, _: &PassError) -> InstrumentResult {
        // A failed pass changes nothing: this records that the changes of inner passes were undone.
        self.end(call)
    }

    fn report(&self) -> Option<String> {
        Some(self.file.display().to_string())
    }

    fn report_data(&self) -> Option<Value> {
        let registry = PassContext::current().registry().plugins();
        let mut state = util::lock(&self.state);
        let release = |name: &String| {
            let plugin = registry.iter().find(|plugin| plugin.name() == name)?;
            Some(PluginRelease {
                name: name.clone(),
                version: plugin.manifest().plugin.version.clone(),
                from: plugin.origin().to_string(),
            })
        };
        let plugins = state.plugins.iter().filter_map(release).collect();
        let mut recorded = state.recorded();
        (recorded.file, recorded.plugins) = (self.file.clone(), plugins);
        serde_json::to_value(recorded).ok()
    }
}

impl State {
    /// Records the current module. Changes since the last one are attributed to the innermost running pass.
    fn see(&mut self, module: &Module) -> Result<(), PassError> {
        let Some([_, last]) = &mut self.modules else {
            self.modules = Some([module.clone(), module.clone()]);
            self.lineage = Lineage::new(module);
            return Ok(());
        };
        let before = std::mem::replace(last, module.clone());
        if before.is_same(module) {
            return Ok(());
        }
        let Some(&number) = self.running.last() else {
            return Ok(());
        };
        let text = diff::unified(&before, module);
        let count = text.lines().count();
        let shown = count.min(MAX_LINES).min(MAX_ALL_LINES - self.lines);
        let lines = text.lines().take(shown);
        self.lines += shown;
        let trail = &mut self.passes[number];
        self.lineage.step(number as u32, trail, &before, module)?;
        let lines = lines.map(|line| terminal::shortened(line.to_owned(), MAX_WIDTH) + "\n");
        trail.diff.extend(lines);
        trail.left_out += count - shown;
        for (sign, module) in [(-1, &before), (1, module)] {
            for (kind, count) in counted_kinds(module) {
                *trail.kinds.entry(kind).or_default() += sign * count as i64;
            }
        }
        trail.kinds.retain(|_, count| *count != 0);
        Ok(())
    }

    fn recorded(&mut self) -> Recorded {
        let mut recorded = Recorded {
            passes: self.passes.clone(),
            ..Recorded::default()
        };
        let Some([first, last]) = &self.modules else {
            return recorded;
        };
        for (at, module) in [first, last].into_iter().enumerate() {
            for (kind, count) in counted_kinds(module) {
                recorded.kinds.entry(kind).or_default()[at] = count;
            }
            recorded.constant_bytes[at] = constant_bytes(module);
        }
        let histories = self.lineage.first_histories();
        recorded.before = draw(first, |f, op| {
            let histories = histories.get(f.text(f.name()));
            let history = histories.and_then(|histories| histories.get(&op));
            history.cloned().unwrap_or_else(OpHistory::default)
        });
        recorded.after = draw(last, |f, op| self.lineage.last_history(f, op));
        recorded
    }
}

fn constant_bytes(module: &Module) -> u64 {
    let constants = module.functions().flat_map(|f| {
        let constants = f.live_constants();
        constants.map(|(id, _)| f.constant_data(id).len())
    });
    constants.sum()
}
