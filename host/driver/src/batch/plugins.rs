//! The plugins that affect a batch's results.

use std::path::PathBuf;

use passdock_core::{PassError, PassKind, Plugin, Registry};

use crate::prepare::{Request, Watched};
use crate::trust;
use crate::trust::{STANDARD, has_ops};

/// Returns the files of the plugins that affect a request's results: those that its run uses, and all plugins with op
/// definitions. Other plugins in the registry or in the request's directories aren't included.
///
/// A module pass may run any pass by name without requiring it. Those of the standard plugins don't. If one of another
/// plugin runs, all plugins are included.
///
/// # Errors
/// The first error in the request.
pub fn plugin_files(registry: &Registry, request: &Request) -> Result<Vec<PathBuf>, PassError> {
    let prepared = trust::prepared(registry, request, Watched::default())?;
    let passes = prepared.explain()?.passes;
    let runs = |name: &str| passes.iter().any(|pass| pass.runs && pass.name == name);
    let runs_any = |plugin: &Plugin| {
        let mut own = plugin.manifest().passes.iter();
        !STANDARD.contains(&plugin.name())
            && own.any(|pass| pass.kind == PassKind::Module && runs(pass.name()))
    };
    let mut plugins = registry.plugins();
    if !plugins.iter().any(|plugin| runs_any(plugin)) {
        plugins = prepared.used_plugins(request, has_ops)?;
    }
    let files = plugins.iter().filter_map(|plugin| plugin.origin().path());
    let mut files: Vec<PathBuf> = files.map(PathBuf::from).collect();
    files.sort_by_key(|file| file.file_name().map(ToOwned::to_owned));
    Ok(files)
}
