//! Validation of a library file before the system's loader sees it.
//!
//! None of its code runs. The kind of file, the machine, the extent of the segments, and the two symbols of the plugin
//! ABI are checked. A truncated library would crash the process in `dlopen`.

mod run_path;

use std::fs::{File, Metadata};
use std::io::{BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::read::{
    self, ExportTarget, NameOrOrdinal, Object, ObjectSection, ObjectSegment, ObjectSymbol,
    ReadCache, ReadCacheOps, ReadRef,
};
use object::{Architecture, BinaryFormat, Endianness, FileKind, ObjectKind, SectionKind};
use passdock_abi as abi;

pub(crate) use run_path::run_path;

use crate::error::{PluginError, PluginErrorKind as Kind};
use crate::manifest::{self, Manifest};
use crate::names;

/// The extension of a library's file name on this system, without the dot.
pub const EXTENSION: &str = std::env::consts::DLL_EXTENSION;

/// The kind of library of this system, for messages.
const EXPECTED: &str = match FORMAT {
    BinaryFormat::MachO => "`.dylib`",
    BinaryFormat::Pe => "`.dll`",
    _ => "`.so`",
};

const FORMAT: BinaryFormat = if cfg!(windows) {
    BinaryFormat::Pe
} else if cfg!(target_vendor = "apple") {
    BinaryFormat::MachO
} else {
    BinaryFormat::Elf
};

/// The identity of one state of a file: its length, modification time, device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    len: u64,
    modified: Option<SystemTime>,
    device: u64,
    inode: u64,
}

impl Identity {
    fn new(file: &File, meta: &Metadata) -> std::io::Result<Identity> {
        #[cfg(unix)]
        let (device, inode) = {
            use std::os::unix::fs::MetadataExt;
            _ = file;
            (meta.dev(), meta.ino())
        };
        #[cfg(windows)]
        let (device, inode) = {
            let info = winapi_util::file::information(file)?;
            (info.volume_serial_number(), info.file_index())
        };
        Ok(Identity {
            len: meta.len(),
            modified: meta.modified().ok(),
            device,
            inode,
        })
    }
}

/// Reads the manifest of a library file without running its code. Returns it with the file's identity, which detects
/// later changes.
///
/// # Errors
/// If the file isn't a plugin that this host can load.
pub fn check(path: &Path) -> Result<(Manifest, Identity), PluginError> {
    let read = || {
        let (file, identity) = open(path)?;
        // Only headers, symbols and manifest are read, but the whole part of a universal library.
        let data = ReadCache::new(Reader {
            file: BufReader::with_capacity(WINDOW, file),
            at: 0,
            len: identity.len,
        });
        let manifest =
            Manifest::from_symbol(find_manifest(&data, |target| target == host_target())?)?;
        Ok((manifest, identity))
    };
    read().map_err(|kind| PluginError::file(path, kind))
}

/// Returns the current identity of a library file.
pub(super) fn identity(path: &Path) -> Result<Identity, Kind> {
    open(path).map(|(_, identity)| identity)
}

/// Finds the manifest in a library in memory. Unlike [`check`], it accepts libraries for any system and machine.
///
/// # Errors
/// If the bytes aren't a library.
pub fn manifest_in(library: &[u8]) -> Result<&[u8], Kind> {
    find_manifest(library, |_| true)
}

/// Opens a library file, and returns its identity. Rejects everything except regular files: opening a pipe would block.
pub(super) fn open(path: &Path) -> Result<(File, Identity), Kind> {
    let meta = std::fs::metadata(path).map_err(Kind::Io)?;
    if !meta.is_file() {
        return Err(Kind::NotAFile);
    }
    let file = File::open(path).map_err(Kind::Io)?;
    // Of the opened file: another one may have replaced it meanwhile.
    let meta = file.metadata().map_err(Kind::Io)?;
    let identity = Identity::new(&file, &meta).map_err(Kind::Io)?;
    Ok((file, identity))
}

/// The number of bytes that are read at once. In most plugins, the first ones have the headers and dynamic symbols.
const WINDOW: usize = 4 << 10;

