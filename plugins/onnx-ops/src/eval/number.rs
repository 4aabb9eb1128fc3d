//! The element types with arithmetic.
//!
//! Integers wrap. float16 and bfloat16 are computed in float32 and rounded after each operation. Operations return
//! `None` where C leaves the result undefined.

use bytemuck::Pod;
use half::{bf16, f16};
use passdock_plugin_api::DType;

use super::{Folded, NotFolded, Tensor, name_of, reject};

/// Why there is no minimum or maximum of two numbers.
pub(crate) const ZEROS: &str = "order of 0.0 and -0.0 is undefined";

/// Why there is no minimum or maximum of several numbers.
pub(crate) const EXTREME: &str = "order of NaN, or of 0.0 and -0.0, is undefined";

/// Why a sum or product isn't defined.
pub(crate) const OVERFLOW: &str = "an intermediate sum or product overflows";

/// An integer or a float.
pub(crate) trait Number: Pod + PartialOrd {
    /// The element type.
    const DTYPE: DType;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The minimum, which is negative infinity for floats.
    const LOWEST: Self;
    /// The maximum, which is infinity for floats.
    const HIGHEST: Self;
    /// Whether this is a float type.
    const IS_FLOAT: bool;

    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the difference.
    fn minus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
    /// Returns the quotient, truncated for integers.
    fn over(self, other: Self) -> Option<Self>;
    /// Returns the remainder with the dividend's sign.
    fn remainder(self, other: Self) -> Option<Self>;
    /// Returns the negation.
    fn negative(self) -> Self;
    /// Whether this is NaN.
    fn is_nan(self) -> bool;
    /// Whether the sign bit is set.
    fn is_minus(self) -> bool;
    /// Converts to a float. Integers beyond 2^53 are rounded.
    fn to_f64(self) -> f64;
    /// Converts from a float: rounds to a float type, truncates to an integer type. Returns `None` if it is out of the
    /// integer's range.
    fn from_double(value: f64) -> Option<Self>;
    /// Converts from an integer: takes the low bits for an integer type, rounds to a float type.
    fn from_int(value: i128) -> Self;
    /// Returns the value of an integer type, `None` for a float type.
    fn to_int(self) -> Option<i128>;

    /// Returns the absolute value.
    fn absolute(self) -> Self {
        if self.is_minus() {
            self.negative()
        } else {
            self
        }
    }

    /// Returns the remainder with the divisor's sign, even if it is zero.
    fn modulo(self, other: Self) -> Option<Self> {
        let remainder = self.remainder(other)?;
        Some(match remainder.is_minus() == other.is_minus() {
            true => remainder,
            false if remainder == Self::ZERO => remainder.negative(),
            // The sum can't overflow: its terms have opposite signs.
            false => remainder.plus(other),
        })
    }

    /// Returns the minimum, NaN if either is NaN. Returns `None` for 0.0 and -0.0, whose order isn't defined.
    fn least(self, other: Self) -> Option<Self> {
        self.choose(other, self < other)
    }

    /// Returns the maximum, with the same special cases.
    fn greatest(self, other: Self) -> Option<Self> {
        self.choose(other, self > other)
    }

    /// Returns `self` if it is better or NaN, otherwise `other`. Returns `None` for 0.0 and -0.0.
    fn choose(self, other: Self, is_better: bool) -> Option<Self> {
        if self == other {
            return (self.is_minus() == other.is_minus()).then_some(self);
        }
        let is_first = is_better || self.is_nan();
        Some(if is_first { self } else { other })
    }

    /// Converts from an integer if the type represents it exactly.
    fn exactly(value: i128) -> Option<Self> {
        let narrow = Self::from_int(value);
        (narrow.to_int() == Some(value)).then_some(narrow)
    }
}

