//! The check that each pass of a plan finds the states that it needs.

use std::collections::HashMap;

use passdock_diagnostic::suggest;
use passdock_loader::State;
use passdock_loader::manifest::states::KNOWN;
use serde::{Deserialize, Serialize};

use super::{Child, Held, Plan, Step, facts};
use crate::error::{ErrorKind, PassError, Provider};
use crate::pass::{Pass, check_states};
use crate::registry::Registry;

/// A state that the model itself must be in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelNeed {
    /// The first pass that needs the state.
    pub pass: String,
    /// The state.
    pub state: State,
    #[serde(skip)]
    provider: Option<Provider>,
}

/// Checks the passes in their order. Returns the states that the model must be in; an error if a
/// pass needs a state that nothing establishes, or that was broken.
pub(super) fn check(plan: &Plan, registry: &Registry) -> Result<Vec<ModelNeed>, PassError> {
    let mut walk = Walk {
        registry,
        known: HashMap::new(),
        of_model: Vec::new(),
    };
    walk.plan(plan)?;
    Ok(walk.of_model)
}

/// Checks what a pass runs, which starts with states that hold: as [`check`], but for the needs of the
/// pass itself, which whoever runs it answers for.
pub(super) fn check_inner(
    child: &Child,
    held: &Held,
    registry: &Registry,
) -> Result<Vec<ModelNeed>, PassError> {
    let mut walk = Walk {
        registry,
        known: HashMap::new(),
        of_model: Vec::new(),
    };
    for state in held.established() {
        let known = walk.known.entry(state.subject()).or_default();
        known.holds = known.holds.max(Some(state.degree()));
    }
    child.required.iter().try_for_each(|step| walk.step(step))?;
    if let Some(plan) = &child.step.plan {
        walk.plan(plan)?;
    }
    Ok(walk.of_model)
}

/// Checks that the model is in the states that it must be in.
pub(crate) fn of_model(
    needs: &[ModelNeed],
    module: &passdock_ir::Module,
    registry: &Registry,
) -> Result<(), PassError> {
    for need in needs {
        facts::check(&need.state, module).map_err(|error| {
            let help = who_establishes(&need.state, registry);
            error.help(help).in_pass(&need.pass, need.provider.as_ref())
        })?;
    }
    Ok(())
}

struct Walk<'p> {
    registry: &'p Registry,
    /// The known subjects, by name.
    known: HashMap<&'p str, Known<'p>>,
    of_model: Vec<ModelNeed>,
}

/// The knowledge about a subject of states at a place in the order.
#[derive(Clone, Copy, Default)]
struct Known<'p> {
    /// The degree to which the subject holds, if it does.
    holds: Option<u32>,
    /// The pass that broke it last.
    broken_by: Option<&'p str>,
}

impl<'p> Walk<'p> {
    fn plan(&mut self, plan: &'p Plan) -> Result<(), PassError> {
        plan.steps().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &'p Step) -> Result<(), PassError> {
        let states = step.pass.states();
        check_states(step.pass.declaration())?;
        for state in &states.needs {
            self.need(&*step.pass, state)?;
        }
        if let Some(plan) = &step.plan {
            self.plan(plan)?;
        }
        for state in &states.breaks {
            let known = self.known.entry(state.subject()).or_default();
            known.holds = None;
            known.broken_by = Some(&step.pass.info().name);
        }
        for state in &states.establishes {
            let known = self.known.entry(state.subject()).or_default();
            known.holds = known.holds.max(Some(state.degree()));
        }
        Ok(())
    }

    fn need(&mut self, pass: &'p dyn Pass, state: &'p State) -> Result<(), PassError> {
        let known = self.known.entry(state.subject()).or_default();
        if known.holds >= Some(state.degree()) {
            return Ok(());
        }
        let problem = match known.broken_by {
            Some(by) => format!("which `{by}` breaks before it"),
            None if facts::is_fact(state) => {
                // No pass before it established or broke the state, so the model must be in it.
                known.holds = Some(state.degree());
                self.of_model.push(ModelNeed {
                    pass: pass.info().name.clone(),
                    state: state.clone(),
                    provider: pass.provider().cloned(),
                });
                return Ok(());
            }
            None => "which nothing before it establishes".to_owned(),
        };
        let message = format!("The pass needs the state `{state}`, {problem}.");
        Err(PassError::new(ErrorKind::State, message)
            .help(who_establishes(state, self.registry))
            .in_pass(&pass.info().name, pass.provider()))
    }
}

/// The advice for a state that doesn't hold: the passes that establish it.
fn who_establishes(state: &State, registry: &Registry) -> String {
    let declared = registry.declarations();
    let establish = declared.iter().filter(|(_, declared)| {
        let mut established = declared.states.establishes.iter();
        established.any(|other| other.implies(state))
    });
    let passes: Vec<&str> = establish.map(|(name, _)| name.as_str()).collect();
    match passes[..] {
        [] => {}
        [pass] => return format!("`{pass}` establishes it: let it run before, or require it."),
        _ => {
            let passes = suggest::listed(passes);
            return format!("These passes establish it: {passes}; let one run before.");
        }
    }
    let known = KNOWN.iter().map(|(name, _)| (*name).to_owned());
    let named = declared
        .values()
        .flat_map(|declared| &declared.states.establishes);
    let names: Vec<String> = known.chain(named.map(State::to_string)).collect();
    let name = state.to_string();
    let others = names
        .iter()
        .map(String::as_str)
        .filter(|other| *other != name);
    match suggest::nearest(&name, others) {
        Some(near) if !names.contains(&name) => {
            format!("No registered pass establishes it. Did you mean `{near}`?")
        }
        _ => "No registered pass establishes it.".to_owned(),
    }
}
