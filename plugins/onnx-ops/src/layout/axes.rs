//! Layout rules for operators with an axis: the same op along the axis's position in the layout.

use passdock_plugin_api::DType;
use passdock_plugin_api::op::Layout;

use super::elementwise::lay_out_broadcast;
use super::request::LayoutRequest;
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// Returns the position of an axis that isn't split into blocks.
pub(super) fn whole(layout: &Layout, axis: usize) -> Inferred<usize> {
    match layout.position(axis) {
        Some(position) if layout.block(axis) == 1 => Ok(position),
        _ => invalid!("axis {axis} is split into blocks"),
    }
}

/// Returns the axis in the attribute `axis`, as an axis of the layout.
fn axis_of(request: &LayoutRequest, layout: &Layout, default: i64) -> Inferred<usize> {
    request.axis(request.int_or("axis", default)?, layout.rank())
}

/// Rewrites an op along an axis whose operands and results all have the same layout.
fn along(request: &LayoutRequest, operands: usize, default: i64) -> Inferred<LayoutResult> {
    let layout = common(request, operands)?;
    let position = whole(&layout, axis_of(request, &layout, default)?)?;
    request.rewritten(operands, &layout, Change::attr("axis", position))
}

/// Returns the first layout that is requested for one of the first operands.
fn common(request: &LayoutRequest, operands: usize) -> Inferred<Layout> {
    for index in 0..operands.min(request.count()) {
        if let Some(layout) = request.requested(index, "NC")? {
            return Ok(layout);
        }
    }
    invalid!("no other layout is requested")
}

/// Along one axis; before opset 13, along this axis and all later ones.
pub(super) fn softmax(request: &LayoutRequest) -> Inferred<LayoutResult> {
    if request.version >= 13 {
        return along(request, 1, -1);
    }
    let layout = request.layout(0)?;
    let position = trailing_position(request, &layout, 1)?;
    request.rewritten(1, &layout, Change::attr("axis", position))
}

/// Returns the position after which the layout has exactly the axes from `axis` to the last.
fn trailing_position(request: &LayoutRequest, layout: &Layout, default: i64) -> Inferred<usize> {
    let first = axis_of(request, layout, default)?;
    let trailing: Vec<usize> = (first..layout.rank()).collect();
    match layout.last(&trailing) {
        Some(count) => Ok(layout.target_rank() - count),
        None => invalid!("axes from {first} on are not the last axes of layout `{layout}`"),
    }
}

pub(super) fn along_last(request: &LayoutRequest) -> Inferred<LayoutResult> {
    along(request, 1, -1)
}

/// All operands have the same layout. Along a split axis, each operand must have whole blocks.
pub(super) fn concat(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let count = request.count();
    let layout = common(request, count)?;
    let axis = axis_of(request, &layout, 1)?;
    let position = layout.position(axis).ok_or(Stop::Unknown)?;
    request.rewritten(count, &layout, Change::attr("axis", position))
}

/// The inverse of [`concat`].
pub(super) fn split(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axis = axis_of(request, &layout, 0)?;
    let position = layout.position(axis).ok_or(Stop::Unknown)?;
    let mut laid = request.with_layout(1, &layout)?;
    let block = layout.block(axis);
    let mut change = Change::attr("axis", position);
    if block > 1 {
        let mut sizes = Vec::new();
        for index in 0..laid.results.len() {
            let result = request.result_sizes(index).ok_or(Stop::Unknown)?;
            match result.get(axis) {
                Some(Some(size)) if size % block == 0 => sizes.push(size / block),
                _ => return invalid!("result {index} is not divisible into blocks"),
            }
        }
        if request.int("num_outputs")?.is_none() {
            if request.version >= 13 {
                change.operands.push((1, laid.ints(&sizes)));
            } else {
                change.attrs.push(("split", format!("{sizes:?}")));
            }
        } else if sizes.windows(2).any(|pair| pair[0] != pair[1]) {
            return invalid!("results have different sizes");
        }
    }
    laid.finish_op(request, change)
}

/// The axis is an operand.
pub(super) fn running(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let Some(&[axis]) = request.known_ints(1).as_deref() else {
        return invalid!("axis is not constant");
    };
    let position = whole(&layout, request.axis(axis, layout.rank())?)?;
    let mut laid = request.with_layout(1, &layout)?;
    let position = laid.int(position as i64);
    laid.finish_op(request, Change::operand(1, position))
}

/// A scalar index removes the axis, a list of indices keeps it.
pub(super) fn gather(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axis = axis_of(request, &layout, 0)?;
    let position = whole(&layout, axis)?;
    let result = match request.rank(1)? {
        0 => layout.without(&[axis]),
        1 => layout.clone(),
        rank => return invalid!("indices have rank {rank}, expected 0 or 1"),
    };
    let mut laid = request.with_layout(1, &layout)?;
    laid.result(0, &result);
    laid.finish_op(request, Change::attr("axis", position))
}

/// Indices and updates have the same axes as the data.
pub(super) fn elements(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    if layout.is_blocked() {
        return invalid!("layout `{layout}` has blocks");
    }
    along(request, request.count(), 0)
}

pub(super) fn reverse_sequence(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut change = Change::default();
    for (name, default) in [("batch_axis", 1), ("time_axis", 0)] {
        let axis = request.axis(request.int_or(name, default)?, layout.rank())?;
        let position = whole(&layout, axis)?;
        change.attrs.push((name, position.to_string()));
    }
    request.rewritten(1, &layout, change)
}

/// Without an axis, the op depends on the order of elements.
pub(super) fn compress(request: &LayoutRequest) -> Inferred<LayoutResult> {
    if request.int("axis")?.is_none() {
        return invalid!("without attribute `axis`, the result depends on the order of elements");
    }
    along(request, 1, 0)
}

/// The last two axes must stay the last two.
pub(super) fn trilu(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let (rank, target) = (layout.rank(), layout.target_rank());
    for back in [1, 2] {
        let axis = rank.checked_sub(back).ok_or(Stop::Unknown)?;
        if whole(&layout, axis)? + back != target {
            return invalid!("last two axes are not the last two of layout `{layout}`");
        }
    }
    request.rewritten(1, &layout, Change::default())
}

/// Along all axes from one on. Scale and bias have these axes.
pub(super) fn layer_normalization(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let position = trailing_position(request, &layout, -1)?;
    if layout.is_blocked() && (request.has_result(1) || request.has_result(2)) {
        return invalid!("mean has one element along axes that are split into blocks");
    }
    let mut laid = request.with_layout(1, &layout)?;
    let mut change = Change::attr("axis", position);
    for index in (1..request.count()).filter(|index| request.has(*index)) {
        lay_out_broadcast(request, &mut laid, &mut change, index, &layout)?;
    }
    laid.finish_op(request, change)
}

/// Adds a list of axes as a constant with the integer type of an operand.
pub(super) fn axes_like(
    request: &LayoutRequest,
    laid: &mut LayoutResult,
    index: usize,
    axes: &[i64],
) -> Inferred<String> {
    match request.dtype(index)? {
        DType::I32 => Ok(laid.ints_of("i32", axes)),
        DType::I64 => Ok(laid.ints(axes)),
        _ => Err(Stop::Unknown),
    }
}
