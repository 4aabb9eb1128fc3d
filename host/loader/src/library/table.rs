//! The table that a plugin's entry point returns, checked and copied. Fields that one side doesn't have are ignored or
//! 0.

use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use passdock_abi as abi;

use super::op_info::{AttrInfo, OpAttrDefault, kind_name};
use crate::error::PluginErrorKind as Kind;
use crate::names;

/// The maximum number of passes, or of ops, of a plugin.
const MAX_ENTRIES: u32 = 1 << 16;
/// The maximum size of a struct of the plugin ABI, in bytes.
const MAX_STRUCT: u32 = 1 << 16;
/// The sizes of entries in the oldest supported ABI version. Plugins' entries aren't smaller. When a field is appended,
/// these don't change, and fields that a plugin doesn't have are zero.
const MIN_PASS: u32 = through(offset_of!(abi::PassEntry, run_module));
const MIN_OP: u32 = through(offset_of!(abi::OpEntry, decompose));
const MIN_ATTR: u32 = through(offset_of!(abi::AttrEntry, count));
const MIN_INSTRUMENT: u32 = through(offset_of!(abi::InstrumentEntry, report));

/// Returns the size of a struct whose last field is a word at this offset.
const fn through(last: usize) -> u32 {
    (last + size_of::<usize>()) as u32
}

/// The host table that plugins are loaded with.
#[derive(Clone, Copy)]
pub struct HostTable(&'static abi::Host);

// SAFETY: the table and the tables that it points to are immutable and `'static`, which the caller of `HostTable::new`
// guarantees.
unsafe impl Send for HostTable {}
// SAFETY: as above.
unsafe impl Sync for HostTable {}

impl HostTable {
    /// Wraps a host's table.
    ///
    /// # Safety
    /// The table, and everything that it points to, never changes and is valid by the plugin ABI.
    pub const unsafe fn new(table: &'static abi::Host) -> HostTable {
        HostTable(table)
    }

    /// Returns the wrapped table.
    pub fn get(self) -> &'static abi::Host {
        self.0
    }
}

