//! The passes that a pass runs, by their names: each as a direct child of a Sequential, after those that it
//! requires, but that no enable rule keeps it from running.

use std::sync::Mutex;

use passdock_ir::Module;

use super::Run;
use super::done::Done;
use crate::boundary::Rewrites;
use crate::context::{PassContext, RunsPasses};
use crate::error::PassError;
use crate::pass::Pass;
use crate::plan;
use crate::util;
use crate::verify::{self, Verify};

/// The run of a pass, while it may run others.
pub(super) struct Inner<'r, 'c> {
    outer: &'r Run<'c>,
    pass: &'r dyn Pass,
    /// The module that the pass was given.
    input: &'r Module,
    /// What is known since the pass ran another one.
    known: Mutex<Option<Known>>,
}

/// What is known of a module that a pass ran others on.
#[derive(Clone)]
struct Known {
    /// The module that the last of them left.
    module: Module,
    done: Done,
}

impl<'r, 'c> Inner<'r, 'c> {
    /// The run of a pass on a module.
    pub(super) fn new(outer: &'r Run<'c>, pass: &'r dyn Pass, input: &'r Module) -> Self {
        Inner {
            outer,
            pass,
            input,
            known: Mutex::new(None),
        }
    }

    /// The names of the passes and Sequentials around the pass, outermost first.
    pub(super) fn around(&self) -> &[String] {
        &self.outer.parents
    }

    /// What is known before the pass runs another one: nothing of the passes that ran counts if it
    /// changed the module since.
    fn known(&self, module: &Module) -> Known {
        let known = util::lock(&self.known).clone();
        let known = known.unwrap_or_else(|| Known {
            module: self.input.clone(),
            done: self.outer.done.clone(),
        });
        match known.module.is_same(module) {
            true => known,
            false => Known {
                module: module.clone(),
                done: Done::default(),
            },
        }
    }

    fn run(&self, cx: &PassContext, module: &Module, name: &str) -> Result<Module, PassError> {
        let pass = cx.registry().get_pass(name)?;
        let Known { done, .. } = self.known(module);
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
            done,
            parents,
            depth: self.outer.depth.max(1),
            is_inner: true,
            rewrites: Rewrites::default(),
        };
        let after = run.sequence(&plan, module)?;
        *util::lock(&self.known) = Some(Known {
            module: after.clone(),
            done: run.done,
        });
        Ok(after)
    }
}

impl RunsPasses for Inner<'_, '_> {
    fn run_pass(&self, cx: &PassContext, module: &Module, name: &str) -> Result<Module, PassError> {
        self.run(cx, module, name).map_err(|mut error| {
            // Not a wrong request of the user's: the pass that asked for the other one has failed.
            error.is_inner = error.kind.exit_status() == 2;
            // It is also the one to run again.
            error.site = None;
            error
        })
    }
}
