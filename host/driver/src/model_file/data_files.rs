//! Creation and removal of the data files of a model that is written.
//!
//! Existing files are never overwritten. If a name is taken by other data, the new file's name gets its hash
//! (`OUT.HASH.data`). The model file is renamed last, which makes the model and its data visible at once. Data files
//! that only the replaced model used are removed after that.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};

use passdock_ir::Module;
use passdock_onnx::{DataFile, Moved, OnnxError};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use passdock_files::{StagedFile, Staging, directory_of, lock_directory, same_contents};

/// Number of hexadecimal digits of a hash in a file name.
const DIGITS: usize = 16;

/// The changes to the files in the model's directory.
pub(super) struct Plan {
    /// The directory of the new files until they are committed.
    pub(super) staging: Staging,
    /// The new data files.
    pub(super) new: Vec<StagedFile>,
    /// What the model replaces.
    pub(super) replaces: Replaced,
    /// The data files to rename.
    pub(super) moved: Vec<Moved>,
    /// The names of the new files.
    used_names: FxHashSet<PathBuf>,
    /// A lock that excludes other writers of the directory.
    pub(super) lock: Option<File>,
}

/// The reason why the data files of a model can't be placed.
pub(super) enum PlanError {
    /// A location isn't allowed.
    Location(OnnxError),
    /// A location that the model must refer to has other data.
    Other(PathBuf),
    Failed(io::Error),
}

impl From<io::Error> for PlanError {
    fn from(error: io::Error) -> Self {
        PlanError::Failed(error)
    }
}

/// Returns the name of a model's own data file, relative to its directory.
pub(super) fn own_location(model: &Path) -> String {
    let name = model.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}.data")
}

impl Plan {
    /// Plans the files of a model that is written to `model`, and writes the missing ones to the staging directory.
    /// `own` is the location of the model's data file.
    pub(super) fn new(
        output: &passdock_onnx::EncodedModel,
        model: &Path,
        own: &str,
        staging: Staging,
    ) -> Result<Plan, PlanError> {
        let dir = directory_of(model);
        // The process that commits the model locks the directory.
        let lock = staging.is_own().then(|| lock_directory(dir)).flatten();
        let mut plan = Plan {
            staging,
            new: Vec::new(),
            replaces: Replaced::default(),
            moved: Vec::new(),
            used_names: FxHashSet::default(),
            lock,
        };
        let mut owned: Vec<&str> = vec![own];
        // The data of the model that was read, which may be the one that is replaced. A model in IR text still needs
        // its data.
        if output.is_from_model() {
            let read = output.dropped().iter().filter(|file| !file.stays);
            let read = read.map(|file| &*file.location);
            owned.extend(read.filter(|file| passdock_onnx::resolve_external(dir, file).is_ok()));
        }
        let mut locations: Vec<String> = Vec::new();
        for data in output.data_files() {
            let location = data.location();
            owned.push(location);
            let to = passdock_onnx::resolve_external(dir, location).map_err(PlanError::Location)?;
            if data.is_at(&to)? {
                locations.push(location.to_owned());
                continue;
            }
            let name = plan.plan_file(dir, location, &to, data)?;
            if name != location {
                plan.moved.push(Moved {
                    from: location.to_owned(),
                    to: name.clone(),
                });
            }
            locations.push(name);
        }
        plan.replaces = Replaced {
            owned: owned.into_iter().map(str::to_owned).collect(),
            locations,
        };
        Ok(plan)
    }

