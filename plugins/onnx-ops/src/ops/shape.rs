//! Operators that read or change shapes.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::create::shape_in;
use super::operator::Operator;
use crate::eval::shape;
use crate::infer::{Infer, Inferred, Moves, Stop, Ty, invalid, sizes};

const DATA: Moves = Moves::These(&[0]);

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.Flatten", 1, (1, 1))
        .with(OpTraits::INJECTIVE)
        .attrs(attrs![axis: int = 1])
        .infers(flatten)
        .folds(shape::flatten),
    Operator::new("onnx.Identity", 1, (1, 1))
        .with(OpTraits::IDENTITY.with(OpTraits::IDEMPOTENT))
        .infers(same_type)
        .folds(shape::identity)
        .moves(DATA),
    RESHAPE,
    RESHAPE.since(14).attrs(attrs![allowzero: int = 0]),
    SHAPE,
    SHAPE.since(15).attrs(attrs![end: int, start: int = 0]),
    Operator::new("onnx.Size", 1, (1, 1))
        .with(OpTraits::SHAPE_ONLY)
        .infers(size_of)
        .folds(shape::size),
    SQUEEZE,
    SQUEEZE.since(13).operands((1, 2)).attrs(&[]),
    UNSQUEEZE,
    UNSQUEEZE.since(13).operands((2, 2)).attrs(&[]),
];

const RESHAPE: Operator = Operator::new("onnx.Reshape", 5, (2, 2))
    .infers(reshape)
    .folds(shape::reshape)
    .moves(DATA);

const SHAPE: Operator = Operator::new("onnx.Shape", 1, (1, 1))
    .with(OpTraits::SHAPE_ONLY)
    .infers(shape_of)
    .folds(shape::shape);

const SQUEEZE: Operator = Operator::new("onnx.Squeeze", 1, (1, 1))
    .attrs(attrs![axes: ints])
    .infers(squeeze)
    .folds(shape::squeeze)
    .moves(DATA);

const UNSQUEEZE: Operator = Operator::new("onnx.Unsqueeze", 1, (1, 1))
    .attrs(attrs![axes: required ints])
    .infers(unsqueeze)
    .folds(shape::unsqueeze)
    .moves(DATA);

/// Infers the first operand's type, of any kind.
pub(super) fn same_type(op: &Infer) -> Inferred {
    let ty = op.host.operand_type(0);
    match (op.dtype(0), op.dims(0)) {
        (Ok(dtype), dims) => op.set(0, dtype, dims),
        _ if ty.kind() == passdock_plugin_api::TypeKind::UNKNOWN => Err(Stop::Unknown),
        _ => op.set_type(0, Ty::Other(ty.into())),
    }
}

/// Like [`same_type`], and checks the attribute `axis`, which has this default.
pub(super) fn along(op: &Infer, default: i64) -> Inferred {
    same_type(op)?;
    if let Some(dims) = op.dims(0) {
        op.axis(op.int_or("axis", default)?, dims.len())?;
    }
    Ok(())
}

/// Like [`along`] the last axis by default.
pub(super) fn along_last(op: &Infer) -> Inferred {
    along(op, -1)
}

/// Like [`along`] the first axis by default.
pub(super) fn along_first(op: &Infer) -> Inferred {
    along(op, 0)
}

/// Infers a list whose elements are the dims from `start` to `end`.
fn shape_of(op: &Infer) -> Inferred {
    let Some(dims) = op.dims(0) else {
        return op.set(0, DType::I64, Some(vec![Dim::UNKNOWN]));
    };
    let range = shape::shape_range(dims.len(), op.int_or("start", 0)?, op.int("end")?);
    op.set(0, DType::I64, Some(sizes([range.len() as i64])))?;
    op.set_values(0, dims[range].to_vec())
}

/// Infers a scalar, the product of the dims.
fn size_of(op: &Infer) -> Inferred {
    op.set(0, DType::I64, Some(vec![]))?;
    match op.product(&op.shape(0)?) {
        product if product.is_known() => op.set_values(0, vec![product]),
        _ => Ok(()),
    }
}

