//! Records of the run: status and time of each pass.

use std::collections::BTreeMap;

use passdock_ir::Module;

use super::{Outcome, Run};
use crate::context::{PassRecord, PassRun, PassStart, PassStatus, Recorder};
use crate::error::{ErrorKind, PassError};
use crate::plan::Step;

/// The record of a pass that started: its recorder, its index and its start time.
type Started<'r> = (&'r Recorder, usize, PassStart);

impl Run<'_> {
    pub(super) fn record_start<'r>(
        &self,
        recorder: &'r Recorder,
        step: &Step,
        module: &Module,
    ) -> Started<'r> {
        let at = recorder.start(self.record(step, module));
        (recorder, at, recorder.now())
    }

    pub(super) fn record_end(
        &self,
        (recorder, at, start): Started<'_>,
        step: &Step,
        before: &Module,
        result: &Result<Outcome, PassError>,
    ) {
        let seconds = recorder.seconds_since(start);
        let is_leaf = step.plan.is_none();
        let (mut ops_after, mut differences) = (None, BTreeMap::new());
        if let Ok(Outcome::Ran(after, _)) = result {
            // A pass that runs others is recorded as a whole.
            if is_leaf && !self.is_inner {
                recorder.keep(|| PassRun {
                    pass: step.pass.clone(),
                    requested_by: step.requested_by.clone(),
                    before: before.clone(),
                    after: after.clone(),
                });
            }
            if !after.is_same(before) {
                ops_after = Some(after.op_count());
                if is_leaf {
                    recorder.note_changes(&step.pass.info().name, before, after);
                }
                if ops_after == Some(before.op_count()) {
                    differences = changes(before, after);
                }
            }
        }
        recorder.update(at, |record| {
            record.changes = differences;
            record.seconds = seconds;
            record.ops_after = ops_after.unwrap_or(record.ops_before);
            if let (Ok(Outcome::Ran(_, rewrites)), true) = (result, is_leaf) {
                record.rewrites.clone_from(rewrites);
            }
            (record.status, record.reason) = match (result, ops_after) {
                (Err(error), _) if error.kind == ErrorKind::Diagnostics => (
                    PassStatus::Failed,
                    "it emitted error diagnostics".to_owned(),
                ),
                (Err(error), _) => (PassStatus::Failed, error.message.clone()),
                (Ok(Outcome::Ran(..)), Some(_)) => (PassStatus::Changed, String::new()),
                (Ok(Outcome::Ran(..)), None) => (PassStatus::Unchanged, String::new()),
                (Ok(Outcome::Vetoed(by)), _) => (PassStatus::Skipped, by.clone()),
            };
        });
    }

    pub(super) fn record_skip(&self, step: &Step, reason: &str, module: &Module) {
        if let Some(recorder) = self.cx.recorder() {
            let mut record = self.record(step, module);
            record.reason = reason.to_owned();
            recorder.start(record);
        }
    }

    /// Creates the record of a pass that hasn't run yet.
    fn record(&self, step: &Step, module: &Module) -> PassRecord {
        let (pass, ops) = (&*step.pass, module.op_count());
        let provider = pass.provider();
        PassRecord {
            name: pass.info().name.clone(),
            plugin: provider.map(|p| p.plugin.clone()),
            file: match pass.rules() {
                Some(rules) => Some(rules.name().to_owned()),
                None => provider.and_then(|p| p.file()),
            },
            parent: self.parents.last().cloned(),
            depth: self.parents.len() as u32,
            requested_by: step.requested_by.clone(),
            ops_before: ops,
            ops_after: ops,
            is_sequential: pass.as_sequential().is_some(),
            ..PassRecord::default()
        }
    }
}

/// Counts the differences between the functions of two modules, by the name of the difference.
fn changes(before: &Module, after: &Module) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for (_, function, before) in after.changed_since(before) {
        let counts = before.and_then(|before| function.differences(before));
        for (what, count) in counts.into_iter().flatten() {
            *all.entry(what.to_owned()).or_default() += count;
        }
    }
    all
}
