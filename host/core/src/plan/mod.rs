//! Planning: computing the order in which passes run. The enable rule and `required` are applied before any pass runs.
//!
//! The passes that a pass requires run before it, depth first and in declared order, once for each pass that requires
//! them. A cycle, an unknown name, or a required pass that is disabled is an error of planning.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use passdock_diagnostic::suggest;

use crate::config::ConfigValue;
use crate::context::PassContext;
use crate::error::{ErrorKind, PassError};
use crate::pass::{MAX_DEPTH, Pass, PassRef, Sequential, check_info};
use crate::registry::Registry;

/// The passes of a Sequential, with all decisions that don't depend on running them.
pub struct Plan {
    /// The direct children of the Sequential, in order.
    pub children: Vec<Child>,
}

/// A direct child of a Sequential.
pub struct Child {
    /// The step of the pass.
    pub step: Step,
    /// The passes that are required before it, in order, without duplicates.
    pub required: Vec<Step>,
    /// The reason why it doesn't run, or `None` if it runs.
    pub skipped: Option<String>,
}

/// A pass in the plan.
pub struct Step {
    /// The pass.
    pub pass: PassRef,
    /// The values of the pass's options.
    pub options: Arc<ConfigValue>,
    /// The pass that requires it. `None` for a child of the Sequential.
    pub requested_by: Option<String>,
    /// Whether instruments can't veto the pass.
    pub forced: bool,
    /// The plan of the pass's own passes, if it is a Sequential.
    pub plan: Option<Plan>,
}

/// Plans a Sequential under a context.
///
/// # Errors
/// For an unknown name, a cycle, or a required pass that is disabled.
pub fn resolve(sequential: &Sequential, cx: &PassContext) -> Result<Plan, PassError> {
    let mut resolver = Resolver {
        cx,
        path: Vec::new(),
    };
    resolver.sequence(sequential)
}

/// Plans a pass that another pass runs. It is planned as a direct child, but runs at any level and even if it is
/// disabled. `around` has the names of the running passes and Sequentials, outermost first.
///
/// # Errors
/// See [`resolve`]; also if the pass requires a running one.
pub(crate) fn resolve_inner(
    pass: &PassRef,
    cx: &PassContext,
    around: Vec<String>,
) -> Result<Plan, PassError> {
    check_info(pass.info())?;
    cx.meet(&pass.info().name);
    let mut resolver = Resolver { cx, path: around };
    let child = resolver.child(pass, &BTreeSet::new())?;
    Ok(Plan {
        children: vec![child],
    })
}

struct Resolver<'c> {
    cx: &'c PassContext,
    /// The names of the passes from the root to here. Each contains or requires the next.
    path: Vec<String>,
}

impl Sequential {
    /// Returns the passes that would run under a context, in order, without running any. The passes that a pass
    /// requires come before it, those of a nested Sequential after it.
    ///
    /// # Errors
    /// For an unknown name, a cycle, or a required pass that is disabled.
    pub fn resolve_dependency(&self, cx: &PassContext) -> Result<Vec<PassRef>, PassError> {
        Ok(resolve(self, cx)?.order())
    }

    /// Returns the names of the children that the Sequential itself disables, in all spellings that children may have.
    pub fn disabled_in(&self, registry: &Registry) -> BTreeSet<String> {
        let names = self.disabled_names();
        let canonical = names.iter().map(|name| registry.canonical(name));
        // The name of an unregistered pass may be the short name of a registered one.
        canonical.chain(names.iter().cloned()).collect()
    }

    /// Rejects a disabled name that is neither a child nor registered.
    fn check_disabled(&self, registry: &Registry) -> Result<(), PassError> {
        let is_child = |name: &String| self.passes().iter().any(|pass| pass.info().name == *name);
        let mut unknown = self.disabled_names().iter();
        let Some(name) = unknown.find(|name| !is_child(name) && !registry.contains(name)) else {
            return Ok(());
        };
        let children = self.passes().iter().map(|pass| pass.info().name.as_str());
        let message = format!(
            "Sequential `{}` has no pass `{name}` to disable",
            self.info().name
        );
        let mut error = PassError::new(ErrorKind::UnknownPass, message);
        error.help = suggest::help(name, children);
        Err(error)
    }
}

