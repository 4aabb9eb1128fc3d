//! Windows libraries, as the system's loader will see them.
//!
//! As with ELF, the check reads only what the loader itself uses: headers, sections and the data
//! directories. The two symbols are found in the export table. A relative virtual address (RVA) is
//! an offset in the image, which only a section's headers turn into one in the file.

use object::LittleEndian as LE;
use object::pe::{self, ImageDosHeader, ImageSectionHeader};
use object::read::ReadRef;
use object::read::pe::{DataDirectories, ExportTable, ExportTarget};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader};
use object::{Architecture, BinaryFormat};
use passdock_abi as abi;

use super::{Target, check_target, damaged, not_a_library, truncated};
use crate::error::PluginErrorKind as Kind;
use crate::manifest;

/// The most sections a library may have: more the loader of Windows refuses.
const MAX_SECTIONS: usize = 96;

/// The data directories that the loader walks, and their names.
const DIRECTORIES: [(usize, &str); 5] = [
    (pe::IMAGE_DIRECTORY_ENTRY_EXPORT, "exports"),
    (pe::IMAGE_DIRECTORY_ENTRY_IMPORT, "imports"),
    (pe::IMAGE_DIRECTORY_ENTRY_BASERELOC, "relocations"),
    (pe::IMAGE_DIRECTORY_ENTRY_TLS, "thread-local data"),
    (pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG, "load configuration"),
];

pub(super) fn check<'d, Pe, R>(target: Target, data: R, len: u64) -> Result<&'d [u8], Kind>
where
    Pe: ImageNtHeaders,
    R: ReadRef<'d>,
{
    let image = Image::<Pe, R>::read(data, len)?;
    check_target(target, BinaryFormat::Pe, image.architecture(), "")?;
    if target == Target::Host && image.headers.is_type_64() != cfg!(target_pointer_width = "64") {
        return Err(damaged("its header is of another width than its machine"));
    }
    image.check()
}

/// Says what a file is that begins like a Windows library and has no header of one.
pub(super) fn without_header<'d, R: ReadRef<'d>>(data: R, len: u64) -> Kind {
    let dos = size_of::<ImageDosHeader>() as u64;
    let Ok(header) = data.read_at::<ImageDosHeader>(0) else {
        return truncated("its header", dos, len);
    };
    // The signature, the file header, and the word that tells 32 from 64 bits.
    let needed = u64::from(header.nt_headers_offset()) + 4 + 20 + 2;
    match needed > len {
        true => truncated("its header", needed, len),
        false => not_a_library("a program of MS-DOS"),
    }
}

/// The image of a library, read through its file.
struct Image<'d, Pe: ImageNtHeaders, R: ReadRef<'d>> {
    data: R,
    len: u64,
    headers: &'d Pe,
    /// The offset of the list of sections.
    sections_at: u64,
    directories: DataDirectories<'d>,
}

