//! The plugins that the results of a batch depend on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use passdock_core::{PassError, Registry};

use crate::pipeline::INFER_TYPE;
use crate::prepare::{BINDING, Prepared, Request, Watched};

/// The files of the plugins that a request's results depend on: those of its passes, with what these require, and of its
/// instruments; and those that define operators, which each pass may ask about. Another plugin of the registry, or of the
/// request's directories, isn't one of them.
///
/// A pass that runs one of another plugin by its name alone, without requiring it, isn't known to.
///
/// # Errors
/// The first mistake in the request.
pub fn plugin_files(registry: &Registry, request: &Request) -> Result<Vec<PathBuf>, PassError> {
    let prepared = Prepared::new(registry, request, Watched::default())?;
    let explained = prepared.explain()?;
    let passes = explained.passes.into_iter().filter(|pass| pass.runs);
    let mut used: BTreeSet<String> = passes.filter_map(|pass| pass.plugin).collect();
    let instruments = prepared.context().instruments();
    let instruments = instruments.iter().filter_map(|own| own.provider());
    used.extend(instruments.map(|by| by.plugin.clone()));
    // What runs before and after the pipeline.
    let binding = BINDING.iter().filter(|_| !request.bind.is_empty());
    let typing = [INFER_TYPE].into_iter().filter(|_| request.value_info);
    let around = binding.copied().chain(typing);
    let around = around.filter_map(|pass| registry.plugin_of(pass));
    used.extend(around.map(|plugin| plugin.name().to_owned()));
    let plugins = registry.plugins();
    let plugins = plugins
        .iter()
        .filter(|plugin| used.contains(plugin.name()) || !plugin.manifest().ops.is_empty());
    let files = plugins.filter_map(|plugin| plugin.origin().path());
    let mut files: Vec<PathBuf> = files.map(PathBuf::from).collect();
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    Ok(files)
}
