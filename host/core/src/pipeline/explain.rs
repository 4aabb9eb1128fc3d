//! What a pipeline would run, and why or why not; nothing runs.

use serde::{Deserialize, Serialize};

use super::build::{self, Built};
use super::request::Request;
use crate::context::PassContext;
use crate::error::PassError;
use crate::resolve::{self, Child, Plan, Step};
use crate::sequential::Sequential;

/// A pipeline's passes in execution order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The passes.
    pub passes: Vec<Explained>,
}

/// A pass at its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Its registered name.
    pub name: String,
    /// The name of the plugin that gives it.
    pub plugin: Option<String>,
    /// The plugin's file.
    pub file: Option<String>,
    /// The pass that required it; `None`: the pipeline lists it.
    pub requested_by: Option<String>,
    /// The nested Sequential that it is part of.
    pub parent: Option<String>,
    /// Whether it would run.
    pub runs: bool,
    /// Which rule says so.
    pub reason: String,
}

/// Says what a request would run. No model is read; plugins that would be needed are loaded only by
/// [`check`].
pub fn explain(request: &Request) -> Result<Explanation, PassError> {
    let Built {
        sequential,
        context,
    } = build::build(request)?;
    explain_in(&sequential, &context.build()?)
}

/// Says what a Sequential would run under a context.
pub(crate) fn explain_in(
    sequential: &Sequential,
    context: &PassContext,
) -> Result<Explanation, PassError> {
    let plan = resolve::resolve(sequential, context)?;
    let mut explanation = Explanation::default();
    explanation.plan(&plan, None);
    Ok(explanation)
}

/// Says whether a request is right, down to the plugins that it needs: they are loaded. Nothing
/// runs.
pub fn check(request: &Request) -> Result<(), PassError> {
    let Built {
        sequential,
        context,
    } = build::build(request)?;
    crate::run::prepare(&sequential, &context.build()?)
}

impl Explanation {
    fn plan(&mut self, plan: &Plan, parent: Option<&str>) {
        for child in &plan.children {
            for step in &child.required {
                self.step(step, parent, None);
            }
            self.step(&child.step, parent, Some(child));
        }
    }

    fn step(&mut self, step: &Step, parent: Option<&str>, child: Option<&Child>) {
        let info = step.pass.info();
        let provider = step.pass.provider();
        let skipped = child.and_then(|child| child.skipped.clone());
        let runs = skipped.is_none();
        let reason = skipped.unwrap_or_else(|| match &step.requested_by {
            Some(by) => format!("`{by}` requires it, unless nothing changed since it last ran"),
            None if step.forced => "the context requires it".to_owned(),
            None => format!("its level {} isn't above the context's", info.opt_level),
        });
        self.passes.push(Explained {
            name: info.name.clone(),
            plugin: provider.map(|provider| provider.plugin.clone()),
            file: provider.and_then(|provider| provider.file()),
            requested_by: step.requested_by.clone(),
            parent: parent.map(str::to_owned),
            runs,
            reason,
        });
        if let (true, Some(plan)) = (runs, &step.plan) {
            self.plan(plan, Some(&info.name));
        }
    }
}
