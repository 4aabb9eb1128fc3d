//! The passes of plugins.

use std::sync::{Arc, OnceLock};

use passdock_abi::FunctionKind;
use passdock_loader::{LoadedPass, Manifest, ManifestPass, PassDeclaration, PassKind, Plugin};

use crate::boundary::{FunctionCode, ModuleCode, host};
use crate::error::{PassError, Provider};
use crate::pass::{Pass, Work};

/// A plugin's pass.
pub(super) struct PluginPass {
    provider: Provider,
    plugin: Arc<Plugin>,
    manifest: Arc<Manifest>,
    at: usize,
    loaded: OnceLock<LoadedPass>,
}

impl PluginPass {
    /// Creates pass `at` of a plugin's manifest.
    pub(super) fn new(plugin: Arc<Plugin>, at: usize) -> PluginPass {
        PluginPass {
            provider: Provider::new(&plugin),
            manifest: plugin.manifest().clone(),
            plugin,
            at,
            loaded: OnceLock::new(),
        }
    }

    fn spec(&self) -> &ManifestPass {
        &self.manifest.passes[self.at]
    }
}

impl Pass for PluginPass {
    fn declaration(&self) -> &PassDeclaration {
        &self.spec().declaration
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        let loaded = match self.loaded.get() {
            Some(loaded) => loaded,
            None => {
                let loaded = self.plugin.load(host())?.passes()[self.at];
                self.loaded.get_or_init(|| loaded)
            }
        };
        let function = FunctionCode::Loaded(loaded);
        Ok(match self.spec().kind {
            PassKind::Module => Work::Module(ModuleCode::Loaded(loaded)),
            PassKind::Function => Work::Functions(FunctionKind::GRAPH, function),
            PassKind::PrimFunction => Work::Functions(FunctionKind::PRIM, function),
        })
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider)
    }
}
