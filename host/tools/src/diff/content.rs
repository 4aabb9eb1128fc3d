//! Constants by content: equal classes are equal types and equal bytes.
//!
//! A constant's bytes are read only if the other function has one of the same type and length, and
//! not if both stand at the same place of the same file. Equal hashes are confirmed byte by byte.

use std::hash::Hasher;
use std::sync::Arc;

use half::{bf16, f16};
use passdock_abi::{ConstId, DType, TypeId};
use passdock_ir::{ConstantData, Function, Payload};
use rustc_hash::{FxHashMap, FxHasher};
use serde::Serialize;

use super::shared::{SharedTypes, Side};
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

/// A constant of one of the two.
type Member = (Side, ConstId);

/// Constants that may be equal: those of one type and length.
#[derive(Default)]
struct Bucket {
    members: [Vec<ConstId>; 2],
}

impl Contents {
    pub(super) fn new(
        functions: [&Function; 2],
        types: &mut SharedTypes,
    ) -> Result<Contents, PassError> {
        let mut buckets: FxHashMap<(u32, u64), Bucket> = FxHashMap::default();
        let mut order = Vec::new();
        let mut classes = [Vec::new(), Vec::new()];
        for side in [Side::A, Side::B] {
            let f = functions[side as usize];
            for (id, constant) in f.live_constants() {
                let classes = &mut classes[side as usize];
                if classes.len() <= id.index() {
                    classes.resize(id.index() + 1, super::NONE);
                }
                let key = (types.of(side, f, constant.ty), f.constant_data(id).len());
                let bucket = buckets.entry(key).or_insert_with(|| {
                    order.push(key);
                    Bucket::default()
                });
                bucket.members[side as usize].push(id);
            }
        }
        let mut contents = Contents { classes };
        let mut next = 0;
        for key in order {
            contents.classify(functions, &buckets[&key], &mut next)?;
        }
        Ok(contents)
    }

    pub(super) fn class(&self, side: Side, id: ConstId) -> u32 {
        let class = self.classes[side as usize].get(id.index());
        class.copied().unwrap_or(super::NONE)
    }

    fn classify(
        &mut self,
        functions: [&Function; 2],
        bucket: &Bucket,
        next: &mut u32,
    ) -> Result<(), PassError> {
        let mut fresh = || {
            *next += 1;
            *next - 1
        };
        let all = [Side::A, Side::B].into_iter().flat_map(|side| {
            let members = bucket.members[side as usize].iter();
            members.map(move |&id| (side, id))
        });
        let data = |(side, id): Member| functions[side as usize].constant_data(id);
        // What stands at one place in both is the same, read or not.
        let mut places: FxHashMap<Place<'_>, [bool; 2]> = FxHashMap::default();
        for member in all.clone() {
            if let Some(place) = place(data(member)) {
                places.entry(place).or_default()[member.0 as usize] = true;
            }
        }
        let is_shared = |member: Member| {
            place(data(member)).is_some_and(|place| places[&place] == [true, true])
        };
        let rest = all.clone().filter(|&member| !is_shared(member));
        let on = |side: Side| rest.clone().any(|member| member.0 == side);
        let lonely = !on(Side::A) || !on(Side::B);
        // One element that fills them all tells them apart without being spread out.
        let splats = rest
            .clone()
            .all(|member| matches!(data(member).payload(), Payload::Splat { .. }));
        let mut known_places: FxHashMap<Place<'_>, u32> = FxHashMap::default();
        let mut hashes: FxHashMap<u64, Vec<(Member, u32)>> = FxHashMap::default();
        for member in all {
            let (side, id) = member;
            let class = &mut self.classes[side as usize][id.index()];
            let place = place(data(member));
            if let Some(known) = place.as_ref().and_then(|place| known_places.get(place)) {
                *class = *known;
                continue;
            }
            if lonely || is_shared(member) {
                *class = fresh();
                known_places.extend(place.map(|place| (place, *class)));
                continue;
            }
            let known = hashes.entry(hash(data(member), splats)?).or_default();
            let mut found = None;
            for &(other, class) in known.iter() {
                if data(other).same(data(member)).map_err(unreadable)? {
                    found = Some(class);
                    break;
                }
            }
            *class = found.unwrap_or_else(|| {
                let class = fresh();
                known.push((member, class));
                class
            });
            known_places.extend(place.map(|place| (place, *class)));
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

fn hash(data: &ConstantData, splats: bool) -> Result<u64, PassError> {
    let mut hasher = FxHasher::default();
    match data.payload() {
        Payload::Splat { element, .. } if splats => hasher.write(element),
        _ => hasher.write(data.bytes().map_err(unreadable)?),
    }
    Ok(hasher.finish())
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
