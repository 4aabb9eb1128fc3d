//! Constants by content: equal classes are equal types and equal bytes.
//!
//! A constant's bytes are read only if the other function has one of the same type and length, and
//! not if both are at the same offset of the same file. Equal hashes are confirmed byte by byte.

use std::sync::Arc;

use half::{bf16, f16};
use passdock_abi::{ConstId, DType, TypeId};
use passdock_ir::{ConstantData, Function, Payload, text};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use passdock_core::{ErrorKind, PassError};

/// The class of each constant of two functions.
pub(super) struct Contents {
    classes: [FxHashMap<ConstId, u32>; 2],
}

/// The difference of the numbers of two constants of one type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// The number of elements.
    pub elements: u64,
    /// The number of elements that differ in their bits.
    pub differing: u64,
    /// The largest absolute difference of two elements that are numbers.
    pub max_abs: f64,
}

impl Contents {
    pub(super) fn new(functions: [&Function; 2]) -> Result<Contents, PassError> {
        // Constants that may be equal, by type and length.
        let mut buckets: FxHashMap<(String, u64), [Vec<ConstId>; 2]> = FxHashMap::default();
        for (side, f) in functions.into_iter().enumerate() {
            for (id, constant) in f.live_constants() {
                let key = (text::type_text(f, constant.ty), f.constant_data(id).len());
                buckets.entry(key).or_default()[side].push(id);
            }
        }
        let mut classes = [FxHashMap::default(), FxHashMap::default()];
        let mut next = 0;
        for bucket in buckets.values() {
            let data = |side: usize| {
                let ids = bucket[side].iter();
                ids.map(move |&id| (side, id, functions[side].constant_data(id)))
            };
            let sources = [0, 1].map(|side| data(side).filter_map(|(.., data)| Source::new(data)));
            let [old, new] = sources.map(|sources| sources.collect::<FxHashSet<_>>());
            let is_read = bucket.iter().all(|ids| !ids.is_empty());
            let mut by_source = FxHashMap::default();
            let mut by_hash: FxHashMap<u64, Vec<(&ConstantData, u32)>> = FxHashMap::default();
            for (side, id, data) in data(0).chain(data(1)) {
                let source = Source::new(data);
                let mut class = source
                    .as_ref()
                    .and_then(|source| by_source.get(source))
                    .copied();
                let is_shared = source
                    .as_ref()
                    .is_some_and(|it| old.contains(it) && new.contains(it));
                let mut alike = None;
                if class.is_none() && is_read && !is_shared {
                    let hash = data.hash().map_err(unreadable)?;
                    let others = alike.insert(by_hash.entry(hash).or_default());
                    for &(other, known) in others.iter() {
                        if other.same(data).map_err(unreadable)? {
                            class = Some(known);
                            break;
                        }
                    }
                }
                let class = class.unwrap_or_else(|| {
                    next += 1;
                    if let Some(others) = alike {
                        others.push((data, next - 1));
                    }
                    next - 1
                });
                classes[side].insert(id, class);
                by_source.extend(source.map(|source| (source, class)));
            }
        }
        Ok(Contents { classes })
    }

    /// Returns the class of a constant; of none, [`NONE`](super::NONE).
    pub(super) fn class(&self, side: usize, id: ConstId) -> u32 {
        self.classes[side].get(&id).copied().unwrap_or(super::NONE)
    }
}

/// The file and offset of a constant's bytes: those of equal sources are equal.
#[derive(PartialEq, Eq, Hash)]
enum Source<'d> {
    /// A file that is mapped already, whose name may be another file's by now.
    Mapped(*const (), u64),
    /// A file of this name.
    External(&'d str, u64),
}

impl Source<'_> {
    fn new(data: &ConstantData) -> Option<Source<'_>> {
        match data.payload() {
            Payload::Mapped(range) => Some(Source::Mapped(
                Arc::as_ptr(&range.source).cast(),
                range.offset,
            )),
            Payload::External(range) => Some(Source::External(range.source.name(), range.offset)),
            _ => None,
        }
    }
}

fn unreadable(message: String) -> PassError {
    PassError::new(ErrorKind::Read, message)
}

/// The difference of two constants of one type, if their elements are numbers of whole bytes and their
/// bytes are at hand.
pub(super) fn numbers(
    [a, b]: [&Function; 2],
    ty: TypeId,
    [old, new]: [ConstId; 2],
) -> Option<Numbers> {
    let (old, new) = (a.constant_data(old), b.constant_data(new));
    let (old, new) = (old.bytes().ok()?, new.bytes().ok()?);
    let dtype = b.ty(ty).dtype;
    Some(match dtype {
        DType::F32 => compare(old, new, |b| f64::from(f32::from_le_bytes(b))),
        DType::F64 => compare(old, new, f64::from_le_bytes),
        DType::F16 => compare(old, new, |b| f16::from_le_bytes(b).to_f64()),
        DType::BF16 => compare(old, new, |b| bf16::from_le_bytes(b).to_f64()),
        DType::U8 => compare(old, new, |b| f64::from(u8::from_le_bytes(b))),
        DType::I8 => compare(old, new, |b| f64::from(i8::from_le_bytes(b))),
        DType::U16 => compare(old, new, |b| f64::from(u16::from_le_bytes(b))),
        DType::I16 => compare(old, new, |b| f64::from(i16::from_le_bytes(b))),
        DType::U32 => compare(old, new, |b| f64::from(u32::from_le_bytes(b))),
        DType::I32 => compare(old, new, |b| f64::from(i32::from_le_bytes(b))),
        DType::U64 => compare(old, new, |b| u64::from_le_bytes(b) as f64),
        DType::I64 | DType::INDEX => compare(old, new, |b| i64::from_le_bytes(b) as f64),
        _ => return None,
    })
}

fn compare<const N: usize>(old: &[u8], new: &[u8], number: impl Fn([u8; N]) -> f64) -> Numbers {
    let (old, new) = (old.as_chunks::<N>().0, new.as_chunks::<N>().0);
    let mut numbers = Numbers {
        elements: old.len() as u64,
        differing: 0,
        max_abs: 0.0,
    };
    for (&old, &new) in old.iter().zip(new) {
        if old != new {
            numbers.differing += 1;
            // A NaN isn't a number, and `max` leaves it out.
            numbers.max_abs = numbers.max_abs.max((number(new) - number(old)).abs());
        }
    }
    numbers
}
