//! The element types that operators compute with.
//!
//! Integers wrap as C's unsigned ones do. float16 and bfloat16 are computed in float32 and rounded
//! after each operation. Where C leaves a result undefined, the answer is `None`.

use bytemuck::Pod;
use half::{bf16, f16};

use passdock_plugin_api::DType;

/// The reason why there is no least or greatest.
pub(crate) const ZEROS: &str = "which of 0.0 and -0.0 is greater isn't defined";

/// The reason why there is none of several.
pub(crate) const EXTREME: &str = "what NaN, or 0.0 beside -0.0, comes to isn't defined";

/// An integer or a float.
pub(crate) trait Number: Pod + PartialOrd {
    /// The element type.
    const DTYPE: DType;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The smallest value: minus infinity of a float.
    const LOWEST: Self;
    /// The largest.
    const HIGHEST: Self;
    /// Whether it has fractions.
    const IS_FLOAT: bool;

    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The difference.
    fn minus(self, other: Self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// The quotient; integers truncate.
    fn over(self, other: Self) -> Option<Self>;
    /// The remainder with the divisor's sign.
    fn modulo(self, other: Self) -> Option<Self>;
    /// The remainder with the dividend's sign.
    fn remainder(self, other: Self) -> Option<Self>;
    /// The absolute value.
    fn absolute(self) -> Self;
    /// The opposite.
    fn negative(self) -> Self;
    /// Whether it isn't a number.
    fn is_nan(self) -> bool;
    /// The number as a float, rounded if it is an integer beyond 2^53.
    fn to_f64(self) -> f64;
    /// The number of a float: rounded for a float, truncated for an integer, `None` if that can't
    /// hold it.
    fn from_double(value: f64) -> Option<Self>;
    /// The number of an integer: the low bits for an integer, rounded for a float.
    fn from_int(value: i128) -> Self;
    /// The number as an integer, if it is one.
    fn to_int(self) -> Option<i128>;

    /// Whether it has the sign bit.
    fn is_minus(self) -> bool;

    /// The smaller; NaN if one of them is; `None` of 0.0 and -0.0, as nobody says which it is.
    fn least(self, other: Self) -> Option<Self> {
        if self == other {
            return (self.is_minus() == other.is_minus()).then_some(self);
        }
        Some(if self.is_nan() || self < other {
            self
        } else {
            other
        })
    }

    /// The larger, likewise.
    fn greatest(self, other: Self) -> Option<Self> {
        if self == other {
            return (self.is_minus() == other.is_minus()).then_some(self);
        }
        Some(if self.is_nan() || self > other {
            self
        } else {
            other
        })
    }

    /// The number of an integer that it holds exactly.
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
            fn modulo(self, other: Self) -> Option<Self> {
                let remainder = self.remainder(other)?;
                // The sum can't overflow: its terms have opposite signs.
                let opposite = (remainder < Self::ZERO) != (other < Self::ZERO);
                Some(if remainder != 0 && opposite { remainder + other } else { remainder })
            }
            fn remainder(self, other: Self) -> Option<Self> {
                (other != 0).then(|| self.wrapping_rem(other))
            }
            fn absolute(self) -> Self {
                if self < Self::ZERO { self.wrapping_neg() } else { self }
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
    ($($type:ident = $dtype:ident, computed in $wide:ident;)*) => {$(
        impl Number for $type {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = <$type as Float>::CONST_ZERO;
            const ONE: Self = <$type as Float>::CONST_ONE;
            const LOWEST: Self = $type::NEG_INFINITY;
            const HIGHEST: Self = $type::INFINITY;
            const IS_FLOAT: bool = true;

            fn plus(self, other: Self) -> Self {
                Self::narrow(self.wide() + other.wide())
            }
            fn minus(self, other: Self) -> Self {
                Self::narrow(self.wide() - other.wide())
            }
            fn times(self, other: Self) -> Self {
                Self::narrow(self.wide() * other.wide())
            }
            fn over(self, other: Self) -> Option<Self> {
                Some(Self::narrow(self.wide() / other.wide()))
            }
            fn modulo(self, other: Self) -> Option<Self> {
                let divisor = other.wide();
                let remainder = self.wide() % divisor;
                // A remainder of zero has the divisor's sign.
                Some(Self::narrow(if remainder == 0.0 {
                    remainder.copysign(divisor)
                } else if (remainder < 0.0) != (divisor < 0.0) {
                    remainder + divisor
                } else {
                    remainder
                }))
            }
            fn remainder(self, other: Self) -> Option<Self> {
                Some(Self::narrow(self.wide() % other.wide()))
            }
            fn absolute(self) -> Self {
                Self::narrow(self.wide().abs())
            }
            fn negative(self) -> Self {
                -self
            }
            fn is_nan(self) -> bool {
                self.wide().is_nan()
            }
            fn is_minus(self) -> bool {
                self.is_sign_negative()
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn from_double(value: f64) -> Option<Self> {
                Some(<$type as Float>::round_f64(value))
            }
            fn from_int(value: i128) -> Self {
                let double = i64::try_from(value).map_or(value as f64, |value| value as f64);
                <$type as Float>::round_f64(double)
            }
            fn to_int(self) -> Option<i128> {
                None
            }
        }
    )*};
}

/// A float: computed in a wider one or in itself.
pub(crate) trait Float: Number {
    /// The type that it is computed in.
    type Wide;
    /// 0, for [`Number::ZERO`].
    const CONST_ZERO: Self;
    /// 1, for [`Number::ONE`].
    const CONST_ONE: Self;
    /// Into what it is computed in.
    fn wide(self) -> Self::Wide;
    /// The number of a wide one, rounded.
    fn narrow(wide: Self::Wide) -> Self;
    /// The number of a float, rounded once.
    fn round_f64(value: f64) -> Self;
}

macro_rules! width {
    ($($type:ident in $wide:ident: $zero:expr, $one:expr, $into:expr, $back:expr, $round:expr;)*) => {$(
        impl Float for $type {
            type Wide = $wide;
            const CONST_ZERO: Self = $zero;
            const CONST_ONE: Self = $one;
            fn wide(self) -> $wide {
                $into(self)
            }
            fn narrow(wide: $wide) -> Self {
                $back(wide)
            }
            fn round_f64(value: f64) -> Self {
                $round(value)
            }
        }
    )*};
}

width! {
    f32 in f32: 0.0, 1.0, |x| x, |x| x, |x| x as f32;
    f64 in f64: 0.0, 1.0, |x| x, |x| x, |x| x;
    f16 in f32: f16::ZERO, f16::ONE, f16::to_f32, f16::from_f32, f16::from_f64;
    bf16 in f32: bf16::ZERO, bf16::ONE, bf16::to_f32, bf16::from_f32, bf16::from_f64;
}

float! {
    f32 = F32, computed in f32;
    f64 = F64, computed in f64;
    f16 = F16, computed in f32;
    bf16 = BF16, computed in f32;
}

/// Runs an expression with the Rust type of an element type, if it is an integer or a float.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            passdock_plugin_api::DType::F32 => { type $T = f32; $body }
            passdock_plugin_api::DType::F64 => { type $T = f64; $body }
            passdock_plugin_api::DType::F16 => { type $T = half::f16; $body }
            passdock_plugin_api::DType::BF16 => { type $T = half::bf16; $body }
            other => $crate::eval::number::with_integer!(other, $T => $body),
        }
    };
}

