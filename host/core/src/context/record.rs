//! Records of passes, for reports.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use passdock_ir::Module;
use passdock_loader::loading_time;
use serde::{Deserialize, Serialize};

use crate::boundary::Rewrites;
use crate::pass::PassRef;
use crate::util;

/// The result of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassStatus {
    /// The pass ran and changed the module.
    Changed,
    /// The pass ran and changed nothing.
    Unchanged,
    /// The pass didn't run.
    #[default]
    Skipped,
    /// The pass failed.
    Failed,
}

impl PassStatus {
    /// Returns the status as spelled in reports.
    pub fn name(self) -> &'static str {
        match self {
            PassStatus::Changed => "changed",
            PassStatus::Unchanged => "unchanged",
            PassStatus::Skipped => "skipped",
            PassStatus::Failed => "failed",
        }
    }
}

/// The record of a pass that ran or was skipped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassRecord {
    /// The pass's name.
    pub name: String,
    /// The name of the pass's plugin.
    pub plugin: Option<String>,
    /// The path of the plugin's file, or of the rules file.
    pub file: Option<String>,
    /// The Sequential that contains the pass, unless it is the pipeline itself, or the pass that ran it.
    pub parent: Option<String>,
    /// The nesting depth: the number of Sequentials around the pass except the pipeline itself, and of passes that run
    /// each other.
    pub depth: u32,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The result of the pass.
    pub status: PassStatus,
    /// The reason why the pass was skipped or failed, otherwise empty.
    pub reason: String,
    /// The time of the pass in seconds. It includes the passes that it ran and the verifier, but not instruments and
    /// the loading of plugins.
    pub seconds: f64,
    /// The number of ops in the module before the pass.
    pub ops_before: usize,
    /// The number of ops in the module after the pass.
    pub ops_after: usize,
    /// The number of rewrites by rule. Empty for a pass that failed.
    #[serde(skip_serializing_if = "Rewrites::is_empty", default)]
    pub rewrites: Rewrites,
    /// The changes by a pass that didn't change the number of ops: counts by name, as in
    /// [`Function::differences`](passdock_ir::Function::differences).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub changes: BTreeMap<String, usize>,
    #[serde(skip)]
    pub(crate) is_sequential: bool,
}

impl PassRecord {
    /// The reason why a required pass is skipped if it ran before.
    pub const RAN_BEFORE: &'static str = "it ran before, and nothing changed since";
}

/// A function that is called with the name of each pass that starts, to show progress.
pub type OnPass = dyn Fn(&str) + Send + Sync;

/// A recorder of passes, in the order in which they started.
#[derive(Default)]
pub struct Recorder {
    records: Mutex<Vec<PassRecord>>,
    on_pass: Option<Box<OnPass>>,
    /// The modules around each pass, if they are recorded.
    runs: Option<Mutex<Vec<PassRun>>>,
    /// The passes that changed each function, by the function's name.
    changed: Mutex<BTreeMap<String, Vec<String>>>,
    /// The time spent in instruments, in nanoseconds.
    watching: AtomicU64,
}

/// The start of a pass, for measuring its time.
#[derive(Clone, Copy)]
pub struct PassStart {
    at: Instant,
    /// The time spent on instruments and on loading plugins before the pass.
    aside: Duration,
}

/// One run of a pass that isn't a Sequential, with the module before and after it.
#[derive(Clone)]
pub struct PassRun {
    /// The pass, with its options.
    pub pass: PassRef,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The module before the pass.
    pub before: Module,
    /// The module after the pass, the same one if nothing changed.
    pub after: Module,
}

