//! The plugins that a run loads or may load.

use std::collections::BTreeSet;
use std::sync::Arc;

use passdock_core::{INFER_TYPE, PassError, PassRef, Plugin};

use super::STANDARD;
use crate::prepare::{BINDING, Prepared, Request, passes_in};

impl Prepared {
    /// Returns the plugins that a run of a request may load with other options: those of all its passes and of passes
    /// that these require, those that it uses, and all plugins with op definitions; also the standard plugins and those
    /// that the user named by file or by directory, whose passes other passes may run by name.
    ///
    /// # Errors
    /// If required passes form a cycle.
    pub(crate) fn needed_plugins(&self, request: &Request) -> Result<Vec<Arc<Plugin>>, PassError> {
        let registry = self.context.registry();
        let listed = self.listed_plugins();
        self.used_plugins(request, |plugin| {
            let name = plugin.name();
            listed.contains(name)
                || has_ops(plugin)
                || STANDARD.contains(&name)
                || registry.is_named(name)
        })
    }

    /// Returns the plugins of the passes that a run of a request runs, and of its instruments, and those that `also`
    /// accepts; also the plugins that these require.
    ///
    /// # Errors
    /// If required passes form a cycle.
    pub(crate) fn used_plugins(
        &self,
        request: &Request,
        also: impl Fn(&Plugin) -> bool,
    ) -> Result<Vec<Arc<Plugin>>, PassError> {
        let registry = self.context.registry();
        let passes = self.explain()?.passes.into_iter();
        let passes = passes.filter(|pass| pass.runs);
        let mut open: Vec<String> = passes.filter_map(|pass| pass.plugin).collect();
        let instruments = self.context.instruments();
        let providers = instruments.iter().filter_map(|own| own.provider());
        open.extend(providers.map(|by| by.plugin.clone()));
        // Passes that run before and after the pipeline.
        let binding = BINDING.iter().filter(|_| !request.bind.is_empty());
        let typing = [INFER_TYPE].into_iter();
        let typing = typing.filter(|_| request.write.value_info);
        let around = binding.copied().chain(typing);
        let around = around.filter_map(|pass| registry.plugin_of(pass));
        open.extend(around.map(|plugin| plugin.name().to_owned()));
        let plugins = registry.plugins();
        let others = plugins.iter().filter(|plugin| also(plugin));
        open.extend(others.map(|plugin| plugin.name().to_owned()));
        let mut names = BTreeSet::new();
        while let Some(name) = open.pop() {
            let requires = registry.plugin(&name);
            let requires = requires.map(|plugin| plugin.manifest().plugin.requires.clone());
            if names.insert(name) {
                open.extend(requires.into_iter().flatten().map(|other| other.name));
            }
        }
        let used = plugins.into_iter();
        Ok(used
            .filter(|plugin| names.contains(plugin.name()))
            .collect())
    }

    /// Returns the names of the plugins of all listed passes at any depth, and of the passes that they require.
    fn listed_plugins(&self) -> BTreeSet<String> {
        let registry = self.context.registry();
        let mut open: Vec<PassRef> = passes_in(&self.sequential);
        let (mut seen, mut plugins) = (BTreeSet::new(), BTreeSet::new());
        while let Some(pass) = open.pop() {
            let info = pass.info();
            if seen.insert(info.name.clone()) {
                plugins.extend(pass.provider().map(|by| by.plugin.clone()));
                let required = info.required.iter();
                open.extend(required.filter_map(|name| registry.get_pass(name).ok()));
                open.extend(pass.as_sequential().map(passes_in).unwrap_or_default());
            }
        }
        plugins
    }
}

/// Whether a plugin defines ops or extends definitions.
pub(crate) fn has_ops(plugin: &Plugin) -> bool {
    !plugin.manifest().ops.is_empty()
}
