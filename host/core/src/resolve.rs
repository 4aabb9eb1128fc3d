//! From passes to the order in which they run: the enable rule and `required`, applied before
//! anything runs.
//!
//! What a pass requires is run before it, depth first and in declared order, once for each pass
//! that asks. A cycle, an unknown name, or a required pass that is disabled is an error here, so
//! that nothing has run yet; so is a state that a pass needs and nothing before it establishes.

use std::collections::HashSet;

use crate::context::{Enabled, PassContext};
use crate::error::{ErrorKind, PassError};
use crate::pass::{Pass, PassRef};
use crate::sequential::{MAX_DEPTH, Sequential};
use crate::states::{self, ModelNeed};

/// A Sequential's passes with everything decided that can be before they run.
pub struct Plan {
    pub children: Vec<Child>,
    /// States that the module has to be in before anything runs; the outermost plan has them all.
    pub of_model: Vec<ModelNeed>,
}

/// A direct child of a Sequential.
pub struct Child {
    pub step: Step,
    /// What must have run before it, in order; each once.
    pub required: Vec<Step>,
    /// Why it doesn't run.
    pub skipped: Option<String>,
}

/// A pass at a place in the order.
pub struct Step {
    pub pass: PassRef,
    /// The pass that requires it, if it isn't the user's own entry.
    pub requested_by: Option<String>,
    /// Whether instruments can't veto it.
    pub forced: bool,
    /// Of a Sequential.
    pub plan: Option<Plan>,
}

/// Decides what of a Sequential runs, and in which order.
pub fn resolve(sequential: &Sequential, cx: &PassContext) -> Result<Plan, PassError> {
    let mut resolver = Resolver {
        cx,
        path: Vec::new(),
    };
    let mut plan = resolver.sequence(sequential)?;
    plan.of_model = states::check(&plan, cx.registry())?;
    Ok(plan)
}

struct Resolver<'c> {
    cx: &'c PassContext,
    /// The passes that lead here: each contains, or requires, the next.
    path: Vec<String>,
}

impl Resolver<'_> {
    fn sequence(&mut self, sequential: &Sequential) -> Result<Plan, PassError> {
        sequential.check_depth()?;
        sequential.check_disabled(self.cx.registry())?;
        let disabled = sequential.disabled_in(self.cx.registry());
        let children = sequential.passes().iter().map(|pass| {
            let info = pass.info();
            info.check()?;
            let forced = match self.cx.enabled(info, &disabled) {
                Enabled::Yes { forced } => forced,
                Enabled::No(reason) => {
                    self.cx.meet_unrun(&**pass);
                    return Ok(Child::skipped(pass, reason));
                }
            };
            pass.options(self.cx)?;
            let mut required = Vec::new();
            self.enter(&info.name, |this| {
                let mut seen = HashSet::new();
                this.required(&**pass, &disabled, &mut seen, &mut required)?;
                let plan = this.plan(pass)?;
                Ok(Child {
                    step: Step {
                        pass: pass.clone(),
                        requested_by: None,
                        forced,
                        plan,
                    },
                    required: std::mem::take(&mut required),
                    skipped: None,
                })
            })
        });
        let children = children.collect::<Result<_, PassError>>()?;
        Ok(Plan {
            children,
            of_model: Vec::new(),
        })
    }

    /// Appends what `pass` requires, each after what it requires itself.
    fn required(
        &mut self,
        pass: &dyn Pass,
        disabled: &std::collections::BTreeSet<String>,
        seen: &mut HashSet<String>,
        out: &mut Vec<Step>,
    ) -> Result<(), PassError> {
        let by = &pass.info().name;
        for name in &pass.info().required {
            let found = self.cx.registry().get_pass(name);
            let required = found.map_err(|error| error.note(self.who_asks(by)))?;
            let name = required.info().name.clone();
            if self.path.contains(&name) {
                return Err(self.cycle(&name));
            }
            if self.cx.is_disabled(&name) || disabled.contains(&name) {
                return Err(required_disabled(&name, by));
            }
            if !seen.insert(name.clone()) {
                continue;
            }
            self.cx.meet(&name);
            let options = required.options(self.cx);
            options.map_err(|error| error.note(self.who_asks(by)))?;
            let plan = self.enter(&name, |this| {
                this.required(&*required, disabled, seen, out)?;
                this.plan(&required)
            })?;
            out.push(Step {
                forced: self.cx.is_forced(&name),
                pass: required,
                requested_by: Some(by.clone()),
                plan,
            });
        }
        Ok(())
    }

    fn plan(&mut self, pass: &PassRef) -> Result<Option<Plan>, PassError> {
        let sequential = pass.as_sequential();
        sequential.map(|inner| self.sequence(inner)).transpose()
    }

    /// Goes one step down the path. The names on it are few, so looking through them is fast.
    fn enter<T>(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut Self) -> Result<T, PassError>,
    ) -> Result<T, PassError> {
        if self.path.len() as u32 >= MAX_DEPTH {
            let message = format!(
                "More than {MAX_DEPTH} passes require or contain each other, down to `{name}`."
            );
            return Err(PassError::new(ErrorKind::TooDeep, message)
                .help("Shorten the chain of required passes."));
        }
        self.path.push(name.to_owned());
        let result = body(self);
        self.path.pop();
        result
    }

    fn cycle(&self, name: &str) -> PassError {
        let start = self.path.iter().position(|on_path| on_path == name);
        let mut chain: Vec<&str> = self.path[start.unwrap_or(0)..]
            .iter()
            .map(String::as_str)
            .collect();
        chain.push(name);
        let message = format!("Passes require each other: {}.", chain.join(" -> "));
        PassError::new(ErrorKind::Cycle, message)
            .help("Take one of them out of the other's `required`.")
    }

    fn who_asks(&self, by: &str) -> String {
        match self.path.as_slice() {
            [] | [_] => format!("required by `{by}`"),
            path => format!("required by `{by}`, by way of {}", path.join(" -> ")),
        }
    }
}

impl Child {
    fn skipped(pass: &PassRef, reason: String) -> Child {
        Child {
            step: Step {
                pass: pass.clone(),
                requested_by: None,
                forced: false,
                plan: None,
            },
            required: Vec::new(),
            skipped: Some(reason),
        }
    }
}

impl Plan {
    /// Makes everything ready that will run: a plugin that can't be loaded is found before the
    /// first pass runs.
    pub fn load(&self) -> Result<(), PassError> {
        self.order().iter().try_for_each(|pass| {
            let loaded = pass.work().map(drop);
            loaded.map_err(|error| {
                let name = &pass.info().name;
                error.note(format!("the pass `{name}` needs it"))
            })
        })
    }

    /// The passes that will run, in order; those of a Sequential come after it.
    pub fn order(&self) -> Vec<PassRef> {
        let mut order = Vec::new();
        self.add_to(&mut order);
        order
    }

    fn add_to(&self, order: &mut Vec<PassRef>) {
        for step in self.steps() {
            order.push(step.pass.clone());
            if let Some(plan) = &step.plan {
                plan.add_to(order);
            }
        }
    }

    /// What runs of it, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let running = self.children.iter().filter(|child| child.skipped.is_none());
        running.flat_map(|child| child.required.iter().chain([&child.step]))
    }
}

fn required_disabled(name: &str, by: &str) -> PassError {
    let message = format!("The pass `{name}` is disabled, but `{by}` requires it.");
    PassError::new(ErrorKind::RequiredDisabled, message)
        .help(format!("Disable `{by}` too, or enable `{name}`."))
}
