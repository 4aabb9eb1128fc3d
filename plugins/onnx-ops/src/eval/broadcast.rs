//! Elementwise operations with NumPy's broadcasting.

use std::borrow::Cow;
use std::cell::Cell;

use bytemuck::{AnyBitPattern, NoUninit, Zeroable};
use ndarray::{ArrayViewD, IxDyn};

use super::tensor::{in_order, row_by_row};
use super::{Call, Folded, NotFolded, Tensor, ensure, reject};
use passdock_plugin_api::DType;

/// Returns the shape that several shapes broadcast to.
pub(crate) fn shape_of(shapes: &[&[usize]]) -> Result<Vec<usize>, NotFolded> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (slot, &dim) in result[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*slot, dim) {
                (have, want) if have == want || want == 1 => {}
                (1, want) => *slot = want,
                (have, want) => return reject!("cannot broadcast dims {have} and {want}"),
            }
        }
    }
    Ok(result)
}

/// Broadcasts a view to a shape.
pub(crate) fn spread<'v, T>(
    view: &'v ArrayViewD<T>,
    shape: &[usize],
) -> Result<ArrayViewD<'v, T>, NotFolded> {
    match view.broadcast(IxDyn(shape)) {
        Some(view) => Ok(view),
        None => reject!("cannot broadcast shape {:?} to {shape:?}", view.shape()),
    }
}

/// Returns the elements of a tensor broadcast to a shape, in row-major order. It copies, so that this is the only
/// instantiation of the traversal, instead of one per operator and type.
fn spread_elements<'t, T: AnyBitPattern + NoUninit>(
    tensor: &'t Tensor,
    shape: &[usize],
) -> Result<Cow<'t, [T]>, NotFolded> {
    if tensor.shape() == shape {
        return tensor.stored();
    }
    let array = tensor.array::<T>()?;
    let view = array.view();
    Ok(Cow::Owned(in_order(row_by_row(&spread(&view, shape)?))))
}

/// Combines two tensors of stored types `A` and `B`. If `combine` returns `None`, the op isn't folded, for the reason
/// `undefined`.
pub(crate) fn zip<'a, A, B, R>(
    call: &Call,
    result: DType,
    a: &Tensor,
    b: &Tensor,
    undefined: &str,
    combine: impl Fn(A, B) -> Option<R>,
) -> Folded<'a>
where
    A: AnyBitPattern + NoUninit,
    B: AnyBitPattern + NoUninit,
    R: NoUninit + Zeroable,
{
    let shape = shape_of(&[a.shape(), b.shape()])?;
    call.room_for(result, &shape)?;
    let defined = Cell::new(true);
    // Without an early exit, the compiler vectorizes the loop.
    let combine = |a, b| {
        combine(a, b).unwrap_or_else(|| {
            defined.set(false);
            R::zeroed()
        })
    };
    let (x, y) = (a.stored::<A>()?, b.stored::<B>()?);
    let elements: Vec<R> = match (&*x, &*y) {
        (x, y) if a.shape() == b.shape() => x.iter().zip(y).map(|(&x, &y)| combine(x, y)).collect(),
        (x, &[y]) if a.shape() == shape => x.iter().map(|&x| combine(x, y)).collect(),
        (&[x], y) if b.shape() == shape => y.iter().map(|&y| combine(x, y)).collect(),
        _ => {
            let x = spread_elements::<A>(a, &shape)?;
            let y = spread_elements::<B>(b, &shape)?;
            x.iter().zip(&*y).map(|(&x, &y)| combine(x, y)).collect()
        }
    };
    ensure!(defined.get(), "{undefined}");
    Ok(Tensor::from_vec(result, shape, elements))
}
