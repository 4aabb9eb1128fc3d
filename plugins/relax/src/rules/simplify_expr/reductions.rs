//! Reductions followed by views that add or remove the reduced axes as dims of 1.

use passdock_plugin_api::prelude::*;

use crate::shared::read::{self, axes, axes_in, int_or, known_dims, like, unless_no_match};

pub(super) static RULES: Rules = rules! {
    rule reduction_of_kept_dims {
        %inner = onnx.ReduceMean|onnx.ReduceSum|onnx.ReduceMax|onnx.ReduceMin|onnx.ReduceProd|onnx.ReduceL1
            |onnx.ReduceL2|onnx.ReduceSumSquare|onnx.ReduceLogSum|onnx.ReduceLogSumExp|onnx.ArgMax
            |onnx.ArgMin(%x, %rest...)
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze(%inner, %more...)
    } => keep_or_drop;
};

/// Flips `keepdims` of a reduction if the view after it only adds or removes the reduced axes.
fn keep_or_drop(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.op("inner"), m.op("outer"));
    let keeps = int_or(f, inner, "keepdims", 1)
        .filter(|_| f.use_count(f.result(inner, 0)) == 1)
        .ok_or(NoMatch)?;
    let axes = reduced(f, inner)?;
    NoMatch::unless(
        restores_axes(f, &axes, keeps, outer)? || has_shape(f, x, &axes, keeps, f.result(outer, 0)),
    )?;
    let new_op = like(f, inner, &["keepdims"])?;
    let new_op = new_op
        .operands(f.operands(inner).collect::<Vec<_>>())
        .attr("keepdims", i64::from(keeps == 0));
    Ok(Some(vec![r.op(new_op)?]))
}

/// Returns the axes of a reduction, if it lists any.
fn reduced(f: &Function, op: OpId) -> Result<Vec<i64>, EditError> {
    if f.name(op).starts_with("onnx.Arg") {
        return Ok(vec![int_or(f, op, "axis", 0).ok_or(NoMatch)?]);
    }
    let axes = axes(f, op)?;
    NoMatch::unless(!axes.is_empty())?;
    Ok(axes)
}

/// Whether an `Unsqueeze` inserts dims of 1 at exactly the reduced axes. Non-negative axes mean the same for any rank.
fn restores_axes(f: &Function, axes: &[i64], keeps: i64, outer: OpId) -> Result<bool, EditError> {
    if f.name(outer) != "onnx.Unsqueeze" || keeps != 0 {
        return Ok(false);
    }
    let given = unless_no_match(read::axes(f, outer))?.unwrap_or_default();
    let from_front = |axes: &[i64]| axes_in(axes, usize::MAX >> 1);
    let are_positive = axes.iter().chain(&given).all(|axis| *axis >= 0);
    Ok(are_positive && from_front(axes) == from_front(&given))
}

/// Whether a value has the shape of the reduction with `keepdims` flipped.
fn has_shape(f: &Function, x: ValueId, axes: &[i64], keeps: i64, outer: ValueId) -> bool {
    let (Some(dims), Some(expected)) = (f.dims(x), known_dims(f, outer)) else {
        return false;
    };
    let Some(axes) = axes_in(axes, dims.len()) else {
        return false;
    };
    let left = dims
        .enumerate()
        .filter_map(|(at, dim)| match axes.contains(&at) {
            false => Some(dim),
            true => (keeps == 0).then_some(Dim::constant(1)),
        });
    left.eq(expected)
}
