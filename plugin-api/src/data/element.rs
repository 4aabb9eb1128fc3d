//! Conversion between tensor elements and numbers, for all numeric dtypes.
//!
//! ```
//! use passdock_plugin_api::prelude::*;
//! use passdock_plugin_api::element;
//!
//! let mut bytes = Vec::new();
//! assert!(element::push(DType::BF16, 1.0 / 3.0, &mut bytes));
//! assert_eq!(bytes.len(), element::size_of(DType::BF16).unwrap());
//! assert_eq!(element::read(DType::BF16, &bytes), 0.333984375);
//! ```

use passdock_abi::DType;

/// Returns the size of an element in bytes; `None` for elements that aren't numbers or are smaller than a byte.
pub fn size_of(dtype: DType) -> Option<usize> {
    Some(match dtype {
        DType::I8 | DType::U8 | DType::BOOL => 1,
        DType::F16 | DType::BF16 | DType::I16 | DType::U16 => 2,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F64 | DType::I64 | DType::U64 => 8,
        _ => return None,
    })
}

/// Reads an element as a number. Integers beyond 2^53 are rounded.
///
/// # Panics
/// If `element` has more than 8 bytes.
pub fn read(dtype: DType, element: &[u8]) -> f64 {
    let bits = match *element {
        [low, high] => u64::from(u16::from_le_bytes([low, high])),
        _ => {
            let mut bits = [0; 8];
            bits[..element.len()].copy_from_slice(element);
            u64::from_le_bytes(bits)
        }
    };
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

/// Appends the element nearest to a number; ties round to even. A float that is too large becomes infinite.
///
/// Returns `false`, and appends nothing, if the dtype isn't numeric, or is an integer type that can't represent the
/// number.
pub fn push(dtype: DType, number: f64, bytes: &mut Vec<u8>) -> bool {
    let float = match dtype {
        DType::F64 => number.to_bits(),
        DType::F32 => u64::from((number as f32).to_bits()),
        DType::F16 => u64::from(small(number, 10, 5)),
        DType::BF16 => u64::from(small(number, 7, 8)),
        _ => return push_int(dtype, number, bytes),
    };
    bytes.extend_from_slice(&float.to_le_bytes()[..size_of(dtype).unwrap_or(8)]);
    true
}

fn push_int(dtype: DType, number: f64, bytes: &mut Vec<u8>) -> bool {
    let int = number as i128;
    let (least, most) = match dtype {
        DType::I8 => (i128::from(i8::MIN), i128::from(i8::MAX)),
        DType::I16 => (i128::from(i16::MIN), i128::from(i16::MAX)),
        DType::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        DType::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
        DType::U8 => (0, i128::from(u8::MAX)),
        DType::U16 => (0, i128::from(u16::MAX)),
        DType::U32 => (0, i128::from(u32::MAX)),
        DType::U64 => (0, i128::from(u64::MAX)),
        DType::BOOL => (0, 1),
        _ => return false,
    };
    if int as f64 != number || int < least || int > most {
        return false;
    }
    bytes.extend_from_slice(&int.to_le_bytes()[..size_of(dtype).unwrap_or(8)]);
    true
}

/// Returns a power of 2 that isn't subnormal. Unlike `powi`, the result is exact.
fn power_of_2(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns the 16-bit float nearest to a number, with this many bits of fraction and exponent.
fn small(number: f64, digits: u32, exponents: u32) -> u16 {
    let sign = if number.is_sign_negative() { 0x8000 } else { 0 };
    let size = number.abs();
    let infinite = ((1_u32 << exponents) - 1) << digits;
    if size.is_nan() {
        return sign | infinite as u16 | 1 << (digits - 1);
    }
    if size.is_infinite() {
        return sign | infinite as u16;
    }
    let bias = (1 << (exponents - 1)) - 1;
    // Subnormal numbers have no leading 1 and share one exponent.
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    // The product is exact. The sum has no digits below 1, so it is rounded to even.
    let rounded = size * power_of_2(digits as i32 - exponent) + power_of_2(52) - power_of_2(52);
    // A fraction that overflows carries into the exponent, as it should.
    let bits = (((exponent + bias - 1) as u32) << digits) + rounded as u32;
    sign | bits.min(infinite) as u16
}

/// Converts a float16 to a float32, exactly.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    match exponent {
        // Zero and subnormal numbers, below 2^-14, in steps of 2^-24.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(dtype: DType, number: f64) -> Option<f64> {
        let mut bytes = Vec::new();
        match push(dtype, number, &mut bytes) {
            true => Some(read(dtype, &bytes)),
            false => None,
        }
    }

    #[test]
    fn float16_and_bfloat16_round_trip() {
        for dtype in [DType::F16, DType::BF16] {
            // Miri takes minutes for all of them.
            for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 61 } else { 1 }) {
                let number = read(dtype, &bits.to_le_bytes());
                let mut again = Vec::new();
                assert!(push(dtype, number, &mut again));
                let again = u16::from_le_bytes([again[0], again[1]]);
                assert!(again == bits || number.is_nan(), "{:#06x} {}", bits, number);
                assert_eq!(read(dtype, &again.to_le_bytes()).is_nan(), number.is_nan());
            }
        }
    }

    #[test]
    fn floats_round_once_to_nearest_even() {
        let f16 = |number| pushed(DType::F16, number).unwrap();
        let next_to = |number: f64, by: i64| f64::from_bits((number.to_bits() as i64 + by) as u64);
        // Halfway, and next to it.
        assert_eq!(f16(2049.0), 2048.0);
        assert_eq!(f16(next_to(2049.0, 1)), 2050.0);
        assert_eq!(f16(2051.0), 2052.0);
        assert_eq!(f16(next_to(32768.0, -1)), 32768.0);
        assert_eq!(f16(65519.9), 65504.0);
        assert_eq!(f16(65520.0), f64::INFINITY);
        assert_eq!(f16(-1e300), f64::NEG_INFINITY);
        assert_eq!(f16(power_of_2(-25)), 0.0);
        assert_eq!(f16(next_to(power_of_2(-25), 1)), power_of_2(-24));
        assert_eq!(f16(6.1e-5), 1023.0 * power_of_2(-24));
        assert!(f16(-0.0).is_sign_negative());
        let bf16 = |number| pushed(DType::BF16, number).unwrap();
        // Rounded to a float32 first, it would be halfway.
        let above = 1.0 + power_of_2(-8) + power_of_2(-30);
        assert_eq!(bf16(above), 1.0 + power_of_2(-7));
        assert_eq!(bf16(1.0 + power_of_2(-8)), 1.0);
        assert_eq!(bf16(f64::MAX), f64::INFINITY);
        assert_eq!(bf16(power_of_2(-133)), power_of_2(-133));
        assert_eq!(pushed(DType::F32, 0.1).unwrap(), f64::from(0.1_f32));
        assert_eq!(pushed(DType::F64, 0.1).unwrap(), 0.1);
    }

    #[test]
    fn out_of_range_integers_are_rejected() {
        assert_eq!(pushed(DType::I8, -128.0), Some(-128.0));
        assert_eq!(pushed(DType::I8, 128.0), None);
        assert_eq!(pushed(DType::U8, -1.0), None);
        assert_eq!(pushed(DType::BOOL, 1.0), Some(1.0));
        assert_eq!(pushed(DType::BOOL, 2.0), None);
        assert_eq!(pushed(DType::I64, 0.5), None);
        assert_eq!(pushed(DType::U64, power_of_2(63)), Some(power_of_2(63)));
        assert_eq!(pushed(DType::U64, power_of_2(64)), None);
        assert_eq!(pushed(DType::I32, f64::NAN), None);
        assert_eq!(pushed(DType::STRING, 1.0), None);
    }

    #[test]
    fn float16_converts_to_equal_float32() {
        let cases = [
            (0x3c00, 1.0),
            (0xc500, -5.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{:#x}", bits);
        }
        assert!(half(0x8000) == 0.0 && half(0x8000).is_sign_negative());
        assert!(half(0x7e01).is_nan());
    }
}
