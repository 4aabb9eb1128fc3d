//! Arithmetic of two or more operands, element by element: Add to Mod, Pow, Min, Max, Sum, Clip,
//! PRelu.

use super::broadcast::zip;
use super::number::{Number, with_float, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, refuse};
use crate::DType;

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $method:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let (a, b) = same_type(call)?;
            with_number!(a.dtype(), T => {
                Ok(vec![zip::<T, T, T>(call, a.dtype(), a, b, $method)?])
            })
        }
    )*};
}

binary! {
    /// `A + B`.
    add = |a, b| Some(a.plus(b));
    /// `A - B`.
    sub = |a, b| Some(a.minus(b));
    /// `A * B`.
    mul = |a, b| Some(a.times(b));
    /// `A / B`, integers truncated.
    div = |a, b| a.over(b);
}

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
        Ok(vec![zip::<T, T, T>(call, a.dtype(), a, b, combine)?])
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
            Ok(vec![zip::<A, i64, A>(call, a.dtype(), a, &b, power_of_int)?])
        });
    }
    let floats: Vec<f64> = with_number!(b.dtype(), B => {
        if !B::IS_FLOAT {
            return refuse!("an exponent is too large");
        }
        Ok::<_, NotFolded>(b.stored::<B>()?.iter().map(|x| x.to_f64()).collect())
    })?;
    let b = Tensor::from_vec(DType::F64, shape, floats);
    with_number!(a.dtype(), A => Ok(vec![zip::<A, f64, A>(call, a.dtype(), a, &b, power)?]))
}

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
    if A::DTYPE == DType::F64 || !A::IS_FLOAT {
        A::from_double(base.to_f64().powf(exponent))
    } else {
        A::from_double((base.to_f64() as f32).powf(exponent as f32).into())
    }
}

macro_rules! variadic {
    ($($(#[$doc:meta])* $name:ident = $method:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let first = call.input(0)?;
            with_number!(first.dtype(), T => {
                Ok(vec![fold_operands::<T>(call, T::$method)?])
            })
        }
    )*};
}

variadic! {
    /// The least of any number of operands; NaN if one is.
    min = least;
    /// The greatest of any number of operands; NaN if one is.
    max = greatest;
    /// The sum of any number of operands.
    sum = plus;
}

fn fold_operands<'a, T: Number>(
    call: &Call<'a>,
    combine: impl Fn(T, T) -> T,
) -> Result<Tensor<'a>, NotFolded> {
    let operands = call.all_inputs()?;
    if let Some(other) = operands.iter().find(|operand| operand.dtype() != T::DTYPE) {
        return refuse!(
            "its operands mix {} and {}",
            name_of(T::DTYPE),
            name_of(other.dtype())
        );
    }
    let mut result: Tensor<'a> = operands[0].borrow();
    for operand in &operands[1..] {
        result = zip::<T, T, T>(call, T::DTYPE, &result, operand, |a, b| Some(combine(a, b)))?;
    }
    Ok(result)
}

/// The mean of any number of operands.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    let dtype = call.input(0)?.dtype();
    with_float!(dtype, T => {
        let sum = fold_operands::<T>(call, T::plus)?;
        let count = T::from_int(call.inputs.len() as i128);
        let means = sum.stored::<T>()?.iter().filter_map(|sum| sum.over(count)).collect();
        Ok(vec![Tensor::from_vec(dtype, sum.shape().to_vec(), means)])
    })
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
        if min.is_some_and(T::is_nan) || max.is_some_and(T::is_nan) {
            return refuse!("a limit is NaN");
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
        Ok(vec![zip::<T, T, T>(call, x.dtype(), x, slope, bent)?])
    })
}

fn bent<T: Number>(x: T, slope: T) -> Option<T> {
    Some(if x < T::ZERO { x.times(slope) } else { x })
}
