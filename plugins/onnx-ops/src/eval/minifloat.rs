//! Floats of eight bits and fewer, as tables of their values.
//!
//! A type has at most 256 values, so encoding searches the positive ones for the nearest. Ties round to the even code,
//! as in IEEE.

use passdock_plugin_api::DType;

/// A small float type.
#[derive(Debug)]
pub(crate) struct MiniFloat {
    specials: Specials,
    mantissa_bits: u32,
    /// The values of the non-negative codes.
    values: Vec<f32>,
    /// The number of finite values. They come first and ascend with the code.
    finite: usize,
}

/// The codes that aren't finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Specials {
    /// The highest exponent has infinity and NaNs, as in IEEE.
    Ieee,
    /// The code with all bits set is NaN; infinity doesn't exist.
    OneNan,
    /// The code of minus zero is NaN; infinity and minus zero don't exist.
    NoMinusZero,
    /// All codes are finite numbers.
    None,
}

/// The encoding of a value beyond the largest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The largest value, even for infinity.
    Saturate,
    /// Infinity, or NaN if the type has no infinity.
    Overflow,
}

impl Overflow {
    /// Returns the variant for the attribute `saturate`.
    pub(crate) fn saturating(saturate: bool) -> Overflow {
        if saturate {
            Overflow::Saturate
        } else {
            Overflow::Overflow
        }
    }
}

impl MiniFloat {
    /// Returns the small float type of an element type, if it is one with a sign and a mantissa.
    pub(crate) fn from_dtype(dtype: DType) -> Option<MiniFloat> {
        let (exponent_bits, mantissa_bits, bias, specials) = match dtype {
            DType::F8E4M3FN => (4, 3, 7, Specials::OneNan),
            DType::F8E4M3FNUZ => (4, 3, 8, Specials::NoMinusZero),
            DType::F8E5M2 => (5, 2, 15, Specials::Ieee),
            DType::F8E5M2FNUZ => (5, 2, 16, Specials::NoMinusZero),
            DType::F4E2M1 => (2, 1, 1, Specials::None),
            DType::F6E2M3 => (2, 3, 1, Specials::None),
            DType::F6E3M2 => (3, 2, 3, Specials::None),
            _ => return None,
        };
        let count = 1_u8 << (exponent_bits + mantissa_bits);
        let finite = match specials {
            Specials::Ieee => count - (1 << mantissa_bits),
            Specials::OneNan => count - 1,
            Specials::NoMinusZero | Specials::None => count,
        };
        let value = |code: u8| {
            let mantissa = f32::from(code & ((1 << mantissa_bits) - 1));
            let exponent = i32::from(code >> mantissa_bits);
            let scale = ((exponent.max(1) - bias) as f32 - mantissa_bits as f32).exp2();
            match exponent {
                _ if code == finite && specials == Specials::Ieee => f32::INFINITY,
                _ if code >= finite => f32::NAN,
                0 => mantissa * scale,
                _ => ((1 << mantissa_bits) as f32 + mantissa) * scale,
            }
        };
        Some(MiniFloat {
            specials,
            mantissa_bits,
            values: (0..count).map(value).collect(),
            finite: finite.into(),
        })
    }

    fn sign_bit(&self) -> u8 {
        self.values.len() as u8
    }

    /// Returns the value of a code.
    pub(crate) fn decode(&self, code: u8) -> f32 {
        let magnitude = code & (self.sign_bit() - 1);
        let value = self.values[usize::from(magnitude)];
        match code & self.sign_bit() {
            0 => value,
            _ if magnitude == 0 && self.specials == Specials::NoMinusZero => f32::NAN,
            _ => -value,
        }
    }

    /// Returns the code nearest to a value, or `None` for NaN in a type without NaN.
    pub(crate) fn encode(&self, value: f64, overflow: Overflow) -> Option<u8> {
        let sign = if value.is_sign_negative() {
            self.sign_bit()
        } else {
            0
        };
        let largest = self.finite - 1;
        if value.is_nan() {
            return match self.specials {
                Specials::None => None,
                Specials::NoMinusZero => Some(self.sign_bit()),
                // The quiet NaN without a payload.
                Specials::Ieee => Some(sign | (largest as u8 + 1) | 1 << (self.mantissa_bits - 1)),
                Specials::OneNan => Some(sign | (self.sign_bit() - 1)),
            };
        }
        let finite = |code: usize| f64::from(self.values[code]);
        let magnitude = value.abs();
        let above = self.values[..self.finite].partition_point(|&x| f64::from(x) < magnitude);
        let code = if above == 0 {
            0
        } else {
            let below = finite(above - 1);
            // Values beyond the largest round as if the sequence continued.
            let next = match above <= largest {
                true => finite(above),
                false => 2.0 * below - finite(above - 2),
            };
            match (magnitude - below).partial_cmp(&(next - magnitude)) {
                Some(std::cmp::Ordering::Less) => above - 1,
                Some(std::cmp::Ordering::Equal) => (above - 1) + (above - 1) % 2,
                _ => above,
            }
        };
        let code = match (code <= largest, overflow, self.specials) {
            (true, ..) => code as u8,
            (false, Overflow::Saturate, _) | (false, _, Specials::None) => largest as u8,
            // The code after the largest is infinity.
            (false, _, Specials::Ieee) => largest as u8 + 1,
            (false, _, Specials::OneNan) => self.sign_bit() - 1,
            (false, _, Specials::NoMinusZero) => return Some(self.sign_bit()),
        };
        match self.specials {
            Specials::NoMinusZero if code == 0 => Some(0),
            _ => Some(sign | code),
        }
    }
}