impl Recorder {
    /// Creates a recorder of records only, which calls `on_pass` for each pass that starts.
    pub fn new(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            on_pass,
            ..Recorder::default()
        }
    }

    /// Creates a recorder that also stores the modules around each pass, which copies only pointers.
    pub fn keeping(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            runs: Some(Mutex::default()),
            ..Recorder::new(on_pass)
        }
    }

    /// Returns the names of the passes that changed the module except Sequentials, without duplicates, in order.
    pub fn changing(&self) -> Vec<String> {
        self.names(|record| record.status == PassStatus::Changed)
    }

    /// Returns the names of the passes from files that ran, without duplicates, in order.
    pub fn foreign(&self) -> Vec<String> {
        let has_run = |status| matches!(status, PassStatus::Changed | PassStatus::Unchanged);
        self.names(|record| record.file.is_some() && has_run(record.status))
    }

    /// Returns the names of the passes with matching records except Sequentials, without duplicates, in order.
    fn names(&self, predicate: impl Fn(&PassRecord) -> bool) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for record in util::lock(&self.records).iter() {
            if !record.is_sequential && predicate(record) && !names.contains(&record.name) {
                names.push(record.name.clone());
            }
        }
        names
    }

    /// Returns the names of the passes that changed a function, without duplicates, ordered by their last change.
    pub fn changing_function(&self, name: &str) -> Vec<String> {
        let changed = util::lock(&self.changed);
        changed.get(name).cloned().unwrap_or_default()
    }

    /// Records which functions a pass that isn't a Sequential changed or added.
    pub(crate) fn note_changes(&self, pass: &str, before: &Module, after: &Module) {
        let mut changed = util::lock(&self.changed);
        for (name, function, _) in after.changed_since(before) {
            let passes = changed.entry(function.text(name).to_owned()).or_default();
            passes.retain(|other| other != pass);
            passes.push(pass.to_owned());
        }
    }

    /// Records a run of a pass that isn't a Sequential, if modules are recorded.
    pub(crate) fn keep(&self, run: impl FnOnce() -> PassRun) {
        if let Some(runs) = &self.runs {
            util::lock(runs).push(run());
        }
    }

    /// Takes the recorded runs.
    pub fn take_runs(&self) -> Vec<PassRun> {
        let runs = self.runs.as_ref();
        runs.map_or_else(Vec::new, |runs| std::mem::take(&mut util::lock(runs)))
    }

    /// Returns the start time for a pass that starts now.
    pub fn now(&self) -> PassStart {
        PassStart {
            at: Instant::now(),
            aside: self.aside(),
        }
    }

    /// Returns the time that a pass took since its start, in seconds.
    pub fn seconds_since(&self, start: PassStart) -> f64 {
        let aside = self.aside().saturating_sub(start.aside);
        start.at.elapsed().saturating_sub(aside).as_secs_f64()
    }

    fn aside(&self) -> Duration {
        let watching = self.watching.load(Ordering::Relaxed);
        Duration::from_nanos(watching) + loading_time()
    }

    /// Runs callbacks of instruments, whose time doesn't count as the pass's.
    pub fn watching<T>(&self, callbacks: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = callbacks();
        let nanos = start.elapsed().as_nanos() as u64;
        self.watching.fetch_add(nanos, Ordering::Relaxed);
        result
    }

    /// Adds the record of a pass that starts, and returns the record's index.
    pub fn start(&self, record: PassRecord) -> usize {
        if let Some(on_pass) = &self.on_pass {
            on_pass(&record.name);
        }
        let mut records = util::lock(&self.records);
        records.push(record);
        records.len() - 1
    }

    /// Changes the record at an index.
    pub fn update(&self, at: usize, change: impl FnOnce(&mut PassRecord)) {
        if let Some(record) = util::lock(&self.records).get_mut(at) {
            change(record);
        }
    }

    /// Takes the records.
    pub fn take(&self) -> Vec<PassRecord> {
        std::mem::take(&mut util::lock(&self.records))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::sleep;

    use passdock_abi as abi;
    use passdock_plugin_api as sdk;

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::PassTimingInstrument;
    use crate::instrument::{InstrumentResult, PassCall, PassInstrument};
    use crate::pass::{PassInfo, Sequential, create_module_pass};
    use crate::registry::Registry;

    const LONG: Duration = Duration::from_millis(200);

    struct Slow;

    impl PassInstrument for Slow {
        fn name(&self) -> &str {
            "slow"
        }

        fn run_before_pass(&self, _: &PassCall<'_>) -> InstrumentResult {
            sleep(LONG);
            Ok(())
        }
    }

    /// Rejects the host after a delay.
    extern "C" fn load(_: *const abi::Host, _: *mut abi::Attach) -> *const abi::Plugin {
        sleep(LONG);
        std::ptr::null()
    }

    #[test]
    #[allow(unsafe_code, reason = "an entry of the test's own")]
    fn pass_time_excludes_instruments_and_loading() {
        let registry = Registry::new();
        let manifest = b"[plugin]\n\
            name = 'slow'\nversion = '1.0.0'\nabi = '1.0'\nmin_host = '1.0'\nir = '1.0'\n\
            panic = 'unwind'\n[[pass]]\nname = 'slow.transform.Slow'\nkind = 'module'\n\0";
        // SAFETY: by the plugin ABI, an entry point may reject every host.
        let plugin = unsafe { sdk::StaticPlugin::new(load, manifest) };
        registry.load_static(plugin).unwrap();
        let recorder = Arc::new(Recorder::default());
        let timing = Arc::new(PassTimingInstrument::new());
        let context = PassContext::builder()
            .registry(&registry)
            .instrument(Slow)
            .shared_instrument(timing.clone())
            .recorder(recorder.clone());
        let pass = create_module_pass(PassInfo::new("pass"), |m, cx| {
            // The plugin can't be loaded.
            let _ = m.run_pass(cx, "slow.transform.Slow");
            Ok(())
        });
        let inner = Sequential::new([pass]).name("inner").into_pass();
        let start = Instant::now();
        let all = Sequential::new([inner]);
        let ran = context.build().unwrap().scope(|_| {
            all.call(Module::new())?;
            Ok::<_, crate::PassError>(timing.report_data().unwrap())
        });
        let timed = ran.unwrap();
        assert!(start.elapsed() >= LONG * 3);
        for record in recorder.take() {
            assert!(record.seconds < LONG.as_secs_f64(), "{record:?}");
        }
        let pass = &timed["tree"][2];
        assert_eq!(pass["name"], "pass");
        assert!(
            pass["seconds"].as_f64() < Some(LONG.as_secs_f64()),
            "{timed}"
        );
    }
}
