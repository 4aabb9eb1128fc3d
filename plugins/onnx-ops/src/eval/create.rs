//! Operators that make tensors out of sizes: Constant, ConstantOfShape, Range, EyeLike, OneHot.

use ndarray::{ArrayD, IxDyn};

use super::call::axis;
use super::cast::{from_singles, singles};
use super::cells::{Cell, Movement, rearrange};
use super::data_movement::dims;
use super::matrix::little_work;
use super::number::{Number, with_number};
use super::{Call, Elements, Folded, NotFolded, Tensor, name_of, refuse};
use passdock_plugin_api::DType;

/// The constant that an attribute says.
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
        return refuse!("it has no value that is known here");
    };
    Ok(vec![value])
}

/// One value, the float 0 by default, in a shape.
pub(crate) fn constant_of_shape<'a>(call: &Call<'a>) -> Folded<'a> {
    let shape = dims(&call.ints_in(0)?)?;
    let value = match call.tensor("value")? {
        Some(value) => value,
        None => Tensor::from_vec(DType::F32, vec![1], vec![0f32]),
    };
    if value.len() != 1 {
        return refuse!("its value isn't one element");
    }
    call.room_for(value.dtype(), &shape)?;
    rearrange(call, &[&value], &Fill(shape))
}

struct Fill(Vec<usize>);

impl Movement for Fill {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let value = inputs[0].iter().next().copied().unwrap_or_else(T::zeroed);
        Ok(vec![ArrayD::from_elem(IxDyn(&self.0), value)])
    }
}

/// The numbers from `start` in steps of `delta` while before `limit`.
pub(crate) fn range<'a>(call: &Call<'a>) -> Folded<'a> {
    let dtype = call.input(0)?.dtype();
    match dtype {
        DType::F32 | DType::F64 | DType::I16 | DType::I32 | DType::I64 => steps(call),
        DType::F16 | DType::BF16 if call.version >= 27 && call.int_or("stash_type", 1)? == 1 => {
            let single = |index: usize| -> Result<_, NotFolded> {
                let tensor = call.input(index)?;
                let shape = tensor.shape().to_vec();
                Ok(Some(from_singles(DType::F32, shape, singles(tensor)?)?))
            };
            let inputs = [single(0)?, single(1)?, single(2)?];
            let results = steps(&Call {
                inputs: &inputs,
                ..*call
            })?;
            let rounded = |t: Tensor| from_singles(dtype, t.shape().to_vec(), singles(&t)?);
            results.into_iter().map(rounded).collect()
        }
        other => {
            let name = name_of(other);
            refuse!("nothing is computed with elements of type {name}")
        }
    }
}

fn steps<'r>(call: &Call) -> Folded<'r> {
    let dtype = call.input(0)?.dtype();
    with_number!(dtype, T => {
        let [start, limit, delta] = [0, 1, 2].map(|index| scalar::<T>(call, index));
        let (start, limit, delta) = (start?, limit?, delta?);
        let count = match (start.to_int(), limit.to_int(), delta.to_int()) {
            (_, _, Some(0)) => return refuse!("a step of 0 goes nowhere"),
            (Some(start), Some(limit), Some(delta)) => {
                let way = limit - start;
                (way / delta + i128::from(way % delta != 0 && (way < 0) == (delta < 0))).max(0)
            }
            _ => {
                let steps = limit.minus(start).over(delta).map_or(f64::NAN, T::to_f64).ceil();
                if !steps.is_finite() {
                    return refuse!("its steps have no end");
                }
                steps.max(0.0) as i128
            }
        };
        let Ok(count) = usize::try_from(count) else { return refuse!("its result would have too many elements") };
        call.room_for(dtype, &[count])?;
        let element = |at: usize| start.plus(T::from_int(at as i128).times(delta));
        let elements: Vec<T> = (0..count).map(element).collect();
        Ok(vec![Tensor::from_vec(dtype, vec![count], elements)])
    })
}

/// The one element of an operand.
fn scalar<T: Number>(call: &Call, index: usize) -> Result<T, NotFolded> {
    let tensor = call.input(index)?;
    match &*tensor.stored::<T>()? {
        [element] if tensor.dtype() == T::DTYPE => Ok(*element),
        _ => refuse!("operand {index} isn't a scalar of the first operand's type"),
    }
}

