//! The ELF files of a wheel: which glibc each needs, and whether it is stripped.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::Endianness;
use object::elf::SHT_SYMTAB;
use object::read::elf::{ElfFile64, SectionHeader};

use crate::dist;

/// The system's unwinder.
pub(super) const UNWINDER: &str = "libgcc_s.so.1";

/// Prints a line for each ELF file below a directory; fails if one needs a glibc that is newer than `oldest`, or is
/// `optimised` and has symbols that only a debugger wants.
pub(super) fn check(root: &Path, oldest: Option<(u32, u32)>, optimised: bool) -> Result<()> {
    for path in dist::files(root)? {
        let data = fs::read(&path)?;
        if !data.starts_with(b"\x7fELF") {
            continue;
        }
        let shown = path.strip_prefix(root)?.display().to_string();
        let about = About::of(&data).with_context(|| shown.clone())?;
        let (major, minor) = about.glibc;
        let needed = about.needed.join(", ");
        println!(
            "{shown}: {:.1} MB, glibc {major}.{minor}, needs {needed}",
            data.len() as f64 / 1e6
        );
        if let Some(oldest) = oldest {
            ensure!(
                about.glibc <= oldest,
                "{shown} needs glibc {major}.{minor}, and is to work with {}.{}",
                oldest.0,
                oldest.1
            );
        }
        ensure!(
            !shown.ends_with(".abi3.so") || about.needed.iter().any(|name| name == UNWINDER),
            "{shown} has an unwinder of its own, and Python ends threads by the system's"
        );
        ensure!(
            !optimised || !about.has_symbols,
            "{shown} has a table of symbols: it isn't stripped"
        );
    }
    Ok(())
}

/// What is read of a file.
struct About {
    /// The newest version of glibc of which it wants a symbol.
    glibc: (u32, u32),
    /// The libraries it is linked with.
    needed: Vec<String>,
    /// Whether there is a table of symbols beside the one of the dynamic linker.
    has_symbols: bool,
}

impl About {
    fn of(data: &[u8]) -> Result<About> {
        let file = ElfFile64::<Endianness>::parse(data)?;
        let (endian, sections) = (file.endian(), file.elf_section_table());
        let mut about = About {
            glibc: (0, 0),
            needed: Vec::new(),
            has_symbols: sections
                .iter()
                .any(|section| section.sh_type(endian) == SHT_SYMTAB),
        };
        let Some((mut files, link)) = sections.gnu_verneed(endian, data)? else {
            return Ok(about);
        };
        let strings = sections.strings(endian, data, link)?;
        while let Some((file, mut versions)) = files.next()? {
            about
                .needed
                .push(String::from_utf8_lossy(file.file(endian, strings)?).into_owned());
            while let Some(version) = versions.next()? {
                let name = String::from_utf8_lossy(version.name(endian, strings)?);
                about.glibc = about.glibc.max(glibc(&name).unwrap_or_default());
            }
        }
        Ok(about)
    }
}

/// The version that `GLIBC_2.28` or `GLIBC_2.2.5` names.
fn glibc(name: &str) -> Option<(u32, u32)> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{About, glibc};

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(glibc("GLIBC_2.2.5"), Some((2, 2)));
        assert!(glibc("GLIBC_2.4") < glibc("GLIBC_2.28"));
        assert_eq!(glibc("GLIBC_PRIVATE"), None);
        assert_eq!(glibc("GCC_3.0"), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn this_program_needs_a_glibc_and_has_symbols() {
        let this = std::env::current_exe().expect("it runs");
        let about = About::of(&std::fs::read(this).expect("it is there")).expect("it is ELF");
        assert!(about.glibc >= (2, 17), "{:?}", about.glibc);
        assert!(about.needed.iter().any(|name| name == "libc.so.6"));
        assert!(about.has_symbols);
    }
}
