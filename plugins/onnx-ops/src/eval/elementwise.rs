//! Arithmetic of two or more operands, element by element: Add to Mod, Pow, Min, Max, Sum, Clip,
//! PRelu.

use super::broadcast::zip;
use super::cast::{from_singles, singles};
use super::number::{Number, ZEROS, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $method:expr, $undefined:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let (a, b) = same_type(call)?;
            with_number!(a.dtype(), T => {
                Ok(vec![zip::<T, T, T>(call, a.dtype(), a, b, $undefined, $method)?])
            })
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
}

/// The reason why an integer has no quotient or remainder.
const DIVISION: &str = "it divides by zero, or the least integer by -1";

/// The two operands, of one element type.
pub(super) fn same_type<'a>(
    call: &Call<'a>,
) -> Result<(&'a Tensor<'a>, &'a Tensor<'a>), NotFolded> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    if a.dtype() != b.dtype() {
        return refuse!(
            "its operands mix {} and {}",
            name_of(a.dtype()),
            name_of(b.dtype())
        );
    }
    Ok((a, b))
}

/// The remainder: floored, or truncated with `fmod`. Until version 28 only the latter was meant for
/// floats.
pub(crate) fn modulo<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = same_type(call)?;
    let truncated = call.flag("fmod", false)?;
    with_number!(a.dtype(), T => {
        if T::IS_FLOAT && !truncated && call.version < 28 {
            return refuse!("Mod of floats without fmod isn't defined");
        }
        let combine = if truncated { T::remainder } else { T::modulo };
        Ok(vec![zip::<T, T, T>(call, a.dtype(), a, b, DIVISION, combine)?])
    })
}

/// `A` to the power of `B`, of `A`'s type.
pub(crate) fn pow<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    // Exponents of any type are first seen as the widest of their kind.
    let whole: Option<Vec<i64>> = with_number!(b.dtype(), B => {
        let int = |x: &B| x.to_int().and_then(|int| i64::try_from(int).ok());
        Ok::<_, NotFolded>(b.stored::<B>()?.iter().map(int).collect())
    })?;
    let shape = b.shape().to_vec();
    if let Some(whole) = whole {
        let b = Tensor::from_vec(DType::I64, shape, whole);
        return with_number!(a.dtype(), A => {
            Ok(vec![zip::<A, i64, A>(call, a.dtype(), a, &b, POWER, power_of_int)?])
        });
    }
    let floats: Vec<f64> = with_number!(b.dtype(), B => {
        if !B::IS_FLOAT {
            return refuse!("an exponent is too large");
        }
        Ok::<_, NotFolded>(b.stored::<B>()?.iter().map(|x| x.to_f64()).collect())
    })?;
    let b = Tensor::from_vec(DType::F64, shape, floats);
    with_number!(a.dtype(), A => Ok(vec![zip::<A, f64, A>(call, a.dtype(), a, &b, POWER, power)?]))
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
    with_number!(first.dtype(), T => Ok(vec![fold_operands::<T>(call, ZEROS, T::least)?]))
}

/// The greatest of any number of operands; NaN if one is.
pub(crate) fn max<'a>(call: &Call<'a>) -> Folded<'a> {
    let first = call.input(0)?;
    with_number!(first.dtype(), T => Ok(vec![fold_operands::<T>(call, ZEROS, T::greatest)?]))
}

/// The sum of any number of operands.
pub(crate) fn sum<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, 1)
}

/// The mean of any number of operands.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    total_over(call, call.inputs.len())
}

