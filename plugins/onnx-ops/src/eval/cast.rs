//! Cast and CastLike: any numeric type to any other, and strings where one spelling is certain.

use half::{bf16, f16};

use super::minifloat::{MiniFloat, Overflow, Rounding, decode_e8m0, encode_e8m0};
use super::number::{Number, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

/// Casts to the type that the attribute `to` says.
pub(crate) fn cast<'a>(call: &Call<'a>) -> Folded<'a> {
    let Some(to) = call.int("to")?.and_then(|to| u32::try_from(to).ok()) else {
        return refuse!("its attribute `to` is missing");
    };
    convert(call, DType(to))
}

/// Casts to the type of the second operand.
pub(crate) fn cast_like<'a>(call: &Call<'a>) -> Folded<'a> {
    convert(call, call.input(1)?.dtype())
}

fn convert<'a>(call: &Call<'a>, to: DType) -> Folded<'a> {
    let x = call.input(0)?;
    let overflow = Overflow::saturating(call.flag("saturate", true)?);
    let rounding = match call.word("round_mode", &["up", "down", "nearest"])? {
        "up" => Rounding::Up,
        "down" => Rounding::Down,
        _ => Rounding::Nearest,
    };
    call.room_for(to, x.shape())?;
    Ok(vec![to_type(x, to, overflow, rounding)?])
}

/// A tensor as another type.
pub(super) fn to_type<'a>(
    x: &'a Tensor<'a>,
    to: DType,
    overflow: Overflow,
    rounding: Rounding,
) -> Result<Tensor<'a>, NotFolded> {
    let from = x.dtype();
    if from == to {
        return Ok(x.borrow());
    }
    if to == DType::STRING {
        return to_strings(x);
    }
    let number = if from == DType::STRING {
        from_strings(x, to)?
    } else {
        as_number(x)?
    };
    let shape = x.shape().to_vec();
    if let Some(float) = MiniFloat::from_dtype(to) {
        let codes = each_f64(&number, |value| float.encode(value, overflow))?;
        return Ok(match to.bits() {
            8 => Tensor::from_vec(to, shape, codes),
            _ => Tensor::from_codes(to, shape, &codes),
        });
    }
    if to == DType::F8E8M0 {
        let codes = each_f64(&number, |value| encode_e8m0(value, rounding, overflow))?;
        return Ok(Tensor::from_vec(to, shape, codes));
    }
    if small_sign(to).is_some() {
        let codes = small_codes(&number)?;
        return Ok(Tensor::from_codes(to, shape, &codes));
    }
    if to == DType::BOOL {
        let truth = with_number!(number.dtype(), T => {
            let elements = number.stored::<T>()?;
            Ok::<_, NotFolded>(elements.iter().map(|&x| x != T::ZERO).collect::<Vec<bool>>())
        })?;
        return Ok(Tensor::from_vec(to, shape, truth));
    }
    let elements = with_number!(number.dtype(), S => {
        with_number!(to, D => {
            let elements = number.stored::<S>()?;
            let mut defined = true;
            let convert = |&x: &S| {
                between::<S, D>(x).unwrap_or_else(|| {
                    defined = false;
                    D::ZERO
                })
            };
            let converted: Vec<D> = elements.iter().map(convert).collect();
            Ok(defined.then(|| Tensor::from_vec(to, shape, converted)))
        })
    })?;
    match elements {
        Some(tensor) => Ok(tensor),
        None => refuse!(
            "a value that {} can't hold has no defined result",
            name_of(to)
        ),
    }
}

/// A number as another type; `None` is a float that an integer can't hold.
fn between<S: Number, D: Number>(value: S) -> Option<D> {
    match value.to_int() {
        // float32 and float64 are rounded once, from the exact integer.
        Some(int) if D::DTYPE == DType::F32 => {
            // Processors do this with 64 bits.
            let single = i64::try_from(int).map_or(int as f32, |int| int as f32);
            D::from_double(single.into())
        }
        Some(int) => Some(D::from_int(int)),
        None => D::from_double(value.to_f64()),
    }
}

/// The tensor as a type that is computed with: bools as 0 and 1, packed integers and small floats
/// widened.
fn as_number<'a>(x: &'a Tensor<'a>) -> Result<Tensor<'a>, NotFolded> {
    let shape = x.shape().to_vec();
    let dtype = x.dtype();
    if let Some(float) = MiniFloat::from_dtype(dtype) {
        let codes = if dtype.bits() == 8 {
            x.bytes().to_vec()
        } else {
            x.codes()?
        };
        let values: Vec<f32> = codes.into_iter().map(|code| float.decode(code)).collect();
        return Ok(Tensor::from_vec(DType::F32, shape, values));
    }
    if let Some(sign) = small_sign(dtype) {
        // Subtracting the sign bit twice extends it.
        let extend = |code: u8| (code ^ sign).wrapping_sub(sign) as i8;
        let values: Vec<i8> = x.codes()?.into_iter().map(extend).collect();
        return Ok(Tensor::from_vec(DType::I8, shape, values));
    }
    Ok(match dtype {
        DType::BOOL => {
            let values: Vec<u8> = x.bytes().iter().map(|&byte| u8::from(byte != 0)).collect();
            Tensor::from_vec(DType::U8, shape, values)
        }
        DType::F8E8M0 => {
            let values: Vec<f32> = x.bytes().iter().map(|&code| decode_e8m0(code)).collect();
            Tensor::from_vec(DType::F32, shape, values)
        }
        _ => x.borrow(),
    })
}

