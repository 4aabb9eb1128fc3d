//! Operators with a list of numbers an axis: the same lists, in the order in which the axes lie.

use passdock_plugin_api::op::Layout;

use super::axes::{axes_like, whole};
use super::request::LayoutRequest;
use super::result::{Change, LayoutResult, own_operands};
use crate::infer::{Answer, Stop, as_const, wrong};

/// An answer of one operand and one result in a layout.
fn one(asked: &LayoutRequest, layout: &Layout) -> LayoutResult {
    let mut laid = asked.answer();
    laid.operand(0, layout);
    laid.result(0, layout);
    laid
}

/// The places of axes that aren't cut.
fn places(layout: &Layout, axes: &[i64], asked: &LayoutRequest) -> Answer<Vec<i64>> {
    let place = |axis: &i64| Ok(whole(layout, asked.axis(*axis, layout.rank())?)? as i64);
    axes.iter().map(place).collect()
}

/// Along axes that aren't cut.
pub(super) fn slice(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let mut laid = one(asked, &layout);
    if asked.version < 10 {
        let axes = match (asked.ints("axes")?, asked.ints("starts")?) {
            (Some(axes), _) => axes.into_owned(),
            (None, Some(starts)) => (0..starts.len() as i64).collect(),
            (None, None) => return Err(Stop::Unknown),
        };
        let places = places(&layout, &axes, asked)?;
        laid.itself(asked, Change::attr("axes", format!("{places:?}")))?;
        return Ok(laid);
    }
    let axes = match asked.ints_if_given(3)? {
        Some(axes) => axes,
        None => match asked.dims(1).as_deref() {
            Some(&[count]) => (0..as_const(count).ok_or(Stop::Unknown)?).collect(),
            _ => return Err(Stop::Unknown),
        },
    };
    let places = places(&layout, &axes, asked)?;
    let places = axes_like(asked, &mut laid, 1, &places)?;
    let mut operands = own_operands(asked);
    operands.resize(operands.len().max(4), None);
    operands[3] = Some(places);
    laid.itself(asked, Change::operands(operands))?;
    Ok(laid)
}

/// A list of numbers an axis in the order of the places; a block has `of_block`. `lists` of them stand behind one
/// another.
fn in_places(layout: &Layout, numbers: &[i64], of_block: i64) -> Option<Vec<i64>> {
    let mut out = Vec::new();
    for numbers in numbers.chunks(layout.rank().max(1)) {
        for place in layout.places() {
            out.push(match place.block {
                Some(_) => of_block,
                None => *numbers.get(place.axis)?,
            });
        }
    }
    Some(out)
}

/// The elements of a list of an operand, one an axis, in the order of the places; `lists` stand behind one another.
fn gathered(
    asked: &LayoutRequest,
    laid: &mut LayoutResult,
    layout: &Layout,
    (index, lists): (usize, usize),
    of_block: i64,
) -> Answer<String> {
    let (rank, name) = (layout.rank(), format!("operand{index}"));
    if let Some(known) = asked.known_ints(index) {
        let places = in_places(layout, &known, of_block);
        let places = places
            .filter(|_| known.len() == rank * lists)
            .ok_or(Stop::Unknown)?;
        return Ok(laid.ints(&places));
    }
    let count = asked.dims(index).and_then(|dims| as_const(*dims.first()?));
    let perm = layout
        .perm()
        .filter(|_| count == Some((rank * lists) as i64));
    let Some(perm) = perm else {
        return wrong!("its operand {index} isn't known");
    };
    let all = (0..lists).flat_map(|list| perm.iter().map(move |axis| (list * rank + axis) as i64));
    let all: Vec<i64> = all.collect();
    let all = laid.ints(&all);
    Ok(laid.op("Gather", &[&name, &all], "axis = 0"))
}

