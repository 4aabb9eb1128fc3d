//! Layout rules for operators with a list of numbers per axis: the lists are permuted like the axes.

use passdock_plugin_api::op::Layout;

use super::axes::{axes_like, whole};
use super::request::LayoutRequest;
use super::result::{Change, LayoutResult};
use crate::eval::shape::shape_range;
use crate::infer::{Inferred, Stop, invalid};

/// Returns the positions of axes that aren't split into blocks.
fn axis_indices(layout: &Layout, axes: &[i64], request: &LayoutRequest) -> Inferred<Vec<i64>> {
    let position = |axis: &i64| Ok(whole(layout, request.axis(*axis, layout.rank())?)? as i64);
    axes.iter().map(position).collect()
}

/// Along axes that aren't split.
pub(super) fn slice(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut laid = request.with_layout(1, &layout)?;
    if request.version < 10 {
        let axes = match (request.ints("axes")?, request.ints("starts")?) {
            (Some(axes), _) => axes.into_owned(),
            (None, Some(starts)) => (0..starts.len() as i64).collect(),
            (None, None) => return Err(Stop::Unknown),
        };
        let positions = axis_indices(&layout, &axes, request)?;
        return laid.finish_op(request, Change::attr("axes", positions));
    }
    let axes = match request.ints_if_given(3)? {
        Some(axes) => axes,
        None => match request.dims(1).as_deref() {
            Some(&[count]) => (0..count.as_const().ok_or(Stop::Unknown)?).collect(),
            _ => return Err(Stop::Unknown),
        },
    };
    let positions = axis_indices(&layout, &axes, request)?;
    let positions = axes_like(request, &mut laid, 1, &positions)?;
    laid.finish_op(request, Change::operand(3, positions))
}

/// Permutes lists with one number per axis to the order of positions. A block gets the number `of_block`. Several lists
/// may be concatenated.
fn permuted(layout: &Layout, numbers: &[i64], of_block: i64) -> Option<Vec<i64>> {
    let mut out = Vec::new();
    for numbers in numbers.chunks(layout.rank().max(1)) {
        for position in layout.positions() {
            out.push(match position.block {
                Some(_) => of_block,
                None => *numbers.get(position.axis)?,
            });
        }
    }
    Some(out)
}

/// Permutes the elements of operand 1, which has `lists` concatenated lists with one number per axis. If they aren't
/// constant, a `Gather` permutes them.
fn gathered(
    request: &LayoutRequest,
    laid: &mut LayoutResult,
    layout: &Layout,
    lists: usize,
    of_block: i64,
) -> Inferred<String> {
    let count = layout.rank() * lists;
    if let Some(known) = request.known_ints(1) {
        let positions = permuted(layout, &known, of_block).filter(|_| known.len() == count);
        return Ok(laid.ints(&positions.ok_or(Stop::Unknown)?));
    }
    let all: Vec<i64> = (0..count as i64).collect();
    let all = permuted(layout, &all, of_block).filter(|_| !layout.is_blocked());
    let given = request.dims(1).and_then(|dims| dims.first()?.as_const());
    let Some(all) = all.filter(|_| given == Some(count as i64)) else {
        return invalid!("operand 1 is not constant");
    };
    let all = laid.ints(&all);
    Ok(laid.op("Gather", &["operand1", &all], "axis = 0"))
}

/// The pads are an attribute before opset 11; since 18, `axes` is an optional operand.
pub(super) fn pad(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut laid = request.with_layout(1, &layout)?;
    let is_cut = |axis: usize| layout.block(axis) > 1;
    if request.version < 11 {
        let Some(pads) = request.ints("pads")? else {
            return Err(Stop::Unknown);
        };
        check_pads(&layout, &pads, is_cut)?;
        let pads = permuted(&layout, &pads, 0).ok_or(Stop::Unknown)?;
        return laid.finish_op(request, Change::attr("pads", pads));
    }
    if request.has(3) {
        let axes = request.known_ints(3).ok_or(Stop::Unknown)?;
        let positions = axis_indices(&layout, &axes, request)?;
        let axes = axes_like(request, &mut laid, 3, &positions)?;
        return laid.finish_op(request, Change::operand(3, axes));
    }
    if let Some(pads) = request.known_ints(1) {
        check_pads(&layout, &pads, is_cut)?;
    }
    let pads = gathered(request, &mut laid, &layout, 2, 0)?;
    laid.finish_op(request, Change::operand(1, pads))
}

/// Rejects pads of a split axis, or a list without two numbers per axis.
fn check_pads(layout: &Layout, pads: &[i64], is_cut: impl Fn(usize) -> bool) -> Inferred {
    let rank = layout.rank();
    if pads.len() != 2 * rank {
        return Err(Stop::Unknown);
    }
    let mut pads = pads.iter().enumerate();
    if pads.any(|(at, pad)| *pad != 0 && is_cut(at % rank)) {
        return invalid!("a padded axis is split into blocks");
    }
    Ok(())
}

/// A split axis is repeated in whole blocks.
pub(super) fn tile(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut laid = request.with_layout(1, &layout)?;
    let repeats = gathered(request, &mut laid, &layout, 1, 1)?;
    laid.finish_op(request, Change::operand(1, repeats))
}

/// The shape must have at most as many axes as the operand.
pub(super) fn expand(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    if layout.is_blocked() {
        return invalid!("layout `{layout}` has blocks");
    }
    let mut laid = request.with_layout(1, &layout)?;
    let shape = match request.known_ints(1) {
        Some(shape) if shape.len() < layout.rank() => {
            // Axes that the shape doesn't have keep their size.
            let all = [vec![1; layout.rank() - shape.len()], shape].concat();
            let positions = permuted(&layout, &all, 1).ok_or(Stop::Unknown)?;
            laid.ints(&positions)
        }
        _ => gathered(request, &mut laid, &layout, 1, 1)?,
    };
    laid.finish_op(request, Change::operand(1, shape))
}

pub(super) fn center_crop_pad(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axes = match request.ints("axes")? {
        Some(axes) => axes.into_owned(),
        None => (0..layout.rank() as i64).collect(),
    };
    let positions = axis_indices(&layout, &axes, request)?;
    request.rewritten(1, &layout, Change::attr("axes", positions))
}

/// Returns the sizes in the original order of axes. The size of a split axis is multiplied by its block size.
pub(super) fn shape(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axes = shape_range(
        layout.rank(),
        request.int_or("start", 0)?,
        request.int("end")?,
    );
    let mut laid = request.result();
    laid.operand(0, &layout);
    let all = laid.op("Shape", &["operand0"], "");
    let position = |axis| layout.position(axis).map(|position| position as i64);
    let positions: Option<Vec<i64>> = axes.clone().map(position).collect();
    let positions = laid.ints(&positions.ok_or(Stop::Unknown)?);
    let mut sizes = laid.op("Gather", &[&all, &positions], "axis = 0");
    let blocks: Vec<i64> = axes.map(|axis| layout.block(axis)).collect();
    if blocks.iter().any(|block| *block > 1) {
        let blocks = laid.ints(&blocks);
        sizes = laid.op("Mul", &[&sizes, &blocks], "");
    }
    Ok(laid.returns(vec![sizes]))
}

/// The number of elements doesn't change.
pub(super) fn size(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.finish_op(request, Change::default())
}
