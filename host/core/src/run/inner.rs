//! Passes that a pass runs by name. Each runs as a direct child of a Sequential, after the passes that it requires, but
//! without the enable rule.

use std::sync::Mutex;

use passdock_ir::Module;

use super::{Done, Run};
use crate::context::PassContext;
use crate::error::PassError;
use crate::pass::Pass;
use crate::plan;
use crate::util;
use crate::verify::{self, Verify};

/// The state for running passes inside a pass.
pub(super) struct Inner<'r, 'c> {
    pub(super) outer: &'r Run<'c>,
    pub(super) pass: &'r dyn Pass,
    /// The input module of the pass.
    pub(super) input: &'r Module,
    /// The result of the last pass that this pass ran.
    pub(super) last: Mutex<Option<LastRun>>,
}

/// The result of a pass that a pass ran.
pub(super) struct LastRun {
    /// The module after the pass.
    module: Module,
    done: Done,
}

impl Inner<'_, '_> {
    /// Returns the passes that ran on this state of a module. Empty if the pass changed it after it ran another one.
    fn done(&self, module: &Module) -> Done {
        match &*util::lock(&self.last) {
            Some(last) if last.module.is_same(module) => last.done.clone(),
            None if self.input.is_same(module) => self.outer.done.clone(),
            _ => Done::default(),
        }
    }

    /// Runs a registered pass on a module.
    ///
    /// # Errors
    /// If there is no such pass, or it fails.
    pub(super) fn run_pass(
        &self,
        cx: &PassContext,
        module: &Module,
        name: &str,
    ) -> Result<Module, PassError> {
        self.run(cx, module, name).map_err(|mut error| {
            // The user's request was valid: the pass that requested the other one has failed.
            error.is_inner = error.kind.exit_status() == 2;
            // The failure is repeated by running the outer pass.
            error.site = None;
            error
        })
    }

    fn run(&self, cx: &PassContext, module: &Module, name: &str) -> Result<Module, PassError> {
        let pass = cx.registry().get_pass(name)?;
        let mut parents = self.outer.parents.clone();
        parents.push(self.pass.info().name.clone());
        let by = &self.pass.info().name;
        let where_it_is = |error: PassError| error.note(format!("`{by}` runs `{name}`"));
        let plan = plan::resolve_inner(&pass, cx, parents.clone()).map_err(where_it_is)?;
        plan.load()?;
        if cx.verify() == Verify::All {
            verify::all(module).map_err(where_it_is)?;
        }
        // The pass itself has run in part, too.
        let mut foreign = self.outer.foreign.clone();
        foreign.push(by.clone());
        let mut run = Run {
            foreign,
            cx,
            watched: self.outer.watched,
            done: self.done(module),
            parents,
            depth: self.outer.depth.max(1),
            is_inner: true,
        };
        let after = run.sequence(&plan, module)?;
        *util::lock(&self.last) = Some(LastRun {
            module: after.clone(),
            done: run.done,
        });
        Ok(after)
    }
}
