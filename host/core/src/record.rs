//! What each pass did, as a report tells it.

use std::sync::Mutex;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use crate::instruments::Sink;
use crate::pass::{Pass, PassRef};
use crate::resolve::Step;
use crate::util;

/// What became of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It ran and changed the module.
    Changed,
    /// It ran and changed nothing.
    Unchanged,
    /// It didn't run.
    Skipped,
    /// It failed.
    Failed,
}

impl Status {
    /// As reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Changed => "changed",
            Status::Unchanged => "unchanged",
            Status::Skipped => "skipped",
            Status::Failed => "failed",
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
    pub status: Status,
    /// Why it was skipped or failed; else empty.
    pub reason: String,
    /// How long it took.
    pub seconds: f64,
    /// Ops of the module before it.
    pub ops_before: usize,
    /// Ops of the module after it.
    pub ops_after: usize,
}

impl PassRecord {
    pub(crate) fn new(pass: &dyn Pass, parent: Option<&str>, requested_by: Option<&str>) -> Self {
        let provider = pass.provider();
        PassRecord {
            name: pass.info().name.clone(),
            plugin: provider.map(|p| p.plugin.clone()),
            file: provider.and_then(|p| p.file()),
            parent: parent.map(str::to_owned),
            requested_by: requested_by.map(str::to_owned),
            status: Status::Skipped,
            reason: String::new(),
            seconds: 0.0,
            ops_before: 0,
            ops_after: 0,
        }
    }
}

/// What is called at the start of each pass, for progress.
pub(crate) type OnPass = dyn Fn(&str) + Send + Sync;

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
pub(crate) struct Recorder {
    records: Mutex<Vec<PassRecord>>,
    on_pass: Option<Box<OnPass>>,
    /// The modules around each pass, if somebody asked for them.
    kept: Option<Mutex<Vec<PassRun>>>,
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
    pub(crate) fn new(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            on_pass,
            ..Recorder::default()
        }
    }

    /// One that keeps the modules around each pass, too: clones of pointers.
    pub(crate) fn keeping(on_pass: Option<Box<OnPass>>) -> Recorder {
        Recorder {
            kept: Some(Mutex::default()),
            ..Recorder::new(on_pass)
        }
    }

    /// The passes that changed the module, without Sequentials, each once, in order.
    pub(crate) fn changing(&self) -> Vec<String> {
        let records = util::lock(&self.records);
        let changing = records
            .iter()
            .filter(|record| record.status == Status::Changed);
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
    pub(crate) fn keep(&self, step: &Step, before: &Module, after: &Module) {
        if let Some(kept) = &self.kept {
            util::lock(kept).push(PassRun {
                pass: step.pass.clone(),
                requested_by: step.requested_by.clone(),
                before: before.clone(),
                after: after.clone(),
            });
        }
    }

    /// The runs that were kept.
    pub(crate) fn take_runs(&self) -> Vec<PassRun> {
        let kept = self.kept.as_ref();
        kept.map_or_else(Vec::new, |kept| std::mem::take(&mut util::lock(kept)))
    }

    /// A pass starts; answers where its record will stand.
    pub(crate) fn start(&self, record: PassRecord) -> usize {
        if let Some(on_pass) = &self.on_pass {
            on_pass(&record.name);
        }
        let mut records = util::lock(&self.records);
        records.push(record);
        records.len() - 1
    }

    /// Completes a record.
    pub(crate) fn update(&self, at: usize, change: impl FnOnce(&mut PassRecord)) {
        if let Some(record) = util::lock(&self.records).get_mut(at) {
            change(record);
        }
    }

    /// What was kept.
    pub(crate) fn take(&self) -> Vec<PassRecord> {
        std::mem::take(&mut util::lock(&self.records))
    }
}