/// Returns the value of a float8e8m0 code, a power of two.
pub(crate) fn decode_e8m0(code: u8) -> f32 {
    match code {
        255 => f32::NAN,
        // 2^-127 is subnormal in float32: half of the smallest normal number.
        0 => f32::MIN_POSITIVE / 2.0,
        exponent => f32::from_bits(u32::from(exponent) << 23),
    }
}

/// The rounding to float8e8m0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// To the next higher power of two.
    Up,
    /// To the next lower power of two.
    Down,
    /// To the nearest; ties round up.
    Nearest,
}

/// Returns the float8e8m0 code of a value, or `None` if ONNX doesn't define it.
pub(crate) fn encode_e8m0(value: f64, rounding: Rounding, overflow: Overflow) -> Option<u8> {
    if value.is_nan() {
        return Some(255);
    }
    let lowest = f64::from(decode_e8m0(0));
    let highest = f64::from(decode_e8m0(254));
    if !(lowest..=highest).contains(&value) {
        // Out of range, ONNX defines only these two combinations, and none for minus zero and negative values.
        return match (overflow, rounding) {
            (Overflow::Saturate, Rounding::Up) if value == 0.0 && !value.is_sign_negative() => {
                Some(0)
            }
            _ if value <= 0.0 => None,
            (Overflow::Saturate, Rounding::Up) if value > highest => Some(254),
            (Overflow::Saturate, Rounding::Up) => Some(0),
            (Overflow::Overflow, Rounding::Nearest) => Some(255),
            _ => None,
        };
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let fraction = bits & ((1 << 52) - 1);
    let up = match rounding {
        Rounding::Up => fraction != 0,
        Rounding::Down => false,
        Rounding::Nearest => fraction >= 1 << 51,
    };
    u8::try_from(exponent + 127 + i64::from(up)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [DType; 7] = [
        DType::F8E4M3FN,
        DType::F8E4M3FNUZ,
        DType::F8E5M2,
        DType::F8E5M2FNUZ,
        DType::F4E2M1,
        DType::F6E2M3,
        DType::F6E3M2,
    ];

    #[test]
    fn every_code_round_trips() {
        for dtype in TYPES {
            let float = MiniFloat::from_dtype(dtype).expect("it is a small float");
            for code in 0..2 * u16::from(float.sign_bit()) {
                let code = code as u8;
                let value = float.decode(code);
                let back = float
                    .encode(value.into(), Overflow::Overflow)
                    .expect("it has a code");
                assert_eq!(
                    float.decode(back).to_bits(),
                    value.to_bits(),
                    "{dtype:?} {code:#x}"
                );
            }
        }
        for code in 0..=255 {
            let value = decode_e8m0(code).into();
            assert_eq!(
                encode_e8m0(value, Rounding::Up, Overflow::Saturate),
                Some(code)
            );
        }
    }

    #[test]
    fn largest_values_match_the_standard() {
        let largest = TYPES.map(|dtype| {
            let float = MiniFloat::from_dtype(dtype).expect("it is a small float");
            float.values[float.finite - 1]
        });
        assert_eq!(largest, [448.0, 240.0, 57344.0, 57344.0, 6.0, 7.5, 28.0]);
    }

    #[test]
    fn ties_round_to_even_and_overflow_follows_mode() {
        let float = MiniFloat::from_dtype(DType::F8E4M3FN).expect("it is a small float");
        let cases = [
            (1.0625, 0x38),
            (1.1875, 0x3a),
            (464.0, 0x7e),
            (464.5, 0x7f),
            (f64::INFINITY, 0x7f),
            (-0.0, 0x80),
        ];
        for (value, code) in cases {
            assert_eq!(
                float.encode(value, Overflow::Overflow),
                Some(code),
                "{value}"
            );
        }
        assert_eq!(
            float.encode(f64::NEG_INFINITY, Overflow::Saturate),
            Some(0xfe)
        );
    }
}
