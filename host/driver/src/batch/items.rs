//! The models of a batch, and the paths of their results.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError};

use crate::model_file::Format;

/// A model of a batch, and the path of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchItem {
    /// The model to read.
    pub model: PathBuf,
    /// The file to write.
    pub output: PathBuf,
}

impl BatchItem {
    /// Returns the length of the model's file, or 0 if it can't be determined.
    pub(super) fn bytes(&self) -> u64 {
        fs::metadata(&self.model).map_or(0, |file| file.len())
    }
}

/// Lists the models in files and directories, with the paths of their results below `to`.
///
/// The result of a file has the file's name. Directories are searched recursively for `.onnx` files, whose results keep
/// their relative paths. Hidden files, links to directories, and `to` itself are skipped. Duplicates of a file are
/// removed. A missing model is an item, too, whose run fails.
///
/// # Errors
/// If a directory can't be read, there is no model, two results have the same path, or a result would overwrite a
/// model.
pub fn items(models: &[PathBuf], to: &Path) -> Result<Vec<BatchItem>, PassError> {
    let out = true_path(to);
    let mut models_below = Vec::new();
    for path in models {
        let is_dir = match fs::metadata(path) {
            Ok(about) => about.is_dir(),
            // The file may have been removed since it was listed.
            Err(_) if Format::from_path(path).is_ok() => false,
            Err(error) => return Err(unreadable(path, &error)),
        };
        match is_dir {
            true => add_all(path, Path::new(""), &out, &mut models_below)
                .map_err(|(path, error)| unreadable(&path, &error))?,
            false => {
                let name = path.file_name().unwrap_or_default();
                models_below.push((path.clone(), PathBuf::from(name)));
            }
        }
    }
    if models_below.is_empty() {
        let named: Vec<String> = models
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        let message = format!("found no `.onnx` file in {}", named.join(", "));
        return Err(usage(message));
    }
    let items = models_below.into_iter().map(|(model, below)| BatchItem {
        output: to.join(below),
        model,
    });
    let items = unique(items.collect())?;
    check_outputs(&items)?;
    Ok(items)
}

/// Adds the models in a directory, sorted by name. `below` is its path relative to the root of the search.
fn add_all(
    dir: &Path,
    below: &Path,
    out: &Path,
    models: &mut Vec<(PathBuf, PathBuf)>,
) -> Result<(), (PathBuf, std::io::Error)> {
    let at = |error| (dir.to_owned(), error);
    let entries: Result<Vec<_>, _> = fs::read_dir(dir).map_err(at)?.collect();
    let mut entries = entries.map_err(at)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (name, path) = (entry.file_name(), entry.path());
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(at)?;
        if kind.is_dir() {
            if dunce::canonicalize(&path).is_ok_and(|path| path == out) {
                continue;
            }
            add_all(&path, &below.join(&name), out, models)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "onnx")
        {
            models.push((path, below.join(&name)));
        }
    }
    Ok(())
}

/// Removes duplicate items. Rejects different models with the same result path.
fn unique(items: Vec<BatchItem>) -> Result<Vec<BatchItem>, PassError> {
    let mut models = HashSet::new();
    let mut by_output: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut unique = Vec::new();
    for item in items {
        // A model has one result. If its file and its directory are both listed, the first one counts.
        if !models.insert(item.model.clone()) {
            continue;
        }
        let Some(other) = by_output.get(&item.output) else {
            by_output.insert(item.output.clone(), item.model.clone());
            unique.push(item);
            continue;
        };
        if true_path(other) != true_path(&item.model) {
            let error = usage(format!(
                "the results of `{}` and `{}` would both be `{}`",
                other.display(),
                item.model.display(),
                item.output.display()
            ));
            return Err(error.help("pass the directory that contains both, or run two batches"));
        }
    }
    Ok(unique)
}

/// Returns the canonical path, or the path itself if it doesn't exist.
fn true_path(path: &Path) -> PathBuf {
    dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Rejects results that would overwrite a model.
fn check_outputs(items: &[BatchItem]) -> Result<(), PassError> {
    let models: HashSet<PathBuf> = items.iter().map(|item| true_path(&item.model)).collect();
    let mut outputs = items.iter().map(|item| true_path(&item.output));
    let Some(replaced) = outputs.find(|output| models.contains(output)) else {
        return Ok(());
    };
    let replaced = replaced.display();
    let error = usage(format!("a result would overwrite the model `{replaced}`"));
    Err(error.help("write the results to another directory"))
}

fn unreadable(path: &Path, error: &std::io::Error) -> PassError {
    usage(format!("could not read `{}`: {error}", path.display()))
}

fn usage(message: String) -> PassError {
    PassError::new(ErrorKind::Usage, message)
}
