//! Element by element over operands that are broadcast to one shape, as NumPy does it.

use std::borrow::Cow;

use bytemuck::{AnyBitPattern, NoUninit};
use ndarray::{ArrayViewD, IxDyn};

use super::{Call, NotFolded, Tensor, refuse};
use crate::DType;

/// The shape that several broadcast to.
pub(crate) fn shape_of(shapes: &[&[usize]]) -> Result<Vec<usize>, NotFolded> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (slot, &dim) in result[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*slot, dim) {
                (have, want) if have == want || want == 1 => {}
                (1, want) => *slot = want,
                (have, want) => return refuse!("{have} and {want} don't broadcast"),
            }
        }
    }
    Ok(result)
}

/// A view of an array in a shape that it broadcasts to.
pub(crate) fn spread<'v, T>(
    view: &'v ArrayViewD<T>,
    shape: &[usize],
) -> Result<ArrayViewD<'v, T>, NotFolded> {
    match view.broadcast(IxDyn(shape)) {
        Some(view) => Ok(view),
        None => refuse!("{:?} doesn't broadcast to {shape:?}", view.shape()),
    }
}

/// A tensor's elements in a shape that it broadcasts to, row by row.
fn spread_elements<'t, T: AnyBitPattern + NoUninit>(
    tensor: &'t Tensor,
    shape: &[usize],
) -> Result<Cow<'t, [T]>, NotFolded> {
    if tensor.shape() == shape {
        return tensor.stored();
    }
    let array = tensor.array::<T>()?;
    let view = array.view();
    Ok(Cow::Owned(spread(&view, shape)?.iter().copied().collect()))
}

/// Combines two tensors of stored types `A` and `B`. A `None` from `combine` is a result that isn't
/// defined, for the reason `undefined`.
pub(crate) fn zip<'a, A, B, R>(
    call: &Call,
    result: DType,
    a: &Tensor,
    b: &Tensor,
    undefined: &str,
    combine: impl Fn(A, B) -> Option<R>,
) -> Result<Tensor<'a>, NotFolded>
where
    A: AnyBitPattern + NoUninit,
    B: AnyBitPattern + NoUninit,
    R: NoUninit,
{
    let shape = shape_of(&[a.shape(), b.shape()])?;
    call.room_for(result, &shape)?;
    let (a, b) = (spread_elements(a, &shape)?, spread_elements(b, &shape)?);
    let combined: Option<Vec<R>> = a.iter().zip(&*b).map(|(&a, &b)| combine(a, b)).collect();
    match combined {
        Some(elements) => Ok(Tensor::from_vec(result, shape, elements)),
        None => refuse!("{undefined}"),
    }
}
