//! Reductions, cumulative operators, and selection by order: ArgMax, ArgMin, TopK.

use passdock_plugin_api::{DType, Dim, OpTraits, attrs};

use super::create;
use super::operator::{Operator, body};
use super::shape::same_type;
use crate::eval::{Evaluation, choose, reduce, scan};
use crate::infer::{Infer, Inferred, invalid};

/// A reduction along the axes in an attribute, as in old versions.
const fn reduction(name: &'static str, evaluate: Evaluation) -> Operator {
    Operator::new(name, 1, (1, 1))
        .with(OpTraits::REDUCTION)
        .attrs(attrs![axes: ints, keepdims: int = 1])
        .infers(reduced)
        .folds(evaluate)
}

/// Like [`reduction`], along the axes in an operand.
const fn reduction_by(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (1, 2))
        .with(OpTraits::REDUCTION)
        .attrs(attrs![keepdims: int = 1, noop_with_empty_axes: int = 0])
        .infers(reduced)
        .folds(evaluate)
}

/// An operator that returns the index of an element along an axis.
const fn chosen(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (1, 1))
        .with(OpTraits::REDUCTION)
        .attrs(attrs![axis: int = 0, keepdims: int = 1, select_last_index: int = 0])
        .infers(position)
        .folds(evaluate)
}

const fn running(name: &'static str, since: i64, evaluate: Evaluation) -> Operator {
    Operator::new(name, since, (2, 2))
        .attrs(attrs![exclusive: int = 0, reverse: int = 0])
        .infers(running_total)
        .folds(evaluate)
}

pub(super) const OPERATORS: &[Operator] = &[
    chosen("onnx.ArgMax", 1, choose::arg_max).attrs(attrs![axis: int = 0, keepdims: int = 1]),
    chosen("onnx.ArgMax", 12, choose::arg_max),
    chosen("onnx.ArgMin", 1, choose::arg_min).attrs(attrs![axis: int = 0, keepdims: int = 1]),
    chosen("onnx.ArgMin", 12, choose::arg_min),
    running("onnx.CumProd", 26, scan::cum_prod),
    running("onnx.CumSum", 11, scan::cum_sum),
    reduction("onnx.ReduceL1", reduce::l1).decomposes(body!("ReduceL1")),
    reduction_by("onnx.ReduceL1", 18, reduce::l1).decomposes(body!("ReduceL1")),
    reduction("onnx.ReduceL2", reduce::l2).decomposes(body!("ReduceL2")),
    reduction_by("onnx.ReduceL2", 18, reduce::l2).decomposes(body!("ReduceL2")),
    reduction("onnx.ReduceLogSum", reduce::log_sum).decomposes(body!("ReduceLogSum")),
    reduction_by("onnx.ReduceLogSum", 18, reduce::log_sum).decomposes(body!("ReduceLogSum")),
    reduction("onnx.ReduceLogSumExp", reduce::log_sum_exp).decomposes(body!("ReduceLogSumExp")),
    reduction_by("onnx.ReduceLogSumExp", 18, reduce::log_sum_exp)
        .decomposes(body!("ReduceLogSumExp")),
    reduction("onnx.ReduceMax", reduce::max),
    reduction_by("onnx.ReduceMax", 18, reduce::max),
    reduction("onnx.ReduceMean", reduce::mean),
    reduction_by("onnx.ReduceMean", 18, reduce::mean),
    reduction("onnx.ReduceMin", reduce::min),
    reduction_by("onnx.ReduceMin", 18, reduce::min),
    reduction("onnx.ReduceProd", reduce::product).infers(product),
    reduction_by("onnx.ReduceProd", 18, reduce::product).infers(product),
    reduction("onnx.ReduceSum", reduce::sum),
    reduction_by("onnx.ReduceSum", 13, reduce::sum),
    reduction("onnx.ReduceSumSquare", reduce::sum_square).decomposes(body!("ReduceSumSquare")),
    reduction_by("onnx.ReduceSumSquare", 18, reduce::sum_square)
        .decomposes(body!("ReduceSumSquare")),
    TOP_K,
    TOP_K
        .since(10)
        .operands((2, 2))
        .attrs(attrs![axis: int = -1]),
    TOP_K
        .since(11)
        .operands((2, 2))
        .attrs(attrs![axis: int = -1, largest: int = 1, sorted: int = 1]),
];

