//! Arithmetic of two or more operands, element by element: Add to Mod, Pow, Min, Max, Sum, Clip,
//! PRelu.

use super::broadcast::zip;
use super::call::one_type;
use super::number::{Number, ZEROS, to_float, with_number, with_type};
use super::{Call, Folded, NotFolded, ensure, refuse};
use passdock_plugin_api::DType;

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $method:expr, $undefined:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let (a, b) = call.pair()?;
            with_number!(a.dtype(), T => zip::<T, T, T>(call, a.dtype(), a, b, $undefined, $method))
        }
    )*};
}

binary! {
    /// `A + B`.
    add = |a, b| Some(a.plus(b)), "";
    /// `A - B`.
    sub = |a, b| Some(a.minus(b)), "";
    /// `A * B`.
    mul = |a, b| Some(a.times(b)), "";
    /// `A / B`, integers truncated.
    div = |a, b| a.over(b), DIVISION;
    /// `X` where it isn't negative, elsewhere `slope * X`.
    prelu = bent, ZERO_SLOPE;
}

/// The reason why an integer has no quotient or remainder.
const DIVISION: &str = "it divides by zero, or the least integer by -1";

/// The reason why a negative isn't bent.
const ZERO_SLOPE: &str = "whether a negative times 0 is 0.0 or -0.0 here isn't defined";

fn bent<T: Number>(x: T, slope: T) -> Option<T> {
    match x < T::ZERO {
        true => Some(x.times(slope)).filter(|product| !T::IS_FLOAT || *product != T::ZERO),
        false => Some(x),
    }
}

/// The remainder: floored, or truncated with `fmod`. Until version 28 only the latter was meant for
/// floats.
pub(crate) fn modulo<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = call.pair()?;
    let truncated = call.flag("fmod", false)?;
    with_number!(a.dtype(), T => {
        let is_defined = !T::IS_FLOAT || truncated || call.version >= 28;
        ensure!(is_defined, "Mod of floats without fmod isn't defined");
        let combine = if truncated { T::remainder } else { T::modulo };
        zip(call, a.dtype(), a, b, DIVISION, combine)
    })
}

/// `A` to the power of `B`, of `A`'s type.
pub(crate) fn pow<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    // Exponents of any type are first seen as the widest of their kind.
    let exponent = with_number!(b.dtype(), B => match B::IS_FLOAT {
        true => b.map(DType::F64, B::to_f64),
        false => {
            let int = |x: B| i64::try_from(x.to_int()?).ok();
            b.try_map(DType::I64, "an exponent is too large", int)
        }
    })?;
    with_number!(a.dtype(), A => Ok(match exponent.dtype() {
        DType::F64 => zip(call, a.dtype(), a, &exponent, POWER, power::<A>)?,
        _ => zip(call, a.dtype(), a, &exponent, POWER, power_of_int::<A>)?,
    }))
}

/// The reason why a power isn't defined.
const POWER: &str = "an integer to the power of a negative or a fraction isn't defined";

/// Integers wrap, so squaring and multiplying in their own type is exact.
fn power_of_int<A: Number>(base: A, exponent: i64) -> Option<A> {
    if A::IS_FLOAT {
        return power(base, exponent as f64);
    }
    let mut left = u64::try_from(exponent).ok()?;
    let (mut square, mut result) = (base, A::ONE);
    while left > 0 {
        if left & 1 == 1 {
            result = result.times(square);
        }
        square = square.times(square);
        left >>= 1;
    }
    Some(result)
}

fn power<A: Number>(base: A, exponent: f64) -> Option<A> {
    A::from_double(base.to_f64().powf(exponent))
}

/// The least of any number of operands; NaN if one is.
pub(crate) fn min<'a>(call: &Call<'a>) -> Folded<'a> {
    let first = call.input(0)?;
    with_number!(first.dtype(), T => fold_operands::<T>(call, ZEROS, T::least))
}

/// The greatest of any number of operands; NaN if one is.
pub(crate) fn max<'a>(call: &Call<'a>) -> Folded<'a> {
    let first = call.input(0)?;
    with_number!(first.dtype(), T => fold_operands::<T>(call, ZEROS, T::greatest))
}

/// The sum of any number of operands.
pub(crate) fn sum<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, 1)
}

/// The mean of any number of operands.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, call.inputs.len())
}

/// The sum, divided and then rounded once. Shorter floats are added in single precision.
fn total_over<'a>(call: &Call<'a>, count: usize) -> Folded<'a> {
    let operands = call.all_inputs()?;
    let dtype = one_type(&operands)?;
    let wide = if dtype == DType::F64 {
        dtype
    } else {
        DType::F32
    };
    let inputs = operands
        .into_iter()
        .map(|operand| to_float(operand, wide).map(Some));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let call = Call {
        inputs: &inputs,
        ..*call
    };
    let mean = with_type!([F32 = f32, F64 = f64], wide, T => {
        let sum = fold_operands::<T>(&call, "", |a, b| Some(a.plus(b)))?;
        sum.try_map(wide, "", |sum: T| sum.over(T::from_int(count as i128)))
    })?;
    to_float(&mean, dtype)
}

/// Combines the operands one after the other; `undefined` says what a `None` means.
fn fold_operands<'r, T: Number>(
    call: &Call,
    undefined: &str,
    combine: impl Fn(T, T) -> Option<T>,
) -> Folded<'r> {
    let operands = call.all_inputs()?;
    let dtype = one_type(&operands)?;
    let mut result = operands[0].map(dtype, |x: T| x)?;
    for operand in &operands[1..] {
        result = zip(call, dtype, &result, operand, undefined, &combine)?;
    }
    Ok(result)
}

/// Limits each element to `[min, max]`; where `min` is above `max`, `max` wins.
pub(crate) fn clip<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_number!(x.dtype(), T => {
        let (min, max) = if call.version >= 11 {
            (limit::<T>(call, 1)?, limit::<T>(call, 2)?)
        } else {
            // The attributes are floats, and so was the only type allowed.
            let attr = |name| Ok(call.float(name)?.and_then(|limit| T::from_double(limit.into())));
            (attr("min")?, attr("max")?)
        };
        let far = |x: &T| min.is_none() && *x == T::LOWEST || max.is_none() && *x == T::HIGHEST;
        let has_far = T::IS_FLOAT && x.stored::<T>()?.iter().any(far);
        ensure!(!has_far, "whether infinity is limited where no limit is given isn't defined");
        let has_nan = min.is_some_and(T::is_nan) || max.is_some_and(T::is_nan);
        ensure!(!has_nan, "a limit of NaN isn't defined");
        let clip = |x: T| {
            let x = min.filter(|&min| x < min).unwrap_or(x);
            max.filter(|&max| x > max).unwrap_or(x)
        };
        x.map(x.dtype(), clip)
    })
}

/// A limit of Clip.
fn limit<T: Number>(call: &Call, index: usize) -> Result<Option<T>, NotFolded> {
    let Some(tensor) = call.optional(index) else {
        return Ok(None);
    };
    let fits = tensor.dtype() == T::DTYPE && tensor.len() == 1;
    if !fits {
        return refuse!("operand {index} isn't a scalar of the first operand's type");
    }
    Ok(tensor.stored::<T>()?.first().copied())
}
