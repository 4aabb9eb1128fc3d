//! [`Numbers`]: one number a channel, and the elements of floats of every type.

use half::{bf16, f16};
use passdock_plugin_api::prelude::*;

/// One number for each channel; a single one stands for all of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers(Vec<f64>);

impl Numbers {
    /// The same number for every channel.
    pub(crate) fn every(number: f64) -> Numbers {
        Numbers(vec![number])
    }

    pub(crate) fn new(mut numbers: Vec<f64>) -> Numbers {
        let first = numbers.first().copied().unwrap_or(0.0);
        if numbers
            .iter()
            .all(|number| number.to_bits() == first.to_bits())
        {
            numbers = vec![first];
        }
        Numbers(numbers)
    }

    pub(crate) fn at(&self, channel: usize) -> f64 {
        if self.0.len() == 1 {
            self.0[0]
        } else {
            self.0[channel]
        }
    }

    /// The number of every channel, if it is one.
    pub(crate) fn one(&self) -> Option<f64> {
        (self.0.len() == 1).then(|| self.0[0])
    }

    pub(crate) fn are(&self, number: f64) -> bool {
        self.one() == Some(number)
    }

    pub(crate) fn all(&self, holds: impl Fn(f64) -> bool) -> bool {
        self.0.iter().all(|&number| holds(number))
    }

    pub(crate) fn map(&self, of: impl Fn(f64) -> f64) -> Numbers {
        Numbers::new(self.0.iter().map(|&number| of(number)).collect())
    }

    /// What comes of both, channel by channel.
    pub(crate) fn with(&self, other: &Numbers, of: impl Fn(f64, f64) -> f64) -> Numbers {
        let count = self.0.len().max(other.0.len());
        Numbers::new((0..count).map(|at| of(self.at(at), other.at(at))).collect())
    }

    /// The bits, to tell whether they are the same.
    pub(crate) fn bits(&self) -> Vec<u64> {
        self.0.iter().map(|number| number.to_bits()).collect()
    }
}

/// Bytes of an element; `None` for what isn't a float that is computed with.
pub(crate) fn size_of(dtype: DType) -> Option<usize> {
    Some(match dtype {
        DType::F16 | DType::BF16 => 2,
        DType::F32 => 4,
        DType::F64 => 8,
        _ => return None,
    })
}

/// The smallest number of a type that has all of its digits.
pub(crate) fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::from(f16::MIN_POSITIVE),
        DType::F64 => f64::MIN_POSITIVE,
        // bfloat16 has the exponents of float32.
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// An element as a number.
pub(crate) fn read(dtype: DType, element: &[u8]) -> f64 {
    let mut bytes = [0; 8];
    bytes[..element.len()].copy_from_slice(element);
    let bits = u64::from_le_bytes(bytes);
    match dtype {
        DType::F16 => f64::from(f16::from_bits(bits as u16)),
        DType::BF16 => f64::from(bf16::from_bits(bits as u16)),
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Appends a number as an element, the nearest that the type has. `None` if that is infinite, or no number.
pub(crate) fn push(dtype: DType, number: f64, bytes: &mut Vec<u8>) -> Option<f64> {
    let rounded = match dtype {
        DType::F16 => {
            let rounded = f16::from_f64(number);
            bytes.extend(rounded.to_le_bytes());
            f64::from(rounded)
        }
        DType::BF16 => {
            let rounded = bf16::from_f64(number);
            bytes.extend(rounded.to_le_bytes());
            f64::from(rounded)
        }
        DType::F32 => {
            bytes.extend((number as f32).to_le_bytes());
            f64::from(number as f32)
        }
        _ => {
            bytes.extend(number.to_le_bytes());
            number
        }
    };
    rounded.is_finite().then_some(rounded)
}
