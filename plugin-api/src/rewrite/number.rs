//! Comparison of numbers in rules with elements of constants, for all dtypes.

use passdock_abi::{DType, ValueId};

use crate::data::element::{self, read, size_of};
use crate::data::EditError;
use crate::ir::Function;
use crate::language::Number;

/// The maximum size of a constant that is compared, in bytes. Neutral elements are small, and weights aren't read.
const MOST_BYTES: u64 = 1 << 20;

/// Whether all elements of a constant equal a number.
pub(super) fn is_everywhere(
    f: &Function,
    value: ValueId,
    number: Number,
) -> Result<bool, EditError> {
    let constant = match f.constant(value).and_then(|id| f.constant_record(id)) {
        Some(constant) => constant,
        None => return Ok(false),
    };
    let dtype = f.dtype(value);
    let size = match size_of(dtype) {
        Some(size) => size,
        None => return Ok(false),
    };
    if constant.byte_len > MOST_BYTES || constant.byte_len == 0 {
        return Ok(false);
    }
    let bytes = match f.constant_data(value)? {
        Some(bytes) => bytes,
        None => return Ok(false),
    };
    let fits = |element: &[u8]| element_is(dtype, element, number);
    let mut elements = bytes.chunks_exact(size);
    let first = match elements.next() {
        Some(first) if fits(first) => first,
        _ => return Ok(false),
    };
    Ok(elements.all(|element| element == first || fits(element)))
}

/// Returns the number that all elements of a small constant equal; `None` if it isn't a constant, or they differ.
///
/// # Errors
/// If the constant's bytes can't be read.
pub fn number_of(f: &Function, value: ValueId) -> Result<Option<f64>, EditError> {
    let size = match size_of(f.dtype(value)) {
        Some(size) => size,
        None => return Ok(None),
    };
    let first = match f.constant_data(value)? {
        Some(bytes) if bytes.len() >= size => read(f.dtype(value), &bytes[..size]),
        _ => return Ok(None),
    };
    let number = Number {
        value: first,
        about: false,
    };
    Ok(Some(first).filter(|_| is_everywhere(f, value, number).unwrap_or(false)))
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
