//! The files that a module was read from: its model file, and the external files of its tensors.

use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_abi::{Constant, ValueId};
use passdock_files::directory_of;
use passdock_ir::{ByteSource, Entity, Function, Module, ModuleSource};
use rustc_hash::FxHashMap;

use super::external::{ExternalFile, Reach};
use super::source::Source;
use crate::extras::importer_data::external_location;
use crate::format::error::OnnxError;
use crate::format::schema::doc;
use crate::format::tensor::ends_with_location;
use crate::format::texts::plain_metadata;

/// The files that a module was read from.
#[derive(Clone)]
pub(crate) struct ModelFile {
    /// The model file; `None` if the module is self-contained.
    pub(crate) source: Option<Arc<Source>>,
    /// The external files of its tensors.
    pub(crate) external: Vec<Arc<ExternalFile>>,
    /// The number of bytes of each external file that tensors used when the module was read.
    pub(crate) referenced: Vec<u64>,
}

impl ModelFile {
    /// Creates the files of a module that was just read.
    pub(crate) fn new(
        module: &Module,
        source: Option<Arc<Source>>,
        external: Vec<Arc<ExternalFile>>,
    ) -> ModelFile {
        let referenced = referenced_bytes(module, &external);
        ModelFile {
            source,
            external,
            referenced,
        }
    }

    /// Returns the files that a module was read from, if it was read from ONNX.
    pub(crate) fn from_module(module: &Module) -> Option<&ModelFile> {
        let source: &dyn Any = &**module.source()?;
        source.downcast_ref()
    }
}

impl ModuleSource for ModelFile {
    fn metadata<'a>(&'a self, f: &Function, entity: Entity) -> Vec<(&'a str, &'a str)> {
        let Some(source) = &self.source else {
            return Vec::new();
        };
        let [_, number] = match entity {
            Entity::Op(_) => doc::NODE,
            Entity::Constant(id) if f.constant(id).flags & Constant::NODE != 0 => doc::NODE,
            Entity::Constant(_) => doc::TENSOR,
            Entity::Value(_) | Entity::Port(_) => doc::VALUE_INFO,
            Entity::Function | Entity::Region(_) => return Vec::new(),
        };
        // The importer accepted the message. An entry that isn't text is not visible, but is written again.
        let message = source.message(f.origins().get(entity));
        let pairs = message.map(|message| plain_metadata(message, number));
        pairs.and_then(Result::ok).flatten().unwrap_or_default()
    }
}

/// The external files that IR text names. Each is opened on first use.
#[derive(Default)]
pub struct ExternalFiles {
    files: Mutex<Vec<Arc<ExternalFile>>>,
}

impl ExternalFiles {
    /// Returns the file that the IR text at `text` names. It has to be in the text's directory, like external data of a
    /// model, unless `reach` allows other files.
    pub fn open(&self, text: &Path, file: &str, reach: Reach) -> Arc<dyn ByteSource> {
        let whole = Path::new(file);
        let opened = match (reach, whole.parent(), whole.file_name()) {
            (Reach::Anywhere, Some(directory), Some(name)) if whole.is_absolute() => {
                ExternalFile::new(directory, &name.to_string_lossy(), reach)
            }
            _ => {
                let directory = directory_of(text);
                let below = whole.strip_prefix(super::bytes::whole(directory));
                let location = below.map_or(file.into(), Path::to_string_lossy);
                ExternalFile::new(directory, &location, reach)
            }
        };
        let opened = Arc::new(opened);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(opened.clone());
        opened
    }

