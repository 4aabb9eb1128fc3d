//! The elements of constants as text, without loss.
//!
//! Floats are written as the shortest decimals that parse to the same bits. Noncanonical NaNs and elements without a
//! decimal spelling (floats of 8 bits and fewer) are written as `0x` and their bits. Complex numbers are two floats,
//! real part first.

use std::fmt::{Debug, Write};

use half::{bf16, f16};
use passdock_abi::DType;

use super::lex::Number;
use super::{write_list, write_number};
use crate::constant::{pack_bits, unpack_bits};

/// Writes the elements, separated by commas; `false` if the size of the data doesn't match the type.
pub(crate) fn write_elements(out: &mut String, dtype: DType, bytes: &[u8], count: u64) -> bool {
    if dtype.byte_len(count) != Some(bytes.len() as u64) {
        return false;
    }
    match dtype {
        DType::F32 | DType::C64 => each(out, bytes, |out, b| {
            write_f32(out, f32::from_le_bytes(b));
        }),
        DType::F64 | DType::C128 => each(out, bytes, |out, b| {
            let value = f64::from_le_bytes(b);
            write_float(out, value, value.to_bits(), 0x7ff8_0000_0000_0000);
        }),
        DType::F16 => each(out, bytes, |out, b| {
            let bits = u16::from_le_bytes(b);
            write_float(out, f16::from_bits(bits).to_f32(), bits.into(), 0x7e00);
        }),
        DType::BF16 => each(out, bytes, |out, b| {
            let bits = u16::from_le_bytes(b);
            write_float(out, bf16::from_bits(bits).to_f32(), bits.into(), 0x7fc0);
        }),
        DType::U8 => each_int(out, bytes, u8::from_le_bytes),
        DType::I8 => each_int(out, bytes, i8::from_le_bytes),
        DType::U16 => each_int(out, bytes, u16::from_le_bytes),
        DType::I16 => each_int(out, bytes, i16::from_le_bytes),
        DType::U32 => each_int(out, bytes, u32::from_le_bytes),
        DType::I32 => each_int(out, bytes, i32::from_le_bytes),
        DType::U64 => each_int(out, bytes, u64::from_le_bytes),
        DType::I64 | DType::INDEX => each_int(out, bytes, i64::from_le_bytes),
        DType::BOOL => each(out, bytes, |out, [b]| match b {
            0 => out.push_str("false"),
            1 => out.push_str("true"),
            b => hex(out, u64::from(b)),
        }),
        DType::U4 | DType::I4 | DType::U2 | DType::I2 => {
            let bits = dtype.bits();
            let signed = matches!(dtype, DType::I4 | DType::I2);
            let shift = 8 - bits;
            write_list(out, ", ", 0..count, |out, at| {
                match (unpack_bits(bytes, at, bits), signed) {
                    (value, true) => write_number(out, ((value << shift) as i8) >> shift),
                    (value, false) => write_number(out, value),
                }
            });
        }
        DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2 => {
            write_list(out, ", ", 0..count, |out, at| {
                hex(out, u64::from(unpack_bits(bytes, at, dtype.bits())));
            });
        }
        _ => each(out, bytes, |out, [b]| hex(out, u64::from(b))),
    }
    true
}

/// Returns the literal of a scalar operand: an `index` or an `f32` without a suffix, others with their type as suffix.
/// `None` if the value has no literal.
pub(crate) fn literal(dtype: DType, bytes: &[u8]) -> Option<String> {
    // Elements of less than a byte and complex elements have no literal.
    let whole = dtype.bits().is_multiple_of(8) && number_count(dtype, 1) == 1;
    let mut text = String::new();
    if !whole || !write_elements(&mut text, dtype, bytes, 1) {
        return None;
    }
    // Excludes `nan`, `inf`, `0x7fc00001`.
    let decimal = !text.contains(['n', 'x']);
    match dtype {
        DType::BOOL if text.starts_with(['t', 'f']) => Some(text),
        DType::BOOL => None,
        DType::F32 | DType::INDEX => decimal.then_some(text),
        _ => decimal.then(|| text + dtype.name().unwrap_or("")),
    }
}

/// Returns the number of numbers in the text of `elements` elements.
pub(crate) fn number_count(dtype: DType, elements: u64) -> u64 {
    match dtype {
        DType::C64 | DType::C128 => elements.saturating_mul(2),
        _ => elements,
    }
}

