//! ELF libraries, as the dynamic linker will see them.
//!
//! The check reads only what the loader itself uses: program headers and the dynamic section.
//! Section headers may be stripped; they only show whether the file was cut off. The two symbols
//! are found through the hash table, as `dlsym` finds them, so that a broken table is an error
//! here.

use object::elf;
use object::read::ReadRef;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::{Architecture, BinaryFormat, Endianness};
use passdock_abi as abi;

use super::{Target, check_target, damaged, not_a_library, truncated};
use crate::error::PluginErrorKind as Kind;
use crate::manifest;

/// The most segments a library may have: more than any linker makes.
const MAX_SEGMENTS: usize = 256;
/// The most entries its dynamic section may have: more than any linker makes.
const MAX_DYNAMIC: u64 = 64 << 10;

/// The tables that the loader walks: the entries of the dynamic section with the table's address and
/// length, and the table's name.
const TABLES: [(elf::DynamicTag, elf::DynamicTag, &str); 5] = [
    (elf::DT_RELA, elf::DT_RELASZ, "relocations"),
    (elf::DT_REL, elf::DT_RELSZ, "relocations"),
    (elf::DT_JMPREL, elf::DT_PLTRELSZ, "jump relocations"),
    (elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ, "initializers"),
    (elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ, "finalizers"),
];

pub(super) fn check<'d, Elf, R>(target: Target, data: R, len: u64) -> Result<&'d [u8], Kind>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let header = Elf::parse(data).map_err(|_| match len < size_of::<Elf>() as u64 {
        true => truncated("its header", size_of::<Elf>() as u64, len),
        false => damaged("its header is malformed"),
    })?;
    let endian = header
        .endian()
        .map_err(|_| damaged("its byte order is unknown"))?;
    check_machine(target, header, endian)?;
    match header.e_type(endian) {
        elf::ET_DYN => {}
        elf::ET_EXEC => return Err(not_a_library("an executable")),
        elf::ET_REL => return Err(not_a_library("an object file")),
        elf::ET_CORE => return Err(not_a_library("a core dump")),
        _ => return Err(not_a_library("an unknown kind of ELF file")),
    }
    let image = Image::<Elf, R>::read(header, endian, data, len)?;
    let dynamic = image.dynamic()?;
    if dynamic.flags_1 & elf::DF_1_PIE.0 != 0 {
        return Err(not_a_library("an executable"));
    }
    let symbol = |symbol, ty, [found, expected]: [&'static str; 2]| {
        let record = image.symbol(&dynamic, symbol)?;
        match record.st_type() == ty {
            true => Ok(record),
            false => Err(Kind::WrongSymbol {
                symbol,
                found,
                expected,
            }),
        }
    };
    let entry = symbol(abi::ENTRY_SYMBOL, elf::STT_FUNC, ["data", "a function"])?;
    if !image.is_executable(entry.st_value(endian).into()) {
        return Err(damaged("its entry lies outside its code"));
    }
    let kinds = ["no data object", "an array of bytes"];
    let manifest = symbol(abi::MANIFEST_SYMBOL, elf::STT_OBJECT, kinds)?;
    let (at, len) = (manifest.st_value(endian), manifest.st_size(endian));
    let paths = dynamic.run_paths.into_iter().flatten();
    if paths.into_iter().any(|at| at >= dynamic.strings_len) {
        return Err(damaged("its library path lies outside its strings"));
    }
    image.manifest(at.into(), len.into())
}

fn check_machine<Elf: FileHeader<Endian = Endianness>>(
    target: Target,
    header: &Elf,
    endian: Endianness,
) -> Result<(), Kind> {
    let is_64 = header.is_type_64();
    let arch = match header.e_machine(endian) {
        elf::EM_X86_64 if is_64 => Architecture::X86_64,
        elf::EM_X86_64 => Architecture::X86_64_X32,
        elf::EM_AARCH64 => Architecture::Aarch64,
        elf::EM_386 => Architecture::I386,
        elf::EM_ARM => Architecture::Arm,
        elf::EM_RISCV if is_64 => Architecture::Riscv64,
        elf::EM_RISCV => Architecture::Riscv32,
        elf::EM_LOONGARCH => Architecture::LoongArch64,
        elf::EM_PPC64 => Architecture::PowerPc64,
        elf::EM_S390 => Architecture::S390x,
        _ => Architecture::Unknown,
    };
    let same_order = header.is_little_endian() == cfg!(target_endian = "little");
    let same_width = is_64 == cfg!(target_pointer_width = "64")
        || cfg!(all(target_arch = "x86_64", target_pointer_width = "32"));
    let abi = header.e_ident().os_abi;
    if !matches!(abi, elf::ELFOSABI_NONE | elf::ELFOSABI_GNU) && cfg!(target_os = "linux") {
        return check_target(target, BinaryFormat::Elf, arch, " of another system");
    }
    let detail = match (same_order, same_width) {
        (false, _) => " of the other byte order",
        (_, false) if is_64 => ", 64-bit",
        (_, false) => ", 32-bit",
        _ => "",
    };
    check_target(target, BinaryFormat::Elf, arch, detail)
}

