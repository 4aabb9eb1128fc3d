//! Operators that pick elements by index: Gather, GatherElements, GatherND, Compress,
//! ReverseSequence.

use ndarray::{ArrayD, IxDyn};

use super::call::{axis, integers};
use super::cells::{Cell, Movement, rearrange};
use super::compare_logic::bools;
use super::{Call, Elements, Folded, NotFolded, Tensor, element_count, refuse};

/// An index into a dim, counted from the back if it is negative.
pub(super) fn index(at: i64, dim: usize) -> Result<usize, NotFolded> {
    let counted = if at < 0 {
        at.checked_add(dim as i64)
    } else {
        Some(at)
    };
    match counted.and_then(|at| usize::try_from(at).ok()) {
        Some(at) if at < dim => Ok(at),
        _ => refuse!("index {at} is out of range for a dim of {dim}"),
    }
}

/// The indices in a tensor, all into one dim.
fn indices(tensor: &Tensor, dim: usize) -> Result<Vec<usize>, NotFolded> {
    integers(tensor)?
        .into_iter()
        .map(|at| index(at, dim))
        .collect()
}

/// Slices along an axis, picked by indices of any shape, which takes the axis's place.
pub(crate) fn gather<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let picked = indices(at, x.shape()[axis])?;
    let (before, after) = (&x.shape()[..axis], &x.shape()[axis + 1..]);
    let shape = [before, at.shape(), after].concat();
    call.room_for(x.dtype(), &shape)?;
    let moved = rearrange(call, &[x], &Pick { axis, picked })?;
    moved
        .into_iter()
        .map(|tensor| tensor.with_shape(shape.clone()))
        .collect()
}

/// Slices along an axis, one after the other.
struct Pick {
    axis: usize,
    picked: Vec<usize>,
}

impl Movement for Pick {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let Some(cells) = inputs[0].as_slice() else {
            return refuse!("its elements don't lie side by side");
        };
        let mut shape = inputs[0].shape().to_vec();
        let dim = std::mem::replace(&mut shape[self.axis], self.picked.len());
        let block: usize = shape[self.axis + 1..].iter().product();
        let outer: usize = shape[..self.axis].iter().product();
        let mut result = Vec::with_capacity(outer * self.picked.len() * block);
        for row in 0..outer {
            let cells = &cells[row * dim * block..][..dim * block];
            if block == 1 {
                result.extend(self.picked.iter().map(|&at| cells[at]));
                continue;
            }
            for &at in &self.picked {
                result.extend_from_slice(&cells[at * block..][..block]);
            }
        }
        match ArrayD::from_shape_vec(shape, result) {
            Ok(array) => Ok(vec![array]),
            Err(error) => refuse!("its indices don't fit: {error}"),
        }
    }
}

/// The slices along an axis, or of all elements, whose condition is true.
pub(crate) fn compress<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, condition) = (call.input(0)?, call.input(1)?);
    let flat = x.reshaped(vec![x.len()])?;
    let (x, axis) = match call.int("axis")? {
        Some(at) => (x, axis(at, x.rank())?),
        None => (&flat, 0),
    };
    let kept = bools(condition)?
        .iter()
        .enumerate()
        .filter(|(_, kept)| **kept != 0);
    let picked: Vec<usize> = kept.map(|(at, _)| at).collect();
    if condition.rank() != 1 || picked.last().is_some_and(|&last| last >= x.shape()[axis]) {
        return refuse!("its condition is longer than the axis");
    }
    rearrange(call, &[x], &Pick { axis, picked })
}

/// For each index the element at that place along the axis and its own place along the others.
pub(crate) fn gather_elements<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let sources = element_positions(x.shape(), at, axis)?;
    rearrange(
        call,
        &[x],
        &Positions {
            sources,
            shape: at.shape().to_vec(),
        },
    )
}

