//! Products of matrices: MatMul, Gemm.

use ndarray::{Array2, ArrayView2, ArrayViewD, Axis, Dimension, Ix2, IxDyn, LinalgScalar};

use super::broadcast::{shape_of, spread};
use super::call::grouped;
use super::elementwise::same_type;
use super::number::{Number, with_integer};
use super::{Call, Folded, NotFolded, Tensor, element_count, name_of, refuse};
use passdock_plugin_api::DType;

/// The most multiplications that are a compiler's business.
const MOST: usize = 1 << 26;

/// The product of matrices, or of each two of them in broadcast dims.
pub(crate) fn mat_mul<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = same_type(call)?;
    sums_are_defined(a)?;
    let product = match a.dtype() {
        DType::F32 => floats::<f32>(call, a, b)?,
        DType::F64 => floats::<f64>(call, a, b)?,
        other => with_integer!(other, T => integers::<T>(call, a, b))?,
    };
    Ok(vec![product])
}

/// ONNX doesn't say how precise the sums of 16-bit floats are, and runtimes differ in the last bit.
pub(super) fn sums_are_defined(x: &Tensor) -> Result<(), NotFolded> {
    match x.dtype() {
        DType::F16 | DType::BF16 => refuse!(
            "ONNX doesn't say how precise sums of type {} are",
            name_of(x.dtype())
        ),
        _ => Ok(()),
    }
}

fn floats<'a, T: Number + LinalgScalar>(
    call: &Call,
    a: &Tensor,
    b: &Tensor,
) -> Result<Tensor<'a>, NotFolded> {
    multiply::<T>(call, a, b, |a, b| Some(a.dot(&b)))
}

/// Integers are exact; where a sum doesn't fit its type, nobody says what it is.
fn integers<'a, T: Number>(call: &Call, a: &Tensor, b: &Tensor) -> Result<Tensor<'a>, NotFolded> {
    multiply::<T>(call, a, b, |a, b| {
        let mut product = Array2::from_elem((a.nrows(), b.ncols()), T::ZERO);
        for ((row, column), slot) in product.indexed_iter_mut() {
            let pairs = a.row(row).into_iter().zip(b.column(column));
            let terms = pairs.map(|(x, y)| x.to_int()?.checked_mul(y.to_int()?));
            let sum = terms
                .into_iter()
                .try_fold(0i128, |sum, term| sum.checked_add(term?));
            *slot = T::exactly(sum?)?;
        }
        Some(product)
    })
}

fn multiply<'a, T: Number>(
    call: &Call,
    a: &Tensor,
    b: &Tensor,
    product: impl Fn(ArrayView2<T>, ArrayView2<T>) -> Option<Array2<T>>,
) -> Result<Tensor<'a>, NotFolded> {
    if a.rank() == 0 || b.rank() == 0 {
        return refuse!("a scalar isn't a matrix");
    }
    // A vector is a matrix of one row, or of one column, which goes again.
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let a = a.reshaped([&vec![1; usize::from(row)], a.shape()].concat())?;
    let b = b.reshaped([b.shape(), &vec![1; usize::from(column)]].concat())?;
    let (outer_a, [m, k]) = split(a.shape());
    let (outer_b, [l, n]) = split(b.shape());
    if k != l {
        return refuse!("rows of {k} don't fit columns of {l}");
    }
    let outer = shape_of(&[outer_a, outer_b])?;
    little_work(&[&outer[..], &[m, k, n]].concat())?;
    call.room_for(T::DTYPE, &[&outer[..], &[m, n]].concat())?;
    let (a, b) = (a.array::<T>()?, b.array::<T>()?);
    let (a, b) = (a.view(), b.view());
    let a = spread(&a, &[&outer[..], &[m, k]].concat())?;
    let b = spread(&b, &[&outer[..], &[k, n]].concat())?;
    let mut elements: Vec<T> = Vec::new();
    for at in ndarray::indices(IxDyn(&outer)) {
        let at = at.as_array_view();
        let Some(made) = product(matrix(&a, at.iter())?, matrix(&b, at.iter())?) else {
            return refuse!("a sum is larger than {} holds", name_of(T::DTYPE));
        };
        elements.extend(made.iter().copied());
    }
    let kept = [(m, !row), (n, !column)]
        .into_iter()
        .filter(|(_, kept)| *kept);
    let shape = outer.into_iter().chain(kept.map(|(dim, _)| dim)).collect();
    Ok(Tensor::from_vec(T::DTYPE, shape, elements))
}

