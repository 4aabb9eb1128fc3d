//! Numbers of rules and the elements of constants, whatever their dtype.

use passdock_abi::{DType, ValueId};

use super::language::Number;
use crate::data::EditError;
use crate::ir::{half, Function};

/// The most bytes of a constant that are compared: what neutral operands have. Weights aren't read.
const MOST_BYTES: u64 = 1 << 20;

/// Whether all elements of a constant are a number.
pub(super) fn is_everywhere(
    f: &Function,
    value: ValueId,
    number: Number,
) -> Result<bool, EditError> {
    let constant = match f.constant(value).and_then(|id| f.constant_record(id)) {
        Some(constant) => constant,
        None => return Ok(false),
    };
    let dtype = f.dtype(value);
    let size = match size_of(dtype) {
        Some(size) => size,
        None => return Ok(false),
    };
    if constant.byte_len > MOST_BYTES || constant.byte_len == 0 {
        return Ok(false);
    }
    let bytes = match f.constant_data(value)? {
        Some(bytes) => bytes,
        None => return Ok(false),
    };
    let fits = |element: &[u8]| element_is(dtype, element, number);
    let mut elements = bytes.chunks_exact(size);
    let first = match elements.next() {
        Some(first) if fits(first) => first,
        _ => return Ok(false),
    };
    Ok(elements.all(|element| element == first || fits(element)))
}

/// The one number that all elements of a small constant are.
pub(super) fn everywhere(f: &Function, value: ValueId) -> Result<Option<f64>, EditError> {
    let size = match size_of(f.dtype(value)) {
        Some(size) => size,
        None => return Ok(None),
    };
    let first = match f.constant_data(value)? {
        Some(bytes) if bytes.len() >= size => read(f.dtype(value), &bytes[..size]),
        _ => return Ok(None),
    };
    let number = Number {
        value: first,
        about: false,
    };
    Ok(Some(first).filter(|_| is_everywhere(f, value, number).unwrap_or(false)))
}

/// Bytes of an element; `None` for what rules know no numbers of.
fn size_of(dtype: DType) -> Option<usize> {
    Some(match dtype {
        DType::I8 | DType::U8 | DType::BOOL => 1,
        DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F64 | DType::I64 | DType::U64 => 8,
        _ => return None,
    })
}

/// An element as a number. Integers beyond 2^53 are rounded, which no small number is.
fn read(dtype: DType, element: &[u8]) -> f64 {
    let mut bits = [0; 8];
    bits[..element.len()].copy_from_slice(element);
    let bits = u64::from_le_bytes(bits);
    match dtype {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::BF16 => f64::from(f32::from_bits((bits as u32) << 16)),
        DType::F16 => f64::from(half(bits as u16)),
        DType::I8 => f64::from(bits as i8),
        DType::I16 => f64::from(bits as i16),
        DType::I32 => f64::from(bits as i32),
        DType::I64 => bits as i64 as f64,
        _ => bits as f64,
    }
}

fn element_is(dtype: DType, element: &[u8], number: Number) -> bool {
    let found = read(dtype, element);
    if found == number.value {
        return true;
    }
    if !number.about {
        // 0.1 means the element that is nearest to it.
        return bytes(dtype, number.value).map_or(false, |nearest| nearest == element);
    }
    (found - number.value).abs() <= number.value.abs() * about(dtype)
}

/// The distance of the numbers next to 1.
fn precision(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f64::from(f32::EPSILON),
        DType::F16 => 1.0 / 1024.0,
        DType::BF16 => 1.0 / 128.0,
        _ => 0.0,
    }
}

/// How far, relatively, an exporter's number may lie from the one that is meant: several roundings, and
/// constants that somebody typed with six digits.
fn about(dtype: DType) -> f64 {
    (4.0 * precision(dtype)).max(if precision(dtype) == 0.0 { 0.0 } else { 2e-6 })
}

/// The bytes of a number as an element; `None` if the dtype has no such number.
pub(super) fn bytes(dtype: DType, number: f64) -> Option<Vec<u8>> {
    let int = number as i64;
    let is_int = int as f64 == number;
    Some(match dtype {
        DType::F64 => number.to_le_bytes().to_vec(),
        DType::F32 => (number as f32).to_le_bytes().to_vec(),
        DType::F16 => to_half(number).to_le_bytes().to_vec(),
        DType::BF16 => to_bfloat(number as f32).to_le_bytes().to_vec(),
        DType::I64 if is_int => int.to_le_bytes().to_vec(),
        DType::I32 if is_int => i32::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::I16 if is_int => i16::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::I8 if is_int => i8::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::U64 if is_int => u64::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::U32 if is_int => u32::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::U16 if is_int => u16::try_from(int).ok()?.to_le_bytes().to_vec(),
        DType::U8 | DType::BOOL if is_int => u8::try_from(int).ok()?.to_le_bytes().to_vec(),
        _ => return None,
    })
}

fn to_bfloat(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    // To the nearest, ties to even.
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    if size < 2f64.powi(-14) {
        return sign | round_even(size * 2f64.powi(24)) as u16;
    }
    let exponent = size.log2().floor() as i32;
    let fraction = round_even((size / 2f64.powi(exponent) - 1.0) * 1024.0);
    // A fraction of 1024 carries into the exponent, as it should.
    sign | ((((exponent + 15) as u32) << 10) + fraction) as u16
}

fn round_even(value: f64) -> u32 {
    let floor = value.floor();
    let rest = value - floor;
    let odd = floor % 2.0 == 1.0;
    let up = rest > 0.5 || rest == 0.5 && odd;
    floor as u32 + u32::from(up)
}
