//! Functions of one operand, element by element.

use std::f64::consts::LN_2;

use super::cast::singles;
use super::minifloat::MiniFloat;
use super::number::{Float, Number, with_float, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident = $method:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            let x = call.input(0)?;
            with_number!(x.dtype(), T => {
                let y: Vec<T> = x.stored::<T>()?.iter().map(|&x| $method(x)).collect();
                Ok(vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), y)])
            })
        }
    )*};
}

unary! {
    /// The absolute value.
    abs = Number::absolute;
    /// The opposite.
    neg = Number::negative;
    /// Nothing below zero.
    relu = positive;
}

fn positive<T: Number>(x: T) -> T {
    if x < T::ZERO { T::ZERO } else { x }
}

/// -1, 0 or 1.
pub(crate) fn sign<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    with_number!(x.dtype(), T => {
        let x_elements = x.stored::<T>()?;
        if x_elements.iter().any(|x| x.is_nan()) {
            return refuse!("the sign of NaN isn't defined");
        }
        let y: Vec<T> = x_elements
            .iter()
            .map(|&x| match x.partial_cmp(&T::ZERO) {
                Some(std::cmp::Ordering::Greater) => T::ONE,
                Some(std::cmp::Ordering::Less) => T::ZERO.minus(T::ONE),
                _ => T::ZERO,
            })
            .collect();
        Ok(vec![Tensor::from_vec(x.dtype(), x.shape().to_vec(), y)])
    })
}

/// Whether an element isn't a number.
pub(crate) fn is_nan<'a>(call: &Call<'a>) -> Folded<'a> {
    each_truth(call, f64::is_nan)
}

/// Whether an element is infinite.
pub(crate) fn is_inf<'a>(call: &Call<'a>) -> Folded<'a> {
    let negative = call.flag("detect_negative", true)?;
    let positive = call.flag("detect_positive", true)?;
    each_truth(call, |x| {
        negative && x == f64::NEG_INFINITY || positive && x == f64::INFINITY
    })
}

/// The truth about each float, small ones among them.
fn each_truth<'a>(call: &Call<'a>, test: impl Fn(f64) -> bool) -> Folded<'a> {
    let x = call.input(0)?;
    let y: Vec<bool> = if MiniFloat::from_dtype(x.dtype()).is_some() {
        singles(x)?.into_iter().map(|x| test(x.into())).collect()
    } else {
        with_float!(x.dtype(), T => {
            Ok::<_, NotFolded>(x.stored::<T>()?.iter().map(|x| test(x.to_f64())).collect())
        })?
    };
    Ok(vec![Tensor::from_vec(DType::BOOL, x.shape().to_vec(), y)])
}

/// A function of floats: in double precision for them, else in single, rounded to the type.
pub(crate) fn map_float<'a>(
    call: &Call<'a>,
    single: impl Fn(f32) -> f32,
    double: impl Fn(f64) -> f64,
) -> Folded<'a> {
    let x = call.input(0)?;
    let shape = x.shape().to_vec();
    if x.dtype() == DType::F64 {
        let y: Vec<f64> = x.stored()?.iter().map(|&x| double(x)).collect();
        return Ok(vec![Tensor::from_vec(DType::F64, shape, y)]);
    }
    fn narrow<T: Float<Wide = f32>>(
        x: &Tensor,
        single: impl Fn(f32) -> f32,
    ) -> Result<Vec<T>, NotFolded> {
        Ok(x.stored::<T>()?
            .iter()
            .map(|x| T::narrow(single(x.wide())))
            .collect())
    }
    Ok(vec![match x.dtype() {
        DType::F32 => Tensor::from_vec(DType::F32, shape, narrow::<f32>(x, single)?),
        DType::F16 => Tensor::from_vec(DType::F16, shape, narrow::<half::f16>(x, single)?),
        DType::BF16 => Tensor::from_vec(DType::BF16, shape, narrow::<half::bf16>(x, single)?),
        other => {
            return refuse!(
                "nothing is computed with elements of type {}",
                name_of(other)
            );
        }
    }])
}

/// The inverse of the hyperbolic cosine.
pub(crate) fn acosh<'a>(call: &Call<'a>) -> Folded<'a> {
    // The standard library's formula overflows before the result does.
    let acosh = |x: f64| if x > 1e300 { x.ln() + LN_2 } else { x.acosh() };
    map_float(call, |x| acosh(x.into()) as f32, acosh)
}

/// The inverse of the hyperbolic tangent.
pub(crate) fn atanh<'a>(call: &Call<'a>) -> Folded<'a> {
    // Near -1 the standard library's formula loses digits that it keeps near 1.
    let atanh = |x: f64| x.abs().atanh().copysign(x);
    map_float(call, |x| atanh(x.into()) as f32, atanh)
}

/// The inverse of the hyperbolic sine.
pub(crate) fn asinh<'a>(call: &Call<'a>) -> Folded<'a> {
    let asinh = |x: f64| match x.abs() {
        large if large > 1e300 => (large.ln() + LN_2).copysign(x),
        _ => x.asinh(),
    };
    map_float(call, |x| asinh(x.into()) as f32, asinh)
}

/// A line through the origin, less steep below it.
pub(crate) fn leaky_relu<'a>(call: &Call<'a>) -> Folded<'a> {
    let alpha = call.float_or("alpha", 0.01)?;
    let double = f64::from(alpha);
    map_float(
        call,
        |x| if x < 0.0 { alpha * x } else { x },
        |x| if x < 0.0 { double * x } else { x },
    )
}

/// A line cut off at 0 and 1.
pub(crate) fn hard_sigmoid<'a>(call: &Call<'a>) -> Folded<'a> {
    let (alpha, beta) = (call.float_or("alpha", 0.2)?, call.float_or("beta", 0.5)?);
    let (a, b) = (f64::from(alpha), f64::from(beta));
    map_float(
        call,
        |x| (alpha * x + beta).clamp(0.0, 1.0),
        |x| (a * x + b).clamp(0.0, 1.0),
    )
}

/// `x / (1 + |x|)`.
pub(crate) fn softsign<'a>(call: &Call<'a>) -> Folded<'a> {
    map_float(call, |x| x / (1.0 + x.abs()), |x| x / (1.0 + x.abs()))
}

/// `1 / (1 + exp(-x))`.
pub(crate) fn sigmoid<'a>(call: &Call<'a>) -> Folded<'a> {
    map_float(
        call,
        |x| 1.0 / (1.0 + (-x).exp()),
        |x| 1.0 / (1.0 + (-x).exp()),
    )
}

/// `ln(1 + exp(x))`, which is `x` once the exponential would overflow.
pub(crate) fn softplus<'a>(call: &Call<'a>) -> Folded<'a> {
    map_float(
        call,
        |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
        |x| x.max(0.0) + (-x.abs()).exp().ln_1p(),
    )
}