/// A matrix with ones on a diagonal.
pub(crate) fn eye_like<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let dtype = match call.int("dtype")? {
        Some(dtype) => DType(u32::try_from(dtype).unwrap_or(0)),
        None => x.dtype(),
    };
    let diagonal = call.int_or("k", 0)?;
    let &[rows, columns] = x.shape() else {
        return refuse!("its operand isn't a matrix");
    };
    call.room_for(dtype, x.shape())?;
    let on = |at: usize| (at % columns) as i64 - (at / columns) as i64 == diagonal;
    let places = 0..rows * columns;
    if dtype == DType::BOOL {
        let elements: Vec<bool> = places.map(on).collect();
        return Ok(vec![Tensor::from_vec(dtype, vec![rows, columns], elements)]);
    }
    with_number!(dtype, T => {
        let elements: Vec<T> = places.map(|at| if on(at) { T::ONE } else { T::ZERO }).collect();
        Ok(vec![Tensor::from_vec(dtype, vec![rows, columns], elements)])
    })
}

/// A new axis with one value at each index and another elsewhere.
pub(crate) fn one_hot<'a>(call: &Call<'a>) -> Folded<'a> {
    let (indices, depth, values) = (call.input(0)?, call.input(1)?, call.input(2)?);
    if depth.len() != 1 || values.len() != 2 {
        return refuse!("it needs one depth and two values");
    }
    let wide = |tensor: &Tensor| -> Result<Vec<f64>, NotFolded> {
        with_number!(tensor.dtype(), T => {
            Ok(tensor.stored::<T>()?.iter().map(|x| x.to_f64()).collect())
        })
    };
    let depth = wide(depth)?[0];
    if !(0.0..=u32::MAX.into()).contains(&depth) {
        return refuse!("its depth is out of range");
    }
    let depth = depth.trunc();
    let at = axis(call.int_or("axis", -1)?, indices.rank() + 1)?;
    let mut shape = indices.shape().to_vec();
    shape.insert(at, depth as usize);
    call.room_for(values.dtype(), &shape)?;
    let inner: usize = indices.shape()[at..].iter().product();
    let hot = wide(indices)?
        .into_iter()
        .map(|index| if index < 0.0 { index + depth } else { index })
        .enumerate()
        .filter(|(_, index)| (0.0..depth).contains(index));
    let place = |(at, index)| (at / inner * depth as usize + index as usize) * inner + at % inner;
    let hot = hot.map(place).collect();
    rearrange(call, &[values], &OneHot { shape, hot })
}

struct OneHot {
    shape: Vec<usize>,
    hot: Vec<usize>,
}

impl Movement for OneHot {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let Some(&[off, on]) = inputs[0].as_slice() else {
            return refuse!("it needs two values");
        };
        let mut result = ArrayD::from_elem(IxDyn(&self.shape), off);
        if let Some(cells) = result.as_slice_mut() {
            self.hot.iter().for_each(|&place| cells[place] = on);
        }
        Ok(vec![result])
    }
}

/// A sum of two cosines, of one turn.
pub(crate) fn blackman_window<'a>(call: &Call<'a>) -> Folded<'a> {
    let alpha = 0.16_f32;
    window(call, [(1.0 - alpha) / 2.0, 0.5, alpha / 2.0])
}

/// A cosine of one turn.
pub(crate) fn hann_window<'a>(call: &Call<'a>) -> Folded<'a> {
    window(call, [0.5, 0.5, 0.0])
}

/// A cosine of one turn.
pub(crate) fn hamming_window<'a>(call: &Call<'a>) -> Folded<'a> {
    let alpha = 25.0_f32 / 46.0;
    window(call, [alpha, 1.0 - alpha, 0.0])
}

/// The multiplications that a cosine takes as long as.
const COSINE: usize = 16;

/// `a - b * cos(angle) + c * cos(2 * angle)`, with the factors in single precision, as ONNX Runtime has them.
fn window<'a>(call: &Call<'a>, factors: [f32; 3]) -> Folded<'a> {
    let [a, b, c] = factors.map(f64::from);
    let size = call.ints_in(0)?;
    let Some(&size) = size.first().filter(|&&first| size.len() == 1 && first > 0) else {
        return refuse!("its size isn't a positive number");
    };
    let dtype = DType(u32::try_from(call.int_or("output_datatype", 1)?).unwrap_or(0));
    let period = size - i64::from(!call.flag("periodic", true)?);
    if period == 0 || !matches!(dtype, DType::F32 | DType::F64) {
        return refuse!(
            "a window of {size} elements of {} isn't evaluated",
            name_of(dtype)
        );
    }
    let shape = dims(&[size])?;
    little_work(&[shape[0], COSINE])?;
    let count = call.room_for(dtype, &shape)?;
    let step = std::f64::consts::TAU / period as f64;
    with_number!(dtype, T => {
        let one = |at: usize| {
            let angle = step * at as f64;
            T::from_double(a - b * angle.cos() + c * (2.0 * angle).cos())
        };
        let window = (0..count).filter_map(one).collect::<Vec<T>>();
        Ok(vec![Tensor::from_vec(dtype, vec![count], window)])
    })
}
