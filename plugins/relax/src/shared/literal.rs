//! Tensors out of what stands in an option: `2.5`, `[[1, 2], [3, 4]]`, `"text"`, `"file.npy"`.

use std::path::Path;

use half::{bf16, f16};
use passdock_plugin_api::prelude::*;

/// A tensor's sizes, and its elements as constants keep them.
pub(crate) struct Literal {
    pub(crate) shape: Vec<i64>,
    pub(crate) bytes: Vec<u8>,
}

/// A value as a tensor of some element type. Numbers with a point are rounded to the nearest that the
/// type has; all others have to be there exactly. The error is the end of a sentence.
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

/// The tensor in a `.npy` file, if its elements are of this type. The error is the end of a sentence.
pub(crate) fn from_file(path: &str, dtype: DType) -> Result<Literal, String> {
    let name = |dtype: DType| dtype.name().unwrap_or("?");
    if !path.ends_with(".npy") {
        return Err(format!(
            "it isn't one of {}, nor the name of a `.npy` file",
            name(dtype)
        ));
    }
    let array = passdock_npy::read(Path::new(path)).map_err(|error| error.to_string())?;
    if array.dtype != dtype {
        return Err(format!("its elements are {}", name(array.dtype)));
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

/// The elements row by row, if all lists at a depth are of one length.
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
        _ => return Err("the lists in it aren't of one length".to_owned()),
    }
    Ok(())
}

fn push(value: &OptionValue, dtype: DType, bytes: &mut Vec<u8>) -> Result<(), String> {
    let name = dtype.name().unwrap_or("?");
    let wrong = || format!("{value} isn't one of {name}");
    macro_rules! integer {
        ($int:ty) => {
            match value {
                OptionValue::Int(int) => {
                    let int = <$int>::try_from(*int).map_err(|_| wrong())?;
                    bytes.extend(int.to_le_bytes());
                }
                _ => return Err(wrong()),
            }
        };
    }
    macro_rules! float {
        ($float:ty, $from:expr, $back:expr) => {{
            let (given, is_exact) = match value {
                OptionValue::Float(float) => (*float, false),
                // Above 2^53 not every integer is a float.
                OptionValue::Int(int) if (*int as f64) as i128 == i128::from(*int) => {
                    (*int as f64, true)
                }
                _ => return Err(wrong()),
            };
            let float: $float = $from(given);
            let back: f64 = $back(float);
            let overflows = given.is_finite() && !back.is_finite();
            if overflows || (is_exact && back != given) {
                return Err(wrong());
            }
            bytes.extend(float.to_le_bytes());
        }};
    }
    match dtype {
        DType::BOOL => match value {
            OptionValue::Bool(bool) => bytes.push(u8::from(*bool)),
            _ => return Err(wrong()),
        },
        DType::I8 => integer!(i8),
        DType::I16 => integer!(i16),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::U8 => integer!(u8),
        DType::U16 => integer!(u16),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        DType::F64 => float!(f64, |x| x, |x| x),
        DType::F32 => float!(f32, |x| x as f32, f64::from),
        DType::F16 => float!(f16, f16::from_f64, f64::from),
        DType::BF16 => float!(bf16, bf16::from_f64, f64::from),
        _ => return Err(format!("tensors of {name} can't be written in an option")),
    }
    Ok(())
}

/// An offset for each string and one more, then the bytes.
fn strings(elements: &[&OptionValue]) -> Result<Vec<u8>, String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut offsets = vec![0_u64];
    for element in elements {
        match element {
            OptionValue::String(text) => bytes.extend(text.as_bytes()),
            other => return Err(format!("{other} isn't a string")),
        }
        offsets.push(bytes.len() as u64);
    }
    let mut all: Vec<u8> = offsets.iter().flat_map(|at| at.to_le_bytes()).collect();
    all.extend(bytes);
    Ok(all)
}
