//! Layout rules for views, which only rename or regroup axes. A view is absorbed into the layout if that is provably
//! equivalent.

use passdock_plugin_api::Dim;
use passdock_plugin_api::op::Layout;

use super::reduce::axis_positions;
use super::request::{LayoutRequest, Sizes, as_sizes};
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// Absorbs the transpose into the layout of the result, which is the operand.
pub(super) fn transpose(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let rank = layout.rank();
    let perm = match request.ints("perm")? {
        Some(perm) => perm
            .iter()
            .filter_map(|axis| usize::try_from(*axis).ok())
            .collect(),
        None => (0..rank).rev().collect::<Vec<_>>(),
    };
    let back = Layout::permuted(&perm).filter(|back| back.rank() == rank);
    let back = back
        .and_then(|layout| layout.inverse())
        .ok_or(Stop::Unknown)?;
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.result(0, &back.then(&layout).ok_or(Stop::Unknown)?);
    Ok(laid.returns(vec!["operand0".to_owned()]))
}

/// Removes axes of size 1.
pub(super) fn squeeze(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let axes = match request.ints_since(13, 1, "axes")? {
        Some(axes) => request.listed(&axes, layout.rank())?,
        None => {
            let sizes = request.sizes(0).ok_or(Stop::Unknown)?;
            if sizes.contains(&None) {
                return Err(Stop::Unknown);
            }
            (0..sizes.len())
                .filter(|axis| sizes[*axis] == Some(1))
                .collect()
        }
    };
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.result(0, &layout.without(&axes));
    let name = laid.reshape_at("Squeeze", "operand0", &axis_positions(&layout, &axes));
    Ok(laid.returns(vec![name]))
}

/// Inserts axes of size 1, each before the axis that follows it.
pub(super) fn unsqueeze(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let Some(axes) = request.ints_since(13, 1, "axes")? else {
        return Err(Stop::Unknown);
    };
    let axes = request.listed(&axes, layout.rank() + axes.len())?;
    let mut result = layout.clone();
    for axis in &axes {
        result = result.with_axis(*axis).ok_or(Stop::Unknown)?;
    }
    let mut laid = request.result();
    laid.operand(0, &layout);
    laid.result(0, &result);
    let name = laid.reshape_at("Unsqueeze", "operand0", &axis_positions(&result, &axes));
    Ok(laid.returns(vec![name]))
}

/// Flattens to two dims if the layout keeps the order of elements.
pub(super) fn flatten(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let sizes = request.sizes(0).ok_or(Stop::Unknown)?;
    if !layout.keeps_order(&sizes) {
        return invalid!("layout `{layout}` changes the order of elements");
    }
    let rank = layout.rank() as i64;
    let axis = match request.int_or("axis", 1)? {
        axis if (0..=rank).contains(&axis) => axis,
        axis if (-rank..0).contains(&axis) => axis + rank,
        _ => return Err(Stop::Unknown),
    };
    let mut positions = layout.positions().iter();
    let after = positions
        .position(|position| position.axis as i64 >= axis && sizes[position.axis] != Some(1));
    let mut laid = request.result();
    laid.operand(0, &layout);
    let axis = after.unwrap_or(layout.target_rank());
    laid.finish_op(request, Change::attr("axis", axis))
}

/// Merges or splits axes. If the axes of each group are adjacent in the layout, so are those of the result.
pub(super) fn reshape(request: &LayoutRequest) -> Inferred<LayoutResult> {
    let layout = request.layout(0)?;
    let dims = request.dims(0).ok_or(Stop::Unknown)?;
    let result = request.result_dims(0).ok_or(Stop::Unknown)?;
    let sizes = as_sizes(&dims);
    let mut laid = request.result();
    laid.operand(0, &layout);
    if layout.keeps_order(&sizes) {
        let shape = shape_text(request, &layout, &result)?;
        let shape = shape.map(|shape| Change::operand(1, laid.ints(&shape)));
        return laid.finish_op(request, shape.unwrap_or_default());
    }
    let groups = groups(&dims, &result).ok_or(Stop::Unknown)?;
    let order = in_layout(&layout, &groups, &sizes)?;
    let shape: Vec<Option<i64>> = order.iter().map(|axis| result[*axis].as_const()).collect();
    let unknown = shape.iter().filter(|size| size.is_none()).count();
    if unknown > 1 || shape.contains(&Some(0)) {
        return invalid!("result has several unknown dims, or a dim of 0");
    }
    let shape: Vec<i64> = shape.into_iter().map(|size| size.unwrap_or(-1)).collect();
    let result = Layout::permuted(&order).ok_or(Stop::Unknown)?;
    laid.result(0, &result);
    let shape = laid.ints(&shape);
    let name = laid.op("Reshape", &["operand0", &shape], "");
    Ok(laid.returns(vec![name]))
}