impl Resolver<'_> {
    fn sequence(&mut self, sequential: &Sequential) -> Result<Plan, PassError> {
        sequential.check_depth()?;
        sequential.check_disabled(self.cx.registry())?;
        let disabled = sequential.disabled_in(self.cx.registry());
        let children = sequential.passes().iter().map(|pass| {
            let info = pass.info();
            check_info(info)?;
            if let Some(reason) = self.cx.skip_reason(info, &disabled) {
                self.cx.meet_unrun(&**pass);
                let step = Step {
                    pass: pass.clone(),
                    options: Arc::default(),
                    requested_by: None,
                    forced: false,
                    plan: None,
                };
                return Ok(Child {
                    step,
                    required: Vec::new(),
                    skipped: Some(reason),
                });
            }
            self.child(pass, &disabled)
        });
        let children = children.collect::<Result<_, PassError>>()?;
        Ok(Plan { children })
    }

    /// Plans a child that runs. `disabled` are the names that its Sequential disables.
    fn child(&mut self, pass: &PassRef, disabled: &BTreeSet<String>) -> Result<Child, PassError> {
        let options = pass.options(self.cx.config_given())?;
        let (mut required, mut seen) = (Vec::new(), HashSet::new());
        let step = self.step(pass.clone(), options, disabled, &mut seen, &mut required)?;
        Ok(Child {
            step,
            required,
            skipped: None,
        })
    }

    /// Plans a pass, and appends the passes that it requires to `out`, except those in `seen`.
    fn step(
        &mut self,
        pass: PassRef,
        options: ConfigValue,
        disabled: &BTreeSet<String>,
        seen: &mut HashSet<String>,
        out: &mut Vec<Step>,
    ) -> Result<Step, PassError> {
        let name = &pass.info().name;
        // The path is short, so a linear search is fast.
        if self.path.len() as u32 >= MAX_DEPTH {
            return Err(self.too_deep(name));
        }
        self.path.push(name.clone());
        self.required(&*pass, disabled, seen, out)?;
        let sequential = pass.as_sequential();
        let plan = sequential.map(|inner| self.sequence(inner)).transpose()?;
        self.path.pop();
        Ok(Step {
            forced: self.cx.is_forced(name),
            options: Arc::new(options),
            requested_by: None,
            plan,
            pass,
        })
    }

    /// Appends the passes that `pass` requires, each after its own required passes.
    fn required(
        &mut self,
        pass: &dyn Pass,
        disabled: &BTreeSet<String>,
        seen: &mut HashSet<String>,
        out: &mut Vec<Step>,
    ) -> Result<(), PassError> {
        let by = &pass.info().name;
        for name in &pass.info().required {
            let required = self.cx.registry().get_pass(name);
            let required = required.map_err(|error| error.note(self.requester_note(by)))?;
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
            let options = required.options(self.cx.config_given());
            let options = options.map_err(|error| error.note(self.requester_note(by)))?;
            let step = self.step(required, options, disabled, seen, out)?;
            out.push(Step {
                requested_by: Some(by.clone()),
                ..step
            });
        }
        Ok(())
    }

    fn too_deep(&self, name: &str) -> PassError {
        // A cycle of required passes is detected before, so the passes run each other.
        let (message, help) = match self.chain(name) {
            Some(chain) => (
                format!(
                    "passes run or contain each other more than {MAX_DEPTH} levels deep: {chain}"
                ),
                "remove the recursion",
            ),
            None => (
                format!(
                    "passes require or contain each other more than {MAX_DEPTH} levels deep, down to `{name}`"
                ),
                "shorten the chain of required passes",
            ),
        };
        PassError::new(ErrorKind::TooDeep, message).help(help)
    }

    /// Returns the part of the path from the last occurrence of a pass, followed by the pass. `None` if it isn't on it.
    fn chain(&self, name: &str) -> Option<String> {
        let start = self.path.iter().rposition(|on_path| on_path == name)?;
        Some(format!("{} -> {name}", self.path[start..].join(" -> ")))
    }

    fn cycle(&self, name: &str) -> PassError {
        let chain = self.chain(name).unwrap_or_else(|| name.to_owned());
        let message = format!("passes require each other: {chain}");
        PassError::new(ErrorKind::Cycle, message)
            .help("remove one of them from the other's `required`")
    }

    fn requester_note(&self, by: &str) -> String {
        match self.path.as_slice() {
            [] | [_] => format!("required by `{by}`"),
            path => format!("required by `{by}`, through {}", path.join(" -> ")),
        }
    }
}

impl Plan {
    /// Loads the plugins of all passes that will run, so that errors are reported before the first pass runs.
    ///
    /// # Errors
    /// For the first plugin that can't be loaded.
    pub fn load(&self) -> Result<(), PassError> {
        self.order().iter().try_for_each(|pass| {
            let loaded = pass.work().map(drop);
            loaded.map_err(|error| {
                let name = &pass.info().name;
                error.note(format!("pass `{name}` requires it"))
            })
        })
    }

    /// Returns the passes that will run, in order. Those of a Sequential come after it.
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

    /// Iterates over the steps that run, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let running = self.children.iter().filter(|child| child.skipped.is_none());
        running.flat_map(|child| child.required.iter().chain([&child.step]))
    }
}

fn required_disabled(name: &str, by: &str) -> PassError {
    let message = format!("pass `{name}` is disabled, but `{by}` requires it");
    PassError::new(ErrorKind::RequiredDisabled, message)
        .help(format!("also disable `{by}`, or enable `{name}`"))
}
