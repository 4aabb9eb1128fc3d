//! Comparison of numbers in rules with elements of constants, for all dtypes.

use std::slice::ChunksExact;

use passdock_abi::{DType, ValueId};

use crate::data::element::{self, read, size_of};
use crate::data::{AttrValue, EditError};
use crate::ir::Function;
use crate::language::Number;

/// The maximum size of a constant that is compared, in bytes. Neutral elements are small, and weights aren't read.
const MAX_BYTES: u64 = 1 << 20;
/// The minimum of the integers that aren't compared exactly.
const MAX_INT: f64 = (1_u64 << 53) as f64;

/// Whether all elements of a constant equal a number.
pub(super) fn is_everywhere(
    f: &Function,
    value: ValueId,
    number: Number,
) -> Result<bool, EditError> {
    let found = small_elements(f, value)?;
    Ok(found.map_or(false, |(dtype, elements)| all_are(dtype, elements, number)))
}

/// Returns the number that all elements of a small constant equal; `None` if it isn't a constant, or they differ.
///
/// # Errors
/// If the constant's bytes can't be read.
pub fn number_of(f: &Function, value: ValueId) -> Result<Option<f64>, EditError> {
    Ok(small_elements(f, value)?.and_then(|(dtype, elements)| {
        let number = Number {
            value: read(dtype, elements.clone().next()?),
            about: false,
        };
        Some(number.value).filter(|_| all_are(dtype, elements, number))
    }))
}

/// Returns the number that all elements of a small constant equal as an attribute; `None` if there is none, or an
/// attribute can't represent it exactly.
pub(super) fn attr_of(f: &Function, value: ValueId) -> Result<Option<AttrValue>, EditError> {
    let number = match number_of(f, value)? {
        Some(number) => number,
        None => return Ok(None),
    };
    Ok(match f.dtype(value) {
        Some(DType::F32 | DType::F16 | DType::BF16 | DType::F64) => {
            let float = number as f32;
            (f64::from(float) == number).then_some(AttrValue::Float(float))
        }
        _ => (number.abs() < MAX_INT).then_some(AttrValue::Int(number as i64)),
    })
}

/// Returns the value of an attribute that is a number, if a float represents it exactly.
pub(super) fn number_of_attr(attr: &AttrValue) -> Option<f64> {
    match *attr {
        AttrValue::Float(float) => Some(f64::from(float)),
        AttrValue::Int(int) => Some(int as f64).filter(|number| number.abs() < MAX_INT),
        _ => None,
    }
}

/// Returns the elements of a small constant of integers.
pub(super) fn ints_of(f: &Function, value: ValueId) -> Result<Option<Vec<i64>>, EditError> {
    match small_elements(f, value)? {
        Some(_) => f.constant_ints(value),
        None => Ok(None),
    }
}

/// Returns the dtype and the elements of a constant of at most [`MAX_BYTES`].
fn small_elements(
    f: &Function,
    value: ValueId,
) -> Result<Option<(DType, ChunksExact<'_, u8>)>, EditError> {
    let dtype = f.dtype(value);
    let constant = f.constant(value).and_then(|id| f.constant_record(id));
    let (dtype, size) = match (dtype, dtype.and_then(size_of), constant) {
        (Some(dtype), Some(size), Some(constant)) if constant.byte_len <= MAX_BYTES => {
            (dtype, size)
        }
        _ => return Ok(None),
    };
    let bytes = f.constant_data(value)?;
    Ok(bytes.map(|bytes| (dtype, bytes.chunks_exact(size))))
}

fn all_are(dtype: DType, mut elements: ChunksExact<'_, u8>, number: Number) -> bool {
    let fits = |element: &[u8]| element_is(dtype, element, number);
    match elements.next() {
        Some(first) => fits(first) && elements.all(|element| element == first || fits(element)),
        None => false,
    }
}

fn element_is(dtype: DType, element: &[u8], number: Number) -> bool {
    let found = read(dtype, element);
    if number.about {
        return is_about(found, number.value, dtype);
    }
    // 0.1 means the nearest element.
    let nearest = bytes(dtype, number.value);
    found == number.value || nearest.map_or(false, |nearest| nearest == element)
}

/// Whether a number of a dtype is approximately another one, as exporters write it: with six digits, or a few rounding
/// errors. ONNX Runtime's fusions compare `f32` constants with the same tolerance.
pub fn is_about(found: f64, expected: f64, dtype: DType) -> bool {
    let precision = match dtype {
        DType::F64 | DType::F32 => 1e-5,
        DType::F16 => 4.0 / 1024.0,
        DType::BF16 => 4.0 / 128.0,
        _ => 0.0,
    };
    found == expected || (found - expected).abs() <= precision * expected.abs()
}

/// Returns a number as an element; `None` if the dtype can't represent it.
pub(super) fn bytes(dtype: DType, number: f64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match element::push(dtype, number, &mut bytes) {
        true => Some(bytes),
        false => None,
    }
}
