//! Placement of the data of initializers: in the model file, in an existing data file, or in a new one.
//!
//! Data isn't moved unless the options require it, or a part of its file is no longer referenced. New data goes to a
//! new data file if the model has external data or would exceed protobuf's limit. The data file is packed in the
//! previous order. Existing files aren't appended to, so writing twice creates the same file twice.

use std::sync::Arc;

use passdock_abi::{ConstId, Constant, DType, Value as ValueRecord};
use passdock_ir::{ByteSource, ConstantData, Function, Module, Payload};
use rustc_hash::{FxHashMap, FxHashSet};

use super::data_file::{ALIGNMENT, Content, DataFile, LARGE, PAGE};
use super::options::{EncodeOptions, ExternalData};
use crate::file::external::ExternalFile;
use crate::file::model::{ModelFile, files_of, referenced_bytes};
use crate::format::fields::put_pair;
use crate::format::schema::tensor;
use crate::format::tensor::{EXTERNAL, EXTERNAL_KEYS};
use crate::format::wire::{put_bytes, put_int};
use crate::layout::constants::is_imported;

/// The size below which data stays in the model file, as in ONNX's own tools.
const SMALL: u64 = 1024;
/// The size below which new data stays in the model file, if the model has data files.
const SMALL_NEW: u64 = 64 * 1024;

/// The divisor of the fraction of a model's data that may be unreferenced.
const PART: u64 = 100;

/// The placement of an initializer's data.
pub(super) enum DataPlacement {
    /// In the model file.
    Inline,
    /// In a data file.
    At(ExternalRange),
}

/// A range in a data file.
pub(super) struct ExternalRange {
    location: Arc<str>,
    offset: u64,
    len: u64,
}

impl ExternalRange {
    /// Appends the fields of a tensor that reference the range.
    pub(super) fn put(&self, to: &mut Vec<u8>) {
        let values = [
            &*self.location,
            &self.offset.to_string(),
            &self.len.to_string(),
        ];
        for (key, value) in EXTERNAL_KEYS.iter().zip(values) {
            let mut body = Vec::new();
            put_pair(&mut body, key, value.as_bytes());
            put_bytes(to, tensor::EXTERNAL_DATA, &body);
        }
        put_int(to, tensor::DATA_LOCATION, EXTERNAL as i64);
    }
}

/// The placement of moved data, and the data files.
#[derive(Default)]
pub(super) struct Placement {
    pub(super) placements: FxHashMap<ConstId, DataPlacement>,
    pub(super) files: Vec<DataFile>,
    pub(super) dropped: Vec<DroppedData>,
}

/// A data file of the input model that isn't written with the output, or that is written unchanged although a part of
/// it is no longer referenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedData {
    /// The file's location, as in the input model.
    pub location: String,
    /// The number of bytes in it that tensors used before and no longer do.
    pub bytes: u64,
    /// Whether it is written, because not only initializers of the main graph reference it.
    pub stays: bool,
}

