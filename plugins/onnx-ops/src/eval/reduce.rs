//! Reductions along axes. The axes are an attribute in old opsets and an operand in new ones.

use std::borrow::Cow;

use super::call::listed_axes;
use super::cast::as_number;
use super::number::{EXTREME, Number, OVERFLOW, with_float, with_number};
use super::tensor::{in_order, row_by_row};
use super::{Call, Folded, Tensor, reject};
use passdock_plugin_api::DType;

/// Reduces groups of elements with `combine`. If it returns `None`, the op isn't folded, for the reason `undefined`.
fn reduce<'r, T: Number>(
    call: &Call,
    moved: i64,
    undefined: &str,
    combine: impl Fn(&[T]) -> Option<T>,
) -> Folded<'r> {
    let x = call.input(0)?;
    let list = call.ints_since(moved, 1, "axes")?.unwrap_or_default();
    let reduced = match (list.is_empty(), call.flag("noop_with_empty_axes", false)?) {
        // `noop_with_empty_axes` only skips the reduction: a sum of squares still squares.
        (true, noop) => vec![!noop; x.rank()],
        (false, _) => listed_axes(&list, x.rank())?,
    };
    let keep = call.flag("keepdims", true)?;
    let (removed, stay): (Vec<usize>, Vec<usize>) = (0..x.rank()).partition(|&d| reduced[d]);
    let dims = (0..x.rank()).filter(|&d| keep || !reduced[d]);
    let shape: Vec<usize> = dims
        .map(|d| if reduced[d] { 1 } else { x.shape()[d] })
        .collect();
    // The number of elements per group.
    let count: usize = removed.iter().map(|&d| x.shape()[d]).product();
    let groups = call.room_for(x.dtype(), &shape)?;
    let array = x.array::<T>()?;
    let ordered = array.view().permuted_axes([stay, removed].concat());
    let elements = match ordered.as_slice() {
        Some(elements) => Cow::Borrowed(elements),
        None => Cow::Owned(in_order(row_by_row(&ordered))),
    };
    let results: Option<Vec<T>> = match count {
        0 => std::iter::repeat_n(combine(&[]), groups).collect(),
        _ => elements.chunks_exact(count).map(combine).collect(),
    };
    match results {
        Some(results) => Ok(Tensor::from_vec(x.dtype(), shape, results)),
        None => reject!("{undefined}"),
    }
}

/// Sums `each` of the elements and rounds once, after `last`. Integers are summed exactly. Returns `None` if a sum is
/// out of range, or would be in another order of summation.
pub(super) fn total<T: Number>(
    elements: &[T],
    each: impl Fn(f64) -> f64,
    exact: impl Fn(i128) -> Option<i128>,
    last: impl Fn(f64) -> f64,
) -> Option<T> {
    if !T::IS_FLOAT {
        let add = |sum: i128, x: &T| sum.checked_add(exact(x.to_int()?)?);
        return T::exactly(elements.iter().try_fold(0, add)?);
    }
    let (mut sum, mut size) = (0.0, 0.0);
    for x in elements {
        let x = as_computed::<T>(each(x.to_f64()));
        sum += x;
        if x.is_finite() {
            size += x.abs();
        }
    }
    let overflows = as_computed::<T>(size).is_infinite() && sum.abs() != size;
    (!overflows).then(|| T::from_double(as_computed::<T>(last(as_computed::<T>(sum)))))?
}

/// Rounds a value to the precision in which a type is computed.
fn as_computed<T: Number>(value: f64) -> f64 {
    if T::DTYPE == DType::F64 {
        value
    } else {
        f64::from(value as f32)
    }
}

/// The opset in which the axes of all reductions except ReduceSum became an operand.
const MOVED: i64 = 18;

/// Computes the sum.
pub(crate) fn sum<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, 13, OVERFLOW, |group| total(group, |x| x, Some, |sum| sum))
    })
}

/// Computes the sum of absolute values.
pub(crate) fn l1<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, OVERFLOW, |group| total(group, f64::abs, i128::checked_abs, |sum| sum))
    })
}

/// Computes the sum of squares.
pub(crate) fn sum_square<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        let exact = |x: i128| x.checked_mul(x);
        reduce::<T>(call, MOVED, OVERFLOW, |group| total(group, |x| x * x, exact, |sum| sum))
    })
}

/// Computes the square root of the sum of squares.
pub(crate) fn l2<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, OVERFLOW, |group| total(group, |x| x * x, |_| None, f64::sqrt))
    })
}

