//! Cast and CastLike: between all numeric types, and to and from strings where the format is unambiguous.

use bytemuck::{NoUninit, Zeroable};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::minifloat::{MiniFloat, Overflow, Rounding, decode_e8m0, encode_e8m0};
use super::number::{Number, doubles, wholes, with_number};
use super::{Call, Folded, NotFolded, Tensor, name_of, reject};
use passdock_plugin_api::DType;

/// Casts to the type in the attribute `to`.
pub(crate) fn cast<'a>(call: &Call<'a>) -> Folded<'a> {
    let Some(to) = call.int("to")?.and_then(|to| u32::try_from(to).ok()) else {
        return reject!("missing or invalid attribute `to`");
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
    let rounding = match call.enum_value("round_mode", &["up", "down", "nearest"])? {
        "up" => Rounding::Up,
        "down" => Rounding::Down,
        _ => Rounding::Nearest,
    };
    call.room_for(to, x.shape())?;
    to_type(x, to, overflow, rounding)
}

/// Converts a tensor to another type.
fn to_type<'a>(x: &'a Tensor<'a>, to: DType, overflow: Overflow, rounding: Rounding) -> Folded<'a> {
    let from = x.dtype();
    if from == to {
        return Ok(x.clone());
    }
    if to == DType::STRING {
        return to_strings(x);
    }
    match (from, to) {
        (DType::F32, DType::F16) => return halves::<f16>(x, to),
        (DType::F32, DType::BF16) => return halves::<bf16>(x, to),
        _ => {}
    }
    let number = match from {
        DType::STRING => from_strings(x, to)?,
        _ => as_number(x)?,
    };
    let number = &number;
    if let Some(float) = MiniFloat::from_dtype(to) {
        return codes(number, to, NO_CODE, |value| {
            float.encode(value.float, overflow)
        });
    }
    if to == DType::F8E8M0 {
        return codes(number, to, NO_CODE, |value| {
            encode_e8m0(value.float, rounding, overflow)
        });
    }
    if small_sign(to).is_some() {
        return codes(number, to, NO_SMALL, |value| {
            let whole = value.float == value.float.trunc();
            let small = whole && (-128.0..=127.0).contains(&value.float);
            value
                .int
                .map(|int| int as u8)
                .or(small.then_some(value.float as i8 as u8))
        });
    }
    with_number!(number.dtype(), S => {
        if to == DType::BOOL {
            return number.map(to, |x: S| x != S::ZERO);
        }
        with_number!(to, D => {
            let undefined = format!("cast of an out-of-range value to {} is undefined", name_of(to));
            number.try_map(to, &undefined, between::<S, D>)
        })
    })
}

/// Converts floats to a 16-bit type. Processors have instructions for slices.
fn halves<'r, H: NoUninit + Zeroable>(x: &Tensor<'_>, to: DType) -> Folded<'r>
where
    [H]: HalfFloatSliceExt,
{
    let floats = x.stored::<f32>()?;
    let mut halves = vec![H::zeroed(); floats.len()];
    halves.convert_from_f32_slice(&floats);
    Ok(Tensor::from_vec(to, x.shape().to_vec(), halves))
}

/// Why a value has no code.
const NO_CODE: &str = "cast of NaN or of an out-of-range value is undefined";

/// Why a value can't be a small integer: ONNX truncates fractions, ONNX Runtime rounds them.
const NO_SMALL: &str =
    "cast of fractions and large floats to 4-bit and 2-bit integers is undefined";

/// A number in double precision, and its exact value if it is an integer.
struct Value {
    float: f64,
    int: Option<i128>,
}

/// Encodes numbers in a type of at most 8 bits. The op isn't folded if `encode` returns `None`.
fn codes<'a>(
    number: &Tensor,
    to: DType,
    undefined: &str,
    encode: impl Fn(Value) -> Option<u8>,
) -> Folded<'a> {
    let codes = with_number!(number.dtype(), T => number.try_map(DType::U8, undefined, |x: T| {
        encode(Value { float: x.to_f64(), int: x.to_int() })
    }))?;
    Ok(match to.bits() {
        8 => codes.with_dtype(to),
        _ => Tensor::from_codes(to, codes.shape().to_vec(), codes.bytes()),
    })
}

