//! A plugin's pass with its options.

use std::sync::Arc;

use super::solo::{Alone, Solo};
use crate::boundary::{FunctionPass, ModulePass};
use crate::config::{ConfigValue, Schema};
use crate::context::PassContext;
use crate::error::{PassError, Provider};
use crate::pass::{FunctionWork, ModuleWork, Pass, Work};
use crate::pass_info::PassInfo;
use crate::plugin::{PassKind, PassSpec, Plugin};

/// A pass as a pipeline names it: which one, with which options.
pub(super) struct PluginPass {
    info: PassInfo,
    provider: Provider,
    plugin: Arc<Plugin>,
    at: usize,
    schema: Schema,
    /// Those that are given.
    options: ConfigValue,
    solo: Arc<Solo>,
}

impl PluginPass {
    pub(super) fn new(
        plugin: Arc<Plugin>,
        at: usize,
        options: &toml::Table,
        solo: Arc<Solo>,
    ) -> Result<PluginPass, PassError> {
        let spec = &plugin.manifest().passes[at];
        let schema = Schema::from_specs(&spec.name, &spec.options);
        let options = schema.accept_part(&toml::Value::Table(options.clone()))?;
        Ok(PluginPass {
            info: PassInfo {
                name: spec.name.clone(),
                opt_level: spec.opt_level,
                required: spec.required.clone(),
            },
            provider: Provider {
                plugin: plugin.name().to_owned(),
                origin: plugin.origin().clone(),
            },
            plugin,
            at,
            schema,
            options,
            solo,
        })
    }

    fn spec(&self) -> &PassSpec {
        &self.plugin.manifest().passes[self.at]
    }
}

impl Pass for PluginPass {
    fn info(&self) -> &PassInfo {
        &self.info
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        let loaded = &self.plugin.load()?.passes()[self.at];
        Ok(match self.spec().kind {
            PassKind::Module => Work::Module(ModuleWork {
                pass: ModulePass::Loaded(loaded),
                changes_interface: self.spec().changes_interface,
            }),
            kind => Work::Functions(FunctionWork {
                kind: match kind {
                    PassKind::PrimFunction => passdock_abi::FunctionKind::PRIM,
                    _ => passdock_abi::FunctionKind::GRAPH,
                },
                pass: FunctionPass::Loaded(loaded),
                thread_safe: self.spec().thread_safe,
                changes_interface: self.spec().changes_interface,
            }),
        })
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider)
    }

    fn alone(&self) -> Option<Alone<'_>> {
        (!self.spec().thread_safe).then(|| self.solo.enter())
    }

    /// Defaults, then the context's config, then what the pipeline gives.
    fn options(&self, cx: &PassContext) -> Result<ConfigValue, PassError> {
        let mut options = self.schema.defaults();
        let layer = self.spec().config.as_ref().and_then(|key| cx.config(key));
        for (name, value) in layer.into_iter().flatten() {
            if let Some(option) = options.get_mut(name) {
                option.clone_from(value);
            }
        }
        options.extend(self.options.clone());
        Ok(options)
    }
}
