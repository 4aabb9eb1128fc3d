//! Layout rules for elementwise operators: they keep the layout, and operands of lower rank are adapted.

use passdock_plugin_api::op::Layout;

use super::request::LayoutRequest;
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// The first result has the first operand's layout. The other operands are scalars or only give a type.
pub(super) fn first(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.result(0, &layout);
    laid.finish_op(request, Change::default())
}

/// The mask has the operand's layout. In training mode, the random mask depends on the order of elements.
pub(super) fn dropout(request: &LayoutRequest) -> Inferred<LayoutResult> {
    if request.has(2) && request.constant(2).is_none_or(|flag| flag.bytes() != [0]) {
        return invalid!(
            "random mask depends on the order of elements, unless `training_mode` is constant false"
        );
    }
    let layout = request.layout(0)?;
    request.rewritten(1, &layout, Change::default())
}

/// One scale for all elements, for each index of an axis, or for each block of an axis.
pub(super) fn quantize(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let scales = request.rank(1)?;
    if scales == 0 || request.is_one(1) && scales == 1 {
        return first(request);
    }
    let axis = request.axis(request.int_or("axis", 1)?, layout.rank())?;
    if layout.block(axis) > 1 {
        return invalid!("axis {axis} has several scales and is split into blocks");
    }
    let position = layout.position(axis).ok_or(Stop::Unknown)?;
    // With blocks along the axis, the scales have all axes of the operand.
    let operands = if scales > 1 { request.count() } else { 1 };
    request.rewritten(operands, &layout, Change::attr("axis", position))
}

/// Elementwise with broadcasting. Operands of full rank get the layout, those of lower rank the part of it that applies
/// to their axes, and operands of one element stay.
pub(super) fn broadcast(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let present = || (0..request.count()).filter(|index| request.has(*index));
    let ranks = present().map(|index| request.rank(index));
    let rank = ranks.collect::<Inferred<Vec<usize>>>()?.into_iter().max();
    let mut layout = None;
    for index in present() {
        if layout.is_none() && Some(request.rank(index)?) == rank {
            layout = request.requested(index, "NC")?;
            layout = layout.filter(|layout| request.fits(index, layout).is_ok());
        }
    }
    let Some(layout) = layout else {
        return invalid!("no other layout is requested for an operand of full rank");
    };
    let (mut laid, mut change) = (request.with_layout(0, &layout)?, Change::default());
    for index in present() {
        lay_out_broadcast(request, &mut laid, &mut change, index, &layout)?;
    }
    laid.finish_op(request, change)
}

/// Lays out an operand that broadcasts to the axes of a layout. If it needs an `Unsqueeze`, the op uses that result.
pub(super) fn lay_out_broadcast(
    request: &LayoutRequest,
    laid: &mut LayoutResult,
    change: &mut Change,
    index: usize,
    layout: &Layout,
) -> Inferred {
    let own = request.rank(index)?;
    if own == 0 || request.is_one(index) && own <= layout.target_rank() {
        return Ok(());
    }
    let Some(missing) = layout.rank().checked_sub(own) else {
        return invalid!(
            "operand {index} has rank {own}, but layout `{layout}` has {}",
            layout.rank()
        );
    };
    let sizes = request.sizes(index).ok_or(Stop::Unknown)?;
    // A split axis on which this operand has size 1 isn't split here.
    let mut is_cut = vec![false; layout.rank()];
    for (axis, is_cut) in is_cut.iter_mut().enumerate().skip(missing) {
        let block = layout.block(axis);
        *is_cut = match sizes[axis - missing] {
            _ if block == 1 => false,
            Some(1) => false,
            Some(size) if size % block == 0 => true,
            _ => {
                return invalid!(
                    "operand {index} is not divisible into blocks of layout `{layout}`"
                );
            }
        };
    }
    let is_here = |axis: usize, is_block: bool| axis >= missing && (is_cut[axis] || !is_block);
    let mut positions = Vec::new();
    let mut ones = Vec::new();
    for position in layout.positions() {
        if is_here(position.axis, position.block.is_some()) {
            positions.push(*position);
        } else if !positions.is_empty() {
            ones.push((positions.len() + ones.len()) as i64);
        }
    }
    // The part of the layout for the operand's own axes.
    let remaining: Vec<usize> = (missing..layout.rank()).collect();
    let whole: Vec<usize> = (0..layout.rank()).filter(|axis| !is_cut[*axis]).collect();
    let own_layout = layout.unblocked(&whole).only(&remaining);
    debug_assert_eq!(own_layout.target_rank(), positions.len());
    laid.operand(index, &own_layout);
    if !ones.is_empty() {
        let name = laid.reshape_at("Unsqueeze", &format!("operand{index}"), &ones);
        change.operands.push((index, name));
    }
    Ok(())
}