/// As `with_number`, for integers.
macro_rules! with_integer {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            passdock_plugin_api::DType::I64 => {
                type $T = i64;
                $body
            }
            passdock_plugin_api::DType::I32 => {
                type $T = i32;
                $body
            }
            passdock_plugin_api::DType::I16 => {
                type $T = i16;
                $body
            }
            passdock_plugin_api::DType::I8 => {
                type $T = i8;
                $body
            }
            passdock_plugin_api::DType::U64 => {
                type $T = u64;
                $body
            }
            passdock_plugin_api::DType::U32 => {
                type $T = u32;
                $body
            }
            passdock_plugin_api::DType::U16 => {
                type $T = u16;
                $body
            }
            passdock_plugin_api::DType::U8 => {
                type $T = u8;
                $body
            }
            other => $crate::eval::refuse!(
                "nothing is computed with elements of type {}",
                $crate::eval::name_of(other)
            ),
        }
    };
}

/// As `with_number`, for floats.
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            passdock_plugin_api::DType::F32 => {
                type $T = f32;
                $body
            }
            passdock_plugin_api::DType::F64 => {
                type $T = f64;
                $body
            }
            passdock_plugin_api::DType::F16 => {
                type $T = half::f16;
                $body
            }
            passdock_plugin_api::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            other => $crate::eval::refuse!(
                "nothing is computed with elements of type {}",
                $crate::eval::name_of(other)
            ),
        }
    };
}

pub(crate) use {with_float, with_integer, with_number};
