//! Chains of `Pad`s, and of `Pad`s and `Slice`s.

use passdock_plugin_api::prelude::*;

use super::slices::{self, Range};
use crate::rules::shared::pads::{Fill, pads};
use crate::shared::read::{is_any, size};

pub(super) static RULES: Rules = rules! {
    rule pad_of_pad {
        %inner = onnx.Pad(%x, %rest...)
        %outer = onnx.Pad(%inner, %more...)
    } => merge_pads;
    rule slice_of_pad {
        %inner = onnx.Pad(%x, %rest...)
        %outer = onnx.Slice(%inner, %more...)
    } => fold_slice_into_pad;
    rule pad_of_slice {
        %inner = onnx.Slice(%x, %rest...)
        %outer = onnx.Pad(%inner, %more...)
    } => crop;
};

/// Builds a `Pad` with the mode and fill of another one.
pub(super) fn make(
    r: &mut Rewriter<'_>,
    x: ValueId,
    pads: &[i64],
    like: OpId,
) -> Result<ValueId, EditError> {
    let f = r.function();
    let opset = f.opset("").unwrap_or(0);
    let value = f.operand(like, 2).and_then(ValueId::option);
    let mut pad = OpBuilder::new("onnx.Pad").operand(x);
    for name in ["mode", "value"] {
        if let Some(attr) = f.attr(like, name).and_then(|attr| attr.to_value()) {
            pad = pad.attr(name, attr);
        }
    }
    let pad = match opset {
        11.. => pad.operand(r.ints(pads)?).operands(value),
        2..=10 => pad.attr("pads", pads),
        _ => return Err(NoMatch.into()),
    };
    r.op(pad)
}

/// Merges two `Pad`s with the same fill, if the second one removes at most the padding of the first.
fn merge_pads(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (inner, outer) = (m.op("inner"), m.op("outer"));
    let first = pads(f, inner)?;
    let then = pads(f, outer)?;
    let fill = Fill::from_op(f, inner)?;
    let other = Fill::from_op(f, outer)?;
    let both: Vec<i64> = first.iter().zip(&then).map(|(a, b)| a + b).collect();
    let adds = |pads: &[i64]| pads.iter().all(|pad| *pad >= 0);
    let fits = match &fill {
        Fill::Mode(mode) => mode == b"edge" && adds(&first) && adds(&then),
        _ => adds(&first) && adds(&both),
    };
    NoMatch::unless(
        fits && fill == other && first.len() == then.len() && f.use_count(m.value(f, "inner")) == 1,
    )?;
    let x = m.value(f, "x");
    Ok(Some(vec![make(r, x, &both, outer)?]))
}

/// Merges a `Slice` into the `Pad` before it if, at each end, it removes only padding or at least all of it.
fn fold_slice_into_pad(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner) = (m.value(f, "x"), m.op("inner"));
    let mut pads = pads(f, inner)?;
    let fill = Fill::from_op(f, inner)?;
    let ranges = slices::ranges(f, m.op("outer"))?;
    let rank = pads.len() / 2;
    let size = |axis: usize| size(f, x, axis);
    let mut left = Vec::new();
    for range in ranges {
        NoMatch::unless(range.step == 1 && range.axis < rank)?;
        let size = size(range.axis).ok_or(NoMatch)?;
        let (before, after) = (pads[range.axis], pads[rank + range.axis]);
        NoMatch::unless(before >= 0 && after >= 0)?;
        let (start, end) = range.within(before + size + after);
        let (before, after) = (before - start, end - (before + size));
        // A range within the original tensor is a Slice.
        if before <= 0 && after <= 0 && start < end {
            left.push(Range {
                start: -before,
                end: size + after,
                ..range
            });
            (pads[range.axis], pads[rank + range.axis]) = (0, 0);
        } else if before >= 0 && after >= 0 {
            (pads[range.axis], pads[rank + range.axis]) = (before, after);
        } else {
            return Ok(None);
        }
    }
    left.retain(|range| (range.start, Some(range.end)) != (0, size(range.axis)));
    // Other modes read elements that the Slice may remove.
    let is_local = fill.is_constant() || left.is_empty();
    NoMatch::unless(is_local && f.use_count(m.value(f, "inner")) == 1)?;
    let is_padded = pads.iter().any(|pad| *pad != 0);
    NoMatch::unless(!is_padded || left.is_empty())?;
    match is_padded {
        true => Ok(Some(vec![make(r, x, &pads, inner)?])),
        false => Ok(Some(vec![slices::make(r, x, &left)?])),
    }
}

/// Merges a `Slice` into the `Pad` after it as negative amounts. An end that the `Slice` crops must not be padded. The
/// rule doesn't apply before convolutions and pools: they can absorb the `Pad`, but not negative amounts.
fn crop(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    const PADDING: [&str; 5] = [
        "onnx.Conv",
        "onnx.ConvInteger",
        "onnx.QLinearConv",
        "onnx.AveragePool",
        "onnx.MaxPool",
    ];
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.value(f, "inner"), m.op("outer"));
    let mut pads = pads(f, outer)?;
    let fill = Fill::from_op(f, outer)?;
    let mut users = f.iter_uses(f.result(outer, 0)).map(|one| one.op);
    let has_own_pads = users.any(|user| is_any(f, user, &PADDING));
    let adds = pads.iter().all(|pad| *pad >= 0);
    NoMatch::unless(!has_own_pads && adds && fill.is_constant() && f.use_count(inner) == 1)?;
    let ranges = slices::ranges(f, m.op("inner"))?;
    let rank = pads.len() / 2;
    for range in ranges {
        NoMatch::unless(range.step == 1 && range.axis < rank)?;
        let whole = size(f, x, range.axis).ok_or(NoMatch)?;
        let (start, end) = range.within(whole);
        let is_empty = start == end;
        for (at, cropped) in [(range.axis, start), (rank + range.axis, whole - end)] {
            NoMatch::unless(!is_empty && (cropped == 0 || pads[at] == 0))?;
            pads[at] -= cropped;
        }
    }
    Ok(Some(vec![make(r, x, &pads, outer)?]))
}
