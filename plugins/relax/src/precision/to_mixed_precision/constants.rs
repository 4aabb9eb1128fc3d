//! Conversion of constants to the low-precision type, and checks of their range.

use std::collections::HashMap;

use half::{bf16, f16};
use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::Storage;

use super::Low;

/// The effect of the conversion on a constant's elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fit {
    /// The elements are rounded. Of 1,000 nonzero elements, `small` become inexact subnormals.
    Fits { small: u64 },
    /// This element overflows to infinity.
    Overflows(f32),
    /// All nonzero elements, such as this one, underflow to zero.
    Underflows(f32),
}

impl Fit {
    pub(super) fn fits(self) -> bool {
        matches!(self, Fit::Fits { .. })
    }
}

/// The constants that were checked.
pub(super) struct Constants {
    low: Low,
    known: HashMap<ValueId, Fit>,
}

impl Constants {
    pub(super) fn new(low: Low) -> Constants {
        Constants {
            low,
            known: HashMap::new(),
        }
    }

    /// Returns the effect of the conversion on a float32 constant.
    ///
    /// # Errors
    ///
    /// Fails if the constant's file can't be read.
    pub(super) fn fit(&mut self, f: &Function, value: ValueId) -> Result<Fit, EditError> {
        if let Some(&known) = self.known.get(&value) {
            return Ok(known);
        }
        let bytes = f.constant_data(value)?.unwrap_or_default();
        let fit = fit(elements(bytes), self.low);
        self.known.insert(value, fit);
        Ok(fit)
    }

    /// Creates the constant in the low-precision type, in the region of the original.
    ///
    /// # Errors
    ///
    /// Fails if the constant's file can't be read, or if the host rejects the constant.
    pub(super) fn convert(&self, f: &mut Function, value: ValueId) -> Result<ValueId, EditError> {
        let record = f.constant(value).and_then(|id| f.constant_record(id));
        let is_splat = record.is_some_and(|record| record.storage == Storage::SPLAT);
        let region = record.map_or(RegionId::NONE, |record| record.region);
        let bytes = f.constant_data(value)?.unwrap_or_default();
        let count = if is_splat { 1 } else { usize::MAX };
        let mut created = Vec::with_capacity(bytes.len().min(count.saturating_mul(4)) / 2);
        for number in elements(bytes).take(count) {
            element::push(self.low.dtype, number.into(), &mut created);
        }
        let shape = f.shape(value).unwrap_or_default();
        let ty = f.add_type(&TypeSpec::shaped(self.low.dtype, &shape))?;
        let spec = match is_splat {
            true => ConstantSpec::splat(ty, &created),
            false => ConstantSpec::new(ty, &created),
        };
        f.add_constant(&spec.in_region(region))
    }
}

fn elements(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    let chunks = bytes.chunks_exact(4);
    chunks.map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))
}

fn fit(elements: impl Iterator<Item = f32>, low: Low) -> Fit {
    let is_f16 = low == Low::F16;
    let smallest = if is_f16 {
        f16::MIN_POSITIVE.to_f32()
    } else {
        bf16::MIN_POSITIVE.to_f32()
    };
    let (mut nonzero, mut zeros, mut small) = (0_u64, 0_u64, 0_u64);
    let mut underflowed = 0.0;
    for element in elements.filter(|element| *element != 0.0 && element.is_finite()) {
        let rounded = match is_f16 {
            true => f16::from_f32(element).to_f32(),
            false => bf16::from_f32(element).to_f32(),
        };
        if rounded.is_infinite() {
            return Fit::Overflows(element);
        }
        nonzero += 1;
        small += u64::from(rounded.abs() < smallest && rounded != element);
        if rounded == 0.0 {
            zeros += 1;
            underflowed = element;
        }
    }
    if nonzero > 0 && zeros == nonzero {
        return Fit::Underflows(underflowed);
    }
    Fit::Fits {
        small: small * 1000 / nonzero.max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fit, Low, fit};

    #[test]
    fn overflow_and_underflow_are_detected() {
        let of = |elements: &[f32], low| fit(elements.iter().copied(), low);
        let fits = |small| Fit::Fits { small };
        assert_eq!(of(&[], Low::F16), fits(0));
        assert_eq!(of(&[0.0, -0.0], Low::F16), fits(0));
        // Just below the midpoint of the largest float16 and 65536, so it rounds down.
        assert_eq!(of(&[65_519.9], Low::F16), fits(0));
        assert_eq!(of(&[1.0, 65_520.0], Low::F16), Fit::Overflows(65_520.0));
        assert_eq!(of(&[-1e9, 1.0], Low::BF16), fits(0));
        assert_eq!(of(&[f32::MAX], Low::BF16), Fit::Overflows(f32::MAX));
        // Infinities and NaN don't count as overflow.
        let special = [f32::NEG_INFINITY, f32::NAN];
        assert_eq!(of(&special, Low::F16), fits(0));
        assert_eq!(of(&[1e-12, 0.0], Low::F16), Fit::Underflows(1e-12));
        assert_eq!(of(&[1e-12, 1.0, 1.0, 1.0], Low::F16), fits(250));
        // 2^-24 is the smallest subnormal float16.
        assert_eq!(of(&[1.0 / 16_777_216.0], Low::F16), fits(0));
        assert_eq!(of(&[1e-12], Low::BF16), fits(0));
    }
}
