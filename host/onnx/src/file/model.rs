//! The files that a module was read from: its model file, and those that its tensors point to.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_abi::ValueId;
use passdock_ir::{ByteSource, Entity, Function, Module};
use rustc_hash::FxHashMap;

use super::external::{ExternalFile, Reach, or_here};
use super::source::Source;
use crate::extras::importer_data::external_location;
use crate::format::error::OnnxError;
use crate::format::tensor::stands_at;

/// The files that a module was read from.
#[derive(Clone)]
pub(crate) struct ModelFile {
    /// `None`: the module was taken out of it.
    pub(crate) source: Option<Arc<Source>>,
    /// The files that its tensors point to.
    pub(crate) external: Vec<Arc<ExternalFile>>,
    /// The bytes of each that its tensors were in when it was read.
    pub(crate) referenced: Vec<u64>,
}

impl ModelFile {
    /// The files of a module that was just read.
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

    /// The files that a module was read from, if it was read from ONNX.
    pub(crate) fn from_module(module: &Module) -> Option<&ModelFile> {
        module.source()?.downcast_ref()
    }
}

/// The files that a text names, each opened when its bytes are first asked for.
#[derive(Default)]
pub struct ExternalFiles {
    files: Mutex<Vec<Arc<ExternalFile>>>,
}

impl ExternalFiles {
    /// The file that IR text beside `text` names. It has to be in the text's directory, as a model's data has,
    /// unless `reach` says otherwise.
    pub fn open(&self, text: &Path, file: &str, reach: Reach) -> Arc<dyn ByteSource> {
        let whole = Path::new(file);
        let opened = match (reach, whole.parent(), whole.file_name()) {
            (Reach::Anywhere, Some(directory), Some(name)) if whole.is_absolute() => {
                ExternalFile::new(directory, &name.to_string_lossy(), reach)
            }
            _ => {
                let directory = or_here(text.parent().unwrap_or(Path::new("")));
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

    /// Tells a module that was read from the text which of the files its tensors point to, and go on
    /// pointing to when it is written as ONNX. The others are models whose data goes along.
    pub fn give_to(self, module: &mut Module) {
        // Each by its name, with where it stood beside the model.
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
                |(location, file)| match stands_at(file.name(), location.as_bytes()) {
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

/// The bytes of each file that tensors of a module are in; those that several share count once.
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

/// A file that the tensors of a module point to, and that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableData {
    /// The file, as all messages quote it.
    pub file: String,
    /// What is wrong with it, and a tensor: the first one, or that which ends behind the file.
    pub error: OnnxError,
}

/// The files that the tensors of a module point to and that can't be read: each doesn't
/// exist, isn't allowed, or is too short. Only the files' lengths are looked at, not their bytes.
pub fn check_external(module: &Module) -> Vec<UnreadableData> {
    // Of each file: its first tensor, where its last one ends, and that one.
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
        let said = file.said();
        let (problem, (value, f)) = match file.size() {
            Err(problem) => (problem, first),
            Ok(len) if len < end => {
                let problem = format!(
                    "The external data file {said:?} has {len} bytes, and its tensors end at byte {end}."
                );
                (problem, last)
            }
            Ok(_) => continue,
        };
        let error = OnnxError::new(problem);
        let name = value.option().map(|value| f.value(value).name);
        unreadable.push(UnreadableData {
            file: format!("{said:?}"),
            error: match name.and_then(|name| name.option()) {
                Some(name) => error.inside(format!("tensor {:?}", f.text(name))),
                None => error,
            },
        });
    }
    unreadable
}

/// The locations of the files that a module's tensors pointed to when it was read, as the model
/// spells them.
pub fn external_locations(module: &Module) -> impl Iterator<Item = &str> {
    files_of(module).iter().map(|file| file.location())
}

/// The files that the tensors of a module's model point to.
pub(crate) fn files_of(module: &Module) -> &[Arc<ExternalFile>] {
    ModelFile::from_module(module).map_or(&[], |file| &file.external)
}