macro_rules! integer {
    ($($type:ident = $dtype:ident),*) => {$(
        impl Number for $type {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = $type::MIN;
            const HIGHEST: Self = $type::MAX;
            const IS_FLOAT: bool = false;

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn over(self, other: Self) -> Option<Self> {
                self.checked_div(other)
            }
            fn remainder(self, other: Self) -> Option<Self> {
                (other != 0).then(|| self.wrapping_rem(other))
            }
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            fn is_nan(self) -> bool {
                false
            }
            fn is_minus(self) -> bool {
                self < Self::ZERO
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn from_double(value: f64) -> Option<Self> {
                let whole = value.trunc();
                // Both bounds are exact: MIN is a power of two (or 0), and so is MAX + 1.
                let above = ($type::MAX / 2 + 1) as f64 * 2.0;
                (whole >= $type::MIN as f64 && whole < above).then_some(whole as $type)
            }
            fn from_int(value: i128) -> Self {
                value as $type
            }
            fn to_int(self) -> Option<i128> {
                Some(self as i128)
            }
        }
    )*};
}

integer!(
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64
);

macro_rules! float {
    ($($type:ident = $dtype:ident, $zero:expr, $one:expr, $round:expr;)*) => {$(
        impl Number for $type {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const LOWEST: Self = $type::NEG_INFINITY;
            const HIGHEST: Self = $type::INFINITY;
            const IS_FLOAT: bool = true;

            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn over(self, other: Self) -> Option<Self> {
                Some(self / other)
            }
            fn remainder(self, other: Self) -> Option<Self> {
                Some(self % other)
            }
            fn negative(self) -> Self {
                -self
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            fn is_minus(self) -> bool {
                self.is_sign_negative()
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn from_double(value: f64) -> Option<Self> {
                Some($round(value))
            }
            fn from_int(value: i128) -> Self {
                // Processors have instructions for 64 bits.
                $round(i64::try_from(value).map_or(value as f64, |value| value as f64))
            }
            fn to_int(self) -> Option<i128> {
                None
            }
        }
    )*};
}

float! {
    f32 = F32, 0.0, 1.0, |value| value as f32;
    f64 = F64, 0.0, 1.0, |value| value;
    f16 = F16, f16::ZERO, f16::ONE, f16::from_f64;
    bf16 = BF16, bf16::ZERO, bf16::ONE, bf16::from_f64;
}

/// Evaluates an expression with the Rust type of an element type, if the list has it.
macro_rules! with_type {
    ([$($dtype:ident = $type:ty),*], $value:expr, $T:ident => $body:expr) => {
        match $value {
            $(passdock_plugin_api::DType::$dtype => {
                type $T = $type;
                $body
            })*
            other => $crate::eval::reject!(
                "unsupported element type {}",
                $crate::eval::name_of(other)
            ),
        }
    };
}

/// Evaluates an expression with the Rust type of an element type, if it is an integer or a float.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::eval::number::with_type!(
            [
                F32 = f32, F64 = f64, F16 = half::f16, BF16 = half::bf16, I64 = i64, I32 = i32,
                I16 = i16, I8 = i8, U64 = u64, U32 = u32, U16 = u16, U8 = u8
            ],
            $dtype, $T => $body
        )
    };
}

/// Like `with_number`, for integers.
macro_rules! with_integer {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::eval::number::with_type!(
            [
                I64 = i64, I32 = i32, I16 = i16, I8 = i8, U64 = u64, U32 = u32, U16 = u16, U8 = u8
            ],
            $dtype, $T => $body
        )
    };
}

/// Like `with_number`, for floats.
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::eval::number::with_type!(
            [F32 = f32, F64 = f64, F16 = half::f16, BF16 = half::bf16], $dtype, $T => $body
        )
    };
}

pub(crate) use {with_float, with_integer, with_number, with_type};

/// Returns the elements of a numeric tensor in double precision.
pub(crate) fn doubles(tensor: &Tensor) -> Result<Vec<f64>, NotFolded> {
    with_number!(tensor.dtype(), T => {
        Ok(tensor.stored::<T>()?.iter().map(|x| x.to_f64()).collect())
    })
}

/// Rounds numbers to a float type.
pub(crate) fn rounded<'a>(dtype: DType, shape: Vec<usize>, values: Vec<f64>) -> Folded<'a> {
    with_float!(dtype, T => {
        let values: Option<Vec<T>> = values.into_iter().map(T::from_double).collect();
        Ok(Tensor::from_vec(dtype, shape, values.ok_or(NotFolded::new(OVERFLOW))?))
    })
}

/// Rounds a tensor's elements to a float type.
pub(crate) fn to_float<'a>(tensor: &Tensor, dtype: DType) -> Folded<'a> {
    rounded(dtype, tensor.shape().to_vec(), doubles(tensor)?)
}

/// Like [`rounded`], but rejects sums that aren't finite after rounding.
pub(crate) fn rounded_sums<'a>(dtype: DType, shape: Vec<usize>, sums: Vec<f64>) -> Folded<'a> {
    let sums = rounded(dtype, shape, sums)?;
    if !doubles(&sums)?.into_iter().all(f64::is_finite) {
        return reject!("{OVERFLOW}");
    }
    Ok(sums)
}

/// Returns the elements of an integer tensor.
pub(crate) fn wholes(tensor: &Tensor) -> Result<Vec<i128>, NotFolded> {
    with_integer!(tensor.dtype(), T => {
        Ok(tensor.stored::<T>()?.iter().map(|&x| i128::from(x)).collect())
    })
}

/// Narrows sums to an integer type, and rejects those out of its range.
pub(crate) fn exact<'a>(dtype: DType, shape: Vec<usize>, sums: Vec<i128>) -> Folded<'a> {
    with_integer!(dtype, T => {
        match sums.into_iter().map(T::exactly).collect::<Option<Vec<T>>>() {
            Some(sums) => Ok(Tensor::from_vec(dtype, shape, sums)),
            None => reject!("a sum overflows {}", name_of(dtype)),
        }
    })
}
