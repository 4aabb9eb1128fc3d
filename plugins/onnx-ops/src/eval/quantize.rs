//! DequantizeLinear and QuantizeLinear: per tensor, per axis, or in blocks along an axis.

use super::call::axis;
use super::cast::{from_singles, singles};
use super::gather::strides;
use super::minifloat::{MiniFloat, Overflow};
use super::{Call, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

/// `(x - zero_point) * scale`, in single precision.
pub(crate) fn dequantize<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, scale) = (call.input(0)?, call.input(1)?);
    let zero_point = call.optional(2);
    let result = match call.int_or("output_dtype", 0)? {
        0 => scale.dtype(),
        given => DType(u32::try_from(given).unwrap_or(0)),
    };
    if let Some(zero) = zero_point {
        let fits = zero.shape() == scale.shape() || (zero.len(), scale.len()) == (1, 1);
        if zero.dtype() != x.dtype() || !fits {
            return refuse!(
                "its zero point has another type than x or another shape than the scale"
            );
        }
    }
    call.room_for(result, x.shape())?;
    let places = Places::new(call, x, scale)?;
    let (scales, values) = (singles(scale)?, singles(x)?);
    let zeros = zero_point.map(singles).transpose()?;
    if x.dtype() == DType::I32 {
        exact(x, zero_point)?;
    }
    let values = values
        .into_iter()
        .enumerate()
        .map(|(at, value)| {
            let place = places.place(at);
            let zero = zeros.as_ref().map_or(0.0, |zeros| zeros[place]);
            (value - zero) * scales[place]
        })
        .collect();
    Ok(vec![from_singles(result, x.shape().to_vec(), values)?])
}

/// `x / scale`, rounded to the nearest even integer, moved by the zero point, limited to its type.
pub(crate) fn quantize<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, scale) = (call.input(0)?, call.input(1)?);
    let zero_point = call.optional(2);
    let given = DType(u32::try_from(call.int_or("output_dtype", 0)?).unwrap_or(0));
    let result = match (zero_point, given) {
        (Some(zero), _) => zero.dtype(),
        (None, DType(0)) => DType::U8,
        (None, given) => given,
    };
    if x.dtype() != DType::F32 || scale.dtype() != DType::F32 {
        return refuse!(
            "how {} is divided by {} isn't defined alike everywhere",
            name_of(x.dtype()),
            name_of(scale.dtype())
        );
    }
    if zero_point.is_some_and(|zero| zero.len() != scale.len()) {
        return refuse!("its zero point has another shape than the scale");
    }
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
        other => return refuse!("quantising to {} isn't computed", name_of(other)),
    };
    call.room_for(result, x.shape())?;
    let places = Places::new(call, x, scale)?;
    let (scales, values) = (singles(scale)?, singles(x)?);
    let zeros = zero_point.map(singles).transpose()?;
    let small = MiniFloat::from_dtype(result);
    let overflow = Overflow::saturating(call.flag("saturate", true)?);
    if small.is_some() && zeros.iter().flatten().any(|&zero| zero != 0.0) {
        return refuse!(
            "a zero point other than 0 isn't defined for {}",
            name_of(result)
        );
    }
    let code = |(at, value): (usize, f32)| {
        let place = places.place(at);
        let scaled = value / scales[place];
        if let Some(small) = small {
            // ONNX adds a zero point of 0, which makes -0.0 another 0.0; ONNX Runtime doesn't.
            if scaled == 0.0 && scaled.is_sign_negative() && result.bits() == 8 {
                return None;
            }
            return small.encode((scaled + 0.0).into(), overflow).map(i32::from);
        }
        let zero = zeros.as_ref().map_or(0.0, |zeros| zeros[place]);
        let code = (scaled.round_ties_even() + zero).clamp(low, high);
        (!code.is_nan()).then_some(code as i32)
    };
    let codes: Option<Vec<i32>> = values.into_iter().enumerate().map(code).collect();
    let Some(codes) = codes else {
        return refuse!("what NaN or -0.0 is as {} isn't defined", name_of(result));
    };
    let shape = x.shape().to_vec();
    let bytes = || codes.iter().map(|&code| code as u8).collect::<Vec<_>>();
    Ok(vec![match result.bits() {
        16 => Tensor::from_vec(
            result,
            shape,
            codes.iter().map(|&code| code as u16).collect(),
        ),
        8 => Tensor::from_vec(result, shape, bytes()),
        _ => Tensor::from_codes(result, shape, &bytes()),
    }])
}

/// Single precision holds every value of the narrow types; of int32 only the smaller ones.
fn exact(x: &Tensor, zero_point: Option<&Tensor>) -> Result<(), NotFolded> {
    let small = |tensor: &Tensor| -> Result<bool, NotFolded> {
        Ok(tensor
            .stored::<i32>()?
            .iter()
            .all(|&x| x.unsigned_abs() <= 1 << 23))
    };
    if small(x)? && zero_point.map_or(Ok(true), small)? {
        Ok(())
    } else {
        refuse!(
            "how {} beyond 2^23 is rounded isn't defined",
            name_of(x.dtype())
        )
    }
}

/// The scale of each element.
struct Places {
    /// For each dim: how far apart its neighbours lie, how long it is, how many share a scale, how
    /// far apart their scales lie.
    dims: Vec<[usize; 4]>,
}

impl Places {
    fn new(call: &Call, x: &Tensor, scale: &Tensor) -> Result<Places, NotFolded> {
        let block = usize::try_from(call.int_or("block_size", 0)?).unwrap_or(0);
        let x_strides = strides(x.shape());
        let dims = match (scale.rank(), block) {
            (0, 0) => vec![],
            (1, 0) if scale.len() == 1 => vec![],
            (1, 0) => {
                let at = axis(call.int_or("axis", 1)?, x.rank())?;
                if scale.shape()[0] != x.shape()[at] {
                    return refuse!("it has {} scales for {}", scale.shape()[0], x.shape()[at]);
                }
                vec![[x_strides[at], x.shape()[at], 1, 1]]
            }
            (rank, 1..) if rank == x.rank() => {
                let at = axis(call.int_or("axis", 1)?, x.rank())?;
                let scale_strides = strides(scale.shape());
                let one = |d: usize| {
                    let shared = if d == at { block } else { 1 };
                    let fits = x.shape()[d].div_ceil(shared) == scale.shape()[d];
                    fits.then(|| [x_strides[d], x.shape()[d], shared, scale_strides[d]])
                };
                match (0..rank).map(one).collect() {
                    Some(dims) => dims,
                    None => return refuse!("its scales don't fit its blocks"),
                }
            }
            _ => return refuse!("scales of {:?} don't fit {:?}", scale.shape(), x.shape()),
        };
        Ok(Places { dims })
    }

    fn place(&self, at: usize) -> usize {
        let along = |&[stride, dim, shared, step]: &[usize; 4]| at / stride % dim / shared * step;
        self.dims.iter().map(along).sum()
    }
}
