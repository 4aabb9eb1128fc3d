//! Matrix products.

use std::collections::BTreeMap;

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::operator::{MANY, Operator};
use crate::eval::{einsum as sums, matrix as eval};
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Det", 11, (1, 1)).infers(det),
    Operator::new("onnx.Einsum", 12, (1, MANY))
        .with(OpTraits::OUT_FUSABLE)
        .attrs(attrs![equation: required string])
        .infers(einsum)
        .folds(sums::einsum),
    GEMM,
    GEMM.since(11).operands((2, 3)),
    Operator::new("onnx.MatMul", 1, (2, 2))
        .with(OpTraits::OUT_FUSABLE)
        .infers(|op| op.set(0, op.dtype_of_any([0, 1])?, product(op, 0, 1)?))
        .folds(eval::mat_mul),
    Operator::new("onnx.MatMulInteger", 10, (2, 4))
        .with(OpTraits::OUT_FUSABLE)
        .infers(|op| op.set(0, DType::I32, product(op, 0, 1)?)),
    Operator::new("onnx.QLinearMatMul", 10, (8, 8))
        .with(OpTraits::OUT_FUSABLE)
        .infers(|op| op.set(0, op.dtype(7)?, product(op, 0, 3)?)),
];

const GEMM: Operator = Operator::new("onnx.Gemm", 7, (3, 3))
    .with(OpTraits::OUT_FUSABLE)
    .attrs(attrs![alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0])
    .infers(gemm)
    .folds(eval::gemm);

/// Returns the shape of a product with NumPy's rules. The last two dims are matrices and the others are broadcast. A
/// vector is a matrix whose other dim is removed from the result.
fn product(op: &Infer, a: usize, b: usize) -> Inferred<Option<Vec<Dim>>> {
    let (Some(mut a), Some(mut b)) = (op.dims(a), op.dims(b)) else {
        return Ok(None);
    };
    let (row, column) = (a.len() == 1, b.len() == 1);
    if a.is_empty() || b.is_empty() {
        return invalid!("expected matrices or vectors, found a scalar");
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

/// Infers rows of the first matrix by columns of the second, each optionally transposed.
fn gemm(op: &Infer) -> Inferred {
    let dtype = op.dtype_of_any([0, 1])?;
    let side = |index: usize, transposed: bool| match op.dims(index).as_deref() {
        None => Ok((Dim::UNKNOWN, Dim::UNKNOWN)),
        Some(&[rows, columns]) if transposed => Ok((columns, rows)),
        Some(&[rows, columns]) => Ok((rows, columns)),
        Some(dims) => invalid!("operand {index} has rank {}, expected 2", dims.len()),
    };
    let (rows, inner) = side(0, op.flag("transA", false)?)?;
    let (other, columns) = side(1, op.flag("transB", false)?)?;
    op.agree(inner, other)?;
    op.set(0, dtype, Some(vec![rows, columns]))
}

/// Infers the dims before the matrices.
fn det(op: &Infer) -> Inferred {
    let dims = op
        .dims(0)
        .and_then(|dims| dims.len().checked_sub(2).map(|n| dims[..n].to_vec()));
    op.set(0, op.dtype(0)?, dims)
}

/// Infers the dims of the labels after the arrow. Without an arrow, these are the ellipsis and the labels that appear
/// once, in alphabetical order. The ellipsis has the broadcast dims without a label.
fn einsum(op: &Infer) -> Inferred {
    let count = op.host.operand_count();
    let dtype = op.dtype_of_any(0..count)?;
    let (terms, result) = sums::parts(op.string("equation")?.unwrap_or_default());
    if terms.len() != count {
        return invalid!(
            "number of terms in the equation is {}, expected {count}",
            terms.len()
        );
    }
    let mut named = BTreeMap::new();
    let mut dotted = Some(Vec::new());
    for (index, term) in terms.iter().enumerate() {
        let letters: Vec<char> = term.chars().filter(|&char| char != '.').collect();
        let before = term
            .split_once("...")
            .map(|(before, _)| before.chars().count());
        letters
            .iter()
            .for_each(|&letter| _ = named.entry(letter).or_insert(Dim::UNKNOWN));
        let Some(mut dims) = op.dims(index) else {
            dotted = dotted.filter(|_| before.is_none());
            continue;
        };
        if let (Some(at), Some(more)) = (before, dims.len().checked_sub(letters.len())) {
            let between = dims.drain(at..at + more).collect();
            if let Some(shapes) = &mut dotted {
                shapes.push(between);
            }
        }
        if dims.len() != letters.len() {
            return invalid!(
                "operand {index} has rank {}, which does not match term `{term}`",
                dims.len()
            );
        }
        for (letter, dim) in letters.into_iter().zip(dims) {
            let known = named[&letter];
            named.insert(letter, op.agree(known, dim)?);
        }
    }
    let dotted = dotted.map(|shapes| op.broadcast(&shapes)).transpose()?;
    let once = |letter: &&char| {
        terms
            .iter()
            .map(|t| t.matches(**letter).count())
            .sum::<usize>()
            == 1
    };
    let result = match result {
        Some(result) => result,
        None => ["..."]
            .into_iter()
            .map(str::to_owned)
            .chain(named.keys().filter(once).map(char::to_string))
            .collect(),
    };
    let dims_of = |letters: &str| -> Inferred<Vec<Dim>> {
        let one = |letter| match named.get(&letter) {
            Some(&dim) => Ok(dim),
            None => invalid!("label `{letter}` of the result is not in any term"),
        };
        letters.chars().map(one).collect()
    };
    let dims = match (result.split_once("..."), dotted) {
        (None, _) => Some(dims_of(&result)?),
        (Some((before, after)), Some(dotted)) => {
            Some([dims_of(before)?, dotted, dims_of(after)?].concat())
        }
        (Some(_), None) => None,
    };
    op.set(0, dtype, dims)
}