    /// Writes a data file unless it exists, and returns its location.
    fn plan_file(
        &mut self,
        dir: &Path,
        location: &str,
        to: &Path,
        data: &DataFile,
    ) -> Result<String, PlanError> {
        let free = self.is_free(to, location);
        let exists = to.is_file();
        if !free && exists && is_readable(data.is_equal(to))?.flatten() == Some(true) {
            return Ok(location.to_owned());
        }
        let (mut file, name) = self.staging.new_file()?;
        data.write_file(&mut file)?;
        let len = file.metadata()?.len();
        if free {
            self.add(location, name, len);
            return Ok(location.to_owned());
        }
        if exists && is_readable(same_contents_at(&mut file, to))? == Some(true) {
            return Ok(location.to_owned());
        }
        if !data.can_move() {
            return Err(PlanError::Other(to.to_path_buf()));
        }
        let location = with_hash(location, &hash(&mut file)?);
        let to = dir.join(&location);
        if self.is_free(&to, &location) {
            self.add(&location, name, len);
        } else if !to.is_file() {
            return Err(PlanError::Other(to));
        } else {
            match is_readable(same_contents_at(&mut file, &to))? {
                Some(true) => {}
                Some(false) => return Err(PlanError::Other(to)),
                // The process that commits the file compares it.
                None => self.add(&location, name, len),
            }
        }
        Ok(location)
    }

    fn is_free(&self, to: &Path, location: &str) -> bool {
        to.symlink_metadata().is_err() && !self.used_names.contains(&normal(location))
    }

    fn add(&mut self, location: &str, name: String, len: u64) {
        let to = normal(location);
        self.used_names.insert(to.clone());
        self.new.push(StagedFile { to, name, len });
    }
}

/// The data files that a model replaces when it is written.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Replaced {
    /// The names of the model's files without hashes.
    owned: Vec<String>,
    /// The names of its files.
    locations: Vec<String>,
}

impl Replaced {
    /// Returns the data files of the existing model at `model` that become unused when it is replaced. Each has the
    /// name of one of the new model's files, with or without a hash. Files of the new model and of other models in the
    /// directory are left out.
    pub(super) fn files(&self, model: &Path) -> io::Result<Vec<PathBuf>> {
        replaced(model, &self.owned, &self.locations)
    }
}

