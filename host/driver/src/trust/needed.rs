//! The plugins that a run may load.

use std::collections::BTreeSet;
use std::sync::Arc;

use passdock_core::{INFER_TYPE, PassRef, Plugin};

use super::STANDARD;
use crate::prepare::{BINDING, Prepared, Request, passes_in};

impl Prepared {
    /// Returns the plugins that a run of a request may load: those that it uses, and all plugins with op definitions;
    /// also the standard plugins and those that the user named by file or by directory, whose passes other passes may
    /// run by name.
    pub(crate) fn needed_plugins(&self, request: &Request) -> Vec<Arc<Plugin>> {
        let registry = self.context.registry();
        self.plugins_for(request, |plugin| {
            let name = plugin.name();
            let has_ops = !plugin.manifest().ops.is_empty();
            has_ops || STANDARD.contains(&name) || registry.is_named(name)
        })
    }

    /// Returns the plugins without which a run of a request would fail: those of its passes, of passes that these
    /// require, and of its instruments, and those that the user named by file; also the plugins that these require.
    pub(super) fn used_plugins(&self, request: &Request) -> Vec<Arc<Plugin>> {
        self.plugins_for(request, |_| false)
    }

    fn plugins_for(&self, request: &Request, others: impl Fn(&Plugin) -> bool) -> Vec<Arc<Plugin>> {
        let registry = self.context.registry();
        let all = registry.plugins();
        let named_files = registry.named_files();
        let is_named = |plugin: &Plugin| {
            let path = plugin.origin().path();
            path.is_some_and(|path| named_files.contains(path))
        };
        let always = |plugin: &&Arc<Plugin>| others(plugin) || is_named(plugin);
        let mut open: Vec<Arc<Plugin>> = all.iter().filter(always).cloned().collect();
        open.extend(self.plugins_of_passes(request));
        let instruments = self.context.instruments();
        let providers = instruments.iter().filter_map(|own| own.provider());
        open.extend(providers.filter_map(|by| registry.plugin(&by.plugin)));
        let mut names = BTreeSet::new();
        while let Some(plugin) = open.pop() {
            if names.insert(plugin.name().to_owned()) {
                let required = plugin.manifest().plugin.requires.iter();
                open.extend(required.filter_map(|required| registry.plugin(&required.name)));
            }
        }
        let needed = all.into_iter();
        needed
            .filter(|plugin| names.contains(plugin.name()))
            .collect()
    }

    /// Returns the plugins of the passes at any depth, of the passes that they require, and of those that run before
    /// and after the pipeline.
    fn plugins_of_passes(&self, request: &Request) -> Vec<Arc<Plugin>> {
        let registry = self.context.registry();
        let binding = BINDING.iter().filter(|_| !request.bind.is_empty());
        let typing = [INFER_TYPE].into_iter();
        let typing = typing.filter(|_| request.write.value_info);
        let around = binding.copied().chain(typing);
        let around = around.filter_map(|name| registry.get_pass(name).ok());
        let mut open: Vec<PassRef> = passes_in(&self.sequential);
        open.extend(around);
        let (mut seen, mut plugins) = (BTreeSet::new(), Vec::new());
        while let Some(pass) = open.pop() {
            let info = pass.info();
            if !seen.insert(info.name.clone()) {
                continue;
            }
            let provider = pass.provider();
            plugins.extend(provider.and_then(|by| registry.plugin(&by.plugin)));
            let required = info.required.iter();
            open.extend(required.filter_map(|name| registry.get_pass(name).ok()));
            open.extend(pass.as_sequential().map(passes_in).unwrap_or_default());
        }
        plugins
    }
}
