//! Explanations of which passes of a pipeline would run, and why. Nothing is run.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use passdock_core::plan::{Plan, Step};
use passdock_core::{
    Diagnostic, OptionSource, Pass, PassContext, PassError, PassRef, Phase, Registry,
};

use super::remarks;
use super::report::PipelineReport;
use crate::prepare::{Phases, Prepared, Request, Watched};
use crate::trust;

/// The passes of a pipeline in execution order, followed by passes that declare a phase which the pipeline doesn't
/// have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The requested pipeline.
    #[serde(default)]
    pub pipeline: PipelineReport,
    /// The passes.
    pub passes: Vec<Explained>,
    /// The phases in the pipeline, in its order, with their passes.
    #[serde(default)]
    pub phases: Vec<PhasePasses>,
    /// Warnings about plugins.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// An entry for one pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// The registered name.
    pub name: String,
    /// The name of the plugin that provides it.
    pub plugin: Option<String>,
    /// The plugin's file, or the .rules file.
    pub file: Option<String>,
    /// The pass that requires it, or `None` if the pipeline lists it.
    pub requested_by: Option<String>,
    /// The nested Sequential that contains it.
    pub parent: Option<String>,
    /// The nesting depth of Sequentials.
    #[serde(default)]
    pub depth: u32,
    /// Whether it would run.
    pub runs: bool,
    /// The reason why it runs or doesn't.
    pub reason: String,
    /// The phase that it declares, if that is the reason why it is in the pipeline.
    #[serde(default)]
    pub phase: Option<Phase>,
    /// Whether the pipeline has an extension point for the pass.
    #[serde(default)]
    pub scheduled: bool,
    /// Whether it is a Sequential. Its children follow, one level deeper.
    #[serde(default)]
    pub sequential: bool,
    /// The options that it would get.
    #[serde(default)]
    pub options: Vec<ExplainedOption>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainedOption {
    /// The option's name.
    pub name: String,
    /// The value that the pass would get.
    pub value: toml::Value,
    /// The source of the value.
    pub source: OptionSource,
}

/// The passes of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePasses {
    /// The phase.
    pub phase: Phase,
    /// The passes that run in it.
    pub passes: Vec<String>,
}

/// Explains which passes a request would run. No model is read. Plugins aren't loaded; [`check`](super::check) loads
/// them.
///
/// # Errors
/// The first error in the request.
pub fn explain(registry: &Registry, request: &Request) -> Result<Explanation, PassError> {
    let prepared = trust::prepared(registry, request, Watched::default())?;
    let mut explanation = prepared.explain()?;
    let plugins = registry.plugins();
    let odd = plugins.iter().flat_map(|plugin| plugin.unknown_keys());
    explanation.diagnostics = odd
        .chain(remarks::level(request, &prepared))
        .chain(remarks::unscheduled(request, &prepared))
        .collect();
    Ok(explanation)
}

impl Prepared {
    /// Explains which passes would run, and why.
    ///
    /// # Errors
    /// If required passes form a cycle.
    pub fn explain(&self) -> Result<Explanation, PassError> {
        let plan = self.plan()?;
        let phases = &self.phases;
        let mut explainer = Explainer {
            context: &self.context,
            scheduled_passes: phases.scheduled_passes(),
            parents: Vec::new(),
            passes: Vec::new(),
        };
        explainer.plan(&plan);
        explainer.add_unscheduled(phases)?;
        let phase_passes = |phase: &Phase| PhasePasses {
            phase: *phase,
            passes: phases.passes(*phase).to_vec(),
        };
        Ok(Explanation {
            pipeline: PipelineReport::prepared(self),
            passes: explainer.passes,
            phases: phases.phases_in_order().iter().map(phase_passes).collect(),
            diagnostics: Vec::new(),
        })
    }
}

struct Explainer<'e> {
    context: &'e PassContext,
    /// The phases of passes that run in one.
    scheduled_passes: HashMap<&'e str, Phase>,
    /// The enclosing Sequentials.
    parents: Vec<String>,
    passes: Vec<Explained>,
}

impl Explainer<'_> {
    fn plan(&mut self, plan: &Plan) {
        for child in &plan.children {
            for step in &child.required {
                self.step(step);
            }
            match &child.skipped {
                Some(reason) => self.skipped(&child.step.pass, reason.clone()),
                None => self.step(&child.step),
            }
        }
    }

    /// Adds a pass that runs.
    fn step(&mut self, step: &Step) {
        let info = step.pass.info();
        let level = self.context.opt_level();
        let why = match step.forced {
            true => "required by the context".to_owned(),
            false => format!("level {} ≤ opt_level {level}", info.opt_level),
        };
        let phase = self.scheduled_passes.get(info.name.as_str()).copied();
        let phase = phase.filter(|_| step.requested_by.is_none());
        let reason = match (&step.requested_by, phase) {
            (Some(by), _) => {
                format!("required by `{by}`, if the module changed since its last run")
            }
            (None, Some(phase)) => format!("declares phase `{}`, {why}", phase.name()),
            (None, None) => why,
        };
        let mut explained = self.explained(&*step.pass, true, reason);
        explained.requested_by.clone_from(&step.requested_by);
        explained.phase = phase;
        self.passes.push(explained);
        if let Some(plan) = &step.plan {
            self.parents.push(info.name.clone());
            self.plan(plan);
            self.parents.pop();
        }
    }

    /// Adds a pass that doesn't run, and its children. The recursion is bounded by the nesting limit of Sequentials.
    fn skipped(&mut self, pass: &PassRef, reason: String) {
        let mut explained = self.explained(&**pass, false, reason);
        explained.phase = self.scheduled_passes.get(explained.name.as_str()).copied();
        self.passes.push(explained);
        if let Some(inner) = pass.as_sequential() {
            let name = &pass.info().name;
            self.parents.push(name.clone());
            for child in inner.passes() {
                self.skipped(child, format!("part of `{name}`, which doesn't run"));
            }
            self.parents.pop();
        }
    }

    /// Adds passes that declare a phase which the pipeline doesn't have, unless another pass requires them.
    fn add_unscheduled(&mut self, phases: &Phases) -> Result<(), PassError> {
        let here: HashSet<String> = self.passes.iter().map(|pass| pass.name.clone()).collect();
        let left = phases.unscheduled();
        for (name, phase) in left.filter(|(name, _)| !here.contains(*name)) {
            let pass = self.context.registry().get_pass(name)?;
            let offered = phase.name();
            let reason = format!("declares phase `{offered}`, which the pipeline doesn't have");
            let mut explained = self.explained(&*pass, false, reason);
            explained.phase = Some(phase);
            explained.scheduled = false;
            self.passes.push(explained);
        }
        Ok(())
    }

    fn explained(&self, pass: &dyn Pass, runs: bool, reason: String) -> Explained {
        let provider = pass.provider();
        let options = pass.option_sources(self.context.config_given()).into_iter();
        let option = |(name, (value, source))| ExplainedOption {
            name,
            value,
            source,
        };
        Explained {
            name: pass.info().name.clone(),
            plugin: provider.map(|provider| provider.plugin.clone()),
            file: match pass.rules() {
                Some(rules) => Some(rules.name().to_owned()),
                None => provider.and_then(|provider| provider.file()),
            },
            requested_by: None,
            parent: self.parents.last().cloned(),
            depth: self.parents.len() as u32,
            runs,
            reason,
            phase: None,
            scheduled: true,
            sequential: pass.as_sequential().is_some(),
            options: options.map(option).collect(),
        }
    }
}