/// Before version 11 an attribute; from 18 on there may be axes.
pub(super) fn pad(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let mut laid = one(asked, &layout);
    let is_cut = |axis: usize| layout.block(axis) > 1;
    if asked.version < 11 {
        let Some(pads) = asked.ints("pads")? else {
            return Err(Stop::Unknown);
        };
        check_pads(&layout, &pads, is_cut)?;
        let pads = in_places(&layout, &pads, 0).ok_or(Stop::Unknown)?;
        laid.itself(asked, Change::attr("pads", format!("{pads:?}")))?;
        return Ok(laid);
    }
    let mut operands = own_operands(asked);
    if asked.has(3) {
        let axes = asked.known_ints(3).ok_or(Stop::Unknown)?;
        let places = places(&layout, &axes, asked)?;
        operands[3] = Some(axes_like(asked, &mut laid, 3, &places)?);
    } else {
        if let Some(pads) = asked.known_ints(1) {
            check_pads(&layout, &pads, is_cut)?;
        }
        operands[1] = Some(gathered(asked, &mut laid, &layout, (1, 2), 0)?);
    }
    laid.itself(asked, Change::operands(operands))?;
    Ok(laid)
}

/// Refuses pads that aren't two an axis, or of an axis that is cut.
fn check_pads(layout: &Layout, pads: &[i64], is_cut: impl Fn(usize) -> bool) -> Answer {
    let rank = layout.rank();
    if pads.len() != 2 * rank {
        return Err(Stop::Unknown);
    }
    let mut pads = pads.iter().enumerate();
    match pads.any(|(at, pad)| *pad != 0 && is_cut(at % rank)) {
        true => wrong!("it pads an axis that is cut"),
        false => Ok(()),
    }
}

/// An axis that is cut is repeated as whole blocks.
pub(super) fn tile(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let mut laid = one(asked, &layout);
    let repeats = gathered(asked, &mut laid, &layout, (1, 1), 1)?;
    let operands = vec![Some("operand0".to_owned()), Some(repeats)];
    laid.itself(asked, Change::operands(operands))?;
    Ok(laid)
}

/// To a shape of as many axes.
pub(super) fn expand(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    if layout.is_blocked() {
        return wrong!("its axes are cut");
    }
    let mut laid = one(asked, &layout);
    let shape = match asked.known_ints(1) {
        Some(shape) if shape.len() < layout.rank() => {
            // What it doesn't say stays.
            let mut all = vec![1; layout.rank() - shape.len()];
            all.extend(shape);
            let places = in_places(&layout, &all, 1).ok_or(Stop::Unknown)?;
            laid.ints(&places)
        }
        _ => gathered(asked, &mut laid, &layout, (1, 1), 1)?,
    };
    let operands = vec![Some("operand0".to_owned()), Some(shape)];
    laid.itself(asked, Change::operands(operands))?;
    Ok(laid)
}

pub(super) fn center_crop_pad(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let mut laid = one(asked, &layout);
    let axes = match asked.ints("axes")? {
        Some(axes) => axes.into_owned(),
        None => (0..layout.rank() as i64).collect(),
    };
    let places = places(&layout, &axes, asked)?;
    laid.itself(asked, Change::attr("axes", format!("{places:?}")))?;
    Ok(laid)
}

/// The sizes in the order of the axes; of one that is cut, times its blocks.
pub(super) fn shape(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let rank = layout.rank() as i64;
    let clamp = |at: i64| if at < 0 { at + rank } else { at }.clamp(0, rank);
    let start = clamp(asked.int_or("start", 0)?);
    let end = clamp(asked.int_or("end", rank)?).max(start);
    let mut laid = asked.answer();
    laid.operand(0, &layout);
    let all = laid.op("Shape", &["operand0"], "");
    let axes = start as usize..end as usize;
    let places: Option<Vec<i64>> = axes
        .clone()
        .map(|axis| layout.place(axis).map(|place| place as i64))
        .collect();
    let places = laid.ints(&places.ok_or(Stop::Unknown)?);
    let mut sizes = laid.op("Gather", &[&all, &places], "axis = 0");
    let blocks: Vec<i64> = axes.map(|axis| layout.block(axis)).collect();
    if blocks.iter().any(|block| *block > 1) {
        let blocks = laid.ints(&blocks);
        sizes = laid.op("Mul", &[&sizes, &blocks], "");
    }
    laid.returns(vec![sizes]);
    Ok(laid)
}

/// As many elements as before.
pub(super) fn size(asked: &LayoutRequest) -> Answer<LayoutResult> {
    let layout = asked.layout(0)?;
    let mut laid = asked.answer();
    laid.operand(0, &layout);
    laid.itself(asked, Change::default())?;
    Ok(laid)
}