/// Refuses more multiplications than are a compiler's business.
pub(super) fn little_work(dims: &[usize]) -> Result<(), NotFolded> {
    match element_count(dims)? {
        work if work > MOST => refuse!("it would take {} multiplications", grouped(work as u64)),
        _ => Ok(()),
    }
}

/// The outer dims, and those of the matrices.
fn split(shape: &[usize]) -> (&[usize], [usize; 2]) {
    let (outer, matrix) = shape.split_at(shape.len() - 2);
    (outer, [matrix[0], matrix[1]])
}

/// One of the matrices.
fn matrix<'v, 'i, T>(
    all: &'v ArrayViewD<T>,
    at: impl Iterator<Item = &'i usize>,
) -> Result<ArrayView2<'v, T>, NotFolded> {
    let one = at.fold(all.view(), |view, &index| {
        view.index_axis_move(Axis(0), index)
    });
    one.into_dimensionality::<Ix2>()
        .map_err(|error| NotFolded::new(format!("it isn't a matrix: {error}")))
}

/// `alpha * A * B + beta * C`, `A` and `B` transposed where it says so.
pub(crate) fn gemm<'a>(call: &Call<'a>) -> Folded<'a> {
    let (a, b) = same_type(call)?;
    sums_are_defined(a)?;
    let inputs = [Some(a), Some(b), call.optional(2)];
    Ok(vec![match a.dtype() {
        DType::F32 => combination::<f32>(call, inputs)?,
        DType::F64 => combination::<f64>(call, inputs)?,
        other => {
            return refuse!(
                "nothing is computed with elements of type {}",
                name_of(other)
            );
        }
    }])
}

fn combination<'r, T: Number + LinalgScalar>(
    call: &Call,
    [a, b, c]: [Option<&Tensor>; 3],
) -> Result<Tensor<'r>, NotFolded> {
    let (alpha, beta) = (call.float_or("alpha", 1.0)?, call.float_or("beta", 1.0)?);
    let (Some(alpha), Some(beta)) = (T::from_double(alpha.into()), T::from_double(beta.into()))
    else {
        return refuse!("its factors aren't of type {}", name_of(T::DTYPE));
    };
    let (Some(a), Some(b)) = (a, b) else {
        return refuse!("it has no matrices");
    };
    if a.rank() != 2 || b.rank() != 2 {
        return refuse!("its operands aren't matrices");
    }
    let (a, b) = (a.array::<T>()?, b.array::<T>()?);
    let (a, b) = (a.view(), b.view());
    let turned = |matrix, flag| -> Result<ArrayView2<T>, NotFolded> {
        let matrix = self::matrix(matrix, [].iter())?;
        Ok(if call.flag(flag, false)? {
            matrix.reversed_axes()
        } else {
            matrix
        })
    };
    let (a, b) = (turned(&a, "transA")?, turned(&b, "transB")?);
    if a.ncols() != b.nrows() {
        return refuse!("rows of {} don't fit columns of {}", a.ncols(), b.nrows());
    }
    little_work(&[a.nrows(), a.ncols(), b.ncols()])?;
    let shape = [a.nrows(), b.ncols()];
    call.room_for(T::DTYPE, &shape)?;
    let mut result = a.dot(&b).mapv(|x| alpha.times(x)).into_dyn();
    if let Some(c) = c.filter(|_| beta != T::ZERO) {
        if c.dtype() != T::DTYPE {
            return refuse!(
                "its operands mix {} and {}",
                name_of(T::DTYPE),
                name_of(c.dtype())
            );
        }
        let c = c.array::<T>()?;
        let c = c.view();
        result.zip_mut_with(&spread(&c, &shape)?, |x, &c| *x = x.plus(beta.times(c)));
    }
    Ok(Tensor::from_array(T::DTYPE, result))
}
