//! What each pass did, as a report tells it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use passdock_ir::Module;
use passdock_loader::loading_time;
use serde::{Deserialize, Serialize};

use crate::instrument::Sink;
use crate::pass::{Pass, PassRef};
use crate::util;

/// What became of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassStatus {
    /// It ran and changed the module.
    Changed,
    /// It ran and changed nothing.
    Unchanged,
    /// It didn't run.
    Skipped,
    /// It failed.
    Failed,
}

impl PassStatus {
    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            PassStatus::Changed => "changed",
            PassStatus::Unchanged => "unchanged",
            PassStatus::Skipped => "skipped",
            PassStatus::Failed => "failed",
        }
    }
}

/// One run of a pass, or why there was none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassRecord {
    /// The pass.
    pub name: String,
    /// The plugin that gives it.
    pub plugin: Option<String>,
    /// The plugin's file.
    pub file: Option<String>,
    /// The Sequential that it is in, if it isn't the pipeline itself.
    pub parent: Option<String>,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// What became of it.
    pub status: PassStatus,
    /// Why it was skipped or failed; else empty.
    pub reason: String,
    /// How long it took, the verifier included; without what instruments took, and without the
    /// loading of plugins.
    pub seconds: f64,
    /// Ops of the module before it.
    pub ops_before: usize,
    /// Ops of the module after it.
    pub ops_after: usize,
}

impl PassRecord {
    /// A record of a pass that hasn't run.
    pub(crate) fn new(pass: &dyn Pass, parent: Option<&str>, requested_by: Option<&str>) -> Self {
        let provider = pass.provider();
        PassRecord {
            name: pass.info().name.clone(),
            plugin: provider.map(|p| p.plugin.clone()),
            file: provider.and_then(|p| p.file()),
            parent: parent.map(str::to_owned),
            requested_by: requested_by.map(str::to_owned),
            status: PassStatus::Skipped,
            reason: String::new(),
            seconds: 0.0,
            ops_before: 0,
            ops_after: 0,
        }
    }
}

/// What is called at the start of each pass, for progress.
pub type OnPass = dyn Fn(&str) + Send + Sync;

/// Who follows a run while it goes on.
#[derive(Default)]
pub struct Watch {
    /// Called with the name of each pass that starts.
    pub on_pass: Option<Box<OnPass>>,
    /// Where the text of instruments goes that show something while passes run; `None`: standard
    /// output, or standard error if the request says so.
    pub sink: Option<Sink>,
}

/// Keeps what each pass did, in the order in which they started.
#[derive(Default)]
pub struct Recorder {
    records: Mutex<Vec<PassRecord>>,
    on_pass: Option<Box<OnPass>>,
    /// The modules around each pass, if somebody asked for them.
    kept: Option<Mutex<Vec<PassRun>>>,
    /// Nanoseconds that instruments took.
    watching: AtomicU64,
}

/// When a pass started.
#[derive(Clone, Copy)]
pub struct PassStart {
    at: Instant,
    /// What was spent by then on anything but passes.
    aside: Duration,
}

/// A run of a pass that isn't a Sequential, with the module before and after it.
#[derive(Clone)]
pub struct PassRun {
    /// The pass, with its options.
    pub pass: PassRef,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The module that it was given.
    pub before: Module,
    /// The module that it made; the same if it changed nothing.
    pub after: Module,
}

impl Recorder {
    /// A recorder that keeps records only, and tells `on_pass` of each pass that starts.
    pub fn new(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            on_pass,
            ..Recorder::default()
        }
    }

    /// One that keeps the modules around each pass, too: clones of pointers.
    pub fn keeping(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            kept: Some(Mutex::default()),
            ..Recorder::new(on_pass)
        }
    }

    /// The passes that changed the module, without Sequentials, each once, in order.
    pub fn changing(&self) -> Vec<String> {
        let records = util::lock(&self.records);
        let changing = records
            .iter()
            .filter(|record| record.status == PassStatus::Changed);
        let mut names: Vec<String> = Vec::new();
        for PassRecord { name, .. } in changing {
            let is_sequential = records
                .iter()
                .any(|inner| inner.parent.as_ref() == Some(name));
            if !is_sequential && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// A pass that isn't a Sequential ran.
    pub(crate) fn keep(&self, run: impl FnOnce() -> PassRun) {
        if let Some(kept) = &self.kept {
            util::lock(kept).push(run());
        }
    }

    /// The runs that were kept.
    pub fn take_runs(&self) -> Vec<PassRun> {
        let kept = self.kept.as_ref();
        kept.map_or_else(Vec::new, |kept| std::mem::take(&mut util::lock(kept)))
    }

    /// A pass starts now.
    pub fn now(&self) -> PassStart {
        PassStart {
            at: Instant::now(),
            aside: self.aside(),
        }
    }

    /// How long passes ran since then.
    pub fn seconds_since(&self, start: PassStart) -> f64 {
        let aside = self.aside().saturating_sub(start.aside);
        start.at.elapsed().saturating_sub(aside).as_secs_f64()
    }

    fn aside(&self) -> Duration {
        let watching = self.watching.load(Ordering::Relaxed);
        Duration::from_nanos(watching) + loading_time()
    }

    /// Runs callbacks of instruments, whose time isn't the pass's.
    pub fn watching<T>(&self, callbacks: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = callbacks();
        let nanos = start.elapsed().as_nanos() as u64;
        self.watching.fetch_add(nanos, Ordering::Relaxed);
        result
    }

    /// A pass starts; answers where its record will stand.
    pub fn start(&self, record: PassRecord) -> usize {
        if let Some(on_pass) = &self.on_pass {
            on_pass(&record.name);
        }
        let mut records = util::lock(&self.records);
        records.push(record);
        records.len() - 1
    }

    /// Completes a record.
    pub fn update(&self, at: usize, change: impl FnOnce(&mut PassRecord)) {
        if let Some(record) = util::lock(&self.records).get_mut(at) {
            change(record);
        }
    }

    /// What was kept.
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

    /// Takes its time to refuse.
    extern "C" fn load(_: *const abi::Host) -> *const abi::Plugin {
        sleep(LONG);
        std::ptr::null()
    }

    #[test]
    fn the_time_of_a_pass_is_its_own() {
        let registry = Registry::new();
        let manifest = b"[plugin]\n\
            name = 'slow'\nversion = '1.0.0'\nabi = '0.1'\nmin_host = '0.1'\nir = '0.1'\n\
            panic = 'unwind'\n[[pass]]\nname = 'slow.transform.Slow'\nkind = 'module'\n\0";
        let entry = load;
        registry
            .load_static(sdk::StaticPlugin { entry, manifest })
            .unwrap();
        let recorder = Arc::new(Recorder::default());
        let timing = Arc::new(PassTimingInstrument::new());
        let context = PassContext::builder()
            .registry(&registry)
            .instrument(Slow)
            .shared_instrument(timing.clone())
            .recorder(recorder.clone());
        let pass = create_module_pass(PassInfo::new("pass"), |m, cx| {
            // It can't be loaded.
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
        let pass = &timed["tree"][3];
        assert_eq!(pass["name"], "slow.transform.Slow");
        assert!(
            pass["seconds"].as_f64() < Some(LONG.as_secs_f64()),
            "{timed}"
        );
    }
}
