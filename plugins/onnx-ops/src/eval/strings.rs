//! Operators on strings: StringConcat.

use super::broadcast::{shape_of, spread};
use super::{Call, Folded, Tensor, in_shape};

/// Appends the second operand's strings to the first one's.
pub(crate) fn concat<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let shape = shape_of(&[a.shape(), b.shape()])?;
    let a = in_shape(a.shape(), a.strings()?.into())?;
    let b = in_shape(b.shape(), b.strings()?.into())?;
    let (a, b) = (a.view(), b.view());
    let pairs = spread(&a, &shape)?;
    let pairs = pairs.iter().zip(spread(&b, &shape)?);
    let mut bytes = Some(8u64);
    let mut joined: Vec<Vec<u8>> = Vec::new();
    for (a, b) in pairs {
        bytes = bytes.and_then(|sum| sum.checked_add(8 + (a.len() + b.len()) as u64));
        call.room_for_bytes(bytes)?;
        joined.push([*a, *b].concat());
    }
    Ok(Tensor::from_strings(
        shape,
        joined.iter().map(Vec::as_slice),
    ))
}
