//! Operators that select elements by index: Gather, GatherElements, GatherND, Compress, ReverseSequence.

use super::call::{axis, integers, normalized_index};
use super::cells::rearrange;
use super::compare_logic::bools;
use super::{Call, Folded, NotFolded, Tensor, element_count, ensure, reject};

/// Returns an index into a dim, counted from the front.
fn index(at: i64, dim: usize) -> Result<usize, NotFolded> {
    let reason = || NotFolded::new(format!("index {at} is out of range for a dim of {dim}"));
    normalized_index(at, dim).ok_or_else(reason)
}

/// Returns the indices into a dim in a tensor.
fn indices(tensor: &Tensor, dim: usize) -> Result<Vec<usize>, NotFolded> {
    let indices = integers(tensor)?;
    indices.into_iter().map(|at| index(at, dim)).collect()
}

/// Selects slices along an axis. The dims of the indices replace the axis.
pub(crate) fn gather<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let picked = indices(at, x.shape()[axis])?;
    pick(call, x, axis, &picked, at.shape())
}

/// Selects the slices along an axis, or the elements of the flattened operand, whose condition is true.
pub(crate) fn compress<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, condition) = (call.input(0)?, call.input(1)?);
    let flat = x.reshaped(vec![x.len()])?;
    let (x, axis) = match call.int("axis")? {
        Some(at) => (x, axis(at, x.rank())?),
        None => (&flat, 0),
    };
    let truths = bools(condition)?;
    let picked: Vec<usize> = (0..truths.len()).filter(|&at| truths[at] != 0).collect();
    let fits = condition.rank() == 1 && picked.last().is_none_or(|&last| last < x.shape()[axis]);
    ensure!(
        fits,
        "condition is not a vector or is true beyond the end of axis {axis}"
    );
    pick(call, x, axis, &picked, &[picked.len()])
}

/// Concatenates the picked slices along an axis, which `dims` then replaces.
fn pick<'a>(call: &Call, x: &Tensor, axis: usize, picked: &[usize], dims: &[usize]) -> Folded<'a> {
    let (before, after) = (&x.shape()[..axis], &x.shape()[axis + 1..]);
    let shape = [before, dims, after].concat();
    let count = call.room_for(x.dtype(), &shape)?;
    let block: usize = after.iter().product();
    let row = x.shape()[axis] * block;
    rearrange!(call, &[x], cells, T => {
        let mut result = Vec::with_capacity(count);
        pick_blocks::<T>(&cells.row(0)?, picked, [row, block], &mut result);
        (shape, result)
    })
}

/// Appends the picked blocks of each row. It isn't inlined into `pick`, where its loops would be slower.
#[inline(never)]
fn pick_blocks<T: Copy>(cells: &[T], picked: &[usize], sizes: [usize; 2], result: &mut Vec<T>) {
    let [row, block] = sizes;
    for cells in cells.chunks_exact(row.max(1)) {
        if block == 1 {
            result.extend(picked.iter().map(|&at| cells[at]));
            continue;
        }
        for &at in picked {
            result.extend_from_slice(&cells[at * block..][..block]);
        }
    }
}

/// Selects, for each index, the element with this index along the axis and the index's own position along other axes.
pub(crate) fn gather_elements<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let axis = axis(call.int_or("axis", 0)?, x.rank())?;
    let sources = element_positions(x.shape(), at, axis)?;
    take(call, x, sources, at.shape().to_vec())
}

/// Returns the elements at these positions.
fn take<'a>(call: &Call, x: &Tensor, sources: Vec<usize>, shape: Vec<usize>) -> Folded<'a> {
    rearrange!(call, &[x], cells, T => {
        let cells = cells.row::<T>(0)?;
        (shape, sources.into_iter().map(|source| cells[source]).collect())
    })
}

/// Returns the positions that GatherElements reads and ScatterElements writes, in row-major order.
pub(super) fn element_positions(
    shape: &[usize],
    at: &Tensor,
    axis: usize,
) -> Result<Vec<usize>, NotFolded> {
    let fits = at.rank() == shape.len()
        && (0..shape.len()).all(|d| d == axis || at.shape()[d] <= shape[d]);
    ensure!(
        fits,
        "indices of shape {:?} do not fit data of shape {shape:?}",
        at.shape()
    );
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

/// Returns the row-major strides of a shape.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d].max(1);
    }
    strides
}

/// Selects slices by index tuples.
pub(crate) fn gather_nd<'a>(call: &Call<'a>) -> Folded<'a> {
    let (x, at) = (call.input(0)?, call.input(1)?);
    let Ok(batch) = usize::try_from(call.int_or("batch_dims", 0)?) else {
        return reject!("attribute `batch_dims` is negative");
    };
    let Some((&width, outer)) = at.shape().split_last() else {
        return reject!("indices have rank 0, expected at least 1");
    };
    let (dims, rank) = (x.shape(), x.rank());
    let fits = batch <= outer.len() && batch + width <= rank && dims[..batch] == outer[..batch];
    ensure!(
        fits,
        "indices of shape {:?} do not fit data of shape {dims:?}",
        at.shape()
    );
    let shape = [outer, &dims[batch + width..]].concat();
    call.room_for(x.dtype(), &shape)?;
    let starts = tuple_positions(&dims[batch..], at, width)?;
    let block = element_count(&dims[batch + width..])?;
    let per_batch = element_count(&dims[batch..])?;
    let tuples = element_count(&outer[batch..])?;
    let sources = starts.iter().enumerate().flat_map(|(number, &start)| {
        let start = start + number / tuples.max(1) * per_batch;
        start..start + block
    });
    take(call, x, sources.collect(), shape)
}

/// Returns the start of each index tuple's slice.
pub(super) fn tuple_positions(
    shape: &[usize],
    at: &Tensor,
    width: usize,
) -> Result<Vec<usize>, NotFolded> {
    if width == 0 {
        return Ok(vec![0; at.shape().iter().rev().skip(1).product()]);
    }
    let strides = strides(shape);
    let position = |tuple: &[i64]| {
        let mut entries = tuple.iter().enumerate();
        entries.try_fold(0, |position, (d, &entry)| {
            Ok(position + index(entry, shape[d])? * strides[d])
        })
    };
    integers(at)?.chunks_exact(width).map(position).collect()
}

/// Reverses the first elements along the time axis, as many as each batch's length.
pub(crate) fn reverse_sequence<'a>(call: &Call<'a>) -> Folded<'a> {
    let x = call.input(0)?;
    let lengths = call.ints_in(1)?;
    let (batch, time) = (call.int_or("batch_axis", 1)?, call.int_or("time_axis", 0)?);
    let (batch, time) = (axis(batch, x.rank())?, axis(time, x.rank())?);
    let (batches, steps) = (x.shape()[batch], x.shape()[time]);
    let is_length = |&length: &i64| (0..=steps as i64).contains(&length);
    let fits = batch != time && lengths.len() == batches && lengths.iter().all(is_length);
    ensure!(fits, "sequence lengths do not fit the batch and time axes");
    let strides = strides(x.shape());
    let source = |position: usize| {
        let b = position / strides[batch] % batches;
        let t = position / strides[time] % steps;
        let length = lengths[b] as usize;
        let from = if t < length { length - 1 - t } else { t };
        position - t * strides[time] + from * strides[time]
    };
    take(
        call,
        x,
        (0..x.len()).map(source).collect(),
        x.shape().to_vec(),
    )
}