/// The passes, ops and instruments of a plugin's table, by name, copied from it.
pub(super) struct Table {
    pub(super) passes: Vec<(&'static str, abi::PassEntry)>,
    pub(super) ops: Vec<(&'static str, abi::OpEntry)>,
    pub(super) instruments: Vec<(&'static str, abi::InstrumentEntry)>,
}

/// Calls a plugin's entry point, and reads the table that it returns. `path` is the path of the library, or empty.
pub(super) fn call(entry: abi::Entry, host: HostTable, path: &str) -> Result<Table, Kind> {
    let mut attach = abi::Attach {
        path: abi::Str::new(path),
        ..abi::Attach::EMPTY
    };
    let plugin = {
        // One call at a time: registries that load the same library share the state of its entry point.
        static ENTRIES: Mutex<()> = Mutex::new(());
        let _one = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `entry` has the type required by the plugin ABI, and the host's table is `'static`.
        unsafe { entry(host.get(), &raw mut attach) }
    };
    if plugin.is_null() {
        return Err(Kind::HostRejected {
            reason: reason(attach.reason),
            abi: abi::ABI.into(),
            ir: abi::IR.into(),
        });
    }
    let malformed = |text: &str| Kind::Table(text.to_owned());
    if !plugin.is_aligned() {
        return Err(malformed("misaligned address"));
    }
    // SAFETY: by the plugin ABI, a table starts with its size. The pointer is aligned and not null.
    let size = unsafe { plugin.cast::<u32>().read() };
    if !(size_of::<u32>() as u32..=MAX_STRUCT).contains(&size) {
        return Err(Kind::Table(format!(
            "`struct_size` is {size}, expected the size of the table in bytes"
        )));
    }
    // SAFETY: by the plugin ABI, the table has `size` bytes.
    let table: abi::Plugin = unsafe { record(plugin.cast(), size) };
    let (passes, count) = (table.passes.cast(), table.pass_count);
    let passes: Vec<abi::PassEntry> =
        entries(passes, count, table.pass_stride, MIN_PASS, "passes")?;
    if table.reserved != 0 {
        return Err(malformed("`reserved` must be 0"));
    }
    let (ops, count) = (table.ops.cast(), table.op_count);
    let ops: Vec<abi::OpEntry> = entries(ops, count, table.op_stride, MIN_OP, "ops")?;
    let instruments: Vec<abi::InstrumentEntry> = entries(
        table.instruments.cast(),
        table.instrument_count,
        table.instrument_stride,
        MIN_INSTRUMENT,
        "instruments",
    )?;
    Ok(Table {
        passes: named(passes, |entry| entry.name)?,
        ops: named(ops, |entry| entry.name)?,
        instruments: named(instruments, |entry| entry.name)?,
    })
}

/// Returns the reason why a plugin rejects the host.
fn reason(reason: abi::Str) -> String {
    match text(reason) {
        Ok("") => "no reason given".to_owned(),
        Ok(text) => names::escaped(text.trim_end_matches('.')),
        Err(_) => "the reason is not UTF-8".to_owned(),
    }
}

/// Returns the targets for which a definition implements `supports`.
pub(super) fn targets(op: &abi::OpEntry) -> Result<Vec<&'static str>, Kind> {
    let targets = list(op.targets, op.target_count)?.iter();
    targets.map(|&target| name(target)).collect()
}

/// Rejects an extension with parts that only a definition may have.
pub(super) fn check_extension(name: &str, op: &abi::OpEntry) -> Result<(), Kind> {
    let parts = [
        (op.infer.is_some(), "infers types"),
        (op.evaluate.is_some(), "evaluates"),
        (!op.attrs.is_null(), "lists attributes"),
        (op.traits != 0, "has traits"),
        (
            op.min_operands != 0 || !matches!(op.max_operands, 0 | u32::MAX),
            "counts operands",
        ),
        (
            op.min_results != 0 || !matches!(op.max_results, 0 | u32::MAX),
            "counts results",
        ),
    ];
    match parts.iter().find(|(is_present, _)| *is_present) {
        // An entry without any function is allowed: it may have functions of a later ABI version.
        None => Ok(()),
        Some((_, what)) => Err(Kind::Table(format!(
            "extension of `{name}` {what}, which only the definition may do"
        ))),
    }
}

/// Returns the attributes that a definition lists, or `None` if it has no list.
pub(super) fn attributes(op: &abi::OpEntry) -> Result<Option<Vec<AttrInfo>>, Kind> {
    if op.attrs.is_null() {
        return Ok(None);
    }
    let (base, count) = (op.attrs.cast(), op.attr_count);
    let read: Vec<abi::AttrEntry> =
        entries(base, count, op.attr_stride, MIN_ATTR, "attributes of an op")?;
    let read = read.into_iter().map(|entry| {
        Ok(AttrInfo {
            name: name(entry.name)?,
            kind: kind_name(entry.kind),
            kind_code: entry.kind,
            required: entry.flags & abi::AttrEntry::REQUIRED != 0,
            doc: text(entry.doc)?,
            default: default(&entry)?,
        })
    });
    read.collect::<Result<_, Kind>>().map(Some)
}

fn default(entry: &abi::AttrEntry) -> Result<Option<OpAttrDefault>, Kind> {
    use abi::AttrKind as K;
    if entry.flags & abi::AttrEntry::DEFAULT == 0 {
        return Ok(None);
    }
    let (data, count) = (entry.data, entry.count);
    Ok(Some(match entry.kind {
        K::INT => OpAttrDefault::Int(entry.bits as i64),
        K::FLOAT => match u32::try_from(entry.bits) {
            Ok(bits) => OpAttrDefault::Float(f32::from_bits(bits)),
            Err(_) => {
                return Err(Kind::Table(
                    "default of an attribute has more bits than a float".to_owned(),
                ));
            }
        },
        K::STRING => OpAttrDefault::String(text(abi::Str {
            ptr: data.cast(),
            len: count,
        })?),
        K::INTS => OpAttrDefault::Ints(list(data.cast(), count)?),
        K::FLOATS => OpAttrDefault::Floats(list(data.cast(), count)?),
        K::STRINGS => {
            let texts: &[abi::Str] = list(data.cast(), count)?;
            let texts: Result<_, Kind> = texts.iter().map(|&item| text(item)).collect();
            OpAttrDefault::Strings(texts?)
        }
        _ => return Ok(None),
    }))
}

/// Returns a list in a table. It is `'static`, since libraries aren't unloaded.
fn list<T>(data: *const T, count: usize) -> Result<&'static [T], Kind> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() || !data.is_aligned() || count > MAX_ENTRIES as usize {
        return Err(Kind::Table("invalid address of a list".to_owned()));
    }
    // SAFETY: by the plugin ABI, a list in the table has `count` elements and lives as long as the library, which is
    // never unloaded.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Pairs entries with their names, which are checked.
fn named<T>(entries: Vec<T>, of: fn(&T) -> abi::Str) -> Result<Vec<(&'static str, T)>, Kind> {
    let named = entries
        .into_iter()
        .map(|entry| Ok((name(of(&entry))?, entry)));
    named.collect()
}

/// Copies `count` records that are `stride` bytes apart.
fn entries<T: Copy>(
    base: *const c_void,
    count: u32,
    stride: u32,
    min: u32,
    what: &str,
) -> Result<Vec<T>, Kind> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let invalid_table = |text: String| Err(Kind::Table(text));
    if count > MAX_ENTRIES {
        return invalid_table(format!("{count} {what} exceed the limit of {MAX_ENTRIES}"));
    }
    if stride < min || stride > MAX_STRUCT || !(stride as usize).is_multiple_of(align_of::<T>()) {
        return invalid_table(format!("invalid stride of the {what}: {stride} bytes"));
    }
    if base.is_null() || !base.cast::<T>().is_aligned() {
        return invalid_table(format!("invalid address of the {what}"));
    }
    let read = |at: u32| {
        let record_at = base
            .cast::<u8>()
            .wrapping_add(at as usize * stride as usize);
        // SAFETY: by the plugin ABI, there are `count` records, `stride` bytes apart.
        unsafe { record(record_at, stride) }
    };
    Ok((0..count).map(read).collect())
}

/// Copies the common part of a record or a table. The rest is zero.
///
/// # Safety
/// `size` bytes are readable, and a `T` is valid if its bytes are zero or come from the plugin.
unsafe fn record<T: Copy>(from: *const u8, size: u32) -> T {
    let mut record = MaybeUninit::<T>::zeroed();
    let shared = (size as usize).min(size_of::<T>());
    // SAFETY: the caller's promise.
    unsafe {
        ptr::copy_nonoverlapping(from, record.as_mut_ptr().cast(), shared);
        record.assume_init()
    }
}

/// Returns a name in a table, after checking it.
fn name(given: abi::Str) -> Result<&'static str, Kind> {
    if given.ptr.is_null() || given.len == 0 || given.len > names::MAX_LEN {
        return Err(Kind::Table("a name is null, empty or too long".to_owned()));
    }
    text(given).map_err(|_| Kind::Table("a name is not UTF-8".to_owned()))
}

fn text(given: abi::Str) -> Result<&'static str, Kind> {
    let bytes = list(given.ptr, given.len)?;
    std::str::from_utf8(bytes).map_err(|_| Kind::Table("a string is not UTF-8".to_owned()))
}