const TOP_K: Operator = Operator::new("onnx.TopK", 1, (1, 1))
    .results((2, 2))
    .attrs(attrs![axis: int = -1, k: required int])
    .infers(top)
    .folds_all(choose::top_k);

/// Infers the dims without the reduced ones, or with dims of 1 for them.
fn reduced(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let keep = op.flag("keepdims", true)?;
    // The axes of ReduceSum became an operand in an earlier version.
    let moved = if op.name == "onnx.ReduceSum" { 13 } else { 18 };
    let axes = match op.ints_since(moved, 1, "axes") {
        Ok(axes) => axes.unwrap_or_default(),
        Err(_) => {
            // Each axis removes one dim, but an empty list may mean all axes.
            let removed = match keep {
                true => Some(0),
                false => create::shape_in(op, 1).map(|axes| axes.len()),
            };
            let rank = op
                .dims(0)
                .zip(removed.filter(|&removed| keep || removed > 0));
            let rank = rank.and_then(|(dims, removed)| dims.len().checked_sub(removed));
            let unknown = rank.map(|rank| vec![Dim::UNKNOWN; rank]);
            return op.set(0, dtype, unknown);
        }
    };
    let whole = axes.is_empty();
    if whole && op.flag("noop_with_empty_axes", false)? {
        return op.set(0, dtype, op.dims(0));
    }
    let Some(dims) = op.dims(0) else {
        return op.set(0, dtype, (whole && !keep).then(Vec::new));
    };
    let removed = match whole {
        true => vec![true; dims.len()],
        false => op.listed_axes(&axes, dims.len())?,
    };
    let one = |(dim, removed)| match (removed, keep) {
        (false, _) => Some(dim),
        (true, true) => Some(Dim::constant(1)),
        (true, false) => None,
    };
    let reduced = dims.into_iter().zip(removed).filter_map(one).collect();
    op.set(0, dtype, Some(reduced))
}

/// Like [`reduced`]. The product of all elements of a shape is known, too.
fn product(op: &Infer) -> Inferred {
    reduced(op)?;
    let list = op.dims(0).is_some_and(|dims| dims.len() == 1);
    let axes = op.ints_since(18, 1, "axes")?;
    if !list || axes.is_none() && op.flag("noop_with_empty_axes", false)? {
        return Ok(());
    }
    if let (Some(values), DType::I64) = (op.values(0), op.dtype(0)?) {
        let product = op.product(&values);
        if product.is_known() {
            op.set_values(0, vec![product])?;
        }
    }
    Ok(())
}

/// Infers the first operand's type, and checks the axis in the second one.
fn running_total(op: &Infer) -> Inferred {
    same_type(op)?;
    if let (Some(&[axis]), Some(dims)) = (op.known_ints(1).as_deref(), op.dims(0)) {
        op.axis(axis, dims.len())?;
    }
    Ok(())
}

/// Infers one int64 index along the axis.
fn position(op: &Infer) -> Inferred {
    let keep = op.flag("keepdims", true)?;
    op.set_from(DType::I64, |mut dims| {
        let at = op.axis(op.int_or("axis", 0)?, dims.len())?;
        match keep {
            true => dims[at] = Dim::constant(1),
            false => _ = dims.remove(at),
        }
        Ok(dims)
    })
}

/// Infers the largest elements along the axis, and their int64 indices.
fn top(op: &Infer) -> Inferred {
    let count = if op.version >= 10 {
        let [length] = op.dims_of(1, "K")?;
        op.agree(length, Dim::constant(1))?;
        create::shape_in(op, 1)
            .and_then(|list| list.first().copied())
            .unwrap_or(Dim::UNKNOWN)
    } else {
        op.int("k")?.map_or(Dim::UNKNOWN, Dim::constant)
    };
    let dims = match op.dims(0) {
        None => None,
        Some(mut dims) => {
            let at = op.axis(op.int_or("axis", -1)?, dims.len())?;
            match (count.as_const(), dims[at].as_const()) {
                (Some(count), Some(size)) if count > size => {
                    return invalid!("`K` is {count}, but axis {at} has size {size}");
                }
                _ => dims[at] = count,
            }
            Some(dims)
        }
    };
    op.set(1, DType::I64, dims.clone())?;
    op.set(0, op.dtype(0)?, dims)
}