/// Returns the shape for an operand in its original order, or `None` if the op's own shape applies.
fn shape_text(
    request: &LayoutRequest,
    layout: &Layout,
    result: &[Dim],
) -> Inferred<Option<Vec<i64>>> {
    if request.version < 5 {
        return Err(Stop::Unknown);
    }
    let given = request.values(1);
    let given = given.map(|given| as_sizes(&given)).ok_or(Stop::Unknown)?;
    let copies = !request.flag("allowzero", false)?;
    let (mut shape, mut is_known) = (Vec::new(), true);
    for (at, size) in given.iter().enumerate() {
        // A 0 copies the size of the operand's dim at this index, which may be another axis.
        let stays = !copies
            || layout
                .positions()
                .get(at)
                .is_some_and(|position| position.axis == at)
                && layout.block(at) == 1;
        let inferred = result.get(at).copied().and_then(Dim::as_const);
        match (size, inferred) {
            (Some(size), _) if *size != 0 || stays => shape.push(*size),
            (Some(_), Some(size)) if size != 0 => shape.push(size),
            (None, _) if stays => is_known = false,
            _ => return invalid!("a dim of 0 in the shape would copy another axis"),
        }
    }
    let own: Vec<i64> = given.iter().map(|size| size.unwrap_or(0)).collect();
    match is_known {
        true => Ok(Some(shape).filter(|shape| *shape != own)),
        false if shape.iter().all(|size| own.contains(size)) => Ok(None),
        false => invalid!("shape is not constant"),
    }
}

/// Axes of the operand, and the axes of the result that they become.
type Group = (Vec<usize>, Vec<usize>);

/// Groups the axes so that each group has the same number of elements on both sides.
fn groups(dims: &[Dim], result: &[Dim]) -> Option<Vec<Group>> {
    let (mut groups, mut a, mut b) = (Vec::<Group>::new(), 0, 0);
    while a < dims.len() && b < result.len() {
        let (mut from, mut to) = (vec![a], vec![b]);
        if !dims[a].is_same(result[b]) {
            let (mut left, mut right) = (dims[a].as_const()?, result[b].as_const()?);
            while left != right {
                let (list, at, product, side) = match left < right {
                    true => (&mut from, &mut a, &mut left, dims),
                    false => (&mut to, &mut b, &mut right, result),
                };
                *at += 1;
                list.push(*at);
                *product = product.checked_mul(side.get(*at)?.as_const()?)?;
                if *product == 0 {
                    return None;
                }
            }
        }
        (a, b) = (a + 1, b + 1);
        groups.push((from, to));
    }
    // Trailing axes of size 1 belong to the last group.
    let (from, to) = groups.last_mut()?;
    for (rest, dims, list) in [(a..dims.len(), dims, from), (b..result.len(), result, to)] {
        for at in rest {
            if dims[at].as_const() != Some(1) {
                return None;
            }
            list.push(at);
        }
    }
    Some(groups)
}

/// Returns the result's axes in the order of their groups in the layout.
fn in_layout(layout: &Layout, groups: &[Group], sizes: &Sizes) -> Inferred<Vec<usize>> {
    if layout.is_blocked() {
        return invalid!("layout `{layout}` has blocks");
    }
    let mut placed = Vec::new();
    for (from, to) in groups {
        // The position of an axis of size 1 doesn't matter.
        let mut large: Vec<usize> = from.clone();
        large.retain(|axis| sizes[*axis] != Some(1));
        let one = from.first().copied().ok_or(Stop::Unknown)?;
        let first = large.first().copied().unwrap_or(one);
        let position = layout.position(first).ok_or(Stop::Unknown)?;
        let mut last = position;
        for axis in large.iter().skip(1) {
            let next = layout.position(*axis).ok_or(Stop::Unknown)?;
            let mut between =
                (last.min(next) + 1..next.max(last)).map(|at| layout.positions()[at].axis);
            if next < last || between.any(|axis| sizes[axis] != Some(1)) {
                return invalid!("merged axes are not adjacent in layout `{layout}`");
            }
            last = next;
        }
        placed.push((position, to));
    }
    placed.sort_by_key(|(position, _)| *position);
    Ok(placed
        .iter()
        .flat_map(|(_, to)| to.iter().copied())
        .collect())
}