/// The positions that GatherElements reads and ScatterElements writes, in row-major order.
pub(super) fn element_positions(
    shape: &[usize],
    at: &Tensor,
    axis: usize,
) -> Result<Vec<usize>, NotFolded> {
    let fits = at.rank() == shape.len()
        && (0..shape.len()).all(|d| d == axis || at.shape()[d] <= shape[d]);
    if !fits {
        return refuse!("indices of {:?} don't fit {shape:?}", at.shape());
    }
    let strides = strides(shape);
    let picked = indices(at, shape[axis])?;
    let position = |(number, index): (usize, usize)| {
        let mut rest = number;
        let mut position = index * strides[axis];
        for (d, &dim) in at.shape().iter().enumerate().rev() {
            if d != axis {
                position += rest % dim * strides[d];
            }
            rest /= dim;
        }
        position
    };
    Ok(picked.into_iter().enumerate().map(position).collect())
}

/// The distance of neighbours along each dim in row-major order.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d].max(1);
    }
    strides
}

/// Elements picked by position.
struct Positions {
    sources: Vec<usize>,
    shape: Vec<usize>,
}

impl Movement for Positions {
    fn run<T: Cell>(&self, inputs: &[Elements<T>]) -> Result<Vec<ArrayD<T>>, NotFolded> {
        let Some(cells) = inputs[0].as_slice() else {
            return refuse!("its elements don't lie side by side");
        };
        let picked = self.sources.iter().map(|&source| cells[source]).collect();
        match ArrayD::from_shape_vec(IxDyn(&self.shape), picked) {
            Ok(array) => Ok(vec![array]),
            Err(error) => refuse!("its indices don't fit: {error}"),
        }
    }
}

/// Slices picked by index tuples.
pub(crate) fn gather_nd<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let Ok(batch) = usize::try_from(call.int_or("batch_dims", 0)?) else {
        return refuse!("its batch_dims is negative");
    };
    let Some((&width, outer)) = at.shape().split_last() else {
        return refuse!("its indices are a scalar");
    };
    if batch > outer.len() || batch + width > x.rank() || x.shape()[..batch] != outer[..batch] {
        return refuse!("indices of {:?} don't fit {:?}", at.shape(), x.shape());
    }
    let shape = [outer, &x.shape()[batch + width..]].concat();
    call.room_for(x.dtype(), &shape)?;
    let starts = tuple_positions(&x.shape()[batch..], at, width)?;
    let block = element_count(&x.shape()[batch + width..])?;
    let per_batch = element_count(&x.shape()[batch..])?;
    let tuples = element_count(&outer[batch..])?;
    let sources = starts
        .iter()
        .enumerate()
        .flat_map(|(number, &start)| {
            let start = start + number / tuples.max(1) * per_batch;
            start..start + block
        })
        .collect();
    rearrange(call, &[x], &Positions { sources, shape })
}

/// The start of each index tuple's slice.
pub(super) fn tuple_positions(
    shape: &[usize],
    at: &Tensor,
    width: usize,
) -> Result<Vec<usize>, NotFolded> {
    let strides = strides(shape);
    let tuples = if width == 0 {
        at.shape().iter().rev().skip(1).product()
    } else {
        0
    };
    if width == 0 {
        return Ok(vec![0; tuples]);
    }
    integers(at)?
        .chunks_exact(width)
        .map(|tuple| {
            tuple
                .iter()
                .enumerate()
                .try_fold(0, |position, (d, &entry)| {
                    Ok(position + index(entry, shape[d])? * strides[d])
                })
        })
        .collect()
}

/// Each batch's first elements along the time axis in reverse.
pub(crate) fn reverse_sequence<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let lengths = call.ints_in(1)?;
    let (batch, time) = (call.int_or("batch_axis", 1)?, call.int_or("time_axis", 0)?);
    let (batch, time) = (axis(batch, x.rank())?, axis(time, x.rank())?);
    let (batches, steps) = (x.shape()[batch], x.shape()[time]);
    let fits = |&length: &i64| (0..=steps as i64).contains(&length);
    if batch == time || lengths.len() != batches || !lengths.iter().all(fits) {
        return refuse!("its lengths don't fit its operand");
    }
    let strides = strides(x.shape());
    let source = |position: usize| {
        let (b, t) = (
            position / strides[batch] % batches,
            position / strides[time] % steps,
        );
        let length = lengths[b] as usize;
        let from = if t < length { length - 1 - t } else { t };
        position - t * strides[time] + from * strides[time]
    };
    let sources = (0..x.len()).map(source).collect();
    rearrange(
        call,
        &[x],
        &Positions {
            sources,
            shape: x.shape().to_vec(),
        },
    )
}
