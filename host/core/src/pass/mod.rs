//! Passes as the host sees them: their declarations, and the work that the run loop does for them.

mod closure;
mod names;
mod sequential;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use closure::HostWork;
pub(crate) use closure::create_unscoped_pass;
pub use closure::{create_function_pass, create_module_pass, create_prim_func_pass};
pub(crate) use names::{check_info, check_name, check_states};
use passdock_abi::FunctionKind;
use passdock_ir::Module;
use passdock_loader::States;
pub use passdock_loader::{PassDeclaration, PassInfo};
pub(crate) use sequential::MAX_DEPTH;
pub use sequential::Sequential;

use crate::boundary::{FunctionPass, ModulePass};
use crate::config::{ConfigValue, FieldValue, GivenConfig, OptionSource};
use crate::error::{PassError, Provider};

/// A module that is passed around. Its clone is a clone of pointers: equal parts are shared.
pub type ModuleRef = Module;

/// A pass with shared ownership.
pub type PassRef = Arc<dyn Pass>;

/// A map from modules to modules. Run one with its method `call`.
pub trait Pass: Send + Sync {
    /// The pass's declaration.
    fn declaration(&self) -> &PassDeclaration;

    /// The work that the pass does. For a plugin's pass this loads the plugin.
    fn work(&self) -> Result<Work<'_>, PassError>;

    /// The plugin that provides the pass.
    fn provider(&self) -> Option<&Provider> {
        None
    }

    /// The values of the pass's options under a context's config.
    fn options(&self, config: &GivenConfig) -> Result<ConfigValue, PassError> {
        let _ = config;
        Ok(ConfigValue::new())
    }

    /// The values of the pass's options under a context's config, and the layer that each comes
    /// from.
    fn option_sources(&self, config: &GivenConfig) -> BTreeMap<String, (FieldValue, OptionSource)> {
        let _ = config;
        BTreeMap::new()
    }

    /// The Sequential that the pass is; `None` for any other pass.
    fn as_sequential(&self) -> Option<&Sequential> {
        None
    }

    /// The states of the module that the pass needs, establishes and breaks.
    fn states(&self) -> &States {
        &self.declaration().states
    }

    /// The pass's name, level and requirements.
    fn info(&self) -> &PassInfo {
        &self.declaration().info
    }
}

/// The work that a pass does.
pub enum Work<'p> {
    /// Work on the module.
    Module(ModulePass<'p>),
    /// Work on each function of a kind, except those that are left out.
    Functions(FunctionKind, FunctionPass<'p>),
    /// Work on the module, by the host's own code.
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
