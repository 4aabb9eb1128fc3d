//! Typed access to the elements of tensors.

use half::{bf16, f16};
use passdock_abi::DType;
use passdock_ir::constant::string_elements;

/// An element of a tensor; the real or imaginary part of a complex one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Element<'t> {
    Float(f64),
    Integer(i128),
    /// The bits of a bool, or of a float whose value isn't computed.
    Bits(u64),
    Text(&'t [u8]),
}

impl Element<'_> {
    /// Returns the absolute value of a finite float.
    pub(crate) fn finite(self) -> Option<f64> {
        match self {
            Element::Float(x) if x.is_finite() => Some(x.abs()),
            _ => None,
        }
    }

    /// Returns the distance of two numbers; NaN for bits and strings. Two NaNs are equal, as are equal infinities.
    pub(crate) fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Element::Float(x), Element::Float(y)) if x == y || (x.is_nan() && y.is_nan()) => 0.0,
            (Element::Float(x), Element::Float(y)) if x.is_finite() && y.is_finite() => {
                (x - y).abs()
            }
            (Element::Float(_), Element::Float(_)) => f64::INFINITY,
            (Element::Integer(x), Element::Integer(y)) => x.abs_diff(y) as f64,
            _ => f64::NAN,
        }
    }

    /// Returns a distance relative to the larger of two numbers.
    pub(crate) fn part(self, other: Self, distance: f64) -> f64 {
        let size = |element| match element {
            Element::Float(x) => x.abs(),
            Element::Integer(x) => x.unsigned_abs() as f64,
            _ => 0.0,
        };
        match size(self).max(size(other)) {
            larger if distance.is_finite() && larger > 0.0 => distance / larger,
            _ => distance,
        }
    }

    /// Formats the element in its own type, so that no digits beyond its precision are printed.
    pub(crate) fn text(self, dtype: DType) -> String {
        match self {
            Element::Float(x) if matches!(dtype, DType::F64 | DType::C128) => x.to_string(),
            Element::Float(x) => (x as f32).to_string(),
            Element::Integer(x) => x.to_string(),
            Element::Bits(bits) if dtype == DType::BOOL => (bits != 0).to_string(),
            Element::Bits(bits) => format!("{bits:#x}"),
            Element::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        }
    }
}

/// An iterator over elements.
pub(crate) type Elements<'t> = Box<dyn Iterator<Item = Element<'t>> + 't>;

/// Returns the elements of a tensor; both parts of each complex element.
pub(crate) fn elements(dtype: DType, data: &[u8], count: u64) -> Elements<'_> {
    fn floats<'t, const N: usize>(
        data: &'t [u8],
        number: impl Fn([u8; N]) -> f64 + 't,
    ) -> Elements<'t> {
        let parts = data.as_chunks().0.iter();
        Box::new(parts.map(move |&part| Element::Float(number(part))))
    }
    match dtype {
        DType::F32 | DType::C64 => floats(data, |part| f64::from(f32::from_le_bytes(part))),
        DType::F16 => floats(data, |part| f16::from_le_bytes(part).to_f64()),
        DType::BF16 => floats(data, |part| bf16::from_le_bytes(part).to_f64()),
        DType::F64 | DType::C128 => floats(data, f64::from_le_bytes),
        DType::STRING => {
            let strings = string_elements(data, count).into_iter().flatten();
            Box::new(strings.map(Element::Text))
        }
        _ => Box::new((0..count).map(move |at| integer(dtype, data, at))),
    }
}

/// Returns an element of at most 64 bits. Bits after the last element are ignored.
fn integer<'t>(dtype: DType, data: &[u8], at: u64) -> Element<'t> {
    let bits = u64::from(dtype.bits()).clamp(1, 64);
    let (start, end) = (at * bits / 8, (at * bits + bits).div_ceil(8));
    let bytes = data.get(start as usize..end as usize).unwrap_or_default();
    let whole = bytes
        .iter()
        .rev()
        .fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let unused = 64 - bits;
    let code = whole >> (at * bits % 8) << unused;
    match is_signed(dtype) {
        Some(true) => Element::Integer((code as i64 >> unused).into()),
        Some(false) => Element::Integer((code >> unused).into()),
        None => Element::Bits(code >> unused),
    }
}

/// Whether the integers of a type are signed; `None` if its elements aren't integers.
fn is_signed(dtype: DType) -> Option<bool> {
    match dtype {
        DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => Some(true),
        DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => Some(false),
        _ => None,
    }
}

/// Whether the elements of a type are integers.
pub(crate) fn is_integer(dtype: DType) -> bool {
    is_signed(dtype).is_some()
}
