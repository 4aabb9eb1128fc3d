//! Tensors from option values: `2.5`, `[[1, 2], [3, 4]]`, `"text"`, `"file.npy"`.

use std::path::Path;

use passdock_plugin_api::element;
use passdock_plugin_api::prelude::*;

use super::read::is_float;

/// The shape of a tensor, and its elements in the encoding of constants.
pub(crate) struct Literal {
    pub(crate) shape: Vec<i64>,
    pub(crate) bytes: Vec<u8>,
}

/// Converts a value to a tensor of an element type. Floats are rounded to nearest; other values must be exact. The
/// error text completes a sentence.
pub(crate) fn literal(value: &OptionValue, dtype: DType) -> Result<Literal, String> {
    let mut shape = Vec::new();
    let mut first = value;
    while let Some(items) = items(first) {
        shape.push(items.len() as i64);
        match items.first() {
            Some(item) => first = item,
            None => break,
        }
    }
    let mut elements = Vec::new();
    collect(value, &shape, &mut elements)?;
    let bytes = match dtype {
        DType::STRING => strings(&elements)?,
        _ => {
            let mut bytes = Vec::new();
            for element in elements {
                push(element, dtype, &mut bytes)?;
            }
            bytes
        }
    };
    Ok(Literal { shape, bytes })
}

/// Reads a `.npy` file, which must have this element type. The error text completes a sentence.
pub(crate) fn from_file(path: &str, dtype: DType) -> Result<Literal, String> {
    let name = |dtype: DType| dtype.name().unwrap_or("?");
    if !path.ends_with(".npy") {
        return Err(format!(
            "expected a tensor of {} or the path of a `.npy` file",
            name(dtype)
        ));
    }
    let array = passdock_npy::read(Path::new(path)).map_err(|error| error.to_string())?;
    if array.dtype != dtype {
        return Err(format!(
            "expected element type {}, found {}",
            name(dtype),
            name(array.dtype)
        ));
    }
    Ok(Literal {
        shape: array.shape,
        bytes: array.data,
    })
}

fn items(value: &OptionValue) -> Option<&[OptionValue]> {
    match value {
        OptionValue::List(items) => Some(items),
        _ => None,
    }
}

/// Collects the elements in row-major order. Fails if lists at the same depth have different lengths.
fn collect<'v>(
    value: &'v OptionValue,
    shape: &[i64],
    elements: &mut Vec<&'v OptionValue>,
) -> Result<(), String> {
    match (items(value), shape) {
        (None, []) => elements.push(value),
        (Some(items), [size, inner @ ..]) if items.len() as i64 == *size => {
            for item in items {
                collect(item, inner, elements)?;
            }
        }
        _ => return Err("nested lists have different lengths".to_owned()),
    }
    Ok(())
}

fn push(value: &OptionValue, dtype: DType, bytes: &mut Vec<u8>) -> Result<(), String> {
    let name = dtype.name().unwrap_or("?");
    let invalid = || format!("expected {name}, found {value}");
    if is_float(dtype) {
        return push_float(value, dtype, bytes)
            .ok_or_else(|| format!("{value} is not representable as {name}"));
    }
    let size = element::size_of(dtype)
        .ok_or_else(|| format!("element type {name} is not supported in options"))?;
    let int = match *value {
        OptionValue::Bool(bool) if dtype == DType::BOOL => i128::from(bool),
        OptionValue::Int(int) if dtype != DType::BOOL => i128::from(int),
        _ => return Err(invalid()),
    };
    let half = 1_i128 << (8 * size - 1);
    let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let range = if is_signed { -half..half } else { 0..2 * half };
    if !range.contains(&int) {
        return Err(format!("{value} is out of range for {name}"));
    }
    bytes.extend(&int.to_le_bytes()[..size]);
    Ok(())
}

/// Appends a float rounded to nearest, or an integer that must be exact.
fn push_float(value: &OptionValue, dtype: DType, bytes: &mut Vec<u8>) -> Option<()> {
    let (given, is_exact) = match *value {
        OptionValue::Float(float) => (float, false),
        // Above 2^53 not every integer is a float.
        OptionValue::Int(int) if (int as f64) as i128 == i128::from(int) => (int as f64, true),
        _ => return None,
    };
    let start = bytes.len();
    element::push(dtype, given, bytes);
    let back = element::read(dtype, &bytes[start..]);
    let overflows = given.is_finite() && !back.is_finite();
    (!overflows && (!is_exact || back == given)).then_some(())
}

/// Encodes strings: the offsets, one more than there are strings, followed by the bytes.
fn strings(elements: &[&OptionValue]) -> Result<Vec<u8>, String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut offsets = vec![0_u64];
    for element in elements {
        match element {
            OptionValue::String(text) => bytes.extend(text.as_bytes()),
            other => return Err(format!("expected a string, found {other}")),
        }
        offsets.push(bytes.len() as u64);
    }
    let mut all: Vec<u8> = offsets.iter().flat_map(|at| at.to_le_bytes()).collect();
    all.extend(bytes);
    Ok(all)
}
