//! A Sequential: passes in order, as one pass.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::context::PassContext;
use crate::error::{ErrorKind, PassError};
use crate::pass::{ModuleRef, Pass, PassRef, Work};
use crate::pass_info::PassInfo;
use crate::registry::Registry;
use crate::resolve;
use crate::suggest;

/// How deep Sequentials may nest, and how long a chain of required passes may be.
pub(crate) const MAX_DEPTH: u32 = 256;

/// Passes in order. Its direct children obey the enable rule, and what they require runs before
/// them.
pub struct Sequential {
    info: PassInfo,
    passes: Vec<PassRef>,
    disabled: BTreeSet<String>,
    /// Levels of Sequentials, this one included.
    depth: u32,
}

impl Sequential {
    /// These passes in order; level 0, named `sequential`.
    ///
    /// Nested deeper than 256 levels, it holds nothing and calling it is an error: so no depth of
    /// nesting overflows the stack.
    pub fn new<P: Into<PassRef>>(passes: impl IntoIterator<Item = P>) -> Sequential {
        let mut passes: Vec<PassRef> = passes.into_iter().map(Into::into).collect();
        let depth = |pass: &PassRef| pass.as_sequential().map_or(0, |inner| inner.depth);
        let depth = 1 + passes.iter().map(depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            passes.clear();
        }
        Sequential {
            info: PassInfo::new("sequential"),
            passes,
            disabled: BTreeSet::new(),
            depth: depth.min(MAX_DEPTH + 1),
        }
    }

    /// Names it.
    pub fn name(mut self, name: impl Into<String>) -> Sequential {
        self.info.name = name.into();
        self
    }

    /// The level from which on it runs as a child of another.
    pub fn opt_level(mut self, level: u32) -> Sequential {
        self.info.opt_level = level;
        self
    }

    /// Passes that must have run before it, as a child of another.
    pub fn required<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Sequential {
        self.info = self.info.required(names);
        self
    }

    /// Direct children that don't run, beside those that the context disables.
    pub fn disabled<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Sequential {
        self.disabled = names.into_iter().map(Into::into).collect();
        self
    }

    /// Its passes, in order.
    pub fn passes(&self) -> &[PassRef] {
        &self.passes
    }

    /// As a pass among others.
    pub fn into_pass(self) -> PassRef {
        Arc::new(self)
    }

    /// Runs its enabled passes under this thread's current context, with what they require.
    pub fn call(&self, module: ModuleRef) -> Result<ModuleRef, PassError> {
        (self as &dyn Pass).call(module)
    }

    /// The passes that would run under a context, in order, and nothing runs: what each requires
    /// before it, and those of a nested Sequential after it.
    pub fn resolve_dependency(&self, cx: &PassContext) -> Result<Vec<PassRef>, PassError> {
        Ok(resolve::resolve(self, cx)?.order())
    }

    /// The names of its children that it disables itself, in all spellings that a child may have.
    pub fn disabled_in(&self, registry: &Registry) -> BTreeSet<String> {
        let canonical = self.disabled.iter().map(|name| registry.canonical(name));
        // A pass that isn't registered may bear a name that is short for a registered one's.
        canonical.chain(self.disabled.iter().cloned()).collect()
    }

    /// Refuses to disable what is neither a child nor registered.
    pub(crate) fn check_disabled(&self, registry: &Registry) -> Result<(), PassError> {
        let is_child = |name: &String| self.passes.iter().any(|pass| pass.info().name == *name);
        let mut unknown = self.disabled.iter();
        let Some(name) = unknown.find(|name| !is_child(name) && !registry.contains(name)) else {
            return Ok(());
        };
        let children = self.passes.iter().map(|pass| pass.info().name.as_str());
        let message = format!(
            "The Sequential `{}` disables `{name}`, and there is no such pass in it.",
            self.info.name
        );
        let error = PassError::new(ErrorKind::UnknownPass, message);
        Err(match suggest::nearest(name, children) {
            Some(near) => error.help(format!("Did you mean `{near}`?")),
            None => error,
        })
    }

    /// Refuses one that is nested too deeply.
    pub(crate) fn check_depth(&self) -> Result<(), PassError> {
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!(
            "The Sequential `{}` is nested more than {MAX_DEPTH} levels deep.",
            self.info.name
        );
        Err(PassError::new(ErrorKind::TooDeep, message).help("Put the passes in one list."))
    }
}

impl Pass for Sequential {
    fn info(&self) -> &PassInfo {
        &self.info
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        self.check_depth()?;
        Ok(Work::Sequence(self))
    }

    fn as_sequential(&self) -> Option<&Sequential> {
        Some(self)
    }
}

impl From<Sequential> for PassRef {
    fn from(sequential: Sequential) -> PassRef {
        sequential.into_pass()
    }
}

impl fmt::Debug for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.passes.iter().map(|p| p.info().name.as_str()).collect();
        write!(
            f,
            "Run Sequential pass: {} at the optimization level {}. The passes will be executed \
             are: [{}]",
            self.info.name,
            self.info.opt_level,
            names.join(" ")
        )
    }
}
