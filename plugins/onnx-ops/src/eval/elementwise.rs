//! Elementwise arithmetic on two or more operands: Add to Mod, Pow, Min, Max, Sum, Mean, Clip, PRelu.

use super::broadcast::zip;
use super::call::one_type;
use super::number::{Number, ZEROS, to_float, with_number, with_type};
use super::{Call, Folded, NotFolded, ensure, name_of, reject};
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
    /// `A / B`. Integer quotients are truncated.
    div = |a, b| a.over(b), DIVISION;
    /// `X`, or `slope * X` where `X` is negative.
    prelu = bent, ZERO_SLOPE;
}

/// Why an integer has no quotient or remainder.
const DIVISION: &str = "integer division by zero, or of the minimum by -1";

/// Why PRelu isn't folded for a negative element.
const ZERO_SLOPE: &str = "sign of a zero product is undefined";

fn bent<T: Number>(x: T, slope: T) -> Option<T> {
    match x < T::ZERO {
        true => Some(x.times(slope)).filter(|product| !T::IS_FLOAT || *product != T::ZERO),
        false => Some(x),
    }
}

/// Computes the remainder: floored, or truncated with `fmod`. Before opset 28, only the truncated remainder is defined
/// for floats.
pub(crate) fn modulo<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = call.pair()?;
    let truncated = call.flag("fmod", false)?;
    with_number!(a.dtype(), T => {
        let is_defined = !T::IS_FLOAT || truncated || call.version >= 28;
        ensure!(is_defined, "`Mod` of floats without `fmod` is undefined before opset 28");
        let combine = if truncated { T::remainder } else { T::modulo };
        zip(call, a.dtype(), a, b, DIVISION, combine)
    })
}

/// Computes `A` to the power of `B`, in the type of `A`.
pub(crate) fn pow<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    // Exponents are first widened to f64 or i64.
    let exponent = with_number!(b.dtype(), B => match B::IS_FLOAT {
        true => b.map(DType::F64, B::to_f64),
        false => {
            let int = |x: B| i64::try_from(x.to_int()?).ok();
            b.try_map(DType::I64, "exponent is too large", int)
        }
    })?;
    with_number!(a.dtype(), A => Ok(match exponent.dtype() {
        DType::F64 => zip(call, a.dtype(), a, &exponent, POWER, power::<A>)?,
        _ => zip(call, a.dtype(), a, &exponent, POWER, power_of_int::<A>)?,
    }))
}

/// Why a power isn't defined.
const POWER: &str = "integer power with a negative or fractional exponent is undefined";

/// Computes an integer power by repeated squaring. It wraps, so the result is exact in the integer's type.
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

/// Computes the minimum of any number of operands. NaN if one is NaN.
pub(crate) fn min<'a>(call: &Call<'a>) -> Folded<'a> {
    let first = call.input(0)?;
    with_number!(first.dtype(), T => fold_operands::<T>(call, ZEROS, T::least))
}

/// Computes the maximum of any number of operands. NaN if one is NaN.
pub(crate) fn max<'a>(call: &Call<'a>) -> Folded<'a> {
    let first = call.input(0)?;
    with_number!(first.dtype(), T => fold_operands::<T>(call, ZEROS, T::greatest))
}

/// Computes the sum of any number of operands.
pub(crate) fn sum<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, 1)
}

/// Computes the mean of any number of operands.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, call.inputs.len())
}

/// Computes a sum divided by `count`, rounded once. Types other than float64 are summed in single precision.
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

/// Combines the operands from left to right. If `combine` returns `None`, the op isn't folded, for the reason
/// `undefined`.
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

/// Clamps each element to `[min, max]`. If `min` is above `max`, the result is `max`.
pub(crate) fn clip<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_number!(x.dtype(), T => {
        let (min, max) = if call.version >= 11 {
            (limit::<T>(call, 1)?, limit::<T>(call, 2)?)
        } else {
            // Before opset 11, the attributes and all supported types are floats.
            let attr = |name| Ok(call.float(name)?.and_then(|limit| T::from_double(limit.into())));
            (attr("min")?, attr("max")?)
        };
        let far = |x: &T| min.is_none() && *x == T::LOWEST || max.is_none() && *x == T::HIGHEST;
        let has_far = T::IS_FLOAT && x.stored::<T>()?.iter().any(far);
        ensure!(!has_far, "clipping of infinity without a limit is undefined");
        let has_nan = min.is_some_and(T::is_nan) || max.is_some_and(T::is_nan);
        ensure!(!has_nan, "clipping to NaN is undefined");
        let clip = |x: T| {
            let x = min.filter(|&min| x < min).unwrap_or(x);
            max.filter(|&max| x > max).unwrap_or(x)
        };
        x.map(x.dtype(), clip)
    })
}

/// Returns a bound of Clip.
fn limit<T: Number>(call: &Call, index: usize) -> Result<Option<T>, NotFolded> {
    let Some(tensor) = call.optional(index) else {
        return Ok(None);
    };
    let fits = tensor.dtype() == T::DTYPE && tensor.len() == 1;
    if !fits {
        return reject!(
            "expected operand {index} to be a scalar of type {}",
            name_of(T::DTYPE)
        );
    }
    Ok(tensor.stored::<T>()?.first().copied())
}