/// Appends one number; `at` is the number of numbers before it. The error states what the type allows.
pub(crate) fn push_element(
    bytes: &mut Vec<u8>,
    dtype: DType,
    number: Number<'_>,
    at: u64,
) -> Result<(), String> {
    let reject = |what: &str| {
        let name = dtype.name().unwrap_or("unknown");
        Err(format!(
            "invalid element `{}` of type `{name}`: expected {what}",
            number.text()
        ))
    };
    macro_rules! int {
        ($ty:ty) => {
            match number.int::<$ty>() {
                Some(value) => bytes.extend(value.to_le_bytes()),
                None => return reject("an integer in range"),
            }
        };
    }
    macro_rules! float {
        ($bits:ty, $decimal:expr) => {
            match number {
                Number::Hex(bits) => match <$bits>::try_from(bits) {
                    Ok(bits) => bytes.extend(bits.to_le_bytes()),
                    Err(_) => return reject("bits in range"),
                },
                _ => match number.float() {
                    Some(value) => bytes.extend($decimal(value).to_le_bytes()),
                    None => return reject("a number"),
                },
            }
        };
    }
    match dtype {
        // Parsed as f32 directly: parsing through f64 would round twice.
        DType::F32 | DType::C64 => match number {
            Number::Hex(_) => float!(u32, |value: f64| (value as f32).to_bits()),
            _ => match number.float32() {
                Some(value) => bytes.extend(value.to_le_bytes()),
                None => return reject("a number"),
            },
        },
        DType::F64 | DType::C128 => float!(u64, |value: f64| value.to_bits()),
        DType::F16 => float!(u16, |value: f64| f16::from_f64(value).to_bits()),
        DType::BF16 => float!(u16, |value: f64| bf16::from_f64(value).to_bits()),
        DType::U8 => int!(u8),
        DType::I8 => int!(i8),
        DType::U16 => int!(u16),
        DType::I16 => int!(i16),
        DType::U32 => int!(u32),
        DType::I32 => int!(i32),
        DType::U64 => int!(u64),
        DType::I64 | DType::INDEX => int!(i64),
        DType::BOOL => match number {
            Number::Keyword("false") => bytes.push(0),
            Number::Keyword("true") => bytes.push(1),
            Number::Hex(bits) if bits < 256 => bytes.push(bits as u8),
            _ => return reject("`true` or `false`"),
        },
        _ if matches!(dtype.bits(), 1..8) => {
            let bits = dtype.bits();
            let range = match dtype {
                DType::I4 => -8..8,
                DType::I2 => -2..2,
                _ => 0..1 << bits,
            };
            let is_float = matches!(dtype, DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2);
            let value = match number {
                Number::Hex(bits) if is_float => i64::try_from(bits).ok(),
                _ if is_float => None,
                _ => number.int::<i64>(),
            };
            match value.filter(|value| range.contains(value)) {
                Some(value) => pack_bits(bytes, at, bits, value as u8),
                None if is_float => return reject("bits in range, such as `0x1`"),
                None => return reject("an integer in range"),
            }
        }
        _ if dtype.bits() == 8 => match number {
            Number::Hex(bits) if bits < 256 => bytes.push(bits as u8),
            _ => return reject("bits in range, such as `0x3c`"),
        },
        _ => return reject("`raw(\"…\")` instead of elements"),
    }
    Ok(())
}

/// Writes a float so that it parses to the same bits, and not as an integer.
pub(crate) fn write_f32(out: &mut String, value: f32) {
    write_float(out, value, value.to_bits().into(), 0x7fc0_0000);
}

/// Writes a float of a type whose canonical NaN has the bits `nan`.
fn write_float(out: &mut String, value: impl Into<f64> + Copy + Debug, bits: u64, nan: u64) {
    match bits {
        bits if bits == nan => out.push_str("nan"),
        bits if value.into().is_nan() => hex(out, bits),
        // Writing to a string can't fail, here and below.
        _ => _ = write!(out, "{value:?}"),
    }
}

fn hex(out: &mut String, bits: u64) {
    _ = write!(out, "0x{bits:x}");
}

fn each_int<const N: usize, T: itoa::Integer>(
    out: &mut String,
    bytes: &[u8],
    from: fn([u8; N]) -> T,
) {
    each(out, bytes, |out, element| write_number(out, from(element)));
}

fn each<const N: usize>(out: &mut String, bytes: &[u8], write: impl FnMut(&mut String, [u8; N])) {
    write_list(out, ", ", bytes.as_chunks().0.iter().copied(), write);
}