/// Computes the logarithm of the sum.
pub(crate) fn log_sum<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, OVERFLOW, |group| total(group, |x| x, |_| None, f64::ln))
    })
}

/// Computes the logarithm of the sum of exponentials, shifted so that none overflows.
pub(crate) fn log_sum_exp<'a>(call: &Call<'a>) -> Folded<'a> {
    with_float!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, OVERFLOW, |group| {
            let top = group.iter().map(|x| x.to_f64()).fold(f64::NEG_INFINITY, f64::max);
            let shift = if top.is_finite() { top } else { 0.0 };
            total(group, |x| (x - shift).exp(), |_| None, |sum| sum.ln() + shift)
        })
    })
}

/// Computes the mean, truncated for integers. The mean of no elements is undefined.
pub(crate) fn mean<'a>(call: &Call<'a>) -> Folded<'a> {
    const UNDEFINED: &str =
        "mean is undefined without elements, or if the sum overflows or exceeds 2^53";
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, UNDEFINED, |group| {
            if group.is_empty() {
                return None;
            }
            if T::IS_FLOAT {
                let count = group.len() as f64;
                return total(group, |x| x, |_| None, |sum| sum / count);
            }
            let sum = group.iter().try_fold(0i128, |sum, x| sum.checked_add(x.to_int()?))?;
            (sum.abs() <= 1 << 53).then(|| T::from_int(sum / group.len() as i128))
        })
    })
}

/// Computes the product.
pub(crate) fn product<'a>(call: &Call<'a>) -> Folded<'a> {
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, OVERFLOW, |group| {
            if T::IS_FLOAT {
                return float_product(group);
            }
            let times = |product: i128, x: &T| product.checked_mul(x.to_int()?);
            T::exactly(group.iter().try_fold(1, times)?)
        })
    })
}

/// Computes a product of floats. Returns `None` if an intermediate product could overflow or underflow in some order,
/// while other factors compensate: the result would depend on the order.
fn float_product<T: Number>(group: &[T]) -> Option<T> {
    let (mut product, mut large, mut small) = (1.0, 1.0, 1.0);
    for x in group.iter().map(|x| x.to_f64()) {
        product *= x;
        if x.abs() > 1.0 {
            large *= x.abs();
        } else if x != 0.0 {
            small *= x.abs();
        }
    }
    let overflows = as_computed::<T>(large).is_infinite() && (small < 1.0 || product == 0.0);
    let lowest = if T::DTYPE == DType::F64 {
        f64::MIN_POSITIVE
    } else {
        f32::MIN_POSITIVE.into()
    };
    let underflows = small < lowest && large > 1.0;
    (!overflows && !underflows).then(|| T::from_double(as_computed::<T>(product)))?
}

/// Computes the maximum. For no elements it is the lowest value, negative infinity for floats.
pub(crate) fn max<'a>(call: &Call<'a>) -> Folded<'a> {
    if call.input(0)?.dtype() == DType::BOOL {
        return any_or_all(call, |group| group.contains(&1));
    }
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, EXTREME, |group| extreme(group, T::LOWEST, T::greatest))
    })
}

/// Computes the minimum. For no elements it is the highest value, infinity for floats.
pub(crate) fn min<'a>(call: &Call<'a>) -> Folded<'a> {
    if call.input(0)?.dtype() == DType::BOOL {
        return any_or_all(call, |group| !group.contains(&0));
    }
    with_number!(call.input(0)?.dtype(), T => {
        reduce::<T>(call, MOVED, EXTREME, |group| extreme(group, T::HIGHEST, T::least))
    })
}

/// Combines a group. Returns `None` if it contains NaN, because runtimes differ.
fn extreme<T: Number>(group: &[T], start: T, combine: impl Fn(T, T) -> Option<T>) -> Option<T> {
    let combine = |so_far, &x: &T| if x.is_nan() { None } else { combine(so_far, x) };
    group.iter().try_fold(start, combine)
}

/// Reduces bools as bytes of 0 and 1.
fn any_or_all<'a>(call: &Call<'a>, decide: impl Fn(&[u8]) -> bool) -> Folded<'a> {
    let inputs = [Some(as_number(call.input(0)?)?), call.optional(1).cloned()];
    let call = Call {
        inputs: &inputs,
        ..*call
    };
    let truth = reduce::<u8>(&call, MOVED, "", |group| Some(u8::from(decide(group))))?;
    Ok(truth.with_dtype(DType::BOOL))
}
