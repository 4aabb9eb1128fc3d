//! Reduction of a model to the ops on which a pipeline still fails.
//!
//! First, large steps find the ops around the failure (`window`). Delta debugging follows, from coarse to fine, until
//! nothing can be removed: functions, results, ops (the results of a removed op become parameters, and values that only
//! it used become results), ops that an operand can replace, attributes, data. A candidate has to be valid IR. The
//! pipeline runs on it, and it is accepted if the failure is the same: the same pass fails in the same way, or the
//! caller's check finds the candidate good and the pipeline's result bad. The order of steps is fixed, so a model
//! always reduces to the same result.

mod ddmin;
mod ops;
mod stages;
mod target;
mod window;

use std::time::{Duration, Instant};

use passdock_ir::Module;
use serde::Serialize;

pub(crate) use ddmin::ddmin;
use passdock_core::{ErrorKind, PassError, verify};
use passdock_driver::model_file;
use passdock_driver::oracle::Oracle;
use passdock_driver::pipeline::Trials;
use passdock_driver::reproducer::Failure;
use target::Target;

/// The limits of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct ReduceOptions {
    /// The maximum number of pipeline runs.
    pub max_runs: usize,
    /// The maximum time.
    pub max_time: Option<Duration>,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            max_runs: 2000,
            max_time: None,
        }
    }
}

/// A change that made the model smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReduceStep {
    /// A description of the change.
    pub change: String,
    /// The number of remaining ops.
    pub ops: usize,
    /// The number of pipeline runs so far.
    pub runs: usize,
}

/// The result of a reduction.
#[derive(Clone, Debug, Serialize)]
pub struct Reduction {
    /// The smallest model that fails.
    #[serde(skip)]
    pub module: Module,
    /// The number of ops of the original model.
    pub ops_before: usize,
    /// The number of ops of the smallest model.
    pub ops_after: usize,
    /// The number of pipeline runs.
    pub runs: usize,
    /// Whether the result is minimal; otherwise a limit ended the reduction.
    pub minimal: bool,
    /// The failure of the smallest model; `None` if the check's verdict was used instead.
    pub failure: Option<Failure>,
    /// The changes, in order.
    pub steps: Vec<ReduceStep>,
}

/// Reduces a module on which a pipeline fails. Without a check, a pass has to fail. `log` receives each change.
///
/// # Errors
/// If the pipeline can't be built, if nothing fails for the original module, or if the check fails.
pub fn reduce(
    trials: &mut dyn Trials,
    module: &Module,
    check: Option<Box<Oracle<'_>>>,
    options: ReduceOptions,
    log: &mut dyn FnMut(&ReduceStep),
) -> Result<Reduction, PassError> {
    // Spans of a file have no meaning in a part of the graph.
    let detached = passdock_onnx::detach(module);
    let module = detached.map_err(|error| model_file::unusable(ErrorKind::Read, error))?;
    let mut target = Target::new(trials, &module, check)?;
    let typed = trials.typed(&module);
    let mut reducer = Reducer {
        best: module.clone(),
        test: &mut |candidate| target.has(trials, candidate),
        runs: 0,
        options,
        start: Instant::now(),
        steps: Vec::new(),
        log,
    };
    let minimal = match stages::all(&mut reducer, typed) {
        Ok(()) => true,
        Err(Stop::Budget) => false,
        Err(Stop::Failed(error)) => return Err(error),
    };
    let Reducer {
        best, runs, steps, ..
    } = reducer;
    Ok(Reduction {
        ops_before: module.op_count(),
        ops_after: best.op_count(),
        module: stages::compacted(best),
        runs,
        minimal,
        failure: target.into_failure(),
        steps,
    })
}

/// The state of a reduction: the smallest module so far, the test, and the limits.
struct Reducer<'r> {
    best: Module,
    test: &'r mut dyn FnMut(&Module) -> Result<bool, PassError>,
    runs: usize,
    options: ReduceOptions,
    start: Instant,
    steps: Vec<ReduceStep>,
    log: &'r mut dyn FnMut(&ReduceStep),
}

/// The reason why a reduction ends early.
enum Stop {
    /// A limit was reached.
    Budget,
    /// The check failed.
    Failed(PassError),
}

impl Reducer<'_> {
    /// Tests a candidate, and accepts it if the failure is the same. Returns whether it was accepted.
    fn offer(&mut self, candidate: Module, change: impl FnOnce() -> String) -> Result<bool, Stop> {
        if verify::all(&candidate).is_err() {
            return Ok(false);
        }
        let is_late = |limit: Duration| self.start.elapsed() >= limit;
        if self.runs >= self.options.max_runs || self.options.max_time.is_some_and(is_late) {
            return Err(Stop::Budget);
        }
        self.runs += 1;
        if !(self.test)(&candidate).map_err(Stop::Failed)? {
            return Ok(false);
        }
        let step = ReduceStep {
            change: change(),
            ops: candidate.op_count(),
            runs: self.runs,
        };
        (self.log)(&step);
        self.steps.push(step);
        self.best = candidate;
        Ok(true)
    }

    /// Finds a minimal subset of `all` that has to be kept. `without` builds the candidate with only that subset from
    /// the best module.
    fn minimize<T: Clone>(
        &mut self,
        all: Vec<T>,
        what: &str,
        without: impl Fn(&Module, &[T]) -> Option<Module>,
    ) -> Result<(), Stop> {
        if all.is_empty() {
            return Ok(());
        }
        let base = self.best.clone();
        let total = all.len();
        let mut test = |kept: &[T]| match without(&base, kept) {
            // Nothing was removed.
            Some(candidate) if candidate.is_same(&self.best) => Ok(false),
            Some(candidate) => {
                self.offer(candidate, || format!("{} of {total} {what}", kept.len()))
            }
            None => Ok(false),
        };
        if !test(&[])? {
            ddmin(all, &mut test)?;
        }
        Ok(())
    }
}
