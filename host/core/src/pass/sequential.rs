//! Sequentials: lists of passes that are passes themselves.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use passdock_loader::Plugin;

use super::{Pass, PassDeclaration, PassInfo, PassRef, Work};
use crate::error::{ErrorKind, PassError, Provider};

/// The maximum depth of nested Sequentials, and the maximum length of a chain of required passes.
pub(crate) const MAX_DEPTH: u32 = 256;

/// A list of passes that run in order, which is itself a pass. The enable rule applies to its direct children, and the
/// passes that they require run before them.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub mod ir {
/// #         pub use passdock_core::build_module;
/// #     }
/// # }
/// use passdock::{PassContext, PassInfo, Registry, Sequential, create_function_pass};
///
/// let pass = |info| create_function_pass(info, |_f, _cx| Ok(()));
/// let registry = Registry::new();
/// registry.register(pass(PassInfo::new("demo.transform.Types")))?;
/// let cleanup = Sequential::new([
///     pass(PassInfo::new("demo.transform.Fold").required(["demo.transform.Types"])),
///     pass(PassInfo::new("demo.transform.Fancy").opt_level(4)),
/// ])
/// .name("cleanup");
///
/// let cx = PassContext::builder().registry(&registry).opt_level(3).build()?;
/// let order = cleanup.resolve_dependency(&cx)?;
/// let names: Vec<&str> = order.iter().map(|pass| pass.info().name.as_str()).collect();
/// assert_eq!(names, ["demo.transform.Types", "demo.transform.Fold"]);
/// let module = passdock::ir::build_module(|_| Ok(()))?;
/// let after = cx.scope(|_| cleanup.call(module))?;
/// assert!(after.is_empty());
/// # Ok::<(), passdock::PassError>(())
/// ```
pub struct Sequential {
    declared: PassDeclaration,
    passes: Vec<PassRef>,
    disabled: BTreeSet<String>,
    /// The plugin that provides it.
    provider: Option<(Provider, Arc<Plugin>)>,
    /// The depth of nested Sequentials, this one included.
    depth: u32,
    /// The number of passes in it, at any depth.
    size: usize,
}

impl Sequential {
    /// Creates a Sequential of these passes. Its level is 0 and its name `sequential`.
    ///
    /// Beyond 256 nested levels, the Sequential has no passes, and calling it is an error. This keeps deep nesting from
    /// overflowing the stack.
    pub fn new<P: Into<PassRef>>(passes: impl IntoIterator<Item = P>) -> Sequential {
        let mut passes: Vec<PassRef> = passes.into_iter().map(Into::into).collect();
        let depth = |pass: &PassRef| pass.as_sequential().map_or(0, |inner| inner.depth);
        let depth = 1 + passes.iter().map(depth).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            passes.clear();
        }
        let inner = |pass: &PassRef| pass.as_sequential().map_or(0, Sequential::size);
        let sizes = passes.iter().map(|pass| inner(pass).saturating_add(1));
        let size = sizes.fold(0, usize::saturating_add);
        Sequential {
            declared: PassInfo::new("sequential").into(),
            passes,
            disabled: BTreeSet::new(),
            provider: None,
            depth: depth.min(MAX_DEPTH + 1),
            size,
        }
    }

    /// Sets the name of the Sequential.
    pub fn name(mut self, name: impl Into<String>) -> Sequential {
        self.declared.info.name = name.into();
        self
    }

    /// Sets the minimum level at which the Sequential runs as a child of another one.
    pub fn opt_level(mut self, level: u32) -> Sequential {
        self.declared.info.opt_level = level;
        self
    }

    /// Sets the passes that are required before the Sequential if it is a child of another one.
    pub fn required<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Sequential {
        self.declared.info.required = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the direct children that don't run, in addition to those that the context disables.
    pub fn disabled<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Sequential {
        self.disabled = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the plugin that provides the Sequential.
    pub(crate) fn provided_by(mut self, plugin: Arc<Plugin>) -> Sequential {
        self.provider = Some((Provider::new(&plugin), plugin));
        self
    }

    /// Returns the passes of the Sequential, in order.
    pub fn passes(&self) -> &[PassRef] {
        &self.passes
    }

    /// Converts the Sequential to a pass.
    pub fn into_pass(self) -> PassRef {
        Arc::new(self)
    }

    /// Returns the number of passes in it, including those in nested Sequentials.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the names of the disabled children, as passed to [`Sequential::disabled`].
    pub(crate) fn disabled_names(&self) -> &BTreeSet<String> {
        &self.disabled
    }

    /// Rejects a Sequential that is nested too deeply.
    pub(crate) fn check_depth(&self) -> Result<(), PassError> {
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!(
            "Sequential `{}` is nested more than {MAX_DEPTH} levels deep",
            self.declared.info.name
        );
        Err(PassError::new(ErrorKind::TooDeep, message).help("put the passes in one list"))
    }
}

impl Pass for Sequential {
    fn declaration(&self) -> &PassDeclaration {
        &self.declared
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        self.check_depth()?;
        if let Some((_, plugin)) = &self.provider {
            plugin.check_requirements()?;
        }
        Ok(Work::Sequence(self))
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider.as_ref()?.0)
    }

    fn as_sequential(&self) -> Option<&Sequential> {
        Some(self)
    }
}

/// Disables some direct children of a Sequential, in addition to those that it disables itself. Returns any other pass
/// unchanged.
pub fn disable_children<N: Into<String>>(
    pass: PassRef,
    names: impl IntoIterator<Item = N>,
) -> PassRef {
    let Some(inner) = pass.as_sequential() else {
        return pass;
    };
    let mut disabled = inner.disabled.clone();
    disabled.extend(names.into_iter().map(Into::into));
    Arc::new(Sequential {
        declared: inner.declared.clone(),
        passes: inner.passes.clone(),
        disabled,
        provider: inner.provider.clone(),
        ..*inner
    })
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
            self.declared.info.name,
            self.declared.info.opt_level,
            names.join(" ")
        )
    }
}
