//! Passes in the host: their declarations, and their code for the run loop.

mod closure;
mod names;
mod options;
mod rules;
mod sequential;
mod structs;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use closure::HostWork;
pub(crate) use closure::create_unscoped_pass;
pub use closure::{create_function_pass, create_module_pass, create_prim_func_pass};
pub(crate) use names::{check_info, check_name};
pub(crate) use options::with_options;
use passdock_abi::FunctionKind;
pub use passdock_loader::{PassDeclaration, PassInfo};
pub use rules::{INFER_TYPE, RulesFile};
pub(crate) use sequential::MAX_DEPTH;
pub use sequential::{Sequential, disable_children};
pub use structs::{FunctionPass, ModulePass};

use crate::boundary::{FunctionCode, ModuleCode};
use crate::config::{ConfigValue, GivenConfig, OptionSource};
use crate::error::{PassError, Provider};

/// A shared reference to a pass.
pub type PassRef = Arc<dyn Pass>;

/// A transformation of modules. A [`PassRef`] and a [`Sequential`] have the methods `call` and `call_in`, which run it.
///
/// Programs create passes with [`create_function_pass`] and similar functions, or from types that implement
/// [`FunctionPass`] or [`ModulePass`].
pub trait Pass: Send + Sync {
    /// Returns the pass's declaration: its info, options and properties.
    fn declaration(&self) -> &PassDeclaration;

    /// Returns the code of the pass for the run loop. For a plugin's pass, this loads the plugin.
    ///
    /// # Errors
    /// If the plugin can't be loaded, or a Sequential is nested too deeply.
    fn work(&self) -> Result<Work<'_>, PassError>;

    /// Returns the plugin that provides the pass.
    fn provider(&self) -> Option<&Provider> {
        None
    }

    /// Returns the options that the pipeline sets for the pass.
    fn given_options(&self) -> Option<&ConfigValue> {
        None
    }

    /// Computes the values of the pass's options under a context's config.
    ///
    /// # Errors
    /// If a mandatory option isn't set.
    fn options(&self, config: &GivenConfig) -> Result<ConfigValue, PassError> {
        let declared = self.declaration();
        let layers = self.option_sources(config);
        let mut mandatory = declared.options.iter().filter(|option| option.mandatory);
        if let Some(missing) = mandatory.find(|option| !layers.contains_key(&option.name)) {
            return Err(options::missing_option(declared, missing));
        }
        let values = layers.into_iter().map(|(name, (value, _))| (name, value));
        Ok(values.collect())
    }

    /// Computes the values of the pass's options under a context's config, with the layer of each.
    fn option_sources(
        &self,
        config: &GivenConfig,
    ) -> BTreeMap<String, (toml::Value, OptionSource)> {
        options::sources(self.declaration(), self.given_options(), config)
    }

    /// Returns the pass as a Sequential, or `None` if it isn't one.
    fn as_sequential(&self) -> Option<&Sequential> {
        None
    }

    /// Returns the file of rules that the pass was created from, if any.
    fn rules(&self) -> Option<&RulesFile> {
        None
    }

    /// Returns the pass's name, level and requirements.
    fn info(&self) -> &PassInfo {
        &self.declaration().info
    }
}

/// The code of a pass.
pub enum Work<'p> {
    /// A module pass.
    Module(ModuleCode<'p>),
    /// A pass on each function of a kind, except excluded ones.
    Functions(FunctionKind, FunctionCode<'p>),
    /// A host pass, on the module.
    Host(&'p HostWork),
    /// A Sequential, whose passes are run.
    Sequence(&'p Sequential),
}

impl fmt::Debug for dyn Pass + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_sequential() {
            Some(sequential) => sequential.fmt(f),
            None => write!(f, "{}", self.info()),
        }
    }
}
