//! The pass that breaks a model, found by a binary search over the modules that a pipeline computes.
//!
//! The pipeline runs once. The module after each pass is kept, at the cost of a clone of pointers, and the caller's
//! check tests some of them. The untouched module has to be good and the last one bad; the search halves the range
//! between. Delta debugging then narrows down the functions that the pass changed, while the others stay as they were
//! before. If the pass rewrites by rules, the pass runs again with fewer rewrites to find the one that breaks the
//! model.

mod functions;
pub(crate) mod rewrites;

use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use crate::search::{first_bad, require_broken};
use passdock_core::{ErrorKind, FailureSite, PassError, PassRun, Provider, Registry};
use passdock_driver::oracle::Verdict;
use passdock_driver::pipeline::{Request, Rerun};
use passdock_driver::reproducer::Failure;
pub use rewrites::BadRewrite;
use rewrites::Narrowed;

/// A module that the check tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BisectCheck {
    /// A description of the module: `after 3 of 7: relax.transform.FoldConstant`.
    pub candidate: String,
    /// The check's verdict.
    pub verdict: Verdict,
}

/// A run of a pass that may break a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// The pass.
    pub pass: String,
    /// The pass's plugin.
    pub plugin: Option<String>,
    /// The plugin's file.
    pub file: Option<String>,
    /// The pass that required it.
    pub requested_by: Option<String>,
    /// The 1-based index of the run among those that changed something.
    pub number: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Bisection {
    /// The number of passes that ran.
    pub passes_run: usize,
    /// The number of passes that changed the module.
    pub changing_passes: usize,
    /// The modules that the check tested, in order.
    pub checks: Vec<BisectCheck>,
    /// The pass that breaks the model; several if the check is inconclusive for the modules between.
    pub suspects: Vec<Suspect>,
    /// The functions whose changes break it together; empty if that is inconclusive.
    pub functions: Vec<String>,
    /// The rewrite that breaks the model, if the pass rewrites by rules and a single rewrite is responsible.
    pub rewrite: Option<BadRewrite>,
    /// The failure of the pass, if a pass failed and no search was needed.
    pub failure: Option<Failure>,
    /// The last good module, the first bad one, and the pass between, or its rewrite.
    #[serde(skip)]
    pub proof: Option<Proof>,
}

/// The modules around a pass or rewrite that breaks a model.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The module before the pass, or before the rewrite if one was found.
    pub good: Module,
    /// The module after it.
    pub bad: Module,
    /// The pass and its context, to run it again.
    pub site: FailureSite,
    /// The pass's own error, if it has one.
    pub error: Option<PassError>,
}

/// Finds the pass of a request's pipeline that breaks a module, and the functions in which it does.
/// Plugins of the request's directories are added to the registry. `log` receives each check.
///
/// # Errors
/// If the pipeline can't be built; if the module is bad before the pipeline or good after it; or if the check
/// fails.
pub fn bisect(
    registry: &Registry,
    request: &Request,
    module: Module,
    check: &mut dyn FnMut(&Module) -> Result<Verdict, PassError>,
    log: &mut dyn FnMut(&BisectCheck),
) -> Result<Bisection, PassError> {
    let rerun = Rerun::new(registry, request)?;
    let (result, mut runs) = rerun.run_recorded(module.clone());
    let passes_run = runs.len();
    runs.retain(|run| !run.after.is_same(&run.before));
    let mut bisection = Bisection {
        passes_run,
        changing_passes: runs.len(),
        ..Bisection::default()
    };
    if let Err(error) = result {
        let site = error.site().cloned().filter(|_| error.exit_status() == 1);
        let Some(site) = site else { return Err(error) };
        bisection.set_failure(error, site);
        return Ok(bisection);
    }
    let mut checks = Vec::new();
    let mut oracle = |candidate: String, module: &Module| -> Result<Verdict, PassError> {
        let verdict = check(module)?;
        let checked = BisectCheck { candidate, verdict };
        log(&checked);
        checks.push(checked);
        Ok(verdict)
    };
    let (good, bad) = first_bad_run(&module, &runs, &mut oracle)?;
    let suspects = &runs[good..bad];
    if let [run] = suspects {
        bisection.functions = functions::narrow(run, &mut oracle)?;
        let mut proof = Proof {
            good: run.before.clone(),
            bad: run.after.clone(),
            site: FailureSite {
                context: rerun.context().clone(),
                before: run.before.clone(),
                passes: vec![run.pass.clone()],
            },
            error: None,
        };
        if let Some(narrowed) = rewrites::narrow(run, rerun.context(), &mut oracle)? {
            bisection.rewrite = Some(proof.narrow(narrowed));
        }
        bisection.proof = Some(proof);
    }
    let numbered = suspects.iter().zip(good + 1..);
    let suspects = numbered.map(|(run, number)| Suspect {
        pass: run.pass.info().name.clone(),
        plugin: run.pass.provider().map(|provider| provider.plugin.clone()),
        file: run.pass.provider().and_then(Provider::file),
        requested_by: run.requested_by.clone(),
        number,
    });
    bisection.suspects = suspects.collect();
    bisection.checks = checks;
    Ok(bisection)
}

