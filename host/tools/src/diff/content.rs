//! Constants by content: equal classes are equal types and equal bytes.
//!
//! A constant's bytes are read only if the other function has one of the same type and length, and
//! not if both stand at the same place of the same file. Equal hashes are confirmed byte by byte.

use std::sync::Arc;

use half::{bf16, f16};
use passdock_abi::{ConstId, DType, TypeId};
use passdock_ir::{ConstantData, Function, Payload, text};
use rustc_hash::FxHashMap;
use serde::Serialize;

use passdock_core::{ErrorKind, PassError};

/// The class of each constant of two functions.
pub(super) struct Contents {
    classes: [Vec<u32>; 2],
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

/// A constant of the first function (0) or the second (1).
type Member = (usize, ConstId);

/// Constants that may be equal, those of one type and length: the first function's, then the second's.
type Bucket = Vec<Member>;

impl Contents {
    pub(super) fn new(functions: [&Function; 2]) -> Result<Contents, PassError> {
        let mut buckets: FxHashMap<(String, u64), Bucket> = FxHashMap::default();
        let mut classes = [Vec::new(), Vec::new()];
        for (side, f) in functions.into_iter().enumerate() {
            for (id, constant) in f.live_constants() {
                let known = classes[side].len().max(id.index() + 1);
                classes[side].resize(known, super::NONE);
                let key = (text::type_text(f, constant.ty), f.constant_data(id).len());
                buckets.entry(key).or_default().push((side, id));
            }
        }
        let mut contents = Contents { classes };
        let mut next = 0;
        for bucket in buckets.values() {
            contents.classify(functions, bucket, &mut next)?;
        }
        Ok(contents)
    }

    pub(super) fn class(&self, side: usize, id: ConstId) -> u32 {
        let class = self.classes[side].get(id.index());
        class.copied().unwrap_or(super::NONE)
    }

    fn classify(
        &mut self,
        functions: [&Function; 2],
        bucket: &[Member],
        next: &mut u32,
    ) -> Result<(), PassError> {
        let mut fresh = || {
            *next += 1;
            *next - 1
        };
        let data = |(side, id): Member| functions[side].constant_data(id);
        // What stands at one place in both is the same, read or not.
        let mut places: FxHashMap<Place<'_>, [bool; 2]> = FxHashMap::default();
        for &member in bucket {
            if let Some(place) = place(data(member)) {
                places.entry(place).or_default()[member.0] = true;
            }
        }
        let is_shared = |member: Member| {
            place(data(member)).is_some_and(|place| places[&place] == [true, true])
        };
        let rest = bucket.iter().filter(|&&member| !is_shared(member));
        let lonely = [0, 1].map(|side| rest.clone().all(|member| member.0 != side));
        let lonely = lonely.contains(&true);
        let mut known_places: FxHashMap<Place<'_>, u32> = FxHashMap::default();
        let mut hashes: FxHashMap<u64, Vec<(Member, u32)>> = FxHashMap::default();
        for &member in bucket {
            let place = place(data(member));
            let known = place.as_ref().and_then(|place| known_places.get(place));
            let class = match known {
                Some(&class) => class,
                None if lonely || is_shared(member) => fresh(),
                None => {
                    let alike = hashes
                        .entry(data(member).hash().map_err(unreadable)?)
                        .or_default();
                    let mut found = None;
                    for &(other, class) in alike.iter() {
                        if data(other).same(data(member)).map_err(unreadable)? {
                            found = Some(class);
                            break;
                        }
                    }
                    found.unwrap_or_else(|| {
                        let class = fresh();
                        alike.push((member, class));
                        class
                    })
                }
            };
            self.classes[member.0][member.1.index()] = class;
            known_places.extend(place.map(|place| (place, class)));
        }
        Ok(())
    }
}

/// The place of a constant's bytes: of equal places they are equal.
#[derive(PartialEq, Eq, Hash)]
enum Place<'d> {
    /// A file that is mapped already. What has its name by now may be another one.
    Mapped(*const (), u64),
    /// A file of this name.
    External(&'d str, u64),
}

fn place(data: &ConstantData) -> Option<Place<'_>> {
    match data.payload() {
        Payload::Mapped { source, offset, .. } => {
            Some(Place::Mapped(Arc::as_ptr(source).cast(), *offset))
        }
        Payload::External { source, offset, .. } => Some(Place::External(source.name(), *offset)),
        _ => None,
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
