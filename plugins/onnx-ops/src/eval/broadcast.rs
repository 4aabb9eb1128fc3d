//! Element by element over operands that are broadcast to one shape, as NumPy does it.

use bytemuck::{AnyBitPattern, NoUninit};
use ndarray::{ArrayD, ArrayViewD, IxDyn, Zip};

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

/// Combines two tensors of stored types `A` and `B`. A `None` from `combine` is an undefined result.
pub(crate) fn zip<'a, A, B, R>(
    call: &Call,
    result: DType,
    a: &Tensor,
    b: &Tensor,
    mut combine: impl FnMut(A, B) -> Option<R>,
) -> Result<Tensor<'a>, NotFolded>
where
    A: AnyBitPattern + NoUninit,
    B: AnyBitPattern + NoUninit,
    R: NoUninit + Default,
{
    let shape = shape_of(&[a.shape(), b.shape()])?;
    call.room_for(result, &shape)?;
    let mut undefined = false;
    let mut combined = |a: A, b: B| {
        combine(a, b).unwrap_or_else(|| {
            undefined = true;
            R::default()
        })
    };
    let tensor = if a.shape() == b.shape() {
        let (a, b) = (a.stored()?, b.stored()?);
        let elements = a.iter().zip(&*b).map(|(&a, &b)| combined(a, b)).collect();
        Tensor::from_vec(result, shape, elements)
    } else {
        let (a, b) = (a.array()?, b.array()?);
        let (a, b) = (a.view(), b.view());
        let zipped: ArrayD<R> = Zip::from(spread(&a, &shape)?)
            .and(spread(&b, &shape)?)
            .map_collect(|&a, &b| combined(a, b));
        Tensor::from_array(result, zipped)
    };
    if undefined {
        refuse!("one of its results is undefined")
    } else {
        Ok(tensor)
    }
}
