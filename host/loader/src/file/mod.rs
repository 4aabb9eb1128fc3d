//! A library file, checked before the system's loader sees it.
//!
//! The loader trusts what it maps: a library that was cut off kills the process inside `dlopen`
//! (SIGBUS), and so does a bad segment. Here the file is read with plain reads, never mapped.
//! Checked are the kind of file, the machine, the segments or sections and the loader's tables, and that it exports
//! the two symbols of the contract. None of its code runs.

mod elf;
mod macho;
mod pe;
mod reader;

use std::fs::File;
use std::path::Path;

use object::read::ReadRef;
use object::{Architecture, BinaryFormat, FileKind, ReadCache};

use crate::error::{PluginError, PluginErrorKind as Kind};
use crate::manifest::Manifest;
pub use reader::Identity;
pub(super) use reader::open;

/// A library file that may be handed to the system's loader.
#[derive(Debug)]
pub struct Checked {
    /// The manifest in the file.
    pub manifest: Manifest,
    /// The file's identity when it was checked, to notice later changes.
    pub identity: Identity,
    /// The file descriptor that was checked.
    pub file: File,
}

/// Checks a library file and reads its manifest, without running any of it.
///
/// # Errors
/// If the file isn't a plugin that this host can load; the error says why.
pub fn check(path: &Path) -> Result<Checked, PluginError> {
    check_kind(path).map_err(|kind| PluginError::file(path, kind))
}

/// The extension of a library's file name on this system, without the dot.
pub const EXTENSION: &str = std::env::consts::DLL_EXTENSION;

/// The kind of library that this system has, as messages name it.
pub const EXPECTED: &str = match HOST_FORMAT {
    BinaryFormat::MachO => "a `.dylib`",
    BinaryFormat::Pe => "a `.dll`",
    _ => "a `.so`",
};

fn check_kind(path: &Path) -> Result<Checked, Kind> {
    let (file, identity) = reader::open(path)?;
    let cache = ReadCache::new(reader::Reader::new(&file, identity.len()));
    let manifest = Manifest::from_symbol(check_bytes(&cache, identity.len())?)?;
    Ok(Checked {
        manifest,
        identity,
        file,
    })
}

/// The text of a library file's manifest, unchecked.
pub(super) fn manifest_text(path: &Path) -> Result<String, Kind> {
    let (file, identity) = reader::open(path)?;
    let cache = ReadCache::new(reader::Reader::new(&file, identity.len()));
    let bytes = check_bytes(&cache, identity.len())?;
    let len = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    Ok(String::from_utf8_lossy(&bytes[..len]).into_owned())
}

/// The bytes of the manifest in a library that is in memory: of whatever system and machine it is,
/// where [`check`] takes this host's alone.
///
/// # Errors
/// If the bytes aren't a library, or one that its system's loader couldn't map.
pub fn manifest_in(library: &[u8]) -> Result<&[u8], Kind> {
    check_bytes_for(Target::Any, library, library.len() as u64)
}

/// The systems and machines whose libraries are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// This host's.
    Host,
    /// Whichever.
    Any,
}

/// The bytes of the exported manifest; the first NUL ends the text.
fn check_bytes<'d, R: ReadRef<'d>>(data: R, len: u64) -> Result<&'d [u8], Kind> {
    check_bytes_for(Target::Host, data, len)
}

fn check_bytes_for<'d, R: ReadRef<'d>>(
    target: Target,
    data: R,
    len: u64,
) -> Result<&'d [u8], Kind> {
    if len == 0 {
        return Err(Kind::Empty);
    }
    let kind = match FileKind::parse(data) {
        Ok(kind) => kind,
        Err(_) if matches!(data.read_bytes_at(0, 2), Ok(b"MZ")) => {
            return Err(pe::without_header(data, len));
        }
        Err(_) => {
            return Err(not_a_library("its first bytes are of no kind of library"));
        }
    };
    match kind {
        FileKind::Elf32 => {
            elf::check::<object::elf::FileHeader32<object::Endianness>, R>(target, data, len)
        }
        FileKind::Elf64 => {
            elf::check::<object::elf::FileHeader64<object::Endianness>, R>(target, data, len)
        }
        FileKind::Pe32 => pe::check::<object::pe::ImageNtHeaders32, R>(target, data, len),
        FileKind::Pe64 => pe::check::<object::pe::ImageNtHeaders64, R>(target, data, len),
        FileKind::MachO32 | FileKind::MachO64 => macho::check(target, data),
        FileKind::MachOFat32 | FileKind::MachOFat64 => macho::check_fat(target, data, kind),
        FileKind::Archive => Err(not_a_library("a static archive")),
        FileKind::Coff | FileKind::CoffBig | FileKind::CoffImport => {
            Err(not_a_library("an object file"))
        }
        _ => Err(not_a_library("an object of another system")),
    }
}

fn not_a_library(found: &str) -> Kind {
    Kind::NotALibrary {
        found: found.to_owned(),
        expected: EXPECTED,
    }
}

fn damaged(what: &str) -> Kind {
    Kind::Damaged(what.to_owned())
}

fn truncated(what: &str, needed: u64, len: u64) -> Kind {
    Kind::Truncated {
        what: what.to_owned(),
        needed,
        len,
    }
}

/// Refuses a library for another machine or system.
fn check_target(
    target: Target,
    format: BinaryFormat,
    arch: Architecture,
    detail: &str,
) -> Result<(), Kind> {
    if target == Target::Any {
        return Ok(());
    }
    if format == HOST_FORMAT && arch == HOST_ARCH && detail.is_empty() {
        return Ok(());
    }
    let spell = |format: BinaryFormat, arch: Architecture| {
        let format = match format {
            BinaryFormat::Elf => "an ELF library",
            BinaryFormat::MachO => "a Mach-O library",
            BinaryFormat::Pe => "a Windows library",
            _ => "a library",
        };
        format!("{format} for {}", format!("{arch:?}").to_lowercase())
    };
    Err(Kind::WrongTarget {
        found: format!("{}{detail}", spell(format, arch)),
        expected: spell(HOST_FORMAT, HOST_ARCH),
    })
}

const HOST_FORMAT: BinaryFormat = if cfg!(windows) {
    BinaryFormat::Pe
} else if cfg!(target_vendor = "apple") {
    BinaryFormat::MachO
} else {
    BinaryFormat::Elf
};

const HOST_ARCH: Architecture = if cfg!(all(target_arch = "x86_64", target_pointer_width = "32")) {
    Architecture::X86_64_X32
} else if cfg!(target_arch = "x86_64") {
    Architecture::X86_64
} else if cfg!(target_arch = "aarch64") {
    Architecture::Aarch64
} else if cfg!(target_arch = "x86") {
    Architecture::I386
} else if cfg!(target_arch = "arm") {
    Architecture::Arm
} else if cfg!(target_arch = "riscv64") {
    Architecture::Riscv64
} else if cfg!(target_arch = "loongarch64") {
    Architecture::LoongArch64
} else if cfg!(target_arch = "powerpc64") {
    Architecture::PowerPc64
} else if cfg!(target_arch = "s390x") {
    Architecture::S390x
} else {
    Architecture::Unknown
};

#[cfg(test)]
mod tests;
