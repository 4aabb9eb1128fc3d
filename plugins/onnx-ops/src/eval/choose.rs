//! Operators that compare elements along an axis: ArgMax, ArgMin, TopK, Hardmax. Of equal elements, the first one wins.
//! The order of NaN is undefined.

use std::cmp::Ordering;

use ndarray::{ArrayD, ArrayView1, Axis, IxDyn};

use super::call::axis;
use super::number::{Number, with_float, with_number};
use super::softmax::rows;
use super::{Call, Folded, FoldedAll, NotFolded, Tensor, ensure, reject};
use passdock_plugin_api::DType;

/// Returns the index of the maximum along an axis.
pub(crate) fn arg_max<'a>(call: &Call<'a>) -> Folded<'a> {
    arg(call, Ordering::Greater)
}

/// Returns the index of the minimum along an axis.
pub(crate) fn arg_min<'a>(call: &Call<'a>) -> Folded<'a> {
    arg(call, Ordering::Less)
}

fn arg<'a>(call: &Call<'a>, better: Ordering) -> Folded<'a> {
    let x = call.input(0)?;
    let at = axis(call.int_or("axis", 0)?, x.rank())?;
    let last = call.flag("select_last_index", false)?;
    let mut shape = x.shape().to_vec();
    if shape[at] == 0 {
        return reject!("axis {at} has no elements");
    }
    if call.flag("keepdims", true)? {
        shape[at] = 1;
    } else {
        shape.remove(at);
    }
    call.room_for(DType::I64, &shape)?;
    with_number!(x.dtype(), T => {
        let array = x.array::<T>()?;
        without_nan::<T>(x)?;
        let indices = array.lanes(Axis(at)).into_iter().map(|lane| first(lane, better, last) as i64);
        Ok(Tensor::from_vec(DType::I64, shape, indices.collect()))
    })
}

/// Returns the index of the best element: the first or the last of equal ones.
fn first<T: Number>(lane: ArrayView1<T>, better: Ordering, last: bool) -> usize {
    let mut best = 0;
    for (index, element) in lane.iter().enumerate().skip(1) {
        match element.partial_cmp(&lane[best]) {
            Some(Ordering::Equal) if last => best = index,
            Some(order) if order == better => best = index,
            _ => {}
        }
    }
    best
}

fn without_nan<T: Number>(x: &Tensor) -> Result<(), NotFolded> {
    let has_nan = x.stored::<T>()?.iter().any(|x| x.is_nan());
    ensure!(!has_nan, "order of NaN is undefined");
    Ok(())
}

/// Returns the `k` largest or smallest elements along an axis, and their indices.
pub(crate) fn top_k<'a>(call: &Call<'a>) -> FoldedAll<'a> {
    let x = call.input(0)?;
    let at = axis(call.int_or("axis", -1)?, x.rank())?;
    let count = match call.version {
        10.. => call.ints_in(1)?.first().copied(),
        _ => call.int("k")?,
    };
    let count = match count.and_then(|count| usize::try_from(count).ok()) {
        Some(count) if count <= x.shape()[at] => count,
        _ => return reject!("`K` is out of range for a dim of {}", x.shape()[at]),
    };
    if !call.flag("sorted", true)? {
        return reject!("order of unsorted results is undefined");
    }
    let largest = call.flag("largest", true)?;
    let mut shape = x.shape().to_vec();
    shape[at] = count;
    call.room_for(x.dtype(), &shape)?;
    call.room_for(DType::I64, &shape)?;
    with_number!(x.dtype(), T => {
        without_nan::<T>(x)?;
        let array = x.array::<T>()?;
        let mut values = ArrayD::from_elem(IxDyn(&shape), T::ZERO);
        let mut positions = ArrayD::from_elem(IxDyn(&shape), 0i64);
        let lanes = array.lanes(Axis(at)).into_iter();
        let results = values.lanes_mut(Axis(at)).into_iter().zip(positions.lanes_mut(Axis(at)));
        for (lane, (mut value, mut position)) in lanes.zip(results) {
            let mut order: Vec<usize> = (0..lane.len()).collect();
            // The sort is stable, so equal elements stay in order.
            order.sort_by(|&a, &b| {
                let order = lane[a].partial_cmp(&lane[b]).unwrap_or(Ordering::Equal);
                if largest { order.reverse() } else { order }
            });
            for (slot, &index) in order[..count].iter().enumerate() {
                value[slot] = lane[index];
                position[slot] = index as i64;
            }
        }
        Ok(vec![Tensor::from_array(x.dtype(), values), Tensor::from_array(DType::I64, positions)])
    })
}

/// Returns 1 at the first maximum of each row, and 0 elsewhere.
pub(crate) fn hardmax<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let (shape, at) = rows(call)?;
    call.room_for(x.dtype(), x.shape())?;
    with_float!(x.dtype(), T => {
        without_nan::<T>(x)?;
        let flat = x.reshaped(shape)?;
        let array = flat.array::<T>()?;
        let mut result = ArrayD::from_elem(array.raw_dim(), T::ZERO);
        let lanes = array.lanes(Axis(at)).into_iter().zip(result.lanes_mut(Axis(at)));
        for (lane, mut result) in lanes.filter(|(lane, _)| !lane.is_empty()) {
            result[first(lane, Ordering::Greater, false)] = T::ONE;
        }
        Tensor::from_array(x.dtype(), result).reshaped(x.shape().to_vec())
    })
}