/// The sum, divided and then rounded once.
fn total_over<'a>(call: &Call<'a>, count: usize) -> Folded<'a> {
    let dtype = call.input(0)?.dtype();
    if dtype == DType::F64 {
        let sum = fold_operands::<f64>(call, "", |a, b| Some(a + b))?;
        let means = sum
            .stored::<f64>()?
            .iter()
            .map(|sum| sum / count as f64)
            .collect();
        return Ok(vec![Tensor::from_vec(dtype, sum.shape().to_vec(), means)]);
    }
    let operands = same_types(call, dtype)?;
    let single = |operand: &&Tensor| -> Result<_, NotFolded> {
        Ok(Some(Tensor::from_vec(
            DType::F32,
            operand.shape().to_vec(),
            singles(operand)?,
        )))
    };
    let inputs = operands.iter().map(single).collect::<Result<Vec<_>, _>>()?;
    let sum = fold_operands::<f32>(
        &Call {
            inputs: &inputs,
            ..*call
        },
        "",
        |a, b| Some(a + b),
    )?;
    let means = sum
        .stored::<f32>()?
        .iter()
        .map(|sum| sum / count as f32)
        .collect();
    Ok(vec![from_singles(dtype, sum.shape().to_vec(), means)?])
}

/// All operands, which are of one element type.
fn same_types<'a>(call: &Call<'a>, dtype: DType) -> Result<Vec<&'a Tensor<'a>>, NotFolded> {
    let operands = call.all_inputs()?;
    match operands.iter().find(|operand| operand.dtype() != dtype) {
        Some(other) => refuse!(
            "its operands mix {} and {}",
            name_of(dtype),
            name_of(other.dtype())
        ),
        None => Ok(operands),
    }
}

/// Combines the operands one after the other; `undefined` says what a `None` means.
fn fold_operands<'r, T: Number>(
    call: &Call,
    undefined: &str,
    combine: impl Fn(T, T) -> Option<T>,
) -> Result<Tensor<'r>, NotFolded> {
    let operands = same_types(call, T::DTYPE)?;
    let (first, rest) = (call.input(0)?, &operands[1..]);
    let mut result = Tensor::from_vec(
        T::DTYPE,
        first.shape().to_vec(),
        first.stored::<T>()?.into_owned(),
    );
    for operand in rest {
        result = zip::<T, T, T>(call, T::DTYPE, &result, operand, undefined, &combine)?;
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
            let attr = |name| {
                Ok(call.float(name)?.and_then(|limit| T::from_double(limit.into())))
            };
            (attr("min")?, attr("max")?)
        };
        let far = |x: &&T| min.is_none() && **x == T::LOWEST || max.is_none() && **x == T::HIGHEST;
        if T::IS_FLOAT && x.stored::<T>()?.iter().find(far).is_some() {
            return refuse!("whether infinity is limited where no limit is given isn't defined");
        }
        if min.is_some_and(T::is_nan) || max.is_some_and(T::is_nan) {
            return refuse!("a limit of NaN isn't defined");
        }
        let clipped: Vec<T> = x
            .stored::<T>()?
            .iter()
            .map(|&x| {
                let x = min.filter(|&min| x < min).unwrap_or(x);
                max.filter(|&max| x > max).unwrap_or(x)
            })
            .collect();
        Ok(vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), clipped)])
    })
}

/// A limit of Clip.
fn limit<T: Number>(call: &Call, index: usize) -> Result<Option<T>, NotFolded> {
    let Some(tensor) = call.optional(index) else {
        return Ok(None);
    };
    if tensor.dtype() != T::DTYPE || tensor.len() != 1 {
        return refuse!("operand {index} isn't a scalar of the first operand's type");
    }
    Ok(tensor.stored::<T>()?.first().copied())
}

/// `X` where it isn't negative, elsewhere `slope * X`.
pub(crate) fn prelu<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, slope) = same_type(call)?;
    with_number!(x.dtype(), T => {
        Ok(vec![zip::<T, T, T>(call, x.dtype(), x, slope, ZERO_SLOPE, bent)?])
    })
}

/// The reason why a negative isn't bent.
const ZERO_SLOPE: &str = "whether a negative times 0 is 0.0 or -0.0 here isn't defined";

fn bent<T: Number>(x: T, slope: T) -> Option<T> {
    if x < T::ZERO {
        Some(x.times(slope)).filter(|product| !T::IS_FLOAT || *product != T::ZERO)
    } else {
        Some(x)
    }
}
