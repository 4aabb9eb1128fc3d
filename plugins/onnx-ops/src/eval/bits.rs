//! Bitwise operators on integers, and BitCast.

use super::broadcast::zip;
use super::number::{Number, with_integer};
use super::{Call, Folded, ensure, name_of, reject};
use passdock_plugin_api::DType;

/// Combines two integers bitwise, with broadcasting.
pub(crate) fn bitwise<'a>(call: &Call<'a>, combine: impl Fn(i128, i128) -> i128) -> Folded<'a> {
    let (a, b) = call.pair()?;
    with_integer!(a.dtype(), T => {
        let combine = |a: T, b: T| Some(T::from_int(combine(a.to_int()?, b.to_int()?)));
        zip(call, a.dtype(), a, b, "", combine)
    })
}

/// Inverts all bits.
pub(crate) fn not<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_integer!(x.dtype(), T => x.map(x.dtype(), |x: T| !x))
}

/// Reinterprets the bits as another type of the same width.
pub(crate) fn bit_cast<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let to = call.int("to")?.and_then(|to| u32::try_from(to).ok());
    match to.map(DType) {
        Some(to) if to.bits() == x.dtype().bits() && to.bits() != 0 => {
            // The only valid bytes of a bool are 0 and 1.
            let is_bool = to != DType::BOOL || x.bytes().iter().all(|&byte| byte <= 1);
            ensure!(is_bool, "cannot cast bytes other than 0 and 1 to bool");
            x.reinterpreted(to, x.shape().to_vec())
        }
        _ => reject!(
            "expected an element type of the same width as {}",
            name_of(x.dtype())
        ),
    }
}

/// Shifts bits. A shift by the width or more leaves no bits of the operand.
pub(crate) fn bit_shift<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, by) = call.pair()?;
    let left = match call.string("direction")? {
        Some(b"LEFT") => true,
        Some(b"RIGHT") => false,
        _ => return reject!("invalid attribute `direction`: expected `LEFT` or `RIGHT`"),
    };
    with_integer!(x.dtype(), T => {
        let bits = x.dtype().bits() as i128;
        let shift = |x: T, by: T| {
            let (int, by) = (x.to_int()?, by.to_int()?);
            Some(T::from_int(match by {
                by if !(0..bits).contains(&by) => if !left && int < 0 { -1 } else { 0 },
                by if left => int << by,
                by => int >> by,
            }))
        };
        zip(call, x.dtype(), x, by, "", shift)
    })
}
