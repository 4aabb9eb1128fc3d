//! The files of a run, which nothing that is written next to the output may replace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::request::Request;
use crate::model_file;
use passdock_core::{Plugin, Registry};
use passdock_files::{directory_of, end_of_links};

/// Returns the file of a run that a path names: `the model`, `the output`, …
pub(super) fn protected_file(
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
    // The name of a new file isn't that of data.
    path.is_file().then(|| data(&path, request)).flatten()
}

/// Whether the model's data is there.
fn data(path: &Path, request: &Request) -> Option<String> {
    // What can be read only once is left to the run.
    if !request.model.is_file() {
        return None;
    }
    // A model that can't be read is another error, later.
    let module = request.read_model().ok()?;
    let mut files = model_file::data_files_of(&module).into_iter();
    let is = |file: PathBuf| whole(&file).is_some_and(|data| data == path);
    files.any(is).then(|| "the model's data".to_owned())
}

/// A path without links, of a file that is there or of one that could be.
fn whole(path: &Path) -> Option<PathBuf> {
    dunce::canonicalize(path).ok().or_else(|| {
        let end = end_of_links(path).ok()?;
        let directory = dunce::canonicalize(directory_of(&end)).ok()?;
        Some(directory.join(end.file_name()?))
    })
}
