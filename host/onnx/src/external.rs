//! The files beside a model that its tensors' data is in: where they may be, and reading them.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use passdock_abi::ValueId;
use passdock_ir::{ByteSource, Entity, Function, Module, Payload};
use rustc_hash::FxHashMap;

use crate::error::{OnnxError, Result};
use crate::source::{Bytes, ModelFile, whole};
use crate::write::{external_location, stands_at};

/// Which files a model may point to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those in the model's directory and below; no absolute path, no `..`, no link that leads out.
    #[default]
    Beside,
    /// Any.
    Anywhere,
}

/// A file that constants are in, mapped when its bytes are first asked for.
pub(crate) struct ExternalFile {
    /// Where relative locations begin, and what may not be left.
    directory: PathBuf,
    /// As the model spells it.
    location: String,
    reach: Reach,
    name: String,
    bytes: OnceLock<std::result::Result<Bytes, String>>,
}

/// The files that a text names, each opened when its bytes are first asked for.
#[derive(Default)]
pub struct ExternalFiles {
    files: Mutex<Vec<Arc<ExternalFile>>>,
}

impl ExternalFiles {
    /// The file that IR text beside `text` names. The text's author may name any file by its whole
    /// path; a relative one has to stay in the text's directory, unless `reach` says otherwise.
    pub fn open(&self, text: &Path, file: &str, reach: Reach) -> Arc<dyn ByteSource> {
        let whole = Path::new(file);
        let opened = match (whole.is_absolute(), whole.parent(), whole.file_name()) {
            (true, Some(directory), Some(name)) => {
                ExternalFile::new(directory, &name.to_string_lossy(), reach)
            }
            _ => ExternalFile::beside(text, file, reach),
        };
        let opened = Arc::new(opened);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(opened.clone());
        opened
    }

    /// Tells a module that was read from the text which of the files its tensors point to, and go on
    /// pointing to when it is written as ONNX. The others are models whose data goes along.
    pub fn give_to(self, module: &mut Module) {
        // Each by its name, with where it stood beside the model.
        let mut pointed: FxHashMap<&str, &str> = FxHashMap::default();
        for f in module.functions() {
            for (id, _) in f.live_constants() {
                let extras = f.origins().extras(Entity::Constant(id));
                if let (Payload::External { source, .. }, Some(extras)) =
                    (f.constant_data(id).payload(), extras)
                    && let Some(location) = external_location(extras)
                {
                    pointed.entry(source.name()).or_insert(location);
                }
            }
        }
        let files = self.files.into_inner();
        let files = files.unwrap_or_else(PoisonError::into_inner);
        let mut external: Vec<Arc<ExternalFile>> = files
            .into_iter()
            .filter_map(|file| Some((pointed.get(file.name())?, file)))
            .map(
                |(location, file)| match stands_at(&file.name, location.as_bytes()) {
                    true => {
                        let directory = &file.name[..file.name.len() - location.len()];
                        let directory = Path::new(directory);
                        Arc::new(ExternalFile::new(directory, location, file.reach))
                    }
                    false => file,
                },
            )
            .collect();
        external.sort_by(|a, b| a.location().cmp(b.location()));
        if !external.is_empty() {
            module.set_source(Some(Arc::new(ModelFile {
                source: None,
                external,
            })));
        }
    }
}

/// What the tensors of a module point to and can't be read: a file that isn't there, isn't allowed,
/// or is too short. Looks at the files' lengths, not at their bytes; one error a file.
pub fn check_external(module: &Module) -> Vec<OnnxError> {
    // Of each file: where its last tensor ends, and that tensor.
    let mut ends: FxHashMap<&str, (u64, ValueId, &Function)> = FxHashMap::default();
    for f in module.functions() {
        for (id, record) in f.live_constants() {
            if let Payload::External {
                source,
                offset,
                len,
            } = f.constant_data(id).payload()
            {
                let end = offset.saturating_add(*len);
                let last = ends.entry(source.name()).or_insert((end, record.value, f));
                if last.0 < end {
                    *last = (end, record.value, f);
                }
            }
        }
    }
    let mut errors = Vec::new();
    for file in files_of(module) {
        let Some(&(end, value, f)) = ends.get(file.name()) else {
            continue;
        };
        let problem = match file.size() {
            Err(problem) => problem,
            Ok(len) if len < end => format!(
                "The external data file {:?} has {len} bytes, and its tensors end at byte {end}.",
                file.location
            ),
            Ok(_) => continue,
        };
        let error = OnnxError::new(problem);
        let name = value.option().map(|value| f.value(value).name);
        errors.push(match name.and_then(|name| name.option()) {
            Some(name) => error.inside(format!("tensor {:?}", f.text(name))),
            None => error,
        });
    }
    errors
}

/// Where the files are that a module's tensors pointed to when it was read, as the model spells it.
pub fn external_locations(module: &Module) -> impl Iterator<Item = &str> {
    files_of(module).iter().map(|file| file.location())
}

/// The files that the tensors of a module's model point to.
pub(crate) fn files_of(module: &Module) -> &[Arc<ExternalFile>] {
    let file = module.source();
    let file = file.and_then(|source| source.downcast_ref::<ModelFile>());
    file.map_or(&[], |file| &file.external)
}

