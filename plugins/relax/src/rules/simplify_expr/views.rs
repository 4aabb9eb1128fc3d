//! Ops that change a shape and no element: those that change nothing, and chains of them.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::rules::shared::read::{int_or, is, known_dims, like};

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
    rule transpose_of_units { %outer = onnx.Transpose(%x) {perm = $perm} } => reshape_if_order_stays;
    rule pad_nothing { onnx.Pad(%x, 0, %rest...) => %x }
    rule pad_nothing_by_attribute keeps_type { %y = onnx.Pad(%x) {pads = $pads} } => nothing_padded;
    rule concat_one { onnx.Concat(%x) => %x }
    rule slice_all { onnx.Slice(%x, _, _) => %x }
    rule slice_all_of_axes { onnx.Slice(%x, _, _, _) => %x }
    rule slice_all_by_ones { onnx.Slice(%x, _, _, _, 1) => %x }
    rule resize_nothing { %y = onnx.Resize|onnx.Upsample(%x, %rest...) } => nothing_resized;
    rule tile_once { onnx.Tile(%x, 1) => %x }
};

/// A `Reshape` that leaves all sizes but one, which it has worked out: that is left, too, whatever it is called in the
/// types.
fn same_sizes(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, y) = (m.value(f, "x"), m.op("y"));
    let (Some(sizes), Some(dims), Some(copies)) = (
        f.constant_ints(m.value(f, "shape"))?,
        f.dims(x),
        int_or(f, y, "allowzero", 0),
    ) else {
        return Ok(None);
    };
    let (mut worked_out, mut is_same) = (0, f.rank(x) == Some(sizes.len()));
    let mut others_are_positive = true;
    for (&size, dim) in sizes.iter().zip(dims) {
        let is_copied = size == 0 && copies == 0;
        worked_out += usize::from(size == -1);
        is_same &= size == -1 || is_copied || dim.as_const() == Some(size);
        others_are_positive &= size == -1 || dim.as_const() > Some(0);
    }
    // Of no elements, nothing is worked out.
    let is_told = worked_out == 0 || worked_out == 1 && others_are_positive;
    Ok((is_same && is_told).then(|| vec![x]))
}

/// A view of a view is one `Reshape`, if a constant can say its shape.
fn reshape_at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.value(f, "inner"), m.value(f, "outer"));
    if masks_scores(f, m.op("inner"), m.op("outer")) {
        return Ok(None);
    }
    if let Some(shape) = own_shape(f, x, inner, m.op("outer"))? {
        let allow_zero = f.int(m.op("outer"), "allowzero");
        let mut reshape = OpBuilder::new("onnx.Reshape").operands([x, shape]);
        if let Some(allow_zero) = allow_zero {
            reshape = reshape.attr("allowzero", allow_zero);
        }
        let reshape = reshape.result(f.type_id(outer));
        return Ok(Some(vec![r.op(reshape)?]));
    }
    reshape(r, x, outer)
}

/// Whether two `Unsqueeze`s are the start of an attention's mask, `(1 - mask) * -10000`. ONNX Runtime's `Attention`
/// takes a mask in no other form, in models before opset 13.
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

/// The shape operand of a `Reshape`, if it says the same of `x` as of the `Reshape`'s own operand.
fn own_shape(
    f: &Function,
    x: ValueId,
    inner: ValueId,
    op: OpId,
) -> Result<Option<ValueId>, EditError> {
    let shape = match f.operand(op, 1) {
        Some(shape) if f.name(op) == "onnx.Reshape" => shape,
        _ => return Ok(None),
    };
    let Some(sizes) = f.constant_ints(shape)? else {
        return Ok(None);
    };
    let copies_at_zero = match f.attr(op, "allowzero") {
        None | Some(Attr::Int(0)) => true,
        Some(Attr::Int(_)) => false,
        Some(_) => return Ok(None),
    };
    let dim = |value: ValueId, at: usize| f.dims(value).and_then(|dims| dims.get(at));
    let is_same = |at: usize| match (dim(x, at), dim(inner, at)) {
        (Some(a), Some(b)) => a == b && a.kind != DimKind::UNKNOWN,
        _ => false,
    };
    let mut sizes = sizes.iter().enumerate();
    let fits = sizes.all(|(at, &size)| size != 0 || !copies_at_zero || is_same(at));
    Ok(fits.then_some(shape))
}

