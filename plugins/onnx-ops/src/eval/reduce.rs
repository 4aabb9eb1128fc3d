//! Reductions along axes, which are an attribute in old versions and an operand in new ones.

use ndarray::IxDyn;

use super::call::axes;
use super::number::{Number, with_float, with_number};
use super::{Call, Folded, NotFolded, Tensor, refuse};
use crate::DType;

/// What a reduction works on.
struct Plan {
    /// All dims, the reduced ones last.
    order: Vec<usize>,
    /// The result's shape.
    shape: Vec<usize>,
    /// How many elements become one.
    count: usize,
}

/// Which axes are reduced; `None`: nothing is, and the operand is the result.
fn plan(call: &Call, moved: i64) -> Result<Option<Plan>, NotFolded> {
    let x = call.input(0)?;
    let list = call.ints_since(moved, 1, "axes")?.unwrap_or_default();
    let reduced = match (list.is_empty(), call.flag("noop_with_empty_axes", false)?) {
        (true, true) => return Ok(None),
        (true, false) => vec![true; x.rank()],
        (false, _) => axes(&list, x.rank())?,
    };
    let keep = call.flag("keepdims", true)?;
    let (gone, stay): (Vec<usize>, Vec<usize>) = (0..x.rank()).partition(|&d| reduced[d]);
    let shape = (0..x.rank())
        .filter(|&d| keep || !reduced[d])
        .map(|d| if reduced[d] { 1 } else { x.shape()[d] })
        .collect();
    let count = gone.iter().map(|&d| x.shape()[d]).product();
    Ok(Some(Plan {
        order: [stay, gone].concat(),
        shape,
        count,
    }))
}

/// Reduces groups of elements, each with `combine`; `None` is an undefined result.
fn reduce<'a, T: Number>(
    call: &Call<'a>,
    moved: i64,
    combine: impl Fn(&[T]) -> Option<T>,
) -> Folded<'a> {
    let x = call.input(0)?;
    let Some(Plan {
        order,
        shape,
        count,
    }) = plan(call, moved)?
    else {
        // Only the reduction is left out: a sum of squares still squares.
        let each = x
            .stored::<T>()?
            .iter()
            .map(|&x| combine(&[x]))
            .collect::<Option<Vec<T>>>();
        return finish(x.dtype(), x.shape().to_vec(), each);
    };
    let groups = call.room_for(x.dtype(), &shape)?;
    let array = x.array::<T>()?;
    let ordered = array.view().permuted_axes(IxDyn(&order));
    let ordered = ordered.as_standard_layout();
    let Some(elements) = ordered.as_slice() else {
        return refuse!("it has gaps");
    };
    let results = if count == 0 {
        std::iter::repeat_n(combine(&[]), groups).collect::<Option<Vec<T>>>()
    } else {
        elements.chunks_exact(count).map(combine).collect()
    };
    finish(x.dtype(), shape, results)
}

fn finish<'a, T: Number>(dtype: DType, shape: Vec<usize>, results: Option<Vec<T>>) -> Folded<'a> {
    match results {
        Some(results) => Ok(vec![Tensor::from_vec(dtype, shape, results)]),
        None => refuse!("one of its results is undefined"),
    }
}

/// Adds what `each` makes of the elements: floats in double precision, rounded once by `last`.
fn total<T: Number>(
    elements: &[T],
    each: impl Fn(f64) -> f64,
    exact: impl Fn(T) -> T,
    last: impl Fn(f64) -> f64,
) -> Option<T> {
    if T::IS_FLOAT {
        T::from_double(last(elements.iter().map(|x| each(x.to_f64())).sum()))
    } else {
        Some(elements.iter().fold(T::ZERO, |sum, &x| sum.plus(exact(x))))
    }
}

/// The version in which the axes of all reductions but ReduceSum became an operand.
const MOVED: i64 = 18;

/// The sum.
pub(crate) fn sum<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, 13, |group| total(group, |x| x, |x| x, |sum| sum))
    })
}

/// The sum of absolute values.
pub(crate) fn l1<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| total(group, f64::abs, T::absolute, |sum| sum))
    })
}

/// The sum of squares.
pub(crate) fn sum_square<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| total(group, |x| x * x, |x: T| x.times(x), |sum| sum))
    })
}

/// The root of the sum of squares.
pub(crate) fn l2<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| total(group, |x| x * x, |x| x, f64::sqrt))
    })
}

/// The logarithm of the sum.
pub(crate) fn log_sum<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| total(group, |x| x, |x| x, f64::ln))
    })
}

/// The logarithm of the sum of exponentials, shifted so that none overflows.
pub(crate) fn log_sum_exp<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| {
            let top = group.iter().map(|x| x.to_f64()).fold(f64::NEG_INFINITY, f64::max);
            let shift = if top.is_finite() { top } else { 0.0 };
            total(group, |x| (x - shift).exp(), |x| x, |sum| sum.ln() + shift)
        })
    })
}

/// The mean; of integers, truncated. Of nothing it is undefined.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| {
            if group.is_empty() {
                return None;
            }
            if T::IS_FLOAT {
                let count = group.len() as f64;
                return total(group, |x| x, |x| x, |sum| sum / count);
            }
            let sum: i128 = group.iter().filter_map(|x| x.to_int()).sum();
            Some(T::from_int(sum / group.len() as i128))
        })
    })
}

/// The product.
pub(crate) fn product<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| {
            if T::IS_FLOAT {
                T::from_double(group.iter().map(|x| x.to_f64()).product())
            } else {
                Some(group.iter().fold(T::ONE, |product, &x| product.times(x)))
            }
        })
    })
}

/// The greatest; minus infinity, or an integer's smallest value, of nothing.
pub(crate) fn max<'a>(call: &Call<'a>) -> Folded<'a> {
    if call.input(0)?.dtype() == DType::BOOL {
        return any_or_all(call, |group| group.contains(&1));
    }
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| extreme(group, T::LOWEST, T::greatest))
    })
}

/// The least; infinity, or an integer's largest value, of nothing.
pub(crate) fn min<'a>(call: &Call<'a>) -> Folded<'a> {
    if call.input(0)?.dtype() == DType::BOOL {
        return any_or_all(call, |group| !group.contains(&0));
    }
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, |group| extreme(group, T::HIGHEST, T::least))
    })
}

/// What NaN among others comes to isn't the same everywhere, so it is undefined.
fn extreme<T: Number>(group: &[T], start: T, combine: impl Fn(T, T) -> T) -> Option<T> {
    let clean = !group.iter().any(|x| x.is_nan());
    clean.then(|| group.iter().fold(start, |so_far, &x| combine(so_far, x)))
}

/// A reduction of bools, seen as bytes of 0 and 1.
fn any_or_all<'a>(call: &Call<'a>, decide: impl Fn(&[u8]) -> bool) -> Folded<'a> {
    let x = call.input(0)?;
    let bytes: Vec<u8> = x.bytes().iter().map(|&byte| u8::from(byte != 0)).collect();
    let inputs = [
        Some(Tensor::from_vec(DType::U8, x.shape().to_vec(), bytes)),
        call.optional(1).map(Tensor::borrow),
    ];
    let inner = Call {
        inputs: &inputs,
        ..*call
    };
    let results = reduce::<u8>(&inner, MOVED, |group| Some(u8::from(decide(group))))?;
    Ok(results
        .into_iter()
        .map(|t| Tensor::from_vec(DType::BOOL, t.shape().to_vec(), t.bytes().to_vec()))
        .collect())
}