impl ExternalFile {
    /// The file at `location`, relative to a model's directory; opened later.
    pub(crate) fn beside(model: &Path, location: &str, reach: Reach) -> ExternalFile {
        match model.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                ExternalFile::new(parent, location, reach)
            }
            _ => ExternalFile::new(Path::new("."), location, reach),
        }
    }

    fn new(directory: &Path, location: &str, reach: Reach) -> ExternalFile {
        ExternalFile {
            directory: directory.to_owned(),
            location: location.to_owned(),
            reach,
            name: whole(&directory.join(location)),
            bytes: OnceLock::new(),
        }
    }

    /// Where it is, as the model spells it.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// Where it is, once it is known to be a file that may be read.
    pub(crate) fn resolve(&self) -> std::result::Result<PathBuf, String> {
        let path = match self.reach {
            Reach::Beside => inside(&self.directory, &self.location),
            Reach::Anywhere => self.directory.join(&self.location).canonicalize(),
        };
        let path = path.map_err(|error| self.failed(error))?;
        // Nothing else has a length to check against, and opening a pipe would wait.
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(path),
            Ok(_) => Err(self.failed(io::Error::other("it isn't a regular file"))),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> String {
        let location = &self.location;
        let help = match error.kind() {
            io::ErrorKind::PermissionDenied if error.get_ref().is_some() => {
                ", unless data outside of it is allowed"
            }
            _ => "",
        };
        format!("The external data file {location:?} can't be read: {error}{help}.")
    }

    fn bytes(&self) -> std::result::Result<&Bytes, String> {
        let open = || Bytes::open(&self.resolve()?).map_err(|error| self.failed(error));
        self.bytes.get_or_init(open).as_ref().map_err(String::clone)
    }

    /// Copies all of it to the end of a file.
    pub(crate) fn copy_all(&self, to: &mut File) -> io::Result<()> {
        let bytes = self.bytes().map_err(io::Error::other)?;
        bytes.copy_to(&self.location, 0, bytes.all().len() as u64, to)
    }

    /// Whether a file holds the same bytes.
    pub(crate) fn is_equal(&self, path: &Path) -> io::Result<bool> {
        let own = self.resolve().map_err(io::Error::other)?;
        same_bytes(&mut File::open(own)?, &mut File::open(path)?)
    }

    /// Whether it is the file at a path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let here = self.resolve();
        here.is_ok_and(|here| path.canonicalize().is_ok_and(|path| path == here))
    }
}

impl ByteSource for ExternalFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> &str {
        &self.location
    }

    fn read(&self, offset: u64, len: u64) -> std::result::Result<&[u8], String> {
        self.bytes()?.read(&self.location, offset, len)
    }

    fn copy_to(&self, offset: u64, len: u64, to: &mut File) -> io::Result<()> {
        let bytes = self.bytes().map_err(io::Error::other)?;
        bytes.copy_to(&self.location, offset, len, to)
    }

    fn size(&self) -> std::result::Result<u64, String> {
        let metadata = self.resolve()?.metadata();
        metadata
            .map(|metadata| metadata.len())
            .map_err(|error| self.failed(error))
    }
}

/// Whether two files hold the same. Reads both from their beginnings, a part at a time.
///
/// # Errors
/// If one of them can't be read.
pub fn same_bytes(a: &mut File, b: &mut File) -> io::Result<bool> {
    const PART: u64 = 1 << 20;
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let mut parts = [Vec::new(), Vec::new()];
    a.rewind()?;
    b.rewind()?;
    loop {
        for (file, part) in [&mut *a, &mut *b].into_iter().zip(&mut parts) {
            part.clear();
            file.take(PART).read_to_end(part)?;
        }
        if parts[0] != parts[1] || parts[0].is_empty() {
            return Ok(parts[0] == parts[1]);
        }
    }
}

/// The path of `location` in a directory; an error if it leaves the directory. What isn't there yet
/// is looked for from the last directory that is.
///
/// # Errors
/// `PermissionDenied` with a sentence if it leaves; what the system says otherwise.
pub(crate) fn inside(directory: &Path, location: &str) -> io::Result<PathBuf> {
    let outside = |what| Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    let relative = Path::new(location);
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if location.is_empty() || !relative.components().all(plain) {
        return outside("it isn't inside the model's directory");
    }
    let directory = directory.canonicalize()?;
    let path = directory.join(relative).canonicalize()?;
    if !path.starts_with(&directory) {
        return outside("it is a link out of the model's directory");
    }
    Ok(path)
}

/// Where a data file of a model that goes to `directory` is written. Its own directory need not be
/// there yet.
///
/// # Errors
/// If it would be outside of the directory.
pub fn place_external(directory: &Path, location: &str) -> Result<PathBuf> {
    let directory = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    let path = directory.join(location);
    let failed = |error: io::Error| OnnxError::io(&path, "written", &error);
    let refused = |what| Err(failed(io::Error::other(what)));
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(location).components().all(plain) {
        return refused("it isn't inside the model's directory");
    }
    let (Some(parent), Some(_)) = (path.parent(), Path::new(location).file_name()) else {
        return refused("it isn't the name of a file");
    };
    let root = directory.canonicalize().map_err(failed)?;
    let there = parent
        .ancestors()
        .find_map(|known| known.canonicalize().ok());
    match there.is_some_and(|there| there.starts_with(root)) {
        true => Ok(path),
        false => refused("it is a link out of the model's directory"),
    }
}
