//! [`Numbers`]: one number a channel, and the elements of floats of every type.

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

pub(crate) use passdock_plugin_api::element::read;

use crate::shared::read::is_float;

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
    element::size_of(dtype).filter(|_| is_float(dtype))
}

/// The smallest number of a type that has all of its digits.
pub(crate) fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2_f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        // bfloat16 has the exponents of float32.
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// Appends a number as an element, the nearest that the type has. `None` if that is infinite, or no number.
pub(crate) fn push(dtype: DType, number: f64, bytes: &mut Vec<u8>) -> Option<f64> {
    let start = bytes.len();
    let is_pushed = element::push(dtype, number, bytes);
    let rounded = element::read(dtype, &bytes[start..]);
    (is_pushed && rounded.is_finite()).then_some(rounded)
}
