//! [`Numbers`]: one number per channel; reading and writing float elements of all types.

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

pub(crate) use passdock_plugin_api::element::read;

use crate::shared::read::is_float;

/// One number per channel. A single number applies to all channels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers(Vec<f64>);

impl Numbers {
    /// Returns a list that has the same number for every channel.
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

    /// Returns the number that all channels share, if they are equal.
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

    /// Combines two lists channel by channel.
    pub(crate) fn with(&self, other: &Numbers, of: impl Fn(f64, f64) -> f64) -> Numbers {
        let count = self.0.len().max(other.0.len());
        Numbers::new((0..count).map(|at| of(self.at(at), other.at(at))).collect())
    }

    /// Returns the bits of the numbers, as a key for comparison.
    pub(crate) fn bits(&self) -> Vec<u64> {
        self.0.iter().map(|number| number.to_bits()).collect()
    }
}

/// Returns the size of an element in bytes; `None` for types that aren't supported floats.
pub(crate) fn size_of(dtype: DType) -> Option<usize> {
    element::size_of(dtype).filter(|_| is_float(dtype))
}

/// Returns the smallest positive normal number of a type.
pub(crate) fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2_f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        // bfloat16 has the exponents of float32.
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// Appends a number, rounded to nearest, as an element. Returns the rounded number; `None` if it isn't finite.
pub(crate) fn push(dtype: DType, number: f64, bytes: &mut Vec<u8>) -> Option<f64> {
    let start = bytes.len();
    let is_pushed = element::push(dtype, number, bytes);
    let rounded = element::read(dtype, &bytes[start..]);
    (is_pushed && rounded.is_finite()).then_some(rounded)
}