impl<'d, Pe: ImageNtHeaders, R: ReadRef<'d>> Image<'d, Pe, R> {
    fn read(data: R, len: u64) -> Result<Self, Kind> {
        let dos = data
            .read_at::<ImageDosHeader>(0)
            .map_err(|()| truncated("its header", size_of::<ImageDosHeader>() as u64, len))?;
        let mut at = u64::from(dos.nt_headers_offset());
        let needed = at + size_of::<Pe>() as u64;
        if needed > len {
            return Err(truncated("its header", needed, len));
        }
        let sections_at = {
            let header = data.read_at::<Pe>(at);
            let header = header.map_err(|()| damaged("its header is misaligned"))?;
            let optional = u64::from(header.file_header().size_of_optional_header.get(LE));
            at + 4 + size_of::<pe::ImageFileHeader>() as u64 + optional
        };
        if sections_at > len {
            return Err(truncated("its header", sections_at, len));
        }
        let (headers, directories) =
            Pe::parse(data, &mut at).map_err(|error| damaged(&said(error)))?;
        Ok(Image {
            data,
            len,
            headers,
            sections_at,
            directories,
        })
    }

    fn architecture(&self) -> Architecture {
        match self.headers.file_header().machine.get(LE) {
            pe::IMAGE_FILE_MACHINE_AMD64 => Architecture::X86_64,
            pe::IMAGE_FILE_MACHINE_ARM64 => Architecture::Aarch64,
            pe::IMAGE_FILE_MACHINE_I386 => Architecture::I386,
            pe::IMAGE_FILE_MACHINE_ARM | pe::IMAGE_FILE_MACHINE_ARMNT => Architecture::Arm,
            pe::IMAGE_FILE_MACHINE_RISCV64 => Architecture::Riscv64,
            _ => Architecture::Unknown,
        }
    }

    /// Checks everything but the machine.
    fn check(&self) -> Result<&'d [u8], Kind> {
        let flags = self.headers.file_header().characteristics.get(LE);
        if !flags.contains(pe::IMAGE_FILE_DLL) {
            return Err(not_a_library("an executable"));
        }
        let sections = self.sections()?;
        let header = self.headers.optional_header();
        let start = header.address_of_entry_point();
        if start != 0 && !section_of(sections, start).is_some_and(is_code) {
            return Err(damaged("its entry point lies outside its code"));
        }
        for (directory, name) in DIRECTORIES {
            let Some((rva, size)) = self.directories.get(directory).map(|d| d.address_range())
            else {
                continue;
            };
            if rva != 0 && size != 0 && bytes_of(sections, rva).is_none_or(|(_, left)| left < size)
            {
                return Err(damaged(&format!("its {name} aren't in the file")));
            }
        }
        let exports = self.exports(sections)?;
        let address = |symbol| find(exports.as_ref(), symbol);
        let entry = address(abi::ENTRY_SYMBOL)?;
        let section = section_of(sections, entry);
        let section = section.ok_or_else(|| damaged("its entry lies in no section"))?;
        if !is_code(section) {
            return Err(Kind::WrongSymbol {
                symbol: abi::ENTRY_SYMBOL,
                found: "data",
                expected: "a function",
            });
        }
        self.manifest(sections, address(abi::MANIFEST_SYMBOL)?)
    }

    /// The sections, once it is known that the loader can map them: in the file, ascending, apart,
    /// within the image.
    fn sections(&self) -> Result<&'d [ImageSectionHeader], Kind> {
        let header = self.headers.optional_header();
        let count = usize::from(self.headers.file_header().number_of_sections.get(LE));
        if count == 0 || count > MAX_SECTIONS {
            return Err(damaged(&format!("it has {count} sections")));
        }
        let needed = self.sections_at + (count * size_of::<ImageSectionHeader>()) as u64;
        if needed > self.len {
            return Err(truncated("its list of sections", needed, self.len));
        }
        let sections = self
            .data
            .read_slice_at::<ImageSectionHeader>(self.sections_at, count)
            .map_err(|()| damaged("its list of sections is misaligned"))?;
        let (align, file_align) = (header.section_alignment(), header.file_alignment());
        if !align.is_power_of_two() || !file_align.is_power_of_two() || file_align > align {
            return Err(damaged("its sections have an impossible alignment"));
        }
        let headers = u64::from(header.size_of_headers());
        if headers > self.len {
            return Err(truncated("its header", headers, self.len));
        }
        if needed > headers {
            return Err(damaged("its list of sections lies outside its header"));
        }
        let mut end_of_last = headers;
        for section in sections {
            let (at, size) = (
                u64::from(section.pointer_to_raw_data.get(LE)),
                u64::from(section.size_of_raw_data.get(LE)),
            );
            if at != 0 && at + size > self.len {
                return Err(truncated("one of its sections", at + size, self.len));
            }
            let start = section.virtual_address.get(LE);
            if u64::from(start) < end_of_last {
                return Err(damaged("its sections overlap or aren't in order"));
            }
            if start % align != 0 {
                return Err(damaged("one of its sections is misaligned"));
            }
            // A section without a size in memory is as long as in the file.
            let memory = match section.virtual_size.get(LE) {
                0 => size,
                memory => u64::from(memory),
            };
            end_of_last = u64::from(start) + memory;
            if end_of_last > u64::from(header.size_of_image()) {
                return Err(damaged("one of its sections lies outside the image"));
            }
        }
        Ok(sections)
    }

    fn exports(&self, sections: &[ImageSectionHeader]) -> Result<Option<ExportTable<'d>>, Kind> {
        let directory = self.directories.get(pe::IMAGE_DIRECTORY_ENTRY_EXPORT);
        let Some((rva, size)) = directory.map(|directory| directory.address_range()) else {
            return Ok(None);
        };
        if rva == 0 {
            return Ok(None);
        }
        let missing = || damaged("its exports aren't in the file");
        let (at, left) = bytes_of(sections, rva).ok_or_else(missing)?;
        let bytes = match size <= left {
            true => self.data.read_bytes_at(at, size.into()),
            false => Err(()),
        };
        let exports = ExportTable::parse(bytes.map_err(|()| missing())?, rva);
        exports.map(Some).map_err(|error| damaged(&said(error)))
    }

    fn manifest(&self, sections: &[ImageSectionHeader], rva: u32) -> Result<&'d [u8], Kind> {
        let section = section_of(sections, rva);
        let section = section.ok_or_else(|| damaged("its manifest lies in no section"))?;
        if is_code(section) {
            return Err(Kind::WrongSymbol {
                symbol: abi::MANIFEST_SYMBOL,
                found: "code",
                expected: "an array of bytes",
            });
        }
        // The table tells no lengths: the text's NUL ends it, or one byte more than it may have.
        let bytes = bytes_of(sections, rva).map(|(at, left)| {
            let len = u64::from(left).min(manifest::MAX_LEN + 1);
            self.data.read_bytes_at(at, len)
        });
        match bytes {
            Some(Ok(bytes)) => Ok(bytes),
            _ => Err(damaged("its manifest isn't in the file")),
        }
    }
}

