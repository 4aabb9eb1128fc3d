//! Ops that change only the shape: those without effect, and chains of them.

use passdock_plugin_api::prelude::*;

use crate::rules::shared::pads::pad_nothing;
use crate::shared::read::{int_or, is, known_dims, like, operand, unless_no_match};

pub(super) static RULES: Rules = rules! {
    rule view_of_same_shape { onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Expand(%x, _) => %x }
    rule view_of_same_sizes keeps_type { %y = onnx.Reshape(%x, %shape) } => same_sizes;
    rule view_of_same_shape_by_attribute { onnx.Flatten|onnx.Squeeze|onnx.Unsqueeze(%x) => %x }
    rule view_of_view {
        %inner = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%x, %rest...)
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %more...)
    } => reshape_at_once;
    rule pad_between_views {
        %first = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%x, %rest...)
        %pad = onnx.Pad(%first, %pads, %value?)
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%pad, %more...)
    } => pad_without_views;
    rule transpose_of_unit_dims { %outer = onnx.Transpose(%x) {perm = $perm} } => reshape_if_order_stays;
    rule pad_nothing keeps_type { onnx.Pad(%x, %rest...) } => pad_nothing;
    rule concat_one { onnx.Concat(%x) => %x }
    rule slice_all { onnx.Slice(%x, _, _) => %x }
    rule slice_all_of_axes { onnx.Slice(%x, _, _, _) => %x }
    rule slice_all_by_ones { onnx.Slice(%x, _, _, _, 1) => %x }
    rule resize_nothing { %y = onnx.Resize|onnx.Upsample(%x, %rest...) } => remove_resize;
    rule tile_once { onnx.Tile(%x, 1) => %x }
};

/// Removes a `Reshape` that keeps all sizes. One size may be inferred (-1). It is then equal, too, even if its symbol
/// in the type differs.
fn same_sizes(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, y) = (m.value(f, "x"), m.op("y"));
    let sizes = f.constant_ints(m.value(f, "shape"))?.ok_or(NoMatch)?;
    let dims = f.dims(x).ok_or(NoMatch)?;
    let copies = int_or(f, y, "allowzero", 0).ok_or(NoMatch)?;
    let (mut worked_out, mut is_same) = (0, f.rank(x) == Some(sizes.len()));
    let mut others_are_positive = true;
    for (&size, dim) in sizes.iter().zip(dims) {
        let is_copied = size == 0 && copies == 0;
        worked_out += usize::from(size == -1);
        is_same &= size == -1 || is_copied || dim.as_const() == Some(size);
        others_are_positive &= size == -1 || dim.as_const() > Some(0);
    }
    // With no elements, a size can't be inferred.
    let is_known = worked_out == 0 || worked_out == 1 && others_are_positive;
    Ok((is_same && is_known).then(|| vec![x]))
}

/// Merges two views into one `Reshape` if its shape can be a constant.
fn reshape_at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.value(f, "inner"), m.value(f, "outer"));
    NoMatch::unless(!masks_scores(f, m.op("inner"), m.op("outer")))?;
    if let Some(shape) = unless_no_match(own_shape(f, x, inner, m.op("outer")))? {
        let mut reshape = OpBuilder::new("onnx.Reshape").operands([x, shape]);
        if let Some(allow_zero) = f.int(m.op("outer"), "allowzero") {
            reshape = reshape.attr("allowzero", allow_zero);
        }
        let reshape = reshape.result(f.type_id(outer));
        return Ok(Some(vec![r.op(reshape)?]));
    }
    reshape(r, x, outer)
}

/// Whether two `Unsqueeze`s begin an attention mask, `(1 - mask) * -10000`. Before opset 13, ONNX Runtime's `Attention`
/// fusion matches a mask only in this form.
fn masks_scores(f: &Function, inner: OpId, mut op: OpId) -> bool {
    let are_both = is(f, inner, "onnx.Unsqueeze") && is(f, op, "onnx.Unsqueeze");
    are_both
        && f.opset("").is_some_and(|version| version < 13)
        && [
            "onnx.Cast",
            "onnx.Sub",
            "onnx.Mul",
            "onnx.Add",
            "onnx.Softmax",
        ]
        .iter()
        .all(|name| {
            let user = f.iter_uses(f.result(op, 0)).next();
            let user = user.filter(|used| is(f, used.op, name));
            op = user.as_ref().map_or(op, |used| used.op);
            user.is_some() || *name == "onnx.Cast"
        })
}

/// Returns the shape operand of a `Reshape` if it has the same meaning for `x` as for the op's operand.
fn own_shape(f: &Function, x: ValueId, inner: ValueId, op: OpId) -> Result<ValueId, EditError> {
    NoMatch::unless(f.name(op) == "onnx.Reshape")?;
    let shape = operand(f, op, 1);
    let sizes = f.constant_ints(shape)?.ok_or(NoMatch)?;
    let copies_at_zero = int_or(f, op, "allowzero", 0).ok_or(NoMatch)? == 0;
    let dim = |value: ValueId, at: usize| f.dims(value)?.get(at);
    let is_same = |at: usize| {
        let dim_of_x = dim(x, at).filter(|dim| dim.is_known());
        dim_of_x.is_some() && dim_of_x == dim(inner, at)
    };
    let mut sizes = sizes.iter().enumerate();
    NoMatch::unless(sizes.all(|(at, &size)| size != 0 || !copies_at_zero || is_same(at)))?;
    Ok(shape)
}

