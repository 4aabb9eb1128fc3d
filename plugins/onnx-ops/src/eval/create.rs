//! Operators that create tensors: Constant, ConstantOfShape, Range, EyeLike, OneHot, and windows.

use super::call::axis;
use super::cells::rearrange;
use super::data_movement::dims;
use super::matrix::little_work;
use super::number::{Number, doubles, rounded, to_float, with_number};
use super::{Call, Folded, NotFolded, Tensor, ensure, name_of, reject};
use passdock_plugin_api::DType;

/// Returns the value in an attribute.
pub(crate) fn constant<'a>(call: &Call<'a>) -> Folded<'a> {
    let value = if let Some(value) = call.tensor("value")? {
        value
    } else if let Some(value) = call.int("value_int")? {
        Tensor::from_vec(DType::I64, vec![], vec![value])
    } else if let Some(value) = call.float("value_float")? {
        Tensor::from_vec(DType::F32, vec![], vec![value])
    } else if let Some(values) = call.ints("value_ints")? {
        Tensor::from_vec(DType::I64, vec![values.len()], values.into_owned())
    } else if let Some(values) = call.floats("value_floats")? {
        Tensor::from_vec(DType::F32, vec![values.len()], values.into_owned())
    } else if let Some(value) = call.string("value_string")? {
        Tensor::from_strings(vec![], [value].into_iter())
    } else if let Some(values) = call.strings("value_strings")? {
        Tensor::from_strings(vec![values.len()], values.into_iter())
    } else {
        return reject!("missing or unsupported value");
    };
    Ok(value)
}

/// Fills a shape with one value, by default 0.0.
pub(crate) fn constant_of_shape<'a>(call: &Call<'a>) -> Folded<'a> {
    let shape = dims(&call.ints_in(0)?)?;
    let value = match call.tensor("value")? {
        Some(value) => value,
        None => Tensor::from_vec(DType::F32, vec![1], vec![0f32]),
    };
    let length = value.len();
    ensure!(
        length == 1,
        "attribute `value` has {length} elements, expected 1"
    );
    let count = call.room_for(value.dtype(), &shape)?;
    rearrange!(call, &[&value], cells, T => (shape, vec![cells.row::<T>(0)?[0]; count]))
}

/// Returns the numbers from `start` to `limit`, exclusive, in steps of `delta`.
pub(crate) fn range<'a>(call: &Call<'a>) -> Folded<'a> {
    let dtype = call.input(0)?.dtype();
    match dtype {
        DType::F32 | DType::F64 | DType::I16 | DType::I32 | DType::I64 => steps(call, call.inputs),
        DType::F16 | DType::BF16 if call.version >= 27 && call.int_or("stash_type", 1)? == 1 => {
            let single = |operand: &Tensor| to_float(operand, DType::F32).map(Some);
            let inputs = call.all_inputs()?.into_iter().map(single);
            to_float(
                &steps(call, &inputs.collect::<Result<Vec<_>, _>>()?)?,
                dtype,
            )
        }
        other => reject!("unsupported element type {}", name_of(other)),
    }
}

fn steps<'r>(call: &Call, inputs: &[Option<Tensor>]) -> Folded<'r> {
    let call = &Call { inputs, ..*call };
    let dtype = call.input(0)?.dtype();
    with_number!(dtype, T => {
        let [start, limit, delta] = [0, 1, 2].map(|index| scalar::<T>(call, index));
        let (start, limit, delta) = (start?, limit?, delta?);
        let count = match (start.to_int(), limit.to_int(), delta.to_int()) {
            (Some(start), Some(limit), Some(delta)) => match step_count(start, limit, delta) {
                Some(count) => count,
                None => return reject!("`delta` is 0"),
            },
            _ => {
                let steps = limit.minus(start).over(delta).map_or(f64::NAN, T::to_f64).ceil();
                ensure!(steps.is_finite(), "number of steps is not finite");
                steps.max(0.0) as i128
            }
        };
        let Ok(count) = usize::try_from(count) else {
            return reject!("result has too many elements");
        };
        call.room_for(dtype, &[count])?;
        let element = |at: usize| start.plus(T::from_int(at as i128).times(delta));
        let elements: Vec<T> = (0..count).map(element).collect();
        Ok(Tensor::from_vec(dtype, vec![count], elements))
    })
}

/// Returns the number of steps from `start` to `limit`, exclusive, or `None` if `delta` is 0.
pub(crate) fn step_count(start: i128, limit: i128, delta: i128) -> Option<i128> {
    let way = limit - start;
    let is_cut = way.checked_rem(delta)? != 0 && (way < 0) == (delta < 0);
    Some((way / delta + i128::from(is_cut)).max(0))
}

