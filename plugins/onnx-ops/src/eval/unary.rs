//! Elementwise functions of one operand.

use std::cmp::Ordering;

use super::cast::as_number;
use super::number::{Number, with_float, with_number};
use super::{Call, Folded};
use passdock_plugin_api::DType;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident = $method:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let x = call.input(0)?;
            with_number!(x.dtype(), T => x.map::<T, T>(x.dtype(), $method))
        }
    )*};
}

unary! {
    /// The absolute value.
    abs = Number::absolute;
    /// The negation.
    neg = Number::negative;
    /// `x`, or 0 below 0.
    relu = positive;
}

fn positive<T: Number>(x: T) -> T {
    if x < T::ZERO { T::ZERO } else { x }
}

/// Returns -1, 0 or 1.
pub(crate) fn sign<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_number!(x.dtype(), T => {
        let sign = |x: T| match x.partial_cmp(&T::ZERO)? {
            Ordering::Greater => Some(T::ONE),
            Ordering::Less => Some(T::ZERO.minus(T::ONE)),
            Ordering::Equal => Some(T::ZERO),
        };
        x.try_map(x.dtype(), "sign of NaN is undefined", sign)
    })
}

/// Whether an element is NaN.
pub(crate) fn is_nan<'a>(call: &Call<'a>) -> Folded<'a> {
    each_truth(call, f64::is_nan)
}

/// Whether an element is infinite, with a detected sign.
pub(crate) fn is_inf<'a>(call: &Call<'a>) -> Folded<'a> {
    let negative = call.flag("detect_negative", true)?;
    let positive = call.flag("detect_positive", true)?;
    each_truth(call, |x| {
        negative && x == f64::NEG_INFINITY || positive && x == f64::INFINITY
    })
}

/// Tests each float, including small float types.
fn each_truth<'a>(call: &Call<'a>, test: impl Fn(f64) -> bool) -> Folded<'a> {
    let x = as_number(call.input(0)?)?;
    with_float!(x.dtype(), T => x.map(DType::BOOL, |x: T| test(x.to_f64())))
}

/// Applies a float function in double precision and rounds to the type.
pub(crate) fn map_float<'a>(call: &Call<'a>, function: impl Fn(f64) -> f64) -> Folded<'a> {
    let x = call.input(0)?;
    with_float!(x.dtype(), T => {
        let each = |x: T| T::from_double(function(x.to_f64())).unwrap_or(x);
        x.map(x.dtype(), each)
    })
}