/// A library file that is read at many positions.
struct Reader {
    file: BufReader<File>,
    at: u64,
    len: u64,
}

impl ReadCacheOps for Reader {
    fn len(&mut self) -> Result<u64, ()> {
        Ok(self.len)
    }

    fn seek(&mut self, at: u64) -> Result<u64, ()> {
        let offset = at.wrapping_sub(self.at) as i64;
        self.file.seek_relative(offset).map_err(drop)?;
        self.at = at;
        Ok(at)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ()> {
        let count = Read::read(&mut self.file, bytes).map_err(drop)?;
        self.at += count as u64;
        Ok(count)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), ()> {
        Read::read_exact(&mut self.file, bytes).map_err(drop)?;
        self.at += bytes.len() as u64;
        Ok(())
    }
}

/// Finds the manifest in a library for an accepted target.
fn find_manifest<'d, R: ReadRef<'d>>(data: R, accepts: fn(&str) -> bool) -> Result<&'d [u8], Kind> {
    let part = match FileKind::parse(data) {
        Ok(FileKind::MachOFat32) => {
            let fat = MachOFatFile32::parse(data).map_err(damaged)?;
            select_part(data, fat.arches(), accepts)?
        }
        Ok(FileKind::MachOFat64) => {
            let fat = MachOFatFile64::parse(data).map_err(damaged)?;
            select_part(data, fat.arches(), accepts)?
        }
        _ => return manifest_bytes(data, &parse(data, accepts)?),
    };
    manifest_bytes(part, &parse(part, accepts)?)
}

/// Selects the part of a universal library that is for an accepted machine.
fn select_part<'d>(
    data: impl ReadRef<'d>,
    parts: &'d [impl FatArch],
    accepts: fn(&str) -> bool,
) -> Result<&'d [u8], Kind> {
    let mut parts = parts.iter();
    let target = |machine| target(BinaryFormat::MachO, &machine_name(machine), true, true);
    match parts.find(|part| accepts(&target(part.architecture()))) {
        Some(part) => part.data(data).map_err(damaged),
        None => Err(Kind::TargetMismatch {
            found: "a Mach-O library for other machines".to_owned(),
            expected: host_target(),
        }),
    }
}

/// Parses a library's headers.
fn parse<'d, R: ReadRef<'d>>(
    data: R,
    accepts: fn(&str) -> bool,
) -> Result<read::File<'d, R>, Kind> {
    let len = data.len().map_err(|()| Kind::Damaged)?;
    let not_a_library = |found: &str| Kind::NotALibrary {
        found: found.to_owned(),
        expected: EXPECTED,
    };
    match FileKind::parse(data) {
        _ if len == 0 => return Err(Kind::Empty),
        Ok(FileKind::Elf32 | FileKind::Elf64 | FileKind::Pe32 | FileKind::Pe64) => {}
        Ok(FileKind::MachO32 | FileKind::MachO64) => {}
        _ => return Err(not_a_library("an unknown file format")),
    }
    let file = read::File::parse(data).map_err(damaged)?;
    let machine = machine_name(file.architecture());
    let is_little = file.endianness() == Endianness::Little;
    let found = target(file.format(), &machine, file.is_64(), is_little);
    if !accepts(&found) {
        return Err(Kind::TargetMismatch {
            found,
            expected: host_target(),
        });
    }
    match file.kind() {
        ObjectKind::Dynamic => {}
        ObjectKind::Executable => return Err(not_a_library("an executable")),
        ObjectKind::Relocatable => return Err(not_a_library("an object file")),
        _ => return Err(not_a_library("an unknown kind of object")),
    }
    for segment in file.segments() {
        let (at, size) = segment.file_range();
        let needed = at.saturating_add(size);
        if needed > len {
            return Err(Kind::Truncated { needed, len });
        }
    }
    Ok(file)
}

