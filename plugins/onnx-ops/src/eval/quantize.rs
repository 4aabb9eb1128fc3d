//! DequantizeLinear and QuantizeLinear: per tensor, per axis, or in blocks along an axis.

use ndarray::{ArrayD, Axis};

use super::broadcast::spread;
use super::call::axis;
use super::cast::singles;
use super::minifloat::{MiniFloat, Overflow};
use super::number::rounded;
use super::tensor::{in_order, row_by_row};
use super::{Call, Folded, NotFolded, Tensor, ensure, in_shape, name_of, reject};
use passdock_plugin_api::DType;

/// Computes `(x - zero_point) * scale` in single precision.
pub(crate) fn dequantize<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, scale) = (call.input(0)?, call.input(1)?);
    let zero_point = call.optional(2);
    let result = match call.int_or("output_dtype", 0)? {
        0 => scale.dtype(),
        given => DType(u32::try_from(given).unwrap_or(0)),
    };
    if let Some(zero) = zero_point {
        let fits = zero.shape() == scale.shape() || (zero.len(), scale.len()) == (1, 1);
        let fits = fits && zero.dtype() == x.dtype();
        ensure!(
            fits,
            "zero point does not have the element type of operand 0 and the shape of the scale"
        );
    }
    call.room_for(result, x.shape())?;
    let positions = scale_indices(call, x, scale)?;
    let (scales, values) = (singles(scale)?, singles(x)?);
    let zeros = zero_point.map(singles).transpose()?;
    for operand in [Some(x), zero_point].into_iter().flatten() {
        // Single precision represents all values of the narrow types exactly, but not all int32 values.
        let is_exact = operand.dtype() != DType::I32
            || operand
                .stored::<i32>()?
                .iter()
                .all(|x| x.unsigned_abs() <= 1 << 23);
        ensure!(
            is_exact,
            "rounding of {} beyond 2^23 is undefined",
            name_of(DType::I32)
        );
    }
    let value = |(value, position): (f32, usize)| {
        let zero = zeros.as_ref().map_or(0.0, |zeros| zeros[position]);
        f64::from((value - zero) * scales[position])
    };
    let values = values.into_iter().zip(positions).map(value).collect();
    rounded(result, x.shape().to_vec(), values)
}

/// Computes `x / scale`, rounds it to the nearest even integer, adds the zero point, and clamps the sum to the type's
/// range.
pub(crate) fn quantize<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, scale) = (call.input(0)?, call.input(1)?);
    let zero_point = call.optional(2);
    let given = DType(u32::try_from(call.int_or("output_dtype", 0)?).unwrap_or(0));
    let result = match (zero_point, given) {
        (Some(zero), _) => zero.dtype(),
        (None, DType(0)) => DType::U8,
        (None, given) => given,
    };
    let (one, other) = (name_of(x.dtype()), name_of(scale.dtype()));
    let is_single = x.dtype() == DType::F32 && scale.dtype() == DType::F32;
    if !is_single {
        return reject!("runtimes disagree on {one} divided by {other}");
    }
    let fits = zero_point.is_none_or(|zero| zero.len() == scale.len());
    ensure!(fits, "zero point and scale have different sizes");
    let (low, high) = match result {
        DType::U8 => (0.0, 255.0),
        DType::I8 => (-128.0, 127.0),
        DType::U16 => (0.0, 65535.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::U4 => (0.0, 15.0),
        DType::I4 => (-8.0, 7.0),
        DType::U2 => (0.0, 3.0),
        DType::I2 => (-2.0, 1.0),
        other if MiniFloat::from_dtype(other).is_some() => (f32::NEG_INFINITY, f32::INFINITY),
        other => return reject!("unsupported result type {}", name_of(other)),
    };
    call.room_for(result, x.shape())?;
    let positions = scale_indices(call, x, scale)?;
    let (scales, values) = (singles(scale)?, singles(x)?);
    let zeros = zero_point.map(singles).transpose()?;
    let small = MiniFloat::from_dtype(result);
    let overflow = Overflow::saturating(call.flag("saturate", true)?);
    let (name, is_moved) = (
        name_of(result),
        zeros.iter().flatten().any(|&zero| zero != 0.0),
    );
    if is_moved && small.is_some() {
        return reject!("nonzero zero point is undefined for {name}");
    }
    let code = |(value, position): (f32, usize)| {
        let scaled = value / scales[position];
        if let Some(small) = &small {
            // ONNX adds a zero point of 0, which turns -0.0 into 0.0; ONNX Runtime doesn't.
            if scaled == 0.0 && scaled.is_sign_negative() && result.bits() == 8 {
                return None;
            }
            return small.encode((scaled + 0.0).into(), overflow).map(u16::from);
        }
        let zero = zeros.as_ref().map_or(0.0, |zeros| zeros[position]);
        let code = (scaled.round_ties_even() + zero).clamp(low, high);
        (!code.is_nan()).then_some(code as i32 as u16)
    };
    let codes = values.into_iter().zip(positions).map(code);
    let Some(codes) = codes.collect::<Option<Vec<u16>>>() else {
        return reject!("quantization of NaN or -0.0 to {name} is undefined");
    };
    let shape = x.shape().to_vec();
    let bytes = || codes.iter().map(|&code| code as u8).collect::<Vec<u8>>();
    Ok(match result.bits() {
        16 => Tensor::from_vec(result, shape, codes),
        8 => Tensor::from_vec(result, shape, bytes()),
        _ => Tensor::from_codes(result, shape, &bytes()),
    })
}

/// Returns the index of each element's scale: per tensor, per index of an axis, or per block along an axis.
fn scale_indices(call: &Call, x: &Tensor, scale: &Tensor) -> Result<Vec<usize>, NotFolded> {
    let block = usize::try_from(call.int_or("block_size", 0)?).unwrap_or(0);
    let (dims, scales) = (x.shape(), scale.shape());
    if block == 0 && (scales.is_empty() || scales == [1]) {
        return Ok(vec![0; x.len()]);
    }
    let at = axis(call.int_or("axis", 1)?, x.rank())?;
    let (mut shape, mut shared) = (scales.to_vec(), 1);
    if let (&[count], 0) = (scales, block) {
        ensure!(
            count == dims[at],
            "scale has length {count}, expected {}",
            dims[at]
        );
        shape = [count]
            .into_iter()
            .chain(dims[at + 1..].iter().map(|_| 1))
            .collect();
    } else {
        if block == 0 || scales.len() != dims.len() {
            return reject!("scale of shape {scales:?} does not fit operand of shape {dims:?}");
        }
        shared = block;
        let fits = |d: usize| scales[d] == dims[d].div_ceil(if d == at { block } else { 1 });
        let fits = (0..dims.len()).all(fits);
        ensure!(
            fits,
            "scale of shape {scales:?} does not fit blocks of {block} of operand of shape {dims:?}"
        );
    }
    let positions: ArrayD<usize> =
        in_shape(&shape, Vec::from_iter(0..scale.len()).into())?.into_owned();
    let spread_out: Vec<usize> = (0..dims[at]).map(|index| index / shared).collect();
    let positions = positions.select(Axis(at - (dims.len() - shape.len())), &spread_out);
    Ok(in_order(row_by_row(&spread(&positions.view(), dims)?)))
}