/// Infers the shape in the second operand: 0 keeps a dim (unless `allowzero`), and one -1 is inferred.
fn reshape(op: &Infer) -> Inferred {
    let dtype = op.dtype(0);
    let Some(mut requested) = shape_in(op, 1) else {
        return op.set(0, dtype?, None);
    };
    let old = op.dims(0);
    let keeps = !op.flag("allowzero", false)?;
    let has = |size: i64| requested.iter().any(|&dim| dim.as_const() == Some(size));
    if !keeps && has(0) && has(-1) {
        return invalid!("cannot infer a dim of -1 if another dim is 0");
    }
    for (at, dim) in requested.iter_mut().enumerate() {
        match dim.as_const() {
            Some(0) if keeps => match old.as_ref().map(|old| old.get(at)) {
                Some(Some(&dim_size)) => *dim = dim_size,
                Some(None) => {
                    return invalid!("dim {at} of the shape is 0, but the operand has no dim {at}");
                }
                None => *dim = Dim::UNKNOWN,
            },
            Some(..=-2) => return invalid!("negative dim {} in the shape", dim.value),
            None if keeps && op.may_be_zero(*dim) => {
                // If it were 0, it would copy the operand's dim at this index.
                let replaced = old.as_ref().and_then(|old| old.get(at));
                if !replaced.is_some_and(|&old| old.is_same(*dim)) {
                    *dim = Dim::UNKNOWN;
                }
            }
            _ => {}
        }
    }
    let is_open = |&at: &usize| requested[at].as_const() == Some(-1);
    let open: Vec<usize> = (0..requested.len()).filter(is_open).collect();
    match open[..] {
        [] => {}
        [at] => {
            let rest = [&requested[..at], &requested[at + 1..]].concat();
            requested[at] = match old {
                Some(old) => quotient(op, old, rest)?,
                None => Dim::UNKNOWN,
            };
        }
        _ => return invalid!("shape has {} dims of -1, expected at most 1", open.len()),
    }
    op.set(0, dtype?, Some(requested))
}

/// Divides the product of some dims by the product of others. Equal factors cancel: if they were 0, the op would fail.
fn quotient(op: &Infer, all: Vec<Dim>, known: Vec<Dim>) -> Inferred<Dim> {
    let mut all = op.factors(all);
    let (mut divisor, mut left) = (1i64, Vec::new());
    for dim in op.factors(known) {
        match (
            dim.as_const(),
            all.iter().position(|&other| other.is_same(dim)),
        ) {
            (Some(size), _) => divisor = divisor.saturating_mul(size),
            (None, Some(at)) => _ = all.swap_remove(at),
            (None, None) => left.push(dim),
        }
    }
    if !left.is_empty() || divisor <= 0 || divisor == i64::MAX {
        return Ok(Dim::UNKNOWN);
    }
    let (fixed, open): (Vec<Dim>, Vec<Dim>) =
        all.into_iter().partition(|&d| d.as_const().is_some());
    let Some(fixed) = op.product(&fixed).as_const() else {
        return Ok(Dim::UNKNOWN);
    };
    match (fixed % divisor, open.is_empty()) {
        (0, _) => Ok(op.mul(op.product(&open), Dim::constant(fixed / divisor))),
        (_, true) => invalid!("cannot infer a dim of -1: {fixed} is not a multiple of {divisor}"),
        _ => Ok(op.div(op.mul(op.product(&open), Dim::constant(fixed)), divisor)),
    }
}

/// Infers the dims without the dims of 1 at `axes`, or without all of them.
fn squeeze(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |dims| {
        let Ok(axes) = op.ints_since(13, 1, "axes") else {
            let rank = shape_in(op, 1).and_then(|axes| dims.len().checked_sub(axes.len()));
            return Ok(rank.map(|rank| vec![Dim::UNKNOWN; rank]));
        };
        let is_one = |&dim: &Dim| dim.as_const().map(|size| size == 1);
        let removed = match axes {
            Some(axes) => Some(op.listed_axes(&axes, dims.len())?),
            None => dims.iter().map(is_one).collect(),
        };
        let Some(removed) = removed else {
            return Ok(None);
        };
        let mut pairs = dims.iter().zip(&removed);
        if let Some((dim, _)) = pairs.find(|(dim, removed)| **removed && is_one(dim) == Some(false))
        {
            return invalid!("cannot squeeze a dim of {}", dim.value);
        }
        let stays = dims.iter().zip(&removed).filter(|(_, removed)| !**removed);
        Ok(Some(stays.map(|(dim, _)| *dim).collect()))
    })
}

/// Infers the dims with dims of 1 at `axes` of the result.
fn unsqueeze(op: &Infer) -> Inferred {
    op.set_from(op.dtype(0)?, |dims| {
        let Ok(Some(axes)) = op.ints_since(13, 1, "axes") else {
            let rank = shape_in(op, 1).map(|axes| dims.len() + axes.len());
            return Ok(rank.map(|rank| vec![Dim::UNKNOWN; rank]));
        };
        let new = op.listed_axes(&axes, dims.len() + axes.len())?.into_iter();
        let (mut old, one) = (dims.into_iter(), Dim::constant(1));
        let dim = |new| if new { one } else { old.next().unwrap_or(one) };
        Ok(Some(new.map(dim).collect()))
    })
}

/// Infers a matrix: the dims before `axis` become the rows, and the other dims the columns.
fn flatten(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let Some(dims) = op.dims(0) else {
        return op.set(0, dtype, Some(vec![Dim::UNKNOWN; 2]));
    };
    let at = op.int_or("axis", 1)?;
    let at = if at == dims.len() as i64 {
        dims.len()
    } else {
        op.axis(at, dims.len())?
    };
    let (rows, columns) = dims.split_at(at);
    op.set(0, dtype, Some(vec![op.product(rows), op.product(columns)]))
}
