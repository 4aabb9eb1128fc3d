//! Records of the run: what became of each pass, and how long it took.

use passdock_ir::Module;

use super::{Outcome, Run};
use crate::boundary::Rewrites;
use crate::context::{PassRecord, PassRun, PassStart, PassStatus};
use crate::error::{ErrorKind, PassError};
use crate::instrument::InstrumentRef;
use crate::plan::Step;

impl Run<'_> {
    /// Calls instruments, if there are any; their time isn't the pass's.
    pub(super) fn watching<T>(&self, list: &[InstrumentRef], callbacks: impl FnOnce() -> T) -> T {
        match self.cx.recorder() {
            Some(recorder) if !list.is_empty() => recorder.watching(callbacks),
            _ => callbacks(),
        }
    }

    pub(super) fn record_start(&self, step: &Step, module: &Module) -> Option<(usize, PassStart)> {
        let recorder = self.cx.recorder()?;
        let record = self.record(step, module);
        Some((recorder.start(record), recorder.now()))
    }

    pub(super) fn record_end(
        &self,
        record: Option<(usize, PassStart)>,
        step: &Step,
        before: &Module,
        result: &Result<Outcome, PassError>,
        rewrites: Rewrites,
    ) {
        let (Some((at, start)), Some(recorder)) = (record, self.cx.recorder()) else {
            return;
        };
        let seconds = recorder.seconds_since(start);
        // A pass that runs others is told of as a whole.
        if let (Ok(Outcome::Ran(after)), None, false) = (result, &step.plan, self.is_inner) {
            recorder.keep(|| PassRun {
                pass: step.pass.clone(),
                requested_by: step.requested_by.clone(),
                before: before.clone(),
                after: after.clone(),
            });
        }
        let ops_after = match result {
            Ok(Outcome::Ran(after)) if !after.is_same(before) => Some(after.op_count()),
            _ => None,
        };
        if let (Ok(Outcome::Ran(after)), Some(_), None) = (result, ops_after, &step.plan) {
            recorder.note_changes(&step.pass.info().name, before, after);
        }
        recorder.update(at, |record| {
            record.seconds = seconds;
            record.ops_after = ops_after.unwrap_or(record.ops_before);
            if let (Ok(Outcome::Ran(_)), None) = (result, &step.plan) {
                record.rewrites = rewrites;
            }
            (record.status, record.reason) = match (result, ops_after) {
                (Err(error), _) if error.kind == ErrorKind::Diagnostics => {
                    (PassStatus::Failed, "it emitted errors".to_owned())
                }
                (Err(error), _) => (PassStatus::Failed, error.message.clone()),
                (Ok(Outcome::Ran(_)), Some(_)) => (PassStatus::Changed, String::new()),
                (Ok(Outcome::Ran(_)), None) => (PassStatus::Unchanged, String::new()),
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

    fn record(&self, step: &Step, module: &Module) -> PassRecord {
        let ops = module.op_count();
        PassRecord::new(
            &*step.pass,
            &self.parents,
            step.requested_by.as_deref(),
            ops,
        )
    }
}
