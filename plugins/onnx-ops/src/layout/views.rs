//! Operators that name axes anew, and move nothing: they are absorbed as far as that can be proved.

use passdock_plugin_api::Dim;
use passdock_plugin_api::op::Layout;

use super::reduce::places;
use super::request::{LayoutRequest, Sizes, as_sizes};
use super::result::{Change, LayoutResult};
use crate::infer::{Answer, Stop, as_const, same, wrong};

/// Nothing moves: the result is the operand as it lies, in another layout.
pub(super) fn transpose(request: &LayoutRequest) -> Answer<LayoutResult> {
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
    let mut laid = request.answer();
    laid.operand(0, &layout);
    laid.result(0, &back.then(&layout).ok_or(Stop::Unknown)?);
    Ok(laid.returns(vec!["operand0".to_owned()]))
}

/// Axes of one element go.
pub(super) fn squeeze(request: &LayoutRequest) -> Answer<LayoutResult> {
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
    let mut laid = request.answer();
    laid.operand(0, &layout);
    laid.result(0, &layout.without(&axes));
    let name = laid.reshape_at("Squeeze", "operand0", &places(&layout, &axes));
    Ok(laid.returns(vec![name]))
}

/// Axes of one element come: each before what follows it.
pub(super) fn unsqueeze(request: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = request.layout(0)?;
    let Some(axes) = request.ints_since(13, 1, "axes")? else {
        return Err(Stop::Unknown);
    };
    let axes = request.listed(&axes, layout.rank() + axes.len())?;
    let mut result = layout.clone();
    for axis in &axes {
        result = result.with_axis(*axis).ok_or(Stop::Unknown)?;
    }
    let mut laid = request.answer();
    laid.operand(0, &layout);
    laid.result(0, &result);
    let name = laid.reshape_at("Unsqueeze", "operand0", &places(&result, &axes));
    Ok(laid.returns(vec![name]))
}

/// Two dims, of the axes before one and of the others.
pub(super) fn flatten(request: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = request.layout(0)?;
    let sizes = request.sizes(0).ok_or(Stop::Unknown)?;
    if !layout.keeps_order(&sizes) {
        return wrong!("its elements lie in another order");
    }
    let rank = layout.rank() as i64;
    let axis = match request.int_or("axis", 1)? {
        axis if (0..=rank).contains(&axis) => axis,
        axis if (-rank..0).contains(&axis) => axis + rank,
        _ => return Err(Stop::Unknown),
    };
    let mut places = layout.places().iter();
    let behind = places.position(|place| place.axis as i64 >= axis && sizes[place.axis] != Some(1));
    let mut laid = request.answer();
    laid.operand(0, &layout);
    let axis = behind.unwrap_or(layout.target_rank());
    laid.itself(request, Change::attr("axis", axis))
}

/// Axes put together or taken apart: where those of each group lie side by side, the result's do, too.
pub(super) fn reshape(request: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = request.layout(0)?;
    let dims = request.dims(0).ok_or(Stop::Unknown)?;
    let result = request.result_dims(0).ok_or(Stop::Unknown)?;
    let sizes = as_sizes(&dims);
    let mut laid = request.answer();
    laid.operand(0, &layout);
    if layout.keeps_order(&sizes) {
        let shape = shape_text(request, &layout, &result)?;
        let shape = shape.map(|shape| Change::operand(1, laid.ints(&shape)));
        return laid.itself(request, shape.unwrap_or_default());
    }
    let groups = groups(&dims, &result).ok_or(Stop::Unknown)?;
    let order = in_layout(&layout, &groups, &sizes)?;
    let shape: Vec<Option<i64>> = order.iter().map(|axis| as_const(result[*axis])).collect();
    let unknown = shape.iter().filter(|size| size.is_none()).count();
    if unknown > 1 || shape.contains(&Some(0)) {
        return wrong!("its sizes aren't known");
    }
    let shape: Vec<i64> = shape.into_iter().map(|size| size.unwrap_or(-1)).collect();
    let result = Layout::permuted(&order).ok_or(Stop::Unknown)?;
    laid.result(0, &result);
    let shape = laid.ints(&shape);
    let name = laid.op("Reshape", &["operand0", &shape], "");
    Ok(laid.returns(vec![name]))
}