fn replaced(model: &Path, owned: &[String], locations: &[String]) -> io::Result<Vec<PathBuf>> {
    let dir = directory_of(model);
    // A quick check: most models have no data files, and reading the old model takes as long as writing the new one.
    if model.symlink_metadata().is_err() || !any_exists(dir, owned) {
        return Ok(Vec::new());
    }
    let Some(old) = read(model)? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for location in passdock_onnx::external_locations(&old) {
        let name = normal(location);
        // Links belong to the user.
        let is_file = match dir.join(&name).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            known => known?.is_file(),
        };
        if is_file
            && owned.contains(&without_hash(location))
            && locations.iter().all(|other| other != location)
            && !is_used_by_other_model(dir, &name, model)?
        {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns `true` if a directory may have a file with one of these locations, with or without a hash. Also returns
/// `true` for a directory with many files: listing it for each model of a batch would take too long.
fn any_exists(dir: &Path, owned: &[String]) -> bool {
    const MAX_LISTED: usize = 1024;
    let owned: FxHashSet<PathBuf> = owned.iter().map(normal).collect();
    let parents: FxHashSet<&Path> = owned.iter().filter_map(|name| name.parent()).collect();
    parents.into_iter().any(|parent| {
        let is_listed = |name: &str| owned.contains(&parent.join(without_hash(name)));
        match fs::read_dir(dir.join(parent)) {
            Ok(entries) => entries.enumerate().any(|(nth, entry)| match entry {
                Ok(entry) if nth < MAX_LISTED => entry.file_name().to_str().is_none_or(is_listed),
                _ => true,
            }),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    })
}

/// Returns `true` if the file at a path has the same content as another one.
fn same_contents_at(file: &mut File, path: &Path) -> io::Result<bool> {
    same_contents(file, &mut File::open(path)?)
}

/// Returns `None` for a file that can't be read: in a sandbox, existing files of other models.
fn is_readable<T>(compared: io::Result<T>) -> io::Result<Option<T>> {
    match compared {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        compared => compared.map(Some),
    }
}

/// Reads a model, if the file exists and is valid.
fn read(path: &Path) -> io::Result<Option<Module>> {
    match passdock_onnx::read(path) {
        Ok(module) => Ok(Some(module)),
        Err(error) => match error.system {
            None | Some(io::ErrorKind::NotFound) => Ok(None),
            Some(kind) => Err(io::Error::new(kind, error)),
        },
    }
}

/// Returns `true` if a file other than `model` refers to a data file: a model of any name, IR text, or the files of a
/// reproducer. Directories between `dir` and the data file are searched, too.
fn is_used_by_other_model(dir: &Path, name: &Path, model: &Path) -> io::Result<bool> {
    /// Maximum size of a model file. Larger files aren't models.
    const MAX_SIZE: u64 = 1 << 31;
    let inner = name.ancestors().skip(1).map(|inner| dir.join(inner));
    let mut dirs: Vec<PathBuf> = inner.filter(|dir| dir.is_dir()).collect();
    let data = dir.join(name);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            let Ok(known) = path.metadata() else {
                continue;
            };
            if known.is_dir() && path.join(super::REPRODUCER).is_file() {
                dirs.push(path);
            } else if known.is_file()
                && known.len() <= MAX_SIZE
                && path != data
                && path != model
                && mentions(&path, name)?
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns `true` if a file contains the name of another file. It isn't parsed: it may be a model in any format, or be
/// incomplete because another program is writing it.
fn mentions(path: &Path, name: &Path) -> io::Result<bool> {
    let name = name.file_name().unwrap_or_default().as_encoded_bytes();
    let mut file = match File::open(path) {
        Ok(file) => file,
        // An unreadable file may contain the name. A removed one doesn't.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    loop {
        let read = (&mut file).take(1 << 20).read_to_end(&mut bytes)?;
        if memchr::memmem::find(&bytes, name).is_some() {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        bytes.drain(..bytes.len().saturating_sub(name.len()));
    }
}

/// Returns a location without `.` components.
fn normal(location: impl AsRef<Path>) -> PathBuf {
    let parts = location.as_ref().components();
    parts
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

/// Inserts a hash: `w.bin` → `w.HASH.bin`.
fn with_hash(location: &str, hash: &str) -> String {
    let path = Path::new(location);
    let extension = path.extension().map(|extension| extension.display());
    let extension = extension.map_or(hash.to_owned(), |extension| format!("{hash}.{extension}"));
    path.with_extension(extension).display().to_string()
}

/// Removes a hash: `w.HASH.bin` → `w.bin`.
fn without_hash(location: &str) -> String {
    let path = Path::new(location);
    let has_hash = |path: &Path| {
        let digit = |c: &u8| c.is_ascii_digit() || (b'a'..=b'f').contains(c);
        let hash = path.extension().unwrap_or_default().as_encoded_bytes();
        hash.len() == DIGITS && hash.iter().all(digit)
    };
    let stem = path.with_extension("");
    let plain = match path.extension() {
        _ if has_hash(path) => stem,
        Some(extension) if has_hash(&stem) => stem.with_extension(extension),
        _ => return location.to_owned(),
    };
    plain.display().to_string()
}

/// Returns the hash of a file's content, as used in names.
fn hash(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    io::copy(file, &mut hasher)?;
    Ok(hasher.finalize().to_hex()[..DIGITS].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_inserted_before_the_extension() {
        const HASH: &str = "0123456789abcdef";
        for (plain, hashed) in [
            ("m.onnx.data", "m.onnx.0123456789abcdef.data"),
            ("data/w.bin", "data/w.0123456789abcdef.bin"),
            ("a.b/w", "a.b/w.0123456789abcdef"),
            (".hidden", ".hidden.0123456789abcdef"),
        ] {
            assert_eq!(with_hash(plain, HASH), hashed);
            assert_eq!(without_hash(hashed), plain);
            assert_eq!(without_hash(plain), plain);
        }
        assert_eq!(
            without_hash("m.0123456789ABCDEF.data"),
            "m.0123456789ABCDEF.data"
        );
    }
}