/// The loadable image of a library, read through its file.
struct Image<'d, Elf: FileHeader, R: ReadRef<'d>> {
    data: R,
    endian: Elf::Endian,
    segments: &'d [Elf::ProgramHeader],
    len: u64,
}

/// The entries of the dynamic section that a check uses.
#[derive(Default)]
struct Dynamic {
    flags_1: u64,
    symbols: Option<u64>,
    strings: Option<u64>,
    strings_len: u64,
    hash: Option<u64>,
    gnu_hash: Option<u64>,
    /// The library paths, as offsets in the strings: `DT_RPATH`, `DT_RUNPATH`.
    run_paths: [Option<u64>; 2],
}

impl<'d, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'d>> Image<'d, Elf, R> {
    fn read(header: &'d Elf, endian: Endianness, data: R, len: u64) -> Result<Self, Kind> {
        let count = header.e_phnum(endian) as usize;
        if count == 0 || count > MAX_SEGMENTS {
            return Err(damaged(&format!("it has {count} segments")));
        }
        if header.e_phentsize(endian) as usize != size_of::<Elf::ProgramHeader>() {
            return Err(damaged("its program headers have a wrong size"));
        }
        let at = header.e_phoff(endian).into();
        let need = at.saturating_add((count * size_of::<Elf::ProgramHeader>()) as u64);
        if need > len {
            return Err(truncated("its list of segments", need, len));
        }
        let segments = data
            .read_slice_at(at, count)
            .map_err(|_| damaged("its program headers are misaligned"))?;
        let sections = u64::from(header.e_shnum(endian)) * u64::from(header.e_shentsize(endian));
        let sections_end = header.e_shoff(endian).into().saturating_add(sections);
        let image = Image {
            data,
            endian,
            segments,
            len,
        };
        image.check_segments()?;
        if sections != 0 && sections_end > len {
            return Err(truncated("its list of sections", sections_end, len));
        }
        Ok(image)
    }

    /// Checks that the loader can map the segments: in the file, ascending, apart, aligned.
    fn check_segments(&self) -> Result<(), Kind> {
        let mut end_of_last = 0u64;
        let mut loads = 0;
        for segment in self.segments {
            let (offset, file_len) = self.file_range(segment);
            let needed = offset.saturating_add(file_len);
            if needed > self.len {
                return Err(truncated("one of its segments", needed, self.len));
            }
            if segment.p_type(self.endian) != elf::PT_LOAD {
                continue;
            }
            loads += 1;
            let start: u64 = segment.p_vaddr(self.endian).into();
            let memory: u64 = segment.p_memsz(self.endian).into();
            let align: u64 = segment.p_align(self.endian).into();
            let Some(end) = start.checked_add(memory) else {
                return Err(damaged("one of its segments is larger than memory"));
            };
            if file_len > memory {
                return Err(damaged(
                    "one of its segments is larger in the file than in memory",
                ));
            }
            if start < end_of_last {
                return Err(damaged("its segments overlap or aren't in order"));
            }
            if align > 1 && (!align.is_power_of_two() || start.wrapping_sub(offset) % align != 0) {
                return Err(damaged("one of its segments is misaligned"));
            }
            end_of_last = end;
        }
        match loads {
            0 => Err(damaged("it has nothing to load")),
            _ => Ok(()),
        }
    }

    fn file_range(&self, segment: &Elf::ProgramHeader) -> (u64, u64) {
        (
            segment.p_offset(self.endian).into(),
            segment.p_filesz(self.endian).into(),
        )
    }

    fn dynamic(&self) -> Result<Dynamic, Kind> {
        let mut of_type = self
            .segments
            .iter()
            .filter(|s| s.p_type(self.endian) == elf::PT_DYNAMIC);
        let Some(segment) = of_type.next() else {
            return Err(not_a_library("a static executable"));
        };
        // The loader reads it in memory, so it has to be part of what is loaded.
        let at: u64 = segment.p_vaddr(self.endian).into();
        let len: u64 = segment.p_memsz(self.endian).into();
        let count = len / size_of::<Elf::Dyn>() as u64;
        if count > MAX_DYNAMIC {
            return Err(damaged("its dynamic section is too long"));
        }
        let entries: &[Elf::Dyn] = self
            .slice(at, count)
            .ok_or_else(|| damaged("its dynamic section isn't loaded"))?;
        let mut found = Dynamic::default();
        let mut tables = [(0, 0); TABLES.len()];
        let mut needed = Vec::new();
        for entry in entries {
            let value: u64 = entry.d_val(self.endian).into();
            match entry.d_tag(self.endian) {
                elf::DT_NULL => {
                    self.check_tables(&found, &tables, &needed)?;
                    return Ok(found);
                }
                elf::DT_SYMTAB => found.symbols = Some(value),
                elf::DT_STRTAB => found.strings = Some(value),
                elf::DT_STRSZ => found.strings_len = value,
                elf::DT_HASH => found.hash = Some(value),
                elf::DT_GNU_HASH => found.gnu_hash = Some(value),
                elf::DT_FLAGS_1 => found.flags_1 = value,
                elf::DT_RPATH => found.run_paths[0] = Some(value),
                elf::DT_RUNPATH => found.run_paths[1] = Some(value),
                elf::DT_NEEDED => needed.push(value),
                elf::DT_SYMENT if value != size_of::<Elf::Sym>() as u64 => {
                    return Err(damaged("its symbols have a wrong size"));
                }
                tag => {
                    for (table, (at, len, _)) in tables.iter_mut().zip(TABLES) {
                        match tag {
                            tag if tag == at => table.0 = value,
                            tag if tag == len => table.1 = value,
                            _ => {}
                        }
                    }
                }
            }
        }
        Err(damaged("its dynamic section has no end"))
    }

    fn check_tables(
        &self,
        found: &Dynamic,
        tables: &[(u64, u64)],
        needed: &[u64],
    ) -> Result<(), Kind> {
        let strings = found
            .strings
            .ok_or_else(|| damaged("it has no dynamic strings"))?;
        if self.offset(strings, found.strings_len.max(1)).is_none() {
            return Err(damaged("its dynamic strings aren't loaded"));
        }
        // The loader reads names up to their NUL, so the last byte must be one.
        let last = self.slice::<u8>(strings + found.strings_len.max(1) - 1, 1);
        if last != Some(&[0]) {
            return Err(damaged("its dynamic strings don't end"));
        }
        if needed.iter().any(|&at| at >= found.strings_len) {
            return Err(damaged("a library that it needs has no name"));
        }
        for (&(at, len), (.., name)) in tables.iter().zip(TABLES) {
            if len != 0 && self.offset(at, len).is_none() {
                return Err(damaged(&format!("its {name} aren't loaded")));
            }
        }
        Ok(())
    }

    /// The offset in the file of `len` bytes at an address.
    fn offset(&self, address: u64, len: u64) -> Option<u64> {
        let end = address.checked_add(len)?;
        self.segments
            .iter()
            .filter(|s| s.p_type(self.endian) == elf::PT_LOAD)
            .find_map(|s| {
                let start: u64 = s.p_vaddr(self.endian).into();
                let (offset, file_len) = self.file_range(s);
                (address >= start && end <= start.checked_add(file_len)?)
                    .then(|| offset + (address - start))
            })
    }

    fn slice<T: object::pod::Pod>(&self, address: u64, count: u64) -> Option<&'d [T]> {
        let len = count.checked_mul(size_of::<T>() as u64)?;
        let at = self.offset(address, len)?;
        self.data
            .read_slice_at(at, usize::try_from(count).ok()?)
            .ok()
    }

    fn word(&self, address: u64) -> Result<u32, Kind> {
        match self.slice::<object::U32<Endianness>>(address, 1) {
            Some([word]) => Ok(word.get(self.endian)),
            _ => Err(damaged("its symbol hash table isn't loaded")),
        }
    }

    fn is_executable(&self, address: u64) -> bool {
        self.segments.iter().any(|s| {
            let start: u64 = s.p_vaddr(self.endian).into();
            s.p_type(self.endian) == elf::PT_LOAD
                && s.p_flags(self.endian).contains(elf::PF_X)
                && address >= start
                && address - start < self.file_range(s).1
        })
    }

    fn symbol(&self, dynamic: &Dynamic, name: &'static str) -> Result<&'d Elf::Sym, Kind> {
        let found = match (dynamic.gnu_hash, dynamic.hash) {
            (Some(table), _) => self.find_gnu(table, dynamic, name)?,
            (None, Some(table)) => self.find_sysv(table, dynamic, name)?,
            (None, None) => return Err(damaged("it has no symbol hash table")),
        };
        found.ok_or(Kind::MissingSymbol { symbol: name })
    }

    /// Looks a name up in a `DT_GNU_HASH` table: a bloom filter, buckets, and chains that run
    /// parallel to the symbols and end at a set low bit.
    fn find_gnu(
        &self,
        table: u64,
        dynamic: &Dynamic,
        name: &'static str,
    ) -> Result<Option<&'d Elf::Sym>, Kind> {
        let buckets = self.word(table)?;
        let first = self.word(table.saturating_add(4))?;
        let bloom_words = self.word(table.saturating_add(8))?;
        if buckets == 0 || !bloom_words.is_power_of_two() {
            return Err(damaged("its symbol hash table is malformed"));
        }
        let bloom_len = u64::from(bloom_words) * size_of::<Elf::Word>() as u64;
        let buckets_at = table.saturating_add(16).saturating_add(bloom_len);
        let chains_at = buckets_at.saturating_add(u64::from(buckets) * 4);
        if self
            .offset(table, chains_at.saturating_sub(table))
            .is_none()
        {
            return Err(damaged("its symbol hash table isn't loaded"));
        }
        let hash = elf::gnu_hash(name.as_bytes());
        let mut index = self.word(buckets_at + u64::from(hash % buckets) * 4)?;
        if index == 0 {
            return Ok(None);
        }
        loop {
            let Some(link) = index.checked_sub(first) else {
                return Err(damaged("its symbol hash table is malformed"));
            };
            let chained = self.word(chains_at.saturating_add(u64::from(link) * 4))?;
            if chained | 1 == hash | 1
                && let Some(symbol) = self.named(index, dynamic, name)?
            {
                return Ok(Some(symbol));
            }
            if chained & 1 == 1 {
                return Ok(None);
            }
            index = match index.checked_add(1) {
                Some(next) => next,
                None => return Err(damaged("its symbol hash table has no end")),
            };
        }
    }

    /// Looks a name up in a `DT_HASH` table: buckets, and chains of symbol indices that end at 0.
    fn find_sysv(
        &self,
        table: u64,
        dynamic: &Dynamic,
        name: &'static str,
    ) -> Result<Option<&'d Elf::Sym>, Kind> {
        let buckets = self.word(table)?;
        let chains = self.word(table.saturating_add(4))?;
        if buckets == 0 {
            return Err(damaged("its symbol hash table is malformed"));
        }
        // How many chains there are bounds the walk below, so they have to be there.
        let len = 8 + (u64::from(buckets) + u64::from(chains)) * 4;
        if self.offset(table, len).is_none() {
            return Err(damaged("its symbol hash table isn't loaded"));
        }
        let hash = elf::hash(name.as_bytes());
        let chains_at = table.saturating_add(8 + u64::from(buckets) * 4);
        let mut index = self.word(table.saturating_add(8 + u64::from(hash % buckets) * 4))?;
        // A chain that is longer than the table runs in a circle, in which the loader would hang.
        for _ in 0..=chains {
            if index == 0 {
                return Ok(None);
            }
            if let Some(symbol) = self.named(index, dynamic, name)? {
                return Ok(Some(symbol));
            }
            index = self.word(chains_at.saturating_add(u64::from(index) * 4))?;
        }
        Err(damaged("its symbol hash table runs in a circle"))
    }

    /// The symbol of an index, if it is defined here and has this name.
    fn named(
        &self,
        index: u32,
        dynamic: &Dynamic,
        name: &str,
    ) -> Result<Option<&'d Elf::Sym>, Kind> {
        let (Some(symbols), Some(strings)) = (dynamic.symbols, dynamic.strings) else {
            return Err(damaged("it has no dynamic symbols"));
        };
        let at = symbols.saturating_add(u64::from(index) * size_of::<Elf::Sym>() as u64);
        let Some([symbol]) = self.slice::<Elf::Sym>(at, 1) else {
            return Err(damaged("its dynamic symbols aren't loaded"));
        };
        let start = u64::from(symbol.st_name(self.endian));
        let bytes = self.slice::<u8>(strings.saturating_add(start), name.len() as u64 + 1);
        let same = bytes.is_some_and(|b| b[..name.len()] == *name.as_bytes() && b[name.len()] == 0);
        let defined = symbol.st_shndx(self.endian) != elf::SHN_UNDEF;
        Ok((same && defined).then_some(symbol))
    }

    fn manifest(&self, address: u64, len: u64) -> Result<&'d [u8], Kind> {
        if len > manifest::MAX_LEN {
            return Err(Kind::ManifestTooLong {
                len,
                limit: manifest::MAX_LEN,
            });
        }
        self.slice(address, len)
            .ok_or_else(|| damaged("its manifest isn't in the file"))
    }
}
