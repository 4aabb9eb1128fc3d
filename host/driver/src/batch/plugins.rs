//! The plugins that affect a batch's results.

use std::collections::BTreeSet;
use std::path::PathBuf;

use passdock_core::{INFER_TYPE, PassError, PassKind, Plugin, Registry};

use crate::prepare::{BINDING, Prepared, Request, Watched};

/// Plugins whose module passes run no other pass by name without requiring it.
const STANDARD: [&str; 3] = ["onnx-ops", "relax", "tir"];

/// Returns the files of the plugins that affect a request's results. These are the plugins of its passes, of passes
/// that these require, and of its instruments, and all plugins with op definitions. Other plugins in the registry or in
/// the request's directories aren't included.
///
/// A module pass may run any pass by name without requiring it. Those of the standard plugins don't. If one of another
/// plugin runs, all plugins are included.
///
/// # Errors
/// The first error in the request.
pub fn plugin_files(registry: &Registry, request: &Request) -> Result<Vec<PathBuf>, PassError> {
    let prepared = Prepared::new(registry, request, Watched::default())?;
    let explained = prepared.explain()?;
    let passes = explained.passes.into_iter().filter(|pass| pass.runs);
    let passes: Vec<_> = passes.collect();
    let runs_any = |plugin: &Plugin| {
        let is_standard = STANDARD.contains(&plugin.name());
        let mut own = plugin.manifest().passes.iter();
        let runs = |name: &str| passes.iter().any(|pass| pass.name == name);
        !is_standard && own.any(|pass| pass.kind == PassKind::Module && runs(pass.name()))
    };
    let counts_all = registry.plugins().iter().any(|plugin| runs_any(plugin));
    let mut used: BTreeSet<String> = passes.into_iter().filter_map(|pass| pass.plugin).collect();
    let instruments = prepared.context().instruments();
    let instruments = instruments.iter().filter_map(|own| own.provider());
    used.extend(instruments.map(|by| by.plugin.clone()));
    // Passes that run before and after the pipeline.
    let binding = BINDING.iter().filter(|_| !request.bind.is_empty());
    let typing = [INFER_TYPE]
        .into_iter()
        .filter(|_| request.write.value_info);
    let around = binding.copied().chain(typing);
    let around = around.filter_map(|pass| registry.plugin_of(pass));
    used.extend(around.map(|plugin| plugin.name().to_owned()));
    let plugins = registry.plugins();
    let plugins = plugins.iter().filter(|plugin| {
        counts_all || used.contains(plugin.name()) || !plugin.manifest().ops.is_empty()
    });
    let files = plugins.filter_map(|plugin| plugin.origin().path());
    let mut files: Vec<PathBuf> = files.map(PathBuf::from).collect();
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    Ok(files)
}