/// The address of an exported symbol.
fn find(exports: Option<&ExportTable<'_>>, symbol: &'static str) -> Result<u32, Kind> {
    let wrong = |error: object::read::Error| damaged(&said(error));
    let mut last: &[u8] = &[];
    let mut found = None;
    for (pointer, index) in exports.into_iter().flat_map(ExportTable::name_iter) {
        let exports = exports.ok_or(Kind::MissingSymbol { symbol })?;
        let name = exports.name_from_pointer(pointer).map_err(wrong)?;
        // The loader looks names up by halves.
        if name < last {
            return Err(damaged("its exported names aren't in order"));
        }
        last = name;
        if name == symbol.as_bytes() {
            found = Some(exports.target_by_index(index).map_err(wrong)?);
        }
    }
    match found {
        None => Err(Kind::MissingSymbol { symbol }),
        Some(ExportTarget::Address(rva)) => Ok(rva),
        Some(_) => Err(Kind::WrongSymbol {
            symbol,
            found: "something of another library",
            expected: "defined in it",
        }),
    }
}

/// The section that holds an address of the image.
fn section_of(sections: &[ImageSectionHeader], rva: u32) -> Option<&ImageSectionHeader> {
    sections.iter().find(|section| section.contains_rva(rva))
}

/// The offset in the file of what is at an address, and the number of bytes from there to the end of
/// its section.
fn bytes_of(sections: &[ImageSectionHeader], rva: u32) -> Option<(u64, u32)> {
    let section = section_of(sections, rva)?;
    let (at, left) = section.pe_file_range_at(rva)?;
    let is_there = section.pointer_to_raw_data.get(LE) != 0 && left != 0;
    is_there.then_some((at.into(), left))
}

fn is_code(section: &ImageSectionHeader) -> bool {
    let flags = section.characteristics.get(LE);
    flags.contains(pe::IMAGE_SCN_MEM_EXECUTE)
}

/// What the reader says of a table.
fn said(error: object::read::Error) -> String {
    format!("a table can't be read ({error})")
}

#[cfg(test)]
mod tests;
