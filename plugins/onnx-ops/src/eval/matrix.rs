//! Matrix products: MatMul, Gemm.

use ndarray::{Array2, ArrayView2, ArrayViewD, Axis, Dimension, Ix2, IxDyn};

use super::broadcast::{shape_of, spread};
use super::call::{grouped, one_type};
use super::number::{doubles, exact, rounded, wholes};
use super::{Call, Folded, NotFolded, Tensor, element_count, ensure, in_shape, name_of, reject};
use passdock_plugin_api::DType;

/// The maximum number of multiplications in one evaluation.
const MAX_WORK: usize = 1 << 26;

/// Multiplies two matrices, or two stacks of them with broadcasting.
pub(crate) fn mat_mul<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = call.pair()?;
    sums_are_defined(a)?;
    Ok(match a.dtype() {
        DType::F32 | DType::F64 => {
            let (shape, products) = multiply(call, [a, b], doubles, |a, b| Some(a.dot(&b)))?;
            rounded(a.dtype(), shape, products)?
        }
        dtype => {
            let (shape, products) = multiply(call, [a, b], wholes, exact_product)?;
            exact(dtype, shape, products)?
        }
    })
}

/// Rejects 16-bit floats: ONNX doesn't define the precision of their sums, and runtimes differ in the last bit.
pub(super) fn sums_are_defined(x: &Tensor) -> Result<(), NotFolded> {
    let is_short = matches!(x.dtype(), DType::F16 | DType::BF16);
    ensure!(
        !is_short,
        "precision of {} sums is undefined",
        name_of(x.dtype())
    );
    Ok(())
}

/// Multiplies integer matrices exactly. Returns `None` on overflow.
fn exact_product(a: ArrayView2<i128>, b: ArrayView2<i128>) -> Option<Array2<i128>> {
    let mut product = Array2::zeros((a.nrows(), b.ncols()));
    for ((row, column), slot) in product.indexed_iter_mut() {
        let mut pairs = a.row(row).into_iter().zip(b.column(column));
        *slot = pairs.try_fold(0i128, |sum, (x, &y)| sum.checked_add(x.checked_mul(y)?))?;
    }
    Some(product)
}

/// Returns the shape and the elements of the product.
fn multiply<T: Clone>(
    call: &Call,
    [a, b]: [&Tensor; 2],
    elements: fn(&Tensor) -> Result<Vec<T>, NotFolded>,
    product: impl Fn(ArrayView2<T>, ArrayView2<T>) -> Option<Array2<T>>,
) -> Result<(Vec<usize>, Vec<T>), NotFolded> {
    ensure!(
        a.rank() > 0 && b.rank() > 0,
        "expected matrices or vectors, found a scalar"
    );
    // A vector becomes a matrix of one row or column, which is removed from the result.
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let a_shape = [&vec![1; usize::from(row)], a.shape()].concat();
    let b_shape = [b.shape(), &vec![1; usize::from(column)]].concat();
    let (outer_a, [m, k]) = split(&a_shape);
    let (outer_b, [l, n]) = split(&b_shape);
    ensure!(k == l, "expected equal inner dims, found {k} and {l}");
    let outer = shape_of(&[outer_a, outer_b])?;
    little_work(&[&outer[..], &[m, k, n]].concat())?;
    call.room_for(a.dtype(), &[&outer[..], &[m, n]].concat())?;
    let a = in_shape(&a_shape, elements(a)?.into())?;
    let b = in_shape(&b_shape, elements(b)?.into())?;
    let (a, b) = (a.view(), b.view());
    let a = spread(&a, &[&outer[..], &[m, k]].concat())?;
    let b = spread(&b, &[&outer[..], &[k, n]].concat())?;
    let mut elements: Vec<T> = Vec::new();
    for at in ndarray::indices(IxDyn(&outer)) {
        let at = at.as_array_view();
        let Some(product) = product(matrix(&a, at.iter())?, matrix(&b, at.iter())?) else {
            return reject!("an intermediate sum overflows");
        };
        elements.extend(product);
    }
    let dims = [(m, !row), (n, !column)]
        .into_iter()
        .filter(|(_, stays)| *stays);
    let shape = outer.into_iter().chain(dims.map(|(dim, _)| dim)).collect();
    Ok((shape, elements))
}

/// Rejects an evaluation with too many multiplications.
pub(super) fn little_work(dims: &[usize]) -> Result<(), NotFolded> {
    let work = element_count(dims)?;
    if work > MAX_WORK {
        return reject!(
            "evaluation would take {} multiplications, limit is {}",
            grouped(work as u64),
            grouped(MAX_WORK as u64)
        );
    }
    Ok(())
}

/// Splits a shape into the outer dims and those of the matrix.
fn split(shape: &[usize]) -> (&[usize], [usize; 2]) {
    let (outer, matrix) = shape.split_at(shape.len() - 2);
    (outer, [matrix[0], matrix[1]])
}

/// Returns one matrix of a stack.
fn matrix<'v, 'i, T>(
    all: &'v ArrayViewD<T>,
    at: impl Iterator<Item = &'i usize>,
) -> Result<ArrayView2<'v, T>, NotFolded> {
    let one = at.fold(all.view(), |view, &index| {
        view.index_axis_move(Axis(0), index)
    });
    let matrix = one.into_dimensionality::<Ix2>();
    matrix.map_err(|error| NotFolded::new(format!("expected a matrix: {error}")))
}

/// Computes `alpha * A * B + beta * C`, with `A` and `B` optionally transposed.
pub(crate) fn gemm<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = call.pair()?;
    sums_are_defined(a)?;
    let alpha = call.number("alpha")?;
    let beta = call.number("beta")?;
    let operand = |operand: &Tensor, flag| {
        let matrix = in_shape(operand.shape(), doubles(operand)?.into())?.into_owned();
        let Ok(matrix) = matrix.into_dimensionality::<Ix2>() else {
            return reject!("operand has rank {}, expected 2", operand.rank());
        };
        Ok(if call.flag(flag, false)? {
            matrix.reversed_axes()
        } else {
            matrix
        })
    };
    let (dtype, a, b) = (a.dtype(), operand(a, "transA")?, operand(b, "transB")?);
    let shape = [a.nrows(), b.ncols()];
    if a.ncols() != b.nrows() {
        return reject!(
            "expected equal inner dims, found {} and {}",
            a.ncols(),
            b.nrows()
        );
    }
    little_work(&[a.nrows(), a.ncols(), b.ncols()])?;
    call.room_for(dtype, &shape)?;
    let mut result = a.dot(&b) * alpha;
    if let Some(c) = call.optional(2).filter(|_| beta != 0.0) {
        one_type(&[call.input(0)?, c])?;
        let c = in_shape(c.shape(), doubles(c)?.into())?;
        let Some(c) = c.broadcast(shape) else {
            return reject!("cannot broadcast shape {:?} to {shape:?}", c.shape());
        };
        result.scaled_add(beta, &c);
    }
    rounded(dtype, shape.to_vec(), result.into_iter().collect())
}