/// Finds the manifest through the exported symbols. It may extend beyond its NUL terminator.
fn manifest_bytes<'d, R: ReadRef<'d>>(data: R, file: &read::File<'d, R>) -> Result<&'d [u8], Kind> {
    let (mut entry, mut manifest, mut other_entry) = (None, None, None);
    let mut add = |name: &[u8], address| {
        // Mach-O spells C names with an underscore.
        let name = name.strip_prefix(b"_").unwrap_or(name);
        if name == abi::ENTRY_SYMBOL.as_bytes() {
            entry = Some(address);
        } else if name == abi::MANIFEST_SYMBOL.as_bytes() {
            manifest = Some(address);
        } else if name.starts_with(b"passdock_plugin_v") {
            other_entry = Some(names::escaped(&String::from_utf8_lossy(name)));
        }
    };
    // In an ELF library these are all exports; listing them as such would read the versions of all symbols.
    let symbols = file.dynamic_symbols();
    for symbol in symbols.filter(|symbol| symbol.is_definition() && !symbol.is_local()) {
        // The reader limits the length of names.
        if let Ok(name) = symbol.name_bytes() {
            add(name, symbol.address());
        }
    }
    if file.format() != BinaryFormat::Elf {
        for export in file.exports().map_err(damaged)? {
            let export = export.map_err(damaged)?;
            let (name, target) = (export.name(), export.target());
            if let (NameOrOrdinal::Name(name), ExportTarget::Address { address }) = (name, target) {
                add(name, address);
            }
        }
    }
    let section = |symbol, address: Option<u64>| {
        let address = address.ok_or(Kind::MissingSymbol { symbol })?;
        let mut sections = file.sections().filter_map(|section| {
            let skip = address.checked_sub(section.address())?;
            (skip < section.size()).then_some((section, skip))
        });
        sections.next().ok_or(Kind::Uninitialized { symbol })
    };
    if let (None, Some(symbol)) = (entry, other_entry) {
        return Err(Kind::OtherMajor { symbol });
    }
    let (code, _) = section(abi::ENTRY_SYMBOL, entry)?;
    let (text, skip) = section(abi::MANIFEST_SYMBOL, manifest)?;
    let invalid = |symbol, found, expected| Kind::InvalidSymbol {
        symbol,
        found,
        expected,
    };
    if code.kind() != SectionKind::Text {
        return Err(invalid(abi::ENTRY_SYMBOL, "data", "a function"));
    }
    if text.kind() == SectionKind::Text {
        return Err(invalid(abi::MANIFEST_SYMBOL, "code", "an array of bytes"));
    }
    match text.file_range() {
        Some((at, len)) if skip < len => {
            let len = (len - skip).min(manifest::MAX_LEN + 1);
            data.read_bytes_at(at.saturating_add(skip), len)
                .map_err(|()| Kind::Damaged)
        }
        _ => Err(Kind::Uninitialized {
            symbol: abi::MANIFEST_SYMBOL,
        }),
    }
}

/// Returns this host's target.
fn host_target() -> String {
    let is_64 = cfg!(target_pointer_width = "64");
    let is_little = cfg!(target_endian = "little");
    target(FORMAT, std::env::consts::ARCH, is_64, is_little)
}

/// Describes the system and machine of a library.
fn target(format: BinaryFormat, machine: &str, is_64: bool, is_little: bool) -> String {
    let format = match format {
        BinaryFormat::Elf => "an ELF library",
        BinaryFormat::MachO => "a Mach-O library",
        _ => "a Windows library",
    };
    let width = if is_64 { "64" } else { "32" };
    let order = if is_little { "" } else { ", big-endian" };
    format!("{format} for {machine} ({width}-bit{order})")
}

/// Returns Rust's name of a machine.
fn machine_name(machine: Architecture) -> String {
    match machine {
        Architecture::I386 => "x86".to_owned(),
        machine => format!("{machine:?}").to_lowercase(),
    }
}

/// Returns the error about a file that can't be parsed. The parser's message is omitted, since it isn't actionable.
fn damaged(_: read::Error) -> Kind {
    Kind::Damaged
}

#[cfg(test)]
mod tests;
