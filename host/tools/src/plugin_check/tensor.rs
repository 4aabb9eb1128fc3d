//! Constant tensors, copied from a function for comparison.

use passdock_abi::DType;
use passdock_core::sdk::{Function, ValueId, element};

use crate::elements::{Element, elements};

/// The number of elements that a message shows.
const SHOWN: usize = 12;

/// The type and bytes of a constant.
#[derive(PartialEq)]
pub(super) struct Tensor {
    pub(super) dtype: DType,
    pub(super) shape: Vec<i64>,
    pub(super) bytes: Vec<u8>,
}

impl Tensor {
    /// Reads a constant. `None` if the value isn't one.
    pub(super) fn read(f: &Function, value: ValueId) -> Option<Tensor> {
        let bytes = f.constant_data(value).ok()??.to_vec();
        let (dtype, shape) = (f.dtype(value)?, f.shape(value)?);
        Some(Tensor {
            dtype,
            shape,
            bytes,
        })
    }

    /// Returns the number of elements.
    pub(super) fn count(&self) -> usize {
        self.shape.iter().map(|&size| size as usize).product()
    }

    /// Returns an element as a tensor of the same rank. `None` if the elements aren't whole numbers of bytes.
    pub(super) fn element(&self, at: usize) -> Option<Tensor> {
        let size = element::size_of(self.dtype)?;
        Some(Tensor {
            dtype: self.dtype,
            shape: vec![1; self.shape.len()],
            bytes: self.bytes.get(at * size..(at + 1) * size)?.to_vec(),
        })
    }

    /// Returns a tensor of the same type whose elements are 1. `None` if the elements aren't numbers.
    pub(super) fn ones(&self) -> Option<Tensor> {
        let mut bytes = Vec::new();
        for _ in 0..self.count() {
            element::push(self.dtype, 1.0, &mut bytes).then_some(())?;
        }
        let (dtype, shape) = (self.dtype, self.shape.clone());
        Some(Tensor {
            dtype,
            shape,
            bytes,
        })
    }

    /// Whether two tensors differ in their types, or in their elements by more than rounding errors.
    pub(super) fn differs(&self, other: &Tensor) -> bool {
        let mut pairs = self.elements().zip(other.elements());
        self.dtype != other.dtype
            || self.shape != other.shape
            || pairs.any(|(one, other)| differ(one, other, self.dtype))
    }

    fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        elements(self.dtype, &self.bytes, self.count() as u64)
    }

    /// Returns the type and the first elements as text.
    pub(super) fn text(&self) -> String {
        let sizes: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let elements = self.elements().map(|element| element.text(self.dtype));
        let mut shown: Vec<String> = elements.take(SHOWN).collect();
        if self.count() > SHOWN {
            shown.push("…".to_owned());
        }
        let dtype = self.dtype.name().unwrap_or("?");
        format!("{dtype}[{}] [{}]", sizes.join(","), shown.join(", "))
    }
}

/// Whether two elements differ by more than rounding errors.
fn differ(one: Element<'_>, other: Element<'_>, dtype: DType) -> bool {
    let tolerance = match dtype {
        DType::F64 => 1e-9,
        DType::F32 => 1e-4,
        DType::F16 => 1e-2,
        DType::BF16 => 5e-2,
        _ => return one != other,
    };
    if one == other {
        return false;
    }
    let is_finite = one.finite().is_some() && other.finite().is_some();
    if !is_finite && matches!(dtype, DType::F16 | DType::BF16) {
        // A step of the body may overflow.
        return false;
    }
    let distance = one.distance(other);
    distance > tolerance && one.part(other, distance) > tolerance
}