/// Replaces a `Transpose` that only moves dims of 1 with a `Reshape`: the order of elements stays.
fn reshape_if_order_stays(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, outer) = (m.value(f, "x"), m.value(f, "outer"));
    let perm = m.ints("perm").ok_or(NoMatch)?;
    let dims = f.dims(x).ok_or(NoMatch)?;
    let is_unit = |axis: &i64| {
        usize::try_from(*axis).is_ok_and(|axis| dims.get(axis) == Some(Dim::constant(1)))
    };
    let stays = perm.iter().filter(|axis| !is_unit(axis)).is_sorted();
    NoMatch::unless(stays && !perm.is_sorted())?;
    reshape(r, x, outer)
}

/// Removes a `Resize` whose scales are all 1, or whose sizes are those of its operand. Two coordinate transformations
/// resample even then.
fn remove_resize(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (y, rest) = (m.root(), m.values("rest"));
    let finds_others = match f.attr(y, "coordinate_transformation_mode") {
        None | Some(Attr::Unset) => false,
        Some(Attr::String(mode)) => {
            mode == b"tf_crop_and_resize" || mode == b"tf_half_pixel_for_nn"
        }
        Some(_) => true,
    };
    NoMatch::unless(!finds_others)?;
    let has_sizes = rest.get(2).is_some_and(|sizes| !sizes.is_none());
    let is_nothing = match (rest, f.attr(y, "scales")) {
        // The driver compares the shapes.
        _ if has_sizes => true,
        ([.., scales], _) => r.number(*scales)? == Some(1.0),
        ([], Some(Attr::Floats(scales))) => scales.iter().all(|scale| *scale == 1.0),
        ([], _) => false,
    };
    Ok(is_nothing.then(|| vec![m.value(r.function(), "x")]))
}

/// Removes views around a `Pad` that only add, remove or move dims of 1.
fn pad_without_views(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let of = |name: &str| known_dims(f, m.value(f, name));
    let mut dims = of("x").ok_or(NoMatch)?;
    let viewed = of("first").ok_or(NoMatch)?;
    let padded = of("pad").ok_or(NoMatch)?;
    let expected = of("outer").ok_or(NoMatch)?;
    let pads = f.constant_ints(m.value(f, "pads"))?.ok_or(NoMatch)?;
    let positions = |dims: &[Dim]| -> Vec<usize> {
        let is_unit = |at: &usize| dims[*at] == Dim::constant(1);
        (0..dims.len()).filter(|at| !is_unit(at)).collect()
    };
    let (own, inside) = (positions(&dims), positions(&viewed));
    let (rank, count) = (dims.len(), viewed.len());
    let is_same =
        own.len() == inside.len() && own.iter().zip(&inside).all(|(a, b)| dims[*a] == viewed[*b]);
    // ONNX Runtime rejects modes other than `constant` for scalars, even with no padding.
    NoMatch::unless(is_same && rank != 0 && pads.len() == 2 * count && padded.len() == count)?;
    let mut moved = vec![0; 2 * rank];
    for (&a, &b) in own.iter().zip(&inside) {
        (moved[a], moved[rank + a]) = (pads[b], pads[count + b]);
        dims[a] = padded[b];
    }
    let pads_units = (0..count)
        .filter(|at| !inside.contains(at))
        .any(|at| pads[at] != 0 || pads[count + at] != 0);
    NoMatch::unless(!pads_units && dims == expected)?;
    let new_op = like(f, m.op("pad"), &[])?;
    let x = m.value(f, "x");
    let value = m.value(f, "value").option();
    let moved = r.ints(&moved)?;
    let new_op = new_op.operands([x, moved]).operands(value);
    Ok(Some(vec![r.op(new_op)?]))
}

/// Builds a `Reshape` of a value to the shape of another one.
pub(super) fn reshape(r: &mut Rewriter<'_>, x: ValueId, like: ValueId) -> Rewritten {
    let shape = constant_shape(r.function(), x, like).ok_or(NoMatch)?;
    let shape = r.ints(&shape)?;
    let reshape = OpBuilder::new("onnx.Reshape").operands([x, shape]);
    let reshape = reshape.result(r.function().type_id(like));
    Ok(Some(vec![r.op(reshape)?]))
}

/// Returns the shape operand for a `Reshape` from one value to the shape of another. It has 0 for a symbolic dim that
/// both have at this axis. It has one -1 for an unknown dim, if all others are constant.
fn constant_shape(f: &Function, from: ValueId, to: ValueId) -> Option<Vec<i64>> {
    if f.opset("")? < 5 {
        return None;
    }
    let from = f.dims(from)?;
    let mut shape = Vec::new();
    for (at, dim) in f.dims(to)?.enumerate() {
        let is_same = dim.is_known() && from.get(at) == Some(dim);
        shape.push(match dim.as_const() {
            // A 0 would mean the size of the operand's dim.
            Some(0) => return None,
            Some(size) => size,
            None if is_same => 0,
            None => -1,
        });
    }
    let count = |expected: i64| shape.iter().filter(|&&size| size == expected).count();
    let is_known = count(-1) == 0 || count(-1) == 1 && count(0) == 0;
    is_known.then_some(shape)
}
