//! Shrinking a model to the ops on which a pipeline still goes wrong.
//!
//! First the ops around the failure are looked for (`window`). Then delta debugging, from coarse to fine and until
//! nothing more can be removed: functions, results, ops (the results of a removed op become parameters, and values that
//! only it used become results), ops that an operand can replace, attributes, data. A candidate has to be valid IR;
//! then the pipeline runs on it, and it is taken if the same goes wrong: the same pass fails in the same way, or the
//! caller's check calls the candidate good and the pipeline's result bad. The order is fixed, so that the same model
//! gives the same result.

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
use passdock_driver::judge::Judge;
use passdock_driver::model_file;
use passdock_driver::pipeline::Trials;
use passdock_driver::reproducer::Failure;
use target::Target;

/// The limits of reducing.
#[derive(Clone, Copy, Debug)]
pub struct ReduceOptions {
    /// Runs of the pipeline, at most.
    pub max_checks: usize,
    /// Time, at most.
    pub max_time: Option<Duration>,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            max_checks: 2000,
            max_time: None,
        }
    }
}

/// A change that the model got smaller by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReduceStep {
    /// The change, in words.
    pub change: String,
    /// Ops that are left.
    pub ops: usize,
    /// The number of runs of the pipeline by then.
    pub checks: usize,
}

/// The result of shrinking a model.
#[derive(Clone, Debug, Serialize)]
pub struct Reduction {
    /// The smallest model that was found.
    #[serde(skip)]
    pub module: Module,
    /// Ops of the model that was given.
    pub ops_before: usize,
    /// Ops of the smallest one.
    pub ops_after: usize,
    /// The number of runs of the pipeline.
    pub checks: usize,
    /// Whether it ended because nothing can be removed, and not because of a limit.
    pub minimal: bool,
    /// The failure that was kept; `None`: the check's verdict was.
    pub failure: Option<Failure>,
    /// The changes, in order.
    pub steps: Vec<ReduceStep>,
}

/// Shrinks a module on which a pipeline goes wrong. Without a check, a pass has to fail. `log` receives each change.
///
/// # Errors
/// If the pipeline can't be built; if nothing goes wrong with the module as it is; and those of the
/// check.
pub fn reduce(
    trials: &mut dyn Trials,
    module: &Module,
    check: Option<Box<Judge<'_>>>,
    options: ReduceOptions,
    log: &mut dyn FnMut(&ReduceStep),
) -> Result<Reduction, PassError> {
    // A span of a file means nothing to half of a graph.
    let detached = passdock_onnx::detach(module);
    let module = detached.map_err(|error| model_file::unusable(ErrorKind::Read, error))?;
    let mut target = Target::new(trials, &module, check)?;
    let typed = trials.typed(&module);
    let mut reducer = Reducer {
        best: module.clone(),
        test: &mut |candidate| target.has(trials, candidate),
        checks: 0,
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
        best,
        checks,
        steps,
        ..
    } = reducer;
    Ok(Reduction {
        ops_before: module.op_count(),
        ops_after: best.op_count(),
        module: stages::compacted(best),
        checks,
        minimal,
        failure: target.into_failure(),
        steps,
    })
}

/// The smallest module so far, and what decides on the next.
struct Reducer<'r> {
    best: Module,
    test: &'r mut dyn FnMut(&Module) -> Result<bool, PassError>,
    checks: usize,
    options: ReduceOptions,
    start: Instant,
    steps: Vec<ReduceStep>,
    log: &'r mut dyn FnMut(&ReduceStep),
}

/// The reason why reducing ends early.
enum Stop {
    /// The limits are reached.
    Budget,
    /// The check can't be made.
    Failed(PassError),
}

impl Reducer<'_> {
    /// Takes a candidate if the same goes wrong with it.
    fn offer(&mut self, candidate: Module, change: impl FnOnce() -> String) -> Result<bool, Stop> {
        if verify::all(&candidate).is_err() {
            return Ok(false);
        }
        let is_late = |limit: Duration| self.start.elapsed() >= limit;
        if self.checks >= self.options.max_checks || self.options.max_time.is_some_and(is_late) {
            return Err(Stop::Budget);
        }
        self.checks += 1;
        if !(self.test)(&candidate).map_err(Stop::Failed)? {
            return Ok(false);
        }
        let step = ReduceStep {
            change: change(),
            ops: candidate.op_count(),
            checks: self.checks,
        };
        (self.log)(&step);
        self.steps.push(step);
        self.best = candidate;
        Ok(true)
    }

    /// Finds the fewest of `all` that have to be kept: `without` builds the candidate in which only
    /// some are left, from the best module.
    fn keep_fewest<T: Clone>(
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
            // Nothing could go.
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