/// Converts a number to another type. Returns `None` for a float out of the integer's range.
fn between<S: Number, D: Number>(value: S) -> Option<D> {
    match value.to_int() {
        // Integers are rounded once, from their exact value.
        Some(int) if D::DTYPE == DType::F32 => {
            // Processors have instructions for 64 bits.
            let single = i64::try_from(int).map_or(int as f32, |int| int as f32);
            D::from_double(single.into())
        }
        Some(int) => Some(D::from_int(int)),
        None => D::from_double(value.to_f64()),
    }
}

/// Returns the tensor in a type with arithmetic: bools as 0 and 1, packed integers and small floats widened.
pub(super) fn as_number<'a>(x: &'a Tensor<'a>) -> Folded<'a> {
    let dtype = x.dtype();
    let codes = match dtype.bits() {
        1..8 => &Tensor::from_vec(DType::U8, x.shape().to_vec(), x.codes()?),
        _ => x,
    };
    if let Some(float) = MiniFloat::from_dtype(dtype) {
        return codes.map(DType::F32, |code| float.decode(code));
    }
    if let Some(sign) = small_sign(dtype) {
        // Xor with the sign bit and subtracting it extends the sign.
        return codes.map(DType::I8, |code: u8| (code ^ sign).wrapping_sub(sign) as i8);
    }
    match dtype {
        DType::BOOL => x.map(DType::U8, |byte: u8| u8::from(byte != 0)),
        DType::F8E8M0 => x.map(DType::F32, decode_e8m0),
        _ => Ok(x.clone()),
    }
}

/// Parses a float: ONNX's special values in any case, or a decimal number.
fn read_float(string: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(string).ok()?.trim();
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(f64::NAN),
        "inf" | "+inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        // Rust accepts more spellings of infinity than ONNX.
        _ if text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) =>
        {
            text.parse().ok()
        }
        _ => None,
    }
}

/// Parses an integer.
fn read_int(string: &[u8]) -> Option<i64> {
    std::str::from_utf8(string).ok()?.trim().parse().ok()
}

/// Parses strings as numbers of the target's kind, so that integers lose no digit.
fn from_strings<'a>(x: &Tensor, to: DType) -> Folded<'a> {
    let (strings, shape) = (x.strings()?.into_iter(), x.shape().to_vec());
    let is_float = with_number!(to, T => Ok::<_, NotFolded>(T::IS_FLOAT))?;
    let number = if is_float {
        let values: Option<Vec<f64>> = strings.map(read_float).collect();
        values.map(|values| Tensor::from_vec(DType::F64, shape, values))
    } else {
        let values: Option<Vec<i64>> = strings.map(read_int).collect();
        values.map(|values| Tensor::from_vec(DType::I64, shape, values))
    };
    number.ok_or(NotFolded::new("a string is not a valid number"))
}

/// Formats integers and bools as decimal strings. The format of floats differs between runtimes.
fn to_strings<'a>(x: &Tensor) -> Folded<'a> {
    let Ok(wholes) = wholes(x) else {
        return reject!("cast of {} to strings is undefined", name_of(x.dtype()));
    };
    let strings: Vec<String> = wholes.iter().map(i128::to_string).collect();
    let strings = strings.iter().map(String::as_bytes);
    Ok(Tensor::from_strings(x.shape().to_vec(), strings))
}

/// Returns the sign bit of an integer of less than 8 bits, or 0 if it is unsigned.
fn small_sign(dtype: DType) -> Option<u8> {
    Some(match dtype {
        DType::U4 | DType::U2 => 0,
        DType::I4 => 8,
        DType::I2 => 2,
        _ => return None,
    })
}

/// Returns the elements of a numeric tensor in single precision.
pub(super) fn singles(x: &Tensor) -> Result<Vec<f32>, NotFolded> {
    let number = as_number(x)?;
    Ok(doubles(&number)?.into_iter().map(|x| x as f32).collect())
}
