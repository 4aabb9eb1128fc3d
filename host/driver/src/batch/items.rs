//! The models of a batch, and where their results go.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError};

use crate::model_file::Format;

/// A model of a batch, and the file that its result is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchItem {
    /// The model that is read.
    pub model: PathBuf,
    /// The file that is written.
    pub output: PathBuf,
}

impl BatchItem {
    /// The length of the model's file; 0 if nobody can say.
    pub(super) fn bytes(&self) -> u64 {
        fs::metadata(&self.model).map_or(0, |file| file.len())
    }
}

/// The models of files and directories, and where below `to` their results go. A file's has its name; what is found
/// in a directory, a `.onnx` at any depth, has the path that it has there. Hidden files, directories behind links, and
/// `to` itself aren't looked into. The same file is one item, however often it is named; a model's that isn't there is
/// one, too, whose run fails.
///
/// # Errors
/// If a directory can't be read, nothing is found, two results would be one file, or a result would replace a model.
pub fn items(models: &[PathBuf], to: &Path) -> Result<Vec<BatchItem>, PassError> {
    let out = true_path(to);
    let mut models_below = Vec::new();
    for path in models {
        let is_dir = match fs::metadata(path) {
            Ok(about) => about.is_dir(),
            // It may have gone since it was listed.
            Err(_) if Format::of(path).is_ok() => false,
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
        let message = format!("There is no .onnx file in {}.", named.join(", "));
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

/// Adds the models below a directory, by name; `below` is its path from where the search began.
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

/// Removes items that are listed twice. Refuses results of which one would take the place of another one.
fn unique(items: Vec<BatchItem>) -> Result<Vec<BatchItem>, PassError> {
    let mut models = HashSet::new();
    let mut by_output: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut unique = Vec::new();
    for item in items {
        // A model has one outcome: of a file in a directory that is named as well the first result counts.
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
                "The results of `{}` and of `{}` would both be `{}`.",
                other.display(),
                item.model.display(),
                item.output.display()
            ));
            return Err(
                error.help("Name the directory that both are in, or do them in two batches.")
            );
        }
    }
    Ok(unique)
}

/// Returns a path without links, if something is there.
fn true_path(path: &Path) -> PathBuf {
    dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Refuses results that would take the place of a model.
fn check_outputs(items: &[BatchItem]) -> Result<(), PassError> {
    let models: HashSet<PathBuf> = items.iter().map(|item| true_path(&item.model)).collect();
    let mut outputs = items.iter().map(|item| true_path(&item.output));
    let Some(replaced) = outputs.find(|output| models.contains(output)) else {
        return Ok(());
    };
    let replaced = replaced.display();
    let error = usage(format!(
        "A result would take the place of the model `{replaced}`."
    ));
    Err(error.help("Let results go to another directory."))
}

fn unreadable(path: &Path, error: &std::io::Error) -> PassError {
    usage(format!("`{}` can't be read: {error}.", path.display()))
}

fn usage(message: String) -> PassError {
    PassError::new(ErrorKind::Usage, message)
}
