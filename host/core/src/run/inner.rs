//! The passes that a pass runs, by their names: each as a direct child of a Sequential, after those that it
//! requires, but that no enable rule keeps it from running.

use std::sync::Mutex;

use passdock_ir::Module;

use super::{Done, Run};
use crate::context::PassContext;
use crate::error::PassError;
use crate::pass::Pass;
use crate::plan;
use crate::util;
use crate::verify::{self, Verify};

/// The run of a pass, while it may run others.
pub(super) struct Inner<'r, 'c> {
    pub(super) outer: &'r Run<'c>,
    pub(super) pass: &'r dyn Pass,
    /// The module that the pass was given.
    pub(super) input: &'r Module,
    /// The result of the last pass that the pass ran.
    pub(super) last: Mutex<Option<LastRun>>,
}

/// The result of a pass that a pass ran.
pub(super) struct LastRun {
    /// The module that it left.
    module: Module,
    done: Done,
}

impl Inner<'_, '_> {
    /// Returns the passes that ran on a module: none if the pass changed it since it ran another one.
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
            // Not a wrong request of the user's: the pass that asked for the other one has failed.
            error.is_inner = error.kind.exit_status() == 2;
            // It is also the one to run again.
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
        // The pass itself has run so far, too.
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
