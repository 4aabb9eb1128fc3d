//! Layout rules for reductions.

use passdock_plugin_api::op::Layout;

use super::axes::whole;
use super::request::LayoutRequest;
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// Returns the sorted positions of axes, including the positions of their blocks.
pub(super) fn axis_positions(layout: &Layout, axes: &[usize]) -> Vec<i64> {
    let positions = axes.iter().flat_map(|axis| layout.positions_of(*axis));
    let mut positions: Vec<i64> = positions.map(|position| position as i64).collect();
    positions.sort_unstable();
    positions
}

/// Returns the layout of the result: all axes, or those that aren't reduced.
fn remaining_layout(layout: &Layout, axes: &[usize], keepdims: bool) -> Inferred<Layout> {
    if !keepdims {
        return Ok(layout.without(axes));
    }
    if axes.iter().any(|axis| layout.block(*axis) > 1) {
        return invalid!("a reduced axis is split into blocks");
    }
    Ok(layout.clone())
}

pub(super) fn reduce(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let moved = if request.name == "onnx.ReduceSum" {
        13
    } else {
        18
    };
    let given = request.ints_since(moved, 1, "axes")?;
    let keepdims = request.flag("keepdims", true)?;
    let mut laid = request.result();
    laid.operand(0, &layout);
    let axes = given.filter(|axes| !axes.is_empty());
    let Some(axes) = axes else {
        if request.flag("noop_with_empty_axes", false)? && request.version >= moved {
            laid.result(0, &layout);
        } else if keepdims {
            let all: Vec<usize> = (0..layout.rank()).collect();
            laid.result(0, &remaining_layout(&layout, &all, true)?);
        }
        return laid.finish_op(request, Change::default());
    };
    let axes = request.listed(&axes, layout.rank())?;
    laid.result(0, &remaining_layout(&layout, &axes, keepdims)?);
    let positions = axis_positions(&layout, &axes);
    if request.version < moved {
        return laid.finish_op(request, Change::attr("axes", positions));
    }
    let positions = laid.ints(&positions);
    laid.finish_op(request, Change::operand(1, positions))
}

/// `ArgMax` and `ArgMin` along one axis.
pub(super) fn arg(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axis = request.axis(request.int_or("axis", 0)?, layout.rank())?;
    let position = whole(&layout, axis)?;
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.result(
        0,
        &remaining_layout(&layout, &[axis], request.flag("keepdims", true)?)?,
    );
    laid.finish_op(request, Change::attr("axis", position))
}

pub(super) fn mean_variance(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axes = match request.ints("axes")? {
        Some(axes) => axes.into_owned(),
        None => vec![0, 2, 3],
    };
    if axes.is_empty() {
        return Err(Stop::Unknown);
    }
    let positions = axis_positions(&layout, &request.listed(&axes, layout.rank())?);
    request.rewritten(1, &layout, Change::attr("axes", positions))
}
