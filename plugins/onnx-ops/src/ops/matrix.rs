//! Products of matrices.

use passdock_plugin_api::{DType, Dim, attrs};

use super::{MANY, Operator};
use crate::eval::matrix as eval;
use crate::infer::{Answer, Infer, wrong};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Det", 11, (1, 1)).infers(det),
    Operator::new("onnx.Einsum", 12, (1, MANY))
        .attrs(attrs![equation: required string])
        .infers(einsum),
    Operator::new("onnx.Gemm", 7, (3, 3))
        .attrs(attrs![alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0])
        .infers(gemm)
        .folds(eval::gemm),
    Operator::new("onnx.Gemm", 11, (2, 3))
        .attrs(attrs![alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0])
        .infers(gemm)
        .folds(eval::gemm),
    Operator::new("onnx.MatMul", 1, (2, 2))
        .infers(matmul)
        .folds(eval::mat_mul),
    Operator::new("onnx.MatMulInteger", 10, (2, 4)).infers(matmul_integer),
    Operator::new("onnx.QLinearMatMul", 10, (8, 8)).infers(qlinear_matmul),
];

/// The shape of a product as NumPy multiplies: the last two dims are matrices, the others are
/// broadcast, and a vector is a matrix whose other dim goes again.
fn product(op: &Infer, a: usize, b: usize) -> Answer<Option<Vec<Dim>>> {
    let (Some(mut a), Some(mut b)) = (op.dims(a), op.dims(b)) else {
        return Ok(None);
    };
    let (row, column) = (a.len() == 1, b.len() == 1);
    if a.is_empty() || b.is_empty() {
        return wrong!("a scalar isn't a matrix");
    }
    if row {
        a.insert(0, Dim::constant(1));
    }
    if column {
        b.push(Dim::constant(1));
    }
    let (a_outer, a) = a.split_at(a.len() - 2);
    let (b_outer, b) = b.split_at(b.len() - 2);
    op.agree(a[1], b[0])?;
    let mut dims = op.broadcast(&[a_outer.to_vec(), b_outer.to_vec()])?;
    if !row {
        dims.push(a[0]);
    }
    if !column {
        dims.push(b[1]);
    }
    Ok(Some(dims))
}

/// The product.
fn matmul(op: &Infer) -> Answer {
    op.set(0, op.dtype_of_any([0, 1])?, product(op, 0, 1)?)
}

/// The product, of int32.
fn matmul_integer(op: &Infer) -> Answer {
    op.set(0, DType::I32, product(op, 0, 1)?)
}

/// The product, of the result's zero point's type.
fn qlinear_matmul(op: &Infer) -> Answer {
    op.set(0, op.dtype(7)?, product(op, 0, 3)?)
}

/// Rows of the one matrix by columns of the other, each transposed if the attributes say so.
fn gemm(op: &Infer) -> Answer {
    let dtype = op.dtype_of_any([0, 1])?;
    let side = |index: usize, transposed: bool| match op.dims(index).as_deref() {
        None => Ok((Dim::UNKNOWN, Dim::UNKNOWN)),
        Some(&[rows, columns]) if transposed => Ok((columns, rows)),
        Some(&[rows, columns]) => Ok((rows, columns)),
        Some(dims) => wrong!("{} dims aren't a matrix", dims.len()),
    };
    let (rows, inner) = side(0, op.flag("transA", false)?)?;
    let (other, columns) = side(1, op.flag("transB", false)?)?;
    op.agree(inner, other)?;
    op.set(0, dtype, Some(vec![rows, columns]))
}

/// The dims before the matrices.
fn det(op: &Infer) -> Answer {
    let dims = op
        .dims(0)
        .and_then(|dims| dims.len().checked_sub(2).map(|n| dims[..n].to_vec()));
    op.set(0, op.dtype(0)?, dims)
}

/// The dims that the letters after the arrow name; without an arrow or with dots, nothing is said.
fn einsum(op: &Infer) -> Answer {
    let count = op.host.operand_count();
    let dtype = op.dtype_of_any(0..count)?;
    let equation = op.string("equation")?.unwrap_or_default();
    let equation: Vec<u8> = equation
        .iter()
        .copied()
        .filter(|&byte| byte != b' ')
        .collect();
    let arrow = equation.windows(2).position(|pair| pair == b"->");
    let Some(arrow) = arrow.filter(|_| !equation.contains(&b'.')) else {
        return op.set(0, dtype, None);
    };
    let (terms, result) = (&equation[..arrow], &equation[arrow + 2..]);
    let mut named = [Dim::UNKNOWN; 256];
    for (index, term) in terms.split(|&byte| byte == b',').enumerate() {
        let Some(dims) = op.dims(index) else { continue };
        if dims.len() != term.len() {
            return wrong!(
                "{} dims for `{}`",
                dims.len(),
                String::from_utf8_lossy(term)
            );
        }
        for (&letter, dim) in term.iter().zip(dims) {
            named[letter as usize] = op.agree(named[letter as usize], dim)?;
        }
    }
    op.set(
        0,
        dtype,
        Some(
            result
                .iter()
                .map(|&letter| named[letter as usize])
                .collect(),
        ),
    )
}
