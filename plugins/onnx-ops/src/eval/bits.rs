//! Operators on the bits of integers, and BitCast.

use super::broadcast::zip;
use super::elementwise::same_type;
use super::number::{Number, with_integer};
use super::{Call, Folded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident = $op:tt;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let (a, b) = same_type(call)?;
            with_integer!(a.dtype(), T => {
                Ok(vec![zip::<T, T, T>(call, a.dtype(), a, b, "", |a, b| Some(a $op b))?])
            })
        }
    )*};
}

bitwise! {
    /// Bits set in both.
    and = &;
    /// Bits set in one or both.
    or = |;
    /// Bits set in just one.
    xor = ^;
}

/// The opposite of each bit.
pub(crate) fn not<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_integer!(x.dtype(), T => {
        let flipped: Vec<T> = x.stored::<T>()?.iter().map(|&x| !x).collect();
        Ok(vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), flipped)])
    })
}

/// The same bits as another type of the same width.
pub(crate) fn bit_cast<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let to = call
        .int("to")?
        .and_then(|to| u32::try_from(to).ok())
        .map(DType);
    match to {
        Some(to) if to.bits() == x.dtype().bits() && to.bits() != 0 => {
            // A bool has two values, whatever its byte says.
            if to == DType::BOOL && x.bytes().iter().any(|&byte| byte > 1) {
                return refuse!("a byte above 1 is no bool");
            }
            Ok(vec![x.reinterpreted(to, x.shape().to_vec())?])
        }
        _ => refuse!(
            "{} and the type wanted aren't equally wide",
            name_of(x.dtype())
        ),
    }
}

/// Shifts bits; beyond the width nothing is left.
pub(crate) fn bit_shift<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, by) = same_type(call)?;
    let Some(direction) = call.string("direction")? else {
        return refuse!("it has no direction");
    };
    let left = match direction {
        b"LEFT" => true,
        b"RIGHT" => false,
        _ => return refuse!("its direction is neither LEFT nor RIGHT"),
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
        Ok(vec![zip::<T, T, T>(call, x.dtype(), x, by, "", shift)?])
    })
}