/// Returns the only element of an operand.
fn scalar<T: Number>(call: &Call, index: usize) -> Result<T, NotFolded> {
    let tensor = call.input(index)?;
    match &*tensor.stored::<T>()? {
        [element] if tensor.dtype() == T::DTYPE => Ok(*element),
        _ => reject!(
            "expected operand {index} to be a scalar of type {}",
            name_of(T::DTYPE)
        ),
    }
}

/// Returns a matrix with ones on a diagonal.
pub(crate) fn eye_like<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let dtype = match call.int("dtype")? {
        Some(dtype) => DType(u32::try_from(dtype).unwrap_or(0)),
        None => x.dtype(),
    };
    let diagonal = call.int_or("k", 0)?;
    let &[rows, columns] = x.shape() else {
        return reject!("operand 0 has rank {}, expected 2", x.rank());
    };
    call.room_for(dtype, x.shape())?;
    let shape = vec![rows, columns];
    let on = |at: usize| (at % columns) as i64 - (at / columns) as i64 == diagonal;
    let positions = 0..rows * columns;
    if dtype == DType::BOOL {
        let elements: Vec<bool> = positions.map(on).collect();
        return Ok(Tensor::from_vec(dtype, shape, elements));
    }
    with_number!(dtype, T => {
        let elements: Vec<T> = positions.map(|at| if on(at) { T::ONE } else { T::ZERO }).collect();
        Ok(Tensor::from_vec(dtype, shape, elements))
    })
}

/// Inserts an axis with one value at each index and another value elsewhere.
pub(crate) fn one_hot<'a>(call: &Call<'a>) -> Folded<'a> {
    let (indices, depth, values) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let fits = depth.len() == 1 && values.len() == 2;
    ensure!(
        fits,
        "expected 1 depth and 2 values, found {} and {}",
        depth.len(),
        values.len()
    );
    let depth = doubles(depth)?[0];
    if !(0.0..=u32::MAX.into()).contains(&depth) {
        return reject!("depth {depth} is out of range");
    }
    let depth = depth.trunc();
    let at = axis(call.int_or("axis", -1)?, indices.rank() + 1)?;
    let mut shape = indices.shape().to_vec();
    shape.insert(at, depth as usize);
    let count = call.room_for(values.dtype(), &shape)?;
    let inner: usize = indices.shape()[at..].iter().product();
    let from_back = |index: f64| if index < 0.0 { index + depth } else { index };
    let hot = doubles(indices)?.into_iter().map(from_back).enumerate();
    let hot = hot.filter(|(_, index)| (0.0..depth).contains(index));
    let position =
        |(at, index)| (at / inner * depth as usize + index as usize) * inner + at % inner;
    rearrange!(call, &[values], cells, T => {
        let values = cells.row::<T>(0)?;
        let mut elements = vec![values[0]; count];
        hot.map(position).for_each(|position| elements[position] = values[1]);
        (shape, elements)
    })
}

/// Returns a Blackman window: one period of a constant and two cosines.
pub(crate) fn blackman_window<'a>(call: &Call<'a>) -> Folded<'a> {
    let alpha = 0.16_f32;
    window(call, [(1.0 - alpha) / 2.0, 0.5, alpha / 2.0])
}

/// Returns a Hann window: one period of a raised cosine.
pub(crate) fn hann_window<'a>(call: &Call<'a>) -> Folded<'a> {
    window(call, [0.5, 0.5, 0.0])
}

/// Returns a Hamming window: one period of a raised cosine.
pub(crate) fn hamming_window<'a>(call: &Call<'a>) -> Folded<'a> {
    let alpha = 25.0_f32 / 46.0;
    window(call, [alpha, 1.0 - alpha, 0.0])
}

/// The cost of a cosine, in multiplications.
const COSINE: usize = 16;

/// Computes `a - b * cos(angle) + c * cos(2 * angle)`. As in ONNX Runtime, the factors are in single precision.
fn window<'a>(call: &Call<'a>, factors: [f32; 3]) -> Folded<'a> {
    let [a, b, c] = factors.map(f64::from);
    let size = call.ints_in(0)?;
    let Some(&size) = size.first().filter(|&&first| size.len() == 1 && first > 0) else {
        return reject!("expected one positive window size, found {size:?}");
    };
    let dtype = DType(u32::try_from(call.int_or("output_datatype", 1)?).unwrap_or(0));
    let period = size - i64::from(!call.flag("periodic", true)?);
    let (name, is_wide) = (name_of(dtype), matches!(dtype, DType::F32 | DType::F64));
    if period == 0 || !is_wide {
        return reject!("unsupported window of size {size} and element type {name}");
    }
    let shape = dims(&[size])?;
    little_work(&[shape[0], COSINE])?;
    let count = call.room_for(dtype, &shape)?;
    let step = std::f64::consts::TAU / period as f64;
    let one = |at: usize| {
        let angle = step * at as f64;
        a - b * angle.cos() + c * (2.0 * angle).cos()
    };
    rounded(dtype, vec![count], (0..count).map(one).collect())
}
