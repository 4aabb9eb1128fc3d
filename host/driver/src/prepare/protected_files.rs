//! The files of a run that other output must not overwrite.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::request::Request;
use crate::model_file;
use passdock_core::{Plugin, Registry};
use passdock_files::{directory_of, end_of_links};

/// Describes the file of the run that a path refers to: `the model`, `the output`, …
pub(crate) fn protected_file(
    path: &Path,
    request: &Request,
    registry: &Registry,
) -> Option<String> {
    let path = whole(path)?;
    let is = |known: &Path| whole(known).is_some_and(|known| known == path);
    let pipeline = request.pipeline.as_ref().map(|pipeline| &pipeline.path);
    let named = [
        (Some(&request.model), "the model"),
        (request.output.as_ref(), "the output"),
        (pipeline, "the pipeline"),
    ];
    let mut named = named.into_iter();
    if let Some((_, name)) = named.find(|(known, _)| known.is_some_and(|known| is(known))) {
        return Some(name.to_owned());
    }
    if let Some(rules) = request.rules_files().into_iter().find(|rules| is(rules)) {
        return Some(format!("the rules `{}`", rules.display()));
    }
    let plugins = registry.plugins();
    let is_plugin = |plugin: &&Arc<Plugin>| plugin.origin().path().is_some_and(is);
    if let Some(plugin) = plugins.iter().find(is_plugin) {
        return Some(format!("the plugin `{}`", plugin.name()));
    }
    // Only existing files can be data files.
    path.is_file().then(|| data(&path, request)).flatten()
}

/// Describes the path if it is a data file of the model.
fn data(path: &Path, request: &Request) -> Option<String> {
    // A pipe can be read only once, by the run.
    if !request.model.is_file() {
        return None;
    }
    // The run reports unreadable models.
    let module = request.read_model().ok()?;
    let mut files = model_file::referenced_data_files(&module).into_iter();
    let is = |file: PathBuf| whole(&file).is_some_and(|data| data == path);
    files.any(is).then(|| "the model's data".to_owned())
}

/// Returns a path with links resolved. The file need not exist.
fn whole(path: &Path) -> Option<PathBuf> {
    dunce::canonicalize(path).ok().or_else(|| {
        let end = end_of_links(path).ok()?;
        let directory = dunce::canonicalize(directory_of(&end)).ok()?;
        Some(directory.join(end.file_name()?))
    })
}