impl Placement {
    /// Plans the placement for a module. With `all`, all data goes to the data file, whatever the options.
    pub(super) fn new(
        module: &Module,
        main: &Function,
        options: &EncodeOptions<'_>,
        ir_version: i64,
        all: bool,
    ) -> Placement {
        let locations: FxHashMap<&str, &str> = files_of(module)
            .iter()
            .map(|file| (file.name(), file.location()))
            .collect();
        let moved: FxHashMap<&str, &str> = options
            .moved
            .iter()
            .map(|moved| (&*moved.from, &*moved.to))
            .collect();
        let mut placement = Placement::default();
        let mut moving: Vec<ConstId> = Vec::new();
        // Data that stays in the data file, unless the file is written again.
        let mut in_place: Vec<ConstId> = Vec::new();
        for (id, record) in main.live_constants() {
            if !is_initializer(main, id, record, ir_version) {
                continue;
            }
            let data = main.constant_data(id);
            let new = !is_imported(main, id);
            let external = data.external();
            let location = external.and_then(|range| locations.get(range.source.name()).copied());
            match options.external {
                ExternalData::None if location.is_some() => {
                    placement.placements.insert(id, DataPlacement::Inline);
                }
                ExternalData::None => {}
                _ if all => {
                    if location.is_some() || data.len() >= SMALL {
                        moving.push(id);
                    }
                }
                _ => match (location, external) {
                    (Some(location), _) if options.data_file == Some(location) => in_place.push(id),
                    // A pass's copy of a constant gets a second reference to the data.
                    (Some(location), Some(range)) if new => {
                        placement.put(id, location, range.offset, range.len);
                    }
                    (None, _) if new && data.len() >= SMALL_NEW && !locations.is_empty() => {
                        moving.push(id);
                    }
                    _ => {}
                },
            }
        }
        let now = referenced_bytes(module, files_of(module));
        let mut whole: FxHashSet<&str> = FxHashSet::default();
        if options.external == ExternalData::Keep && !all && !options.whole_files {
            let new = main
                .live_constants()
                .map(|(id, _)| (main.constant_data(id), is_imported(main, id)));
            let new = new.filter(|(data, imported)| !imported && data.external().is_none());
            let new = new.map(|(data, _)| data.len()).fold(0, u64::saturating_add);
            for (file, ids) in stale(module, main, &now, new, ir_version) {
                match ids {
                    Some(ids) => moving.extend(ids),
                    None => _ = whole.insert(file),
                }
            }
        }
        if let (Some(data_file), false) = (options.data_file, moving.is_empty()) {
            moving.extend(in_place);
            moving.sort_unstable();
            moving.dedup();
            placement.pack(main, moved.get(data_file).unwrap_or(&data_file), moving);
        }
        placement.keep(module, main, &moved, ir_version);
        placement.find_dropped(module, &now, &whole);
        placement
    }

    /// Finds the dropped files, and the files in `whole`, which are written unchanged.
    fn find_dropped(&mut self, module: &Module, now: &[u64], whole: &FxHashSet<&str>) {
        let Some(model) = ModelFile::from_module(module) else {
            return;
        };
        let used_files: FxHashSet<*const ExternalFile> = self
            .files
            .iter()
            .filter_map(|file| match &file.content {
                Content::Whole(file) => Some(Arc::as_ptr(file)),
                Content::Packed { .. } => None,
            })
            .collect();
        let files = model.external.iter().zip(model.referenced.iter().zip(now));
        let dropped = files.filter_map(|(file, (before, now))| {
            let stays = used_files.contains(&Arc::as_ptr(file));
            (!stays || whole.contains(file.name())).then(|| DroppedData {
                location: file.location().to_owned(),
                bytes: before.saturating_sub(*now),
                stays,
            })
        });
        self.dropped = dropped.collect();
    }

    /// Places a constant's data in a range of a data file.
    fn put(&mut self, id: ConstId, location: impl Into<Arc<str>>, offset: u64, len: u64) {
        let location = location.into();
        let file_range = ExternalRange {
            location,
            offset,
            len,
        };
        self.placements.insert(id, DataPlacement::At(file_range));
    }

    /// Packs constants into the data file: those of other files in the order of their offsets, then new ones. Shared
    /// data is stored once.
    fn pack(&mut self, f: &Function, location: &str, mut ids: Vec<ConstId>) {
        ids.sort_by_cached_key(|&id| match f.constant_data(id).payload() {
            Payload::External(range) => (0, range.source.name().to_owned(), range.offset, id),
            Payload::Mapped(range) => (1, String::new(), range.offset, id),
            _ => (2, String::new(), 0, id),
        });
        let location: Arc<str> = location.into();
        let mut known: FxHashMap<(usize, u64, u64), u64> = FxHashMap::default();
        let (mut parts, mut end) = (Vec::new(), 0_u64);
        for id in ids {
            let data = f.constant_data(id);
            let len = data.len();
            let offset = *known.entry(identity(data)).or_insert_with(|| {
                let unit = if len >= LARGE { PAGE } else { ALIGNMENT };
                let offset = end.next_multiple_of(unit);
                end = offset + len;
                parts.push((offset, data.clone()));
                offset
            });
            self.put(id, location.clone(), offset, len);
        }
        self.files.push(DataFile {
            location: location.to_string(),
            content: Content::Packed { parts, len: end },
            can_move: true,
        });
    }