/// The shape for an operand whose elements lie in their order; `None`: the op's own.
fn shape_text(
    request: &LayoutRequest,
    layout: &Layout,
    result: &[Dim],
) -> Answer<Option<Vec<i64>>> {
    if request.version < 5 {
        return Err(Stop::Unknown);
    }
    let given = request.values(1);
    let given = given.map(|given| as_sizes(&given)).ok_or(Stop::Unknown)?;
    let copies = !request.flag("allowzero", false)?;
    let (mut shape, mut is_known) = (Vec::new(), true);
    for (at, size) in given.iter().enumerate() {
        // A 0 is the size at the same place, which may be that of another axis.
        let stays = !copies
            || layout
                .places()
                .get(at)
                .is_some_and(|place| place.axis == at)
                && layout.block(at) == 1;
        let inferred = result.get(at).copied().and_then(as_const);
        match (size, inferred) {
            (Some(size), _) if *size != 0 || stays => shape.push(*size),
            (Some(_), Some(size)) if size != 0 => shape.push(size),
            (None, _) if stays => is_known = false,
            _ => return wrong!("it may take over the size of another axis"),
        }
    }
    let own: Vec<i64> = given.iter().map(|size| size.unwrap_or(0)).collect();
    match is_known {
        true => Ok(Some(shape).filter(|shape| *shape != own)),
        false if shape.iter().all(|size| own.contains(size)) => Ok(None),
        false => wrong!("its shape isn't known"),
    }
}

/// Axes of the operand, and those of the result that are made of them.
type Group = (Vec<usize>, Vec<usize>);

/// Which axes become which: each group has as many elements on both sides.
fn groups(dims: &[Dim], result: &[Dim]) -> Option<Vec<Group>> {
    let (mut groups, mut a, mut b) = (Vec::<Group>::new(), 0, 0);
    while a < dims.len() && b < result.len() {
        let (mut from, mut to) = (vec![a], vec![b]);
        if !same(dims[a], result[b]) {
            let (mut left, mut right) = (as_const(dims[a])?, as_const(result[b])?);
            while left != right {
                let (list, at, product, side) = match left < right {
                    true => (&mut from, &mut a, &mut left, dims),
                    false => (&mut to, &mut b, &mut right, result),
                };
                *at += 1;
                list.push(*at);
                *product = product.checked_mul(as_const(*side.get(*at)?)?)?;
                if *product == 0 {
                    return None;
                }
            }
        }
        (a, b) = (a + 1, b + 1);
        groups.push((from, to));
    }
    // Axes of one element at the end belong to the last group.
    let (from, to) = groups.last_mut()?;
    for (rest, dims, list) in [(a..dims.len(), dims, from), (b..result.len(), result, to)] {
        for at in rest {
            if as_const(dims[at]) != Some(1) {
                return None;
            }
            list.push(at);
        }
    }
    Some(groups)
}

/// The result's axes in the order in which their groups lie.
fn in_layout(layout: &Layout, groups: &[Group], sizes: &Sizes) -> Answer<Vec<usize>> {
    if layout.is_blocked() {
        return wrong!("its axes are cut");
    }
    let mut placed = Vec::new();
    for (from, to) in groups {
        // Where an axis of one element lies doesn't matter.
        let mut large: Vec<usize> = from.clone();
        large.retain(|axis| sizes[*axis] != Some(1));
        let one = from.first().copied().ok_or(Stop::Unknown)?;
        let first = large.first().copied().unwrap_or(one);
        let place = layout.place(first).ok_or(Stop::Unknown)?;
        let mut last = place;
        for axis in large.iter().skip(1) {
            let next = layout.place(*axis).ok_or(Stop::Unknown)?;
            let mut between =
                (last.min(next) + 1..next.max(last)).map(|at| layout.places()[at].axis);
            if next < last || between.any(|axis| sizes[axis] != Some(1)) {
                return wrong!("it puts axes together that don't lie side by side");
            }
            last = next;
        }
        placed.push((place, to));
    }
    placed.sort_by_key(|(place, _)| *place);
    Ok(placed
        .iter()
        .flat_map(|(_, to)| to.iter().copied())
        .collect())
}