    /// Records in a module that was read from the text which of the files are external data. The module keeps
    /// referencing them when it is written as ONNX. Other files are models, whose data is copied.
    pub fn attach_to(self, module: &mut Module) {
        // The locations relative to the model, by file name.
        let mut pointed: FxHashMap<&str, &str> = FxHashMap::default();
        for f in module.functions() {
            for (id, _) in f.live_constants() {
                let extras = f.origins().extras(Entity::Constant(id));
                if let Some(range) = f.constant_data(id).external()
                    && let Some(location) = extras.and_then(|extras| external_location(extras))
                {
                    pointed.entry(range.source.name()).or_insert(location);
                }
            }
        }
        let files = self.files.into_inner();
        let files = files.unwrap_or_else(PoisonError::into_inner);
        let mut external: Vec<Arc<ExternalFile>> = files
            .into_iter()
            .filter_map(|file| Some((pointed.get(file.name())?, file)))
            .map(
                |(location, file)| match ends_with_location(file.name(), location.as_bytes()) {
                    true => {
                        let directory = &file.name()[..file.name().len() - location.len()];
                        let directory = Path::new(directory);
                        Arc::new(ExternalFile::new(directory, location, file.reach))
                    }
                    false => file,
                },
            )
            .collect();
        external.sort_by(|a, b| a.location().cmp(b.location()));
        if !external.is_empty() {
            let file = ModelFile::new(module, None, external);
            module.set_source(Some(Arc::new(file)));
        }
    }
}

/// Returns the number of bytes of each file that a module's tensors use. Shared bytes count once.
pub(crate) fn referenced_bytes(module: &Module, files: &[Arc<ExternalFile>]) -> Vec<u64> {
    let mut ranges: FxHashMap<&str, Vec<(u64, u64)>> =
        files.iter().map(|file| (file.name(), Vec::new())).collect();
    for f in module.functions().filter(|_| !files.is_empty()) {
        for (id, _) in f.live_constants() {
            if let Some(range) = f.constant_data(id).external()
                && let Some(ranges) = ranges.get_mut(range.source.name())
            {
                ranges.push((range.offset, range.offset.saturating_add(range.len)));
            }
        }
    }
    let covered = |file: &Arc<ExternalFile>| {
        let mut ranges = ranges.get(file.name()).cloned().unwrap_or_default();
        ranges.sort_unstable();
        let mut reached = 0;
        let new = ranges.into_iter().map(|(start, end)| {
            let new = end.saturating_sub(start.max(reached));
            reached = reached.max(end);
            new
        });
        new.fold(0, u64::saturating_add)
    };
    files.iter().map(covered).collect()
}

/// An external file of a module that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableData {
    /// The file, quoted as in messages.
    pub file: String,
    /// The problem, with a tensor: the first one of the file, or the one beyond its end.
    pub error: OnnxError,
}

/// Returns the external files of a module that can't be read, because they don't exist, aren't allowed or are too
/// short. Only the lengths of files are checked.
pub fn check_external(module: &Module) -> Vec<UnreadableData> {
    // By file: its first tensor, the end of its last tensor, and that tensor.
    type Tensor<'f> = (ValueId, &'f Function);
    let mut ends: FxHashMap<&str, (Tensor<'_>, u64, Tensor<'_>)> = FxHashMap::default();
    for f in module.functions() {
        for (id, record) in f.live_constants() {
            if let Some(range) = f.constant_data(id).external() {
                let end = range.offset.saturating_add(range.len);
                let tensor = (record.value, &**f);
                let known = ends
                    .entry(range.source.name())
                    .or_insert((tensor, end, tensor));
                if known.1 < end {
                    (known.1, known.2) = (end, tensor);
                }
            }
        }
    }
    let mut unreadable = Vec::new();
    for file in files_of(module) {
        let Some(&(first, end, last)) = ends.get(file.name()) else {
            continue;
        };
        let display_path = file.display_path();
        let (problem, (value, f)) = match file.size() {
            Err(problem) => (problem, first),
            Ok(len) if len < end => {
                let problem = format!(
                    "external data file `{display_path}` has {len} bytes, but its tensors end at byte {end}"
                );
                (problem, last)
            }
            Ok(_) => continue,
        };
        let error = OnnxError::new(problem);
        let name = value.option().map(|value| f.value(value).name);
        unreadable.push(UnreadableData {
            file: format!("`{display_path}`"),
            error: match name.and_then(|name| name.option()) {
                Some(name) => error.inside(format!("tensor {:?}", f.text(name))),
                None => error,
            },
        });
    }
    unreadable
}

/// Returns the locations of the external files that a module had when it was read, as in the model.
pub fn external_locations(module: &Module) -> impl Iterator<Item = &str> {
    files_of(module).iter().map(|file| file.location())
}

/// Returns the external files of a module's model.
pub(crate) fn files_of(module: &Module) -> &[Arc<ExternalFile>] {
    ModelFile::from_module(module).map_or(&[], |file| &file.external)
}
