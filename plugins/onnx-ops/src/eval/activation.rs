//! Float functions: activations, such as Elu and Gelu; Erf; the inverse hyperbolic functions.

use std::f64::consts::{LN_2, PI, SQRT_2};

use super::unary::map_float;
use super::{Call, Folded};

/// Defines evaluations from the float attributes and the formula of a function.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($attr:ident),*) = $function:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(call: &Call<'a>) -> Folded<'a> {
            $(let $attr = call.number(stringify!($attr))?;)*
            map_float(call, $function)
        }
    )*};
}

functions! {
    /// `x`, or `alpha * x` below 0.
    leaky_relu(alpha) = |x| if x < 0.0 { alpha * x } else { x };
    /// `alpha * x + beta`, clamped to 0 and 1.
    hard_sigmoid(alpha, beta) = |x| (alpha * x + beta).clamp(0.0, 1.0);
    /// `x / (1 + |x|)`.
    softsign() = |x| x / (1.0 + x.abs());
    /// `1 / (1 + exp(-x))`.
    sigmoid() = |x| 1.0 / (1.0 + (-x).exp());
    /// `ln(1 + exp(x))`, in a form that doesn't overflow.
    softplus() = |x| x.max(0.0) + (-x.abs()).exp().ln_1p();
    /// `alpha * (exp(x) - 1)` below 0.
    elu(alpha) = |x| if x < 0.0 { alpha * x.exp_m1() } else { x };
    /// `alpha * (exp(x / alpha) - 1)` below 0, which is smooth for all `alpha`.
    celu(alpha) = |x| if x < 0.0 { alpha * (x / alpha).exp_m1() } else { x };
    /// A scaled Elu that preserves mean and variance.
    selu(alpha, gamma) = |x| gamma * if x > 0.0 { x } else { alpha * x.exp_m1() };
    /// `x * clamp(x / 6 + 0.5, 0, 1)`. ONNX's function body has 1/6 in single precision.
    hard_swish() = |x| x * (x * f64::from(1.0_f32 / 6.0) + 0.5).clamp(0.0, 1.0);
    /// `x * tanh(softplus(x))`.
    mish() = |x| x * (x.max(0.0) + (-x.abs()).exp().ln_1p()).tanh();
    /// `x * sigmoid(alpha * x)`.
    swish(alpha) = |x| x / (1.0 + (-alpha * x).exp());
    /// `x` above a threshold, else 0.
    thresholded_relu(alpha) = |x| if x > alpha { x } else { 0.0 };
    /// `x` moved towards 0 by a bias, or 0 within the threshold.
    shrink(bias, lambd) = |x| match x {
        x if x < -lambd => x + bias,
        x if x > lambd => x - bias,
        _ => 0.0,
    };
    /// The error function.
    erf() = error;
    /// The inverse of the hyperbolic cosine. The standard library's formula overflows for large `x`.
    acosh() = |x| if x > 1e300 { x.ln() + LN_2 } else { x.acosh() };
    /// The inverse of the hyperbolic tangent. The standard library's formula loses precision near -1, but not near 1.
    atanh() = |x| x.abs().atanh().copysign(x);
    /// The inverse of the hyperbolic sine.
    asinh() = |x| match x.abs() {
        large if large > 1e300 => (large.ln() + LN_2).copysign(x),
        _ => x.asinh(),
    };
}

/// Evaluates `x` times the normal distribution's CDF, or its approximation by tanh.
pub(crate) fn gelu<'a>(call: &Call<'a>) -> Folded<'a> {
    match call.enum_value("approximate", &["none", "tanh"])? {
        "none" => map_float(call, |x| 0.5 * x * (1.0 + error(x / SQRT_2))),
        _ => {
            // ONNX's function body has these constants in single precision.
            let [two_over_pi, cube] = [0.636_619_75_f32, 0.044_715].map(f64::from);
            let scale = two_over_pi.sqrt();
            map_float(call, |x| {
                0.5 * x * (1.0 + (scale * (x + cube * x * x * x)).tanh())
            })
        }
    }
}

/// Computes the error function, as a series of terms of one sign up to 2.5, and as a continued fraction of its
/// complement beyond.
fn error(x: f64) -> f64 {
    let size = x.abs();
    let error = if size < 2.5 {
        let (mut term, mut sum, mut n) = (size, size, 0.0);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= 2.0 * size * size / (2.0 * n + 1.0);
            sum += term;
        }
        2.0 / PI.sqrt() * (-size * size).exp() * sum
    } else if size < 6.0 {
        let fraction = (1..=60)
            .rev()
            .fold(size, |rest, n| size + f64::from(n) / 2.0 / rest);
        1.0 - (-size * size).exp() / (PI.sqrt() * fraction)
    } else if size.is_nan() {
        return x;
    } else {
        // Equal to 1 in double precision.
        1.0
    };
    error.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn erf_is_accurate_to_float64_precision() {
        // Computed with mpmath.
        let known = [
            (0.0, 0.0),
            (1e-300, 1.1283791670955126e-300),
            (0.1, 0.1124629160182849),
            (1.0, 0.8427007929497149),
            (2.4, 0.9993114861033549),
            (2.6, 0.9997639655834707),
            (-4.0, -0.9999999845827421),
            (f64::INFINITY, 1.0),
        ];
        for (x, wanted) in known {
            let got = error(x);
            assert!((got - wanted).abs() <= 4e-16 * wanted.abs(), "{x}: {got}");
        }
        assert!(error(f64::NAN).is_nan());
    }
}
