//! Mach-O libraries, through `object`'s common view of them.
//!
//! The checks are shallower than those of ELF and of Windows' libraries: kind, machine, sections within
//! the file, the two symbols.

use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::read::{ExportTarget, File, NameOrOrdinal, Object, ObjectSection, ReadRef};
use object::{FileKind, ObjectKind};
use passdock_abi as abi;

use super::{HOST_ARCH, Target, check_target, not_a_library};
use crate::error::PluginErrorKind as Kind;

pub(super) fn check<'d, R: ReadRef<'d>>(target: Target, data: R) -> Result<&'d [u8], Kind> {
    let file = File::parse(data).map_err(damaged)?;
    check_target(target, file.format(), file.architecture(), "")?;
    match file.kind() {
        ObjectKind::Dynamic => {}
        ObjectKind::Executable => return Err(not_a_library("an executable")),
        _ => return Err(not_a_library("an object file")),
    }
    for section in file.sections() {
        section.data().map_err(damaged)?;
    }
    let address = |symbol: &'static str| {
        for export in file.exports().map_err(damaged)? {
            let export = export.map_err(damaged)?;
            let NameOrOrdinal::Name(name) = export.name() else {
                continue;
            };
            // Mach-O spells C names with an underscore.
            if name != symbol.as_bytes() && name.strip_prefix(b"_") != Some(symbol.as_bytes()) {
                continue;
            }
            return match export.target() {
                ExportTarget::Address { address } => Ok(address),
                _ => Err(Kind::WrongSymbol {
                    symbol,
                    found: "something of another library",
                    expected: "defined in it",
                }),
            };
        }
        Err(Kind::MissingSymbol { symbol })
    };
    address(abi::ENTRY_SYMBOL)?;
    let at = address(abi::MANIFEST_SYMBOL)?;
    for section in file.sections() {
        let (start, size) = (section.address(), section.size());
        let Some(skip) = at.checked_sub(start).filter(|&skip| skip < size) else {
            continue;
        };
        let data = section.data().map_err(damaged)?;
        let bytes = usize::try_from(skip)
            .ok()
            .and_then(|skip| data.get(skip..))
            .ok_or_else(|| Kind::Damaged("its manifest isn't in the file".to_owned()))?;
        return Ok(bytes);
    }
    Err(Kind::Damaged("its manifest lies in no section".to_owned()))
}

/// Checks a Mach-O file that holds libraries for several machines.
pub(super) fn check_fat<'d, R: ReadRef<'d>>(
    target: Target,
    data: R,
    kind: FileKind,
) -> Result<&'d [u8], Kind> {
    fn pick<'d, R: ReadRef<'d>, A: FatArch>(
        data: R,
        arches: &'d [A],
    ) -> Result<Option<&'d [u8]>, Kind> {
        match arches.iter().find(|a| a.architecture() == HOST_ARCH) {
            Some(arch) => arch.data(data).map(Some).map_err(damaged),
            None => Ok(None),
        }
    }
    let slice = match kind {
        FileKind::MachOFat32 => {
            let fat = MachOFatFile32::parse(data).map_err(damaged)?;
            pick(data, fat.arches())?
        }
        _ => {
            let fat = MachOFatFile64::parse(data).map_err(damaged)?;
            pick(data, fat.arches())?
        }
    };
    match slice {
        Some(slice) => check(target, slice),
        None => Err(Kind::WrongTarget {
            found: "a Mach-O library for other machines".to_owned(),
            expected: format!("one that holds {HOST_ARCH:?}").to_lowercase(),
        }),
    }
}

fn damaged(error: object::read::Error) -> Kind {
    Kind::Damaged(error.to_string())
}
