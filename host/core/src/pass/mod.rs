//! Passes as the host sees them: their declarations, and the work that the run loop does for them.

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
pub use rules::RulesFile;
pub(crate) use sequential::MAX_DEPTH;
pub use sequential::{Sequential, disable_children};
pub use structs::{FunctionPass, ModulePass};

use crate::boundary::{FunctionCode, ModuleCode};
use crate::config::{ConfigValue, GivenConfig, OptionSource};
use crate::error::{PassError, Provider};

/// A pass that several may hold.
pub type PassRef = Arc<dyn Pass>;

/// A map from modules to modules. A [`PassRef`] and a [`Sequential`] have the methods `call` and
/// `call_in`, which run it.
///
/// Programs make passes with [`create_function_pass`] and its like, or of a [`FunctionPass`] or a
/// [`ModulePass`].
pub trait Pass: Send + Sync {
    /// What the pass says about itself.
    fn declaration(&self) -> &PassDeclaration;

    /// The work of the pass, for the run loop. For a plugin's pass this loads the plugin.
    ///
    /// # Errors
    /// If the plugin can't be loaded, or a Sequential is nested too deeply.
    fn work(&self) -> Result<Work<'_>, PassError>;

    /// The plugin that provides the pass.
    fn provider(&self) -> Option<&Provider> {
        None
    }

    /// The options that a pipeline gives to the pass.
    fn given_options(&self) -> Option<&ConfigValue> {
        None
    }

    /// The values of the pass's options under a context's config.
    ///
    /// # Errors
    /// If a mandatory one isn't set.
    fn options(&self, config: &GivenConfig) -> Result<ConfigValue, PassError> {
        let declared = self.declaration();
        let layers = self.option_sources(config);
        let mut mandatory = declared.options.iter().filter(|option| option.mandatory);
        if let Some(missing) = mandatory.find(|option| !layers.contains_key(&option.name)) {
            return Err(options::lacks(declared, missing));
        }
        let values = layers.into_iter().map(|(name, (value, _))| (name, value));
        Ok(values.collect())
    }

    /// The values of the pass's options under a context's config, and the layer that each comes
    /// from.
    fn option_sources(
        &self,
        config: &GivenConfig,
    ) -> BTreeMap<String, (toml::Value, OptionSource)> {
        options::sources(self.declaration(), self.given_options(), config)
    }

    /// The Sequential that the pass is; `None` for any other pass.
    fn as_sequential(&self) -> Option<&Sequential> {
        None
    }

    /// The file of rules that the pass is made of.
    fn rules(&self) -> Option<&RulesFile> {
        None
    }

    /// The pass's name, level and requirements.
    fn info(&self) -> &PassInfo {
        &self.declaration().info
    }
}

/// The work that a pass does.
pub enum Work<'p> {
    /// On the module.
    Module(ModuleCode<'p>),
    /// On each function of a kind that isn't left out.
    Functions(FunctionKind, FunctionCode<'p>),
    /// On the module, by the host's own code.
    Host(&'p HostWork),
    /// The run of a Sequential's passes.
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