/// The number that a string spells: ONNX's special values in any case, else a decimal number.
fn read_float(string: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(string).ok()?.trim();
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "+inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        // Other spellings of infinity that Rust reads aren't ONNX's.
        _ if text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) =>
        {
            text.parse().ok()
        }
        _ => None,
    }
}

/// The integer that a string spells.
fn read_int(string: &[u8]) -> Option<i64> {
    std::str::from_utf8(string).ok()?.trim().parse().ok()
}

/// Strings as the numbers they spell, so that an integer loses no digit.
fn from_strings<'a>(x: &Tensor, to: DType) -> Result<Tensor<'a>, NotFolded> {
    let (strings, shape) = (x.strings()?, x.shape().to_vec());
    let is_float = with_number!(to, T => Ok::<_, NotFolded>(T::IS_FLOAT))?;
    let number = if is_float {
        let values: Option<Vec<f64>> = strings.into_iter().map(read_float).collect();
        values.map(|values| Tensor::from_vec(DType::F64, shape, values))
    } else {
        let values: Option<Vec<i64>> = strings.into_iter().map(read_int).collect();
        values.map(|values| Tensor::from_vec(DType::I64, shape, values))
    };
    match number {
        Some(number) => Ok(number),
        None => refuse!("a string doesn't spell a number"),
    }
}

/// Integers and bools as decimal strings; how floats are spelt isn't the same everywhere.
fn to_strings<'a>(x: &Tensor) -> Result<Tensor<'a>, NotFolded> {
    let number = match x.dtype() {
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => as_number(x)?,
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => as_number(x)?,
        other => {
            return refuse!(
                "how {} is written as a string isn't defined",
                name_of(other)
            );
        }
    };
    let strings: Vec<String> = with_number!(number.dtype(), T => {
        let spell = |x: &T| x.to_int().map(|int| int.to_string()).unwrap_or_default();
        Ok::<_, NotFolded>(number.stored::<T>()?.iter().map(spell).collect())
    })?;
    Ok(Tensor::from_strings(
        x.shape().to_vec(),
        strings.iter().map(|s| s.as_bytes()),
    ))
}

/// The sign bit of an integer of less than a byte; 0 if it has none.
fn small_sign(dtype: DType) -> Option<u8> {
    Some(match dtype {
        DType::U4 | DType::U2 => 0,
        DType::I4 => 8,
        DType::I2 => 2,
        _ => return None,
    })
}

/// Codes of small integers: the low bits of an integer, also of one that is a float. How fractions
/// are rounded isn't the same everywhere: ONNX truncates, ONNX Runtime rounds.
fn small_codes(number: &Tensor) -> Result<Vec<u8>, NotFolded> {
    let codes: Option<Vec<u8>> = with_number!(number.dtype(), T => {
        let code = |x: T| match x.to_int() {
            Some(int) => Some(int as u8),
            None => {
                let float = x.to_f64();
                let whole = float == float.trunc() && (-128.0..=127.0).contains(&float);
                whole.then_some(float as i8 as u8)
            }
        };
        Ok::<_, NotFolded>(number.stored::<T>()?.iter().map(|&x| code(x)).collect())
    })?;
    match codes {
        Some(codes) => Ok(codes),
        None => {
            refuse!("how fractions and large floats become integers of a few bits isn't defined")
        }
    }
}

/// Encodes each number; a `None` has no defined result.
fn each_f64(number: &Tensor, encode: impl Fn(f64) -> Option<u8>) -> Result<Vec<u8>, NotFolded> {
    let codes: Option<Vec<u8>> = with_number!(number.dtype(), T => {
        let elements = number.stored::<T>()?;
        Ok::<_, NotFolded>(elements.iter().map(|x| encode(x.to_f64())).collect())
    })?;
    match codes {
        Some(codes) => Ok(codes),
        None => refuse!("NaN, or a value out of range, has no defined result in its type"),
    }
}

/// The elements of a float tensor, or of anything that [`to_type`] makes one of, in single precision.
pub(super) fn singles(x: &Tensor) -> Result<Vec<f32>, NotFolded> {
    let number = as_number(x)?;
    with_number!(number.dtype(), T => {
        Ok(number.stored::<T>()?.iter().map(|x| x.to_f64() as f32).collect())
    })
}

/// Single precision rounded to a float type.
pub(super) fn from_singles<'a>(
    dtype: DType,
    shape: Vec<usize>,
    values: Vec<f32>,
) -> Result<Tensor<'a>, NotFolded> {
    Ok(match dtype {
        DType::F32 => Tensor::from_vec(dtype, shape, values),
        DType::F16 => {
            let values: Vec<f16> = values.into_iter().map(f16::from_f32).collect();
            Tensor::from_vec(dtype, shape, values)
        }
        DType::BF16 => {
            let values: Vec<bf16> = values.into_iter().map(bf16::from_f32).collect();
            Tensor::from_vec(dtype, shape, values)
        }
        other => {
            return refuse!(
                "nothing is computed with elements of type {}",
                name_of(other)
            );
        }
    })
}
