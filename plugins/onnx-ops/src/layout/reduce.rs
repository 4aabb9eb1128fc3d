//! Reductions: over the places of their axes.

use passdock_plugin_api::op::Layout;

use super::axes::whole;
use super::request::LayoutRequest;
use super::result::{Change, LayoutResult, own_operands};
use crate::infer::{Answer, Stop, wrong};

/// The places of axes, of what is cut all.
fn places(layout: &Layout, axes: &[usize]) -> Vec<i64> {
    let places = axes.iter().flat_map(|axis| layout.places_of(*axis));
    let mut places: Vec<i64> = places.map(|place| place as i64).collect();
    places.sort_unstable();
    places
}

/// The layout of what is left: all axes, or those that aren't reduced.
fn left(layout: &Layout, axes: &[usize], keepdims: bool) -> Answer<Layout> {
    if !keepdims {
        return Ok(layout.without(axes));
    }
    match axes.iter().any(|axis| layout.block(*axis) > 1) {
        true => wrong!("it leaves one element along an axis that is cut"),
        false => Ok(layout.clone()),
    }
}

fn listed(meant: &[bool]) -> Vec<usize> {
    let meant = meant.iter().enumerate().filter(|(_, is_meant)| **is_meant);
    meant.map(|(axis, _)| axis).collect()
}

pub(super) fn reduce(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let moved = if asked.name == "onnx.ReduceSum" {
        13
    } else {
        18
    };
    let given = asked.ints_since(moved, 1, "axes")?;
    let keepdims = asked.flag("keepdims", true)?;
    let mut laid = asked.answer();
    laid.operand(0, &layout);
    let axes = given.filter(|axes| !axes.is_empty());
    let Some(axes) = axes else {
        if asked.flag("noop_with_empty_axes", false)? && asked.version >= moved {
            laid.result(0, &layout);
        } else if keepdims {
            let all: Vec<usize> = (0..layout.rank()).collect();
            laid.result(0, &left(&layout, &all, true)?);
        }
        laid.itself(asked, Change::default())?;
        return Ok(laid);
    };
    let axes = listed(&asked.axes(&axes, layout.rank())?);
    laid.result(0, &left(&layout, &axes, keepdims)?);
    let places = places(&layout, &axes);
    if asked.version < moved {
        laid.itself(asked, Change::attr("axes", format!("{places:?}")))?;
        return Ok(laid);
    }
    let places = laid.ints(&places);
    let mut operands = own_operands(asked);
    operands[1] = Some(places);
    laid.itself(asked, Change::operands(operands))?;
    Ok(laid)
}

/// The place of the largest element along one axis.
pub(super) fn arg(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let axis = asked.axis(asked.int_or("axis", 0)?, layout.rank())?;
    let place = whole(&layout, axis)?;
    let mut laid = asked.answer();
    laid.operand(0, &layout);
    laid.result(0, &left(&layout, &[axis], asked.flag("keepdims", true)?)?);
    laid.itself(asked, Change::attr("axis", place))?;
    Ok(laid)
}

pub(super) fn mean_variance(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let axes = match asked.ints("axes")? {
        Some(axes) => axes.into_owned(),
        None => vec![0, 2, 3],
    };
    if axes.is_empty() {
        return Err(Stop::Unknown);
    }
    let axes = listed(&asked.axes(&axes, layout.rank())?);
    let mut laid = asked.answer();
    laid.operand(0, &layout);
    laid.result(0, &layout);
    let places = places(&layout, &axes);
    laid.itself(asked, Change::attr("axes", format!("{places:?}")))?;
    Ok(laid)
}