impl Bisection {
    /// Ends the search at a pass that failed.
    fn set_failure(&mut self, error: PassError, site: FailureSite) {
        let narrowed = rewrites::narrow_failed(&error, &site);
        self.failure = Some(Failure::from(&error));
        self.suspects = vec![Suspect {
            pass: error.pass.clone().unwrap_or_default(),
            plugin: error.plugin.clone(),
            file: error.file.clone(),
            requested_by: None,
            number: self.changing_passes + 1,
        }];
        self.functions = error.function.clone().into_iter().collect();
        let mut proof = Proof {
            good: site.before.clone(),
            bad: site.before.clone(),
            site,
            error: Some(error),
        };
        self.rewrite = narrowed.map(|narrowed| proof.narrow(narrowed));
        self.proof = Some(proof);
    }
}

impl Proof {
    /// Narrows the proof down to a rewrite.
    fn narrow(&mut self, narrowed: Narrowed) -> BadRewrite {
        self.site.context = narrowed.context;
        // A failing pass has no module after the rewrite.
        if let (Some((good, bad)), None) = (narrowed.around, &self.error) {
            (self.good, self.bad) = (good, bad);
        }
        if let Some(error) = &mut self.error {
            error.set_site(self.site.clone());
        }
        narrowed.rewrite
    }

    /// Returns the pass's error, or an error of kind [`ErrorKind::Check`] if the pass doesn't fail.
    pub fn error(&self) -> PassError {
        if let Some(error) = &self.error {
            return error.clone();
        }
        let message = "the pass succeeds, but the test reports its output as bad";
        let mut error = PassError::new(ErrorKind::Check, message);
        if let Some(pass) = self.site.passes.first() {
            error = error.in_pass(&pass.info().name, pass.provider());
        }
        error.set_site(self.site.clone());
        error
    }
}

/// Searches the untouched module and those after each run for the last good and the first bad one.
fn first_bad_run(
    untouched: &Module,
    runs: &[PassRun],
    oracle: &mut dyn FnMut(String, &Module) -> Result<Verdict, PassError>,
) -> Result<(usize, usize), PassError> {
    let last = runs.len();
    let before = oracle("before any pass".to_owned(), untouched)?;
    if last == 0 && before == Verdict::Good {
        let message = "no pass changes the model";
        let help = "run `passdock explain` to see which passes run";
        return Err(PassError::new(ErrorKind::Check, message).help(help));
    }
    let mut oracle = |at: usize| {
        let run = &runs[at - 1];
        let candidate = format!("after {at} of {last}: {}", run.pass.info().name);
        oracle(candidate, &run.after)
    };
    require_broken(before, || oracle(last))?;
    first_bad((0, last), &mut oracle)
}
