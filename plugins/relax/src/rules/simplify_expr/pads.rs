//! `Pad`s one after another, and with `Slice`s that take away what they add or add where those took away.

use passdock_plugin_api::prelude::*;

use super::slices::{self, Range};
use crate::rules::shared::pads::pads;
use crate::rules::shared::read::{is, known_dims};

pub(super) static RULES: Rules = rules! {
    rule pad_of_pad {
        %inner = onnx.Pad(%x, %rest...)
        %outer = onnx.Pad(%inner, %more...)
    } => at_once;
    rule slice_of_pad {
        %inner = onnx.Pad(%x, %rest...)
        %outer = onnx.Slice(%inner, %more...)
    } => less;
    rule pad_of_slice {
        %inner = onnx.Slice(%x, %rest...)
        %outer = onnx.Pad(%inner, %more...)
    } => crop;
};

/// How a `Pad` fills what it adds.
#[derive(PartialEq)]
struct Fill {
    mode: Vec<u8>,
    /// The number that it adds, as far as it is no 0.
    with: With,
}

#[derive(PartialEq)]
enum With {
    Nothing,
    Zero,
    Bytes(Vec<u8>),
    Value(ValueId),
}

impl Fill {
    fn from_op(f: &Function, op: OpId) -> Result<Option<Fill>, EditError> {
        let mode = match f.attr(op, "mode") {
            None | Some(Attr::Unset) => b"constant".to_vec(),
            Some(Attr::String(mode)) => mode.to_vec(),
            Some(_) => return Ok(None),
        };
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let with = |bytes: &[u8]| match is_zero(bytes) {
            true => With::Zero,
            false => With::Bytes(bytes.to_vec()),
        };
        let with = match f.operand(op, 2).and_then(ValueId::option) {
            _ if mode != b"constant" => With::Nothing,
            Some(value) => match f.constant_data(value)? {
                Some(bytes) => with(bytes),
                None => With::Value(value),
            },
            None => match f.attr(op, "value") {
                None | Some(Attr::Unset) => With::Zero,
                Some(Attr::Float(number)) => with(&number.to_le_bytes()),
                Some(_) => return Ok(None),
            },
        };
        Ok(Some(Fill { mode, with }))
    }

    fn is(&self, mode: &str) -> bool {
        self.mode == mode.as_bytes()
    }
}

/// Makes a `Pad` that fills as another one does.
pub(super) fn make(
    r: &mut Rewriter<'_>,
    x: ValueId,
    pads: &[i64],
    like: OpId,
) -> Result<Option<ValueId>, EditError> {
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
        _ => return Ok(None),
    };
    r.op(pad).map(Some)
}

/// What two `Pad`s add one does, as far as the second takes away no more than the first added.
fn at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (inner, outer) = (m.op("inner"), m.op("outer"));
    let (Some(first), Some(then)) = (pads(f, inner)?, pads(f, outer)?) else {
        return Ok(None);
    };
    let (Some(fill), Some(other)) = (Fill::from_op(f, inner)?, Fill::from_op(f, outer)?) else {
        return Ok(None);
    };
    let both: Vec<i64> = first.iter().zip(&then).map(|(a, b)| a + b).collect();
    let adds = |pads: &[i64]| pads.iter().all(|pad| *pad >= 0);
    let fits = match fill.is("constant") {
        true => adds(&first) && adds(&both),
        false => fill.is("edge") && adds(&first) && adds(&then),
    };
    if !fits || fill != other || first.len() != then.len() || f.use_count(m.value(f, "inner")) != 1
    {
        return Ok(None);
    }
    let x = m.value(f, "x");
    Ok(make(r, x, &both, outer)?.map(|pad| vec![pad]))
}

/// A `Slice` that takes away all that a `Pad` adds at an end, or a part of it.
fn less(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner) = (m.value(f, "x"), m.op("inner"));
    let (Some(mut pads), Some(fill)) = (pads(f, inner)?, Fill::from_op(f, inner)?) else {
        return Ok(None);
    };
    let Some(ranges) = slices::ranges(f, m.op("outer"))? else {
        return Ok(None);
    };
    let rank = pads.len() / 2;
    let size = |axis: usize| f.dims(x)?.get(axis)?.as_const();
    let mut left = Vec::new();
    for range in ranges {
        let Some(size) = size(range.axis).filter(|_| range.step == 1 && range.axis < rank) else {
            return Ok(None);
        };
        let (before, after) = (pads[range.axis], pads[rank + range.axis]);
        if before < 0 || after < 0 {
            return Ok(None);
        }
        let (start, end) = range.within(before + size + after);
        let (before, after) = (before - start, end - (before + size));
        // What lies in the tensor alone is a Slice of it.
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
    // Others reach for elements that the Slice may take away.
    let is_local = fill.is("constant")
        || left
            .iter()
            .all(|range| (range.start, Some(range.end)) == (0, size(range.axis)));
    left.retain(|range| (range.start, Some(range.end)) != (0, size(range.axis)));
    if !is_local || f.use_count(m.value(f, "inner")) != 1 {
        return Ok(None);
    }
    let is_padded = pads.iter().any(|pad| *pad != 0);
    if is_padded && !left.is_empty() {
        return Ok(None);
    }
    match is_padded {
        true => Ok(make(r, x, &pads, inner)?.map(|pad| vec![pad])),
        false => Ok(slices::make(r, x, &left)?.map(|slice| vec![slice])),
    }
}

/// A `Pad` takes away at one end what a `Slice` took away, and adds at others. Not where convolutions and pools could
/// pad themselves, which take nothing away.
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
    let (Some(mut pads), Some(fill)) = (pads(f, outer)?, Fill::from_op(f, outer)?) else {
        return Ok(None);
    };
    let mut users = f.iter_uses(f.result(outer, 0)).map(|one| one.op);
    let pads_itself = users.any(|user| PADDING.iter().any(|name| is(f, user, name)));
    let adds = pads.iter().all(|pad| *pad >= 0);
    if pads_itself || !adds || !fill.is("constant") || f.use_count(inner) != 1 {
        return Ok(None);
    }
    let (Some(ranges), Some(dims), Some(taken)) = (
        slices::ranges(f, m.op("inner"))?,
        known_dims(f, x),
        known_dims(f, inner),
    ) else {
        return Ok(None);
    };
    let rank = pads.len() / 2;
    for range in ranges {
        let size = dims.get(range.axis).and_then(|dim| dim.as_const());
        let Some(size) = size.filter(|_| range.step == 1 && range.axis < rank) else {
            return Ok(None);
        };
        let (start, end) = range.within(size);
        let is_empty = taken.get(range.axis).and_then(|dim| dim.as_const()) == Some(0);
        for (at, cropped) in [(range.axis, start), (rank + range.axis, size - end)] {
            if is_empty || cropped != 0 && pads[at] != 0 {
                return Ok(None);
            }
            pads[at] -= cropped;
        }
    }
    Ok(make(r, x, &pads, outer)?.map(|pad| vec![pad]))
}
