//! Failure sites: the context, module and passes that are needed to repeat a failure. Only pointers
//! are copied, and only when a failure happens.

use std::fmt;
use std::sync::Arc;

use passdock_ir::Module;

use crate::context::PassContext;
use crate::error::PassError;
use crate::pass::{PassRef, Sequential};
use crate::plan::{Child, Step};

/// The place where a pass failed: the module before it, and the passes that were still to run.
#[derive(Clone)]
pub struct FailureSite {
    /// The context that the passes ran under.
    pub context: PassContext,
    /// The module before the pass.
    pub before: Module,
    /// The pass that failed, then those that would have followed. The passes that the first one
    /// requires have run.
    pub passes: Vec<PassRef>,
}

impl fmt::Debug for FailureSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.passes).finish()
    }
}

impl PassError {
    /// The site of the failure, if a pass of a Sequential failed.
    pub fn site(&self) -> Option<&FailureSite> {
        self.site.as_deref()?.downcast_ref()
    }

    /// Sets the site of the failure.
    pub fn set_site(&mut self, site: FailureSite) {
        self.site = Some(Arc::new(site));
    }

    /// Takes the site off: its module and its context, with what plugins own there, end here unless others hold them.
    pub fn forget_site(&mut self) {
        self.site = None;
    }
}

/// Adds the site of a failed pass to an error. The site of a failed Sequential is that of the pass
/// inside.
pub(super) fn at(
    mut error: PassError,
    step: &Step,
    before: &Module,
    context: &PassContext,
) -> PassError {
    // A pass that calls others by itself is the one to run again.
    if step.plan.is_none() || error.site.is_none() {
        error.set_site(FailureSite {
            context: context.clone(),
            before: before.clone(),
            passes: vec![step.pass.clone()],
        });
    }
    error
}

/// Adds the passes that would have run after the failed one.
pub(super) fn followed_by(mut error: PassError, children: &[Child]) -> PassError {
    if let Some(site) = error.site() {
        let mut site = site.clone();
        let enabled = children.iter().filter(|child| child.skipped.is_none());
        site.passes
            .extend(enabled.map(|child| child.step.pass.clone()));
        error.set_site(site);
    }
    error
}

/// Adds a site with all passes of a Sequential to an error that isn't a child's: an instrument's,
/// before the first pass.
pub(super) fn around(
    mut error: PassError,
    sequential: Option<&Sequential>,
    before: &Module,
    context: &PassContext,
) -> PassError {
    if let (None, Some(sequential)) = (&error.site, sequential) {
        error.set_site(FailureSite {
            context: context.clone(),
            before: before.clone(),
            passes: sequential.passes().to_vec(),
        });
    }
    error
}
