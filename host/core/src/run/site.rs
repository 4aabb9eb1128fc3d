//! Failure sites: the context, module and passes that repeat a failure. Only pointers are copied, and only after a
//! failure.

use std::fmt;
use std::sync::Arc;

use passdock_ir::Module;

use crate::context::PassContext;
use crate::error::PassError;
use crate::pass::{PassRef, Sequential};
use crate::plan::{Child, Step};

/// The site of a failure: the module before the failed pass, and the remaining passes.
#[derive(Clone)]
pub struct FailureSite {
    /// The context that the passes ran under.
    pub context: PassContext,
    /// The module before the pass.
    pub before: Module,
    /// The failed pass, followed by the passes after it. The passes that the first one requires have run.
    pub passes: Vec<PassRef>,
}

impl fmt::Debug for FailureSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.passes).finish()
    }
}

impl PassError {
    /// Returns the site of the failure, if a pass of a Sequential failed.
    pub fn site(&self) -> Option<&FailureSite> {
        self.site.as_deref()?.downcast_ref()
    }

    /// Sets the site of the failure.
    pub fn set_site(&mut self, site: FailureSite) {
        self.site = Some(Arc::new(site));
    }

    /// Removes the site. Its module and its context are dropped, with plugin-owned data, unless they are shared.
    pub fn forget_site(&mut self) {
        self.site = None;
    }
}

/// Adds the site of a failed pass to an error. For a failed Sequential, it is the site of the nested pass.
pub(super) fn at(
    mut error: PassError,
    step: &Step,
    before: &Module,
    context: &PassContext,
) -> PassError {
    // For a pass that runs others, the failure is repeated by running that pass.
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

/// Adds a site with all passes of a Sequential to an error that doesn't come from a child, such as an instrument's
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
