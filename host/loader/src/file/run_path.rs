//! The directories in which an ELF library looks for the libraries that it needs.

use std::fs::File;
use std::path::{Path, PathBuf};

use object::elf::{DT_RPATH, DT_RUNPATH};
use object::read::elf::{Dyn, ElfFile64, FileHeader};
use object::{Endianness, ReadCache};

/// Returns the directories of a library's run path. It is empty if the file can't be read.
pub(crate) fn run_path(library: &Path) -> Vec<PathBuf> {
    directories(library).unwrap_or_default()
}

fn directories(library: &Path) -> Option<Vec<PathBuf>> {
    let data = ReadCache::new(File::open(library).ok()?);
    let file = ElfFile64::<Endianness, _>::parse(&data).ok()?;
    let endian = file.endian();
    let sections = file.elf_header().sections(endian, &data).ok()?;
    let (entries, strings) = sections.dynamic(endian, &data).ok()??;
    let strings = sections.strings(endian, &data, strings).ok()?;
    let library = library.canonicalize().ok()?;
    let origin = library.parent()?.to_str()?;
    let paths = entries.iter().filter_map(|entry| {
        let tag = entry.d_tag(endian);
        let is_path = tag == DT_RUNPATH || tag == DT_RPATH;
        let text = strings.get(entry.d_val(endian).try_into().ok()?).ok()?;
        std::str::from_utf8(text).ok().filter(|_| is_path)
    });
    let directories = paths.flat_map(|paths| paths.split(':')).map(|path| {
        let path = path.replace("${ORIGIN}", origin);
        PathBuf::from(path.replace("$ORIGIN", origin))
    });
    Some(directories.collect())
}