    /// Adds the files that tensors still reference.
    fn keep(
        &mut self,
        module: &Module,
        main: &Function,
        moved: &FxHashMap<&str, &str>,
        ir_version: i64,
    ) {
        let files = files_of(module);
        let known: FxHashMap<&str, usize> = files
            .iter()
            .enumerate()
            .map(|(at, file)| (file.name(), at))
            .collect();
        // By file: whether it is used, and whether all its users can reference another location.
        let mut used: Vec<Option<bool>> = vec![None; files.len()];
        for f in module.functions() {
            let is_main = std::ptr::eq(&**f, main);
            for (id, record) in f.live_constants() {
                let Some(range) = f.constant_data(id).external() else {
                    continue;
                };
                let stays = match self.placements.get(&id).filter(|_| is_main) {
                    None => true,
                    Some(DataPlacement::At(file_range)) => self
                        .files
                        .iter()
                        .all(|file| file.location != *file_range.location),
                    Some(DataPlacement::Inline) => false,
                };
                let Some(&at) = known.get(range.source.name()).filter(|_| stays) else {
                    continue;
                };
                let can_move = is_main && is_initializer(f, id, record, ir_version);
                used[at] = Some(can_move && used[at].unwrap_or(true));
                if let Some(location) = moved.get(files[at].location())
                    && can_move
                {
                    self.put(id, *location, range.offset, range.len);
                }
            }
        }
        for (file, can_move) in files.iter().zip(used) {
            if let Some(can_move) = can_move {
                let own = file.location();
                let location = moved.get(own).filter(|_| can_move);
                self.files.push(DataFile {
                    location: (*location.unwrap_or(&own)).to_owned(),
                    content: Content::Whole(file.clone()),
                    can_move,
                });
            }
        }
    }
}

/// Returns the initializers of data files that should be written again without their unreferenced parts. This is the
/// case if more than a hundredth of a file is unreferenced, or if those parts and `new` bytes together grow the model's
/// data by more than a hundredth. `now` has the number of referenced bytes of each file. `None` means that a file stays
/// unchanged, because not only initializers of the main function reference it.
fn stale<'m>(
    module: &'m Module,
    main: &Function,
    now: &[u64],
    new: u64,
    ir_version: i64,
) -> FxHashMap<&'m str, Option<Vec<ConstId>>> {
    let mut stale = FxHashMap::default();
    let Some(model) = ModelFile::from_module(module) else {
        return stale;
    };
    let files = || model.external.iter().zip(model.referenced.iter().zip(now));
    let before: u64 = model.referenced.iter().sum();
    let carried = files().filter(|(_, (_, now))| **now > 0);
    let after = carried.fold(new, |sum, (_, (before, _))| sum.saturating_add(*before));
    let grown = after > before.saturating_add(before / PART);
    let is_stale = |before: u64, now: u64| match before.saturating_sub(now) {
        0 => false,
        _ if now == 0 => false,
        unused => grown || unused > before / PART,
    };
    let found = files().filter(|(_, (before, now))| is_stale(**before, **now));
    stale.extend(found.map(|(file, _)| (file.name(), Some(Vec::new()))));
    if stale.is_empty() {
        return stale;
    }
    for f in module.functions() {
        for (id, record) in f.live_constants() {
            let external = f.constant_data(id).external();
            let Some(ids) = external.and_then(|range| stale.get_mut(range.source.name())) else {
                continue;
            };
            if !std::ptr::eq(&**f, main) || !is_initializer(f, id, record, ir_version) {
                *ids = None;
            } else if let Some(ids) = ids {
                ids.push(id);
            }
        }
    }
    stale
}

/// Whether a constant of the main function is written as an initializer whose data can be external.
fn is_initializer(f: &Function, id: ConstId, record: &Constant, ir_version: i64) -> bool {
    let Some(value) = record.value.option() else {
        return false;
    };
    let value = f.value(value);
    let imported = is_imported(f, id);
    let default = value.flags & ValueRecord::KIND != ValueRecord::CONST;
    record.flags & Constant::NODE == 0
        && f.ty(record.ty).dtype != DType::STRING
        && (imported || default || (ir_version >= 4 && value.use_count > 0))
}

/// Returns a key that is equal for constants with the same bytes at the same location.
fn identity(data: &Arc<ConstantData>) -> (usize, u64, u64) {
    match data.in_file() {
        Some(range) => {
            let file = Arc::as_ptr(&range.source).cast::<()>() as usize;
            (file, range.offset, range.len)
        }
        None => (Arc::as_ptr(data) as usize, u64::MAX, data.len()),
    }
}
