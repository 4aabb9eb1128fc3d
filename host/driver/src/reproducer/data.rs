//! The constants of a reproducer. Small ones are part of the text. Large ones are copied to a file next to it, or
//! referenced with a hash.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use passdock_abi::{ConstId, SymbolId};
use passdock_files::OutputDirectory;
use passdock_ir::{ByteSource, ConstantData, FileRange, Module, Payload};
use rustc_hash::FxHashMap;

use super::DATA;
use super::about::{DataRange, hash};

/// Maximum size in bytes of a constant in the text.
const LARGE: u64 = 64 << 10;

/// The alignment of copied constants in their file.
const ALIGN: u64 = 64;

/// Moves a module's constants to the reproducer's files. Returns the ranges of other files that it still refers to.
pub(super) fn write_data(
    module: &mut Module,
    directory: &OutputDirectory,
    self_contained: bool,
) -> io::Result<Vec<DataRange>> {
    let mut writer = DataWriter {
        path: directory.path().join(DATA),
        final_path: directory.final_path().join(DATA),
        file: None,
        end: 0,
        written: FxHashMap::default(),
        outside: Vec::new(),
        self_contained,
    };
    let names: Vec<SymbolId> = module.names().collect();
    for name in names {
        let Some(function) = module.function(name).cloned() else {
            continue;
        };
        let mut moved: Vec<(ConstId, Arc<ConstantData>)> = Vec::new();
        for (id, _) in function.live_constants() {
            if let Some(data) = writer.write_data(function.constant_data(id))? {
                moved.push((id, data));
            }
        }
        if moved.is_empty() {
            continue;
        }
        if let Some(function) = module.function_mut(name) {
            for (id, data) in moved {
                function
                    .relocate_constant(id, data)
                    .map_err(io::Error::other)?;
            }
        }
    }
    Ok(writer.outside)
}

struct DataWriter {
    path: PathBuf,
    /// Constants refer to it by absolute path, so that the printer can make it relative to the text.
    final_path: PathBuf,
    file: Option<File>,
    end: u64,
    /// Results by data, so that data shared by several constants is stored once.
    written: FxHashMap<*const ConstantData, Option<Arc<ConstantData>>>,
    outside: Vec<DataRange>,
    self_contained: bool,
}

impl DataWriter {
    /// Returns the moved data, or `None` if it stays where it is.
    fn write_data(&mut self, data: &Arc<ConstantData>) -> io::Result<Option<Arc<ConstantData>>> {
        let key = Arc::as_ptr(data);
        if let Some(known) = self.written.get(&key) {
            return Ok(known.clone());
        }
        let is_large = data.len() > LARGE;
        let written = match (data.payload(), data.in_named_file()) {
            (Payload::Splat { .. }, _) => None,
            (_, Some(range)) if is_large && !self.self_contained => {
                let bytes = data.bytes().map_err(io::Error::other)?;
                self.outside.push(DataRange {
                    file: range.source.name().to_owned(),
                    offset: range.offset,
                    length: range.len,
                    blake3: hash(bytes),
                });
                None
            }
            _ if is_large => Some(self.copy(data)?),
            (_, Some(_)) => {
                let bytes = data.bytes().map_err(io::Error::other)?;
                Some(ConstantData::inline(bytes))
            }
            _ => None,
        };
        self.written.insert(key, written.clone());
        Ok(written)
    }

    fn copy(&mut self, data: &ConstantData) -> io::Result<Arc<ConstantData>> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::create_new(&self.path)?),
        };
        let padding = self.end.next_multiple_of(ALIGN) - self.end;
        file.write_all(&[0; ALIGN as usize][..padding as usize])?;
        let (offset, len) = (self.end + padding, data.len());
        match data.in_file() {
            Some(range) => range.copy_to(file)?,
            None => file.write_all(data.bytes().map_err(io::Error::other)?)?,
        }
        self.end = offset + len;
        Ok(ConstantData::new(Payload::External(FileRange {
            source: Arc::new(Copied(self.final_path.to_string_lossy().into_owned())),
            offset,
            len,
        })))
    }
}

/// The file of copied constants, of which the text only needs the name.
struct Copied(String);

impl ByteSource for Copied {
    fn name(&self) -> &str {
        &self.0
    }

    fn read(&self, _offset: u64, _len: u64) -> Result<&[u8], String> {
        Err("a reproducer is not read while it is written".to_owned())
    }

    fn size(&self) -> Result<u64, String> {
        Err("a reproducer is not read while it is written".to_owned())
    }
}
