//! The first run of a pipeline that goes wrong: what bisecting and reducing begin with.

use passdock_core::{FailureSite, PassError, PassRun, Registry};
use passdock_driver::pipeline::{Request, Rerun};
use passdock_ir::Module;

/// A pipeline that ran once and can run again.
pub(crate) struct FirstRun {
    pub(crate) rerun: Rerun,
    /// The runs of its passes, in order.
    pub(crate) runs: Vec<PassRun>,
    /// The module that it made, or the pass that failed.
    pub(crate) end: Result<Module, FailedPass>,
}

/// The failure of a pass, and what it takes to run into it again.
pub(crate) struct FailedPass {
    pub(crate) error: PassError,
    pub(crate) site: FailureSite,
}

impl FirstRun {
    /// Builds a request's pipeline and runs it.
    ///
    /// # Errors
    /// If the pipeline can't be built, or ends with an error that isn't a pass's.
    pub(crate) fn new(
        registry: &Registry,
        request: &Request,
        module: &Module,
    ) -> Result<FirstRun, PassError> {
        let rerun = Rerun::new(registry, request)?;
        let (result, runs) = rerun.run_kept(module.clone());
        let end = match result {
            Ok(module) => Ok(module),
            Err(error) => match error.site().cloned() {
                Some(site) if error.exit_status() == 1 => Err(FailedPass { error, site }),
                _ => return Err(error),
            },
        };
        Ok(FirstRun { rerun, runs, end })
    }
}
