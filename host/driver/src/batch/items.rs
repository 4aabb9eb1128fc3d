//! The models of a batch, and where their results go.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError};

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
/// `to` itself aren't looked into.
///
/// # Errors
/// If a path can't be read, nothing is found, two results would be one file, or a result would replace a model.
pub fn items(models: &[PathBuf], to: &Path) -> Result<Vec<BatchItem>, PassError> {
    let out = dunce::canonicalize(to).unwrap_or_else(|_| to.to_owned());
    let mut found = Vec::new();
    for path in models {
        let about = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        match about.is_dir() {
            true => add_all(path, Path::new(""), &out, &mut found)
                .map_err(|(path, error)| unreadable(&path, &error))?,
            false => {
                let name = path.file_name().unwrap_or_default();
                found.push((path.clone(), PathBuf::from(name)));
            }
        }
    }
    if found.is_empty() {
        let named: Vec<String> = models
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        let message = format!("There is no .onnx file in {}.", named.join(", "));
        return Err(PassError::new(ErrorKind::Usage, message));
    }
    let items = found.into_iter().map(|(model, below)| BatchItem {
        output: to.join(below),
        model,
    });
    let items: Vec<BatchItem> = items.collect();
    check_outputs(&items)?;
    Ok(items)
}

/// Adds the models below a directory, by name; `below` is its path from where the search began.
fn add_all(
    dir: &Path,
    below: &Path,
    out: &Path,
    found: &mut Vec<(PathBuf, PathBuf)>,
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
            add_all(&path, &below.join(&name), out, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "onnx")
        {
            found.push((path, below.join(&name)));
        }
    }
    Ok(())
}

/// Refuses results of which one would take the place of another one, or of a model.
fn check_outputs(items: &[BatchItem]) -> Result<(), PassError> {
    let usage = |message: String| PassError::new(ErrorKind::Usage, message);
    let mut known: HashMap<&Path, &Path> = HashMap::new();
    for BatchItem { model, output } in items {
        if let Some(other) = known.insert(output, model) {
            let error = usage(format!(
                "The results of `{}` and of `{}` would both be `{}`.",
                other.display(),
                model.display(),
                output.display()
            ));
            return Err(
                error.help("Name the directory that both are in, or do them in two batches.")
            );
        }
    }
    let there = |path: &PathBuf| dunce::canonicalize(path).ok();
    let models: HashSet<PathBuf> = items.iter().filter_map(|item| there(&item.model)).collect();
    let mut outputs = items.iter().filter_map(|item| there(&item.output));
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
    let message = format!("`{}` can't be read: {error}.", path.display());
    PassError::new(ErrorKind::Usage, message)
}