/// A `Transpose` that moves only dims of 1 past others changes no element's place.
fn reshape_if_order_stays(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, outer) = (m.value(f, "x"), m.value(f, "outer"));
    let (Some(perm), Some(dims)) = (m.ints("perm"), f.dims(x)) else {
        return Ok(None);
    };
    let is_unit = |axis: &i64| {
        usize::try_from(*axis).is_ok_and(|axis| dims.get(axis) == Some(Dim::constant(1)))
    };
    let stays = perm.iter().filter(|axis| !is_unit(axis)).is_sorted();
    let moves = !perm.is_sorted();
    match stays && moves {
        true => reshape(r, x, outer),
        false => Ok(None),
    }
}

/// A `Pad` whose attribute says 0 everywhere, in models before opset 11.
fn nothing_padded(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let is_nothing = m
        .ints("pads")
        .is_some_and(|pads| pads.iter().all(|pad| *pad == 0));
    Ok(is_nothing.then(|| vec![m.value(r.function(), "x")]))
}

/// A `Resize` whose factors are all 1, or that says sizes and leaves the shape. Two ways to find elements find others
/// even then.
fn nothing_resized(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (y, rest) = (m.root(), m.values("rest"));
    let finds_others = match f.attr(y, "coordinate_transformation_mode") {
        None | Some(Attr::Unset) => false,
        Some(Attr::String(mode)) => {
            mode == b"tf_crop_and_resize" || mode == b"tf_half_pixel_for_nn"
        }
        Some(_) => true,
    };
    if finds_others {
        return Ok(None);
    }
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

/// A `Pad` between views that move nothing but dims of 1 pads the same axes without them.
fn pad_without_views(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let of = |name: &str| known_dims(f, m.value(f, name));
    let (Some(mut dims), Some(viewed), Some(padded), Some(wanted), Some(pads)) = (
        of("x"),
        of("first"),
        of("pad"),
        of("outer"),
        f.constant_ints(m.value(f, "pads"))?,
    ) else {
        return Ok(None);
    };
    let places = |dims: &[Dim]| -> Vec<usize> {
        let is_unit = |at: &usize| dims[*at] == Dim::constant(1);
        (0..dims.len()).filter(|at| !is_unit(at)).collect()
    };
    let (own, inside) = (places(&dims), places(&viewed));
    let (rank, count) = (dims.len(), viewed.len());
    let is_same =
        own.len() == inside.len() && own.iter().zip(&inside).all(|(a, b)| dims[*a] == viewed[*b]);
    // Of a scalar ONNX Runtime pads nothing by other modes, not even by nothing.
    if !is_same || rank == 0 || pads.len() != 2 * count || padded.len() != count {
        return Ok(None);
    }
    let mut moved = vec![0; 2 * rank];
    for (&a, &b) in own.iter().zip(&inside) {
        (moved[a], moved[rank + a]) = (pads[b], pads[count + b]);
        dims[a] = padded[b];
    }
    let pads_units = (0..count)
        .filter(|at| !inside.contains(at))
        .any(|at| pads[at] != 0 || pads[count + at] != 0);
    if pads_units || dims != wanted {
        return Ok(None);
    }
    let (Some(made), x, value) = (
        like(f, m.op("pad"), &[]),
        m.value(f, "x"),
        m.value(f, "value").option(),
    ) else {
        return Ok(None);
    };
    let moved = r.ints(&moved)?;
    let made = made.operands([x, moved]).operands(value);
    Ok(Some(vec![r.op(made)?]))
}

/// A `Reshape` of a value to the shape that another one has.
pub(super) fn reshape(r: &mut Rewriter<'_>, x: ValueId, like: ValueId) -> Rewritten {
    let Some(shape) = constant_shape(r.function(), x, like) else {
        return Ok(None);
    };
    let shape = r.ints(&shape)?;
    let reshape = OpBuilder::new("onnx.Reshape").operands([x, shape]);
    let reshape = reshape.result(r.function().type_id(like));
    Ok(Some(vec![r.op(reshape)?]))
}

/// The shape operand of a `Reshape` from one value to the shape of another: sizes; 0 for one that the
/// same dim of the first has; and -1 for one that isn't known, if all others are and none is 0.
fn constant_shape(f: &Function, from: ValueId, to: ValueId) -> Option<Vec<i64>> {
    if f.opset("")? < 5 {
        return None;
    }
    let from = f.dims(from)?;
    let mut shape = Vec::new();
    for (at, dim) in f.dims(to)?.enumerate() {
        let is_same = dim.kind != DimKind::UNKNOWN && from.get(at) == Some(dim);
        shape.push(match dim.as_const() {
            // It would mean the size that stands there.
            Some(0) => return None,
            Some(size) => size,
            None if is_same => 0,
            None => -1,
        });
    }
    let count = |wanted: i64| shape.iter().filter(|&&size| size == wanted).count();
    let is_told = count(-1) == 0 || count(-1) == 1 && count(0) == 0;
    is_told.then_some(shape)
}
