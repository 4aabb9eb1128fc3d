//! The comparison of two tensors of one type and shape, element by element.

use passdock_abi::DType;
use serde::Serialize;

use super::ort::Tensor;
use crate::elements::{self, Element};

/// The user's tolerances, and the precision that passes introduced.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overrides {
    /// The relative tolerance, instead of `Tolerance::relative_to_element`.
    pub(super) relative: Option<f64>,
    /// The absolute tolerance, instead of the one that follows from the largest element.
    pub(super) absolute: Option<f64>,
    /// The type that is computed in. Its tolerance applies to floats of a finer type.
    pub(super) compute_dtype: Option<DType>,
}

/// The allowed distance of two elements: `max(tiny, relative_to_largest · max|a|) + relative_to_element · |a|`.
#[derive(Clone, Copy)]
struct Tolerance {
    tiny: f64,
    relative_to_largest: f64,
    relative_to_element: f64,
}

impl Tolerance {
    /// Returns the tolerance of a type; `None` if elements have to be equal.
    fn new(dtype: DType, overrides: Overrides) -> Option<Tolerance> {
        let mut tolerance = Tolerance::for_dtype(dtype)?;
        match overrides.compute_dtype.and_then(Tolerance::for_dtype) {
            Some(coarser) if coarser.tiny > tolerance.tiny => tolerance = coarser,
            _ => {}
        }
        if let Some(absolute) = overrides.absolute {
            (tolerance.tiny, tolerance.relative_to_largest) = (absolute, 0.0);
        }
        let relative_to_element = overrides.relative.unwrap_or(tolerance.relative_to_element);
        Some(Tolerance {
            relative_to_element,
            ..tolerance
        })
    }

    fn for_dtype(dtype: DType) -> Option<Tolerance> {
        let (tiny, relative_to_largest, relative_to_element) = match dtype {
            DType::F64 | DType::C128 => (1e-12, 1e-7, 1e-6),
            DType::F32 | DType::C64 => (1e-7, 1e-5, 1e-4),
            DType::F16 => (1e-4, 1e-2, 1e-2),
            DType::BF16 => (1e-3, 2e-2, 2e-2),
            _ => return None,
        };
        Some(Tolerance {
            tiny,
            relative_to_largest,
            relative_to_element,
        })
    }

    fn allowed(self, element: Element<'_>, largest: f64) -> f64 {
        let own = element.finite().unwrap_or(0.0);
        self.tiny.max(self.relative_to_largest * largest) + self.relative_to_element * own
    }
}

/// Two elements with their distance and position.
#[derive(Clone, Debug, Serialize)]
pub struct ElementDifference {
    /// The distance; `null` in JSON if it is infinite, or if elements of this type have to be equal.
    pub value: f64,
    /// The 0-based index of the run.
    pub run: usize,
    /// The index of the element in each dimension.
    pub index: Vec<u64>,
    /// The element before.
    pub before: String,
    /// The element after.
    pub after: String,
}

/// A maximum over pairs of elements, and the pair that has it.
#[derive(Clone, Copy, Default)]
pub(super) struct Peak<'t> {
    pub(super) value: f64,
    /// The linear index, and the elements before and after.
    pub(super) pair: Option<(u64, Element<'t>, Element<'t>)>,
}

impl<'t> Peak<'t> {
    fn update(&mut self, value: f64, pair: (u64, Element<'t>, Element<'t>)) {
        if value > self.value {
            (self.value, self.pair) = (value, Some(pair));
        }
    }
}

/// The differences of two tensors.
#[derive(Default)]
pub(super) struct Differences<'t> {
    /// The number of elements beyond the tolerance.
    pub(super) beyond: u64,
    /// The largest distance relative to the tolerance.
    pub(super) ratio: Peak<'t>,
    pub(super) absolute: Peak<'t>,
    /// The largest distance relative to the larger element.
    pub(super) relative: Peak<'t>,
}

/// Returns the elements of a tensor.
fn elements(tensor: &Tensor) -> elements::Elements<'_> {
    let count = Tensor::elements(&tensor.shape).unwrap_or(0);
    elements::elements(tensor.dtype, &tensor.data, count)
}

/// Returns the number of numbers per element: two for complex types.
pub(super) fn parts(dtype: DType) -> u64 {
    match dtype {
        DType::C64 | DType::C128 => 2,
        _ => 1,
    }
}

/// Compares two tensors of one type and shape.
pub(super) fn compare<'t>(
    before: &'t Tensor,
    after: &'t Tensor,
    overrides: Overrides,
) -> Differences<'t> {
    let mut differences = Differences::default();
    if before.data == after.data {
        return differences;
    }
    let tolerance = Tolerance::new(before.dtype, overrides);
    let finite = elements(before).filter_map(Element::finite);
    let largest = finite.fold(0.0, f64::max);
    for (at, (x, y)) in (0_u64..).zip(elements(before).zip(elements(after))) {
        let distance = x.distance(y);
        let ratio = match tolerance {
            // 0 / 0: equal elements without tolerance.
            Some(tolerance) => distance / tolerance.allowed(x, largest),
            None if x == y => 0.0,
            None => f64::INFINITY,
        };
        differences.beyond += u64::from(ratio > 1.0);
        differences.ratio.update(ratio, (at, x, y));
        differences.absolute.update(distance, (at, x, y));
        differences.relative.update(x.part(y, distance), (at, x, y));
    }
    differences
}

/// Converts a linear index to an index in each dimension.
pub(super) fn index(shape: &[i64], mut at: u64) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (index, &dim) in index.iter_mut().zip(shape).rev() {
        let dim = dim.max(1) as u64;
        (*index, at) = (at % dim, at / dim);
    }
    index
}

/// Whether every element is NaN.
pub(super) fn is_all_nan(tensor: &Tensor) -> bool {
    elements(tensor).all(|element| matches!(element, Element::Float(x) if x.is_nan()))
}
