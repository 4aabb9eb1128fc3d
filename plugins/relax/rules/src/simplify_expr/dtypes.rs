//! Casts that change nothing and chains of them; what is dequantised and quantised the same way again.

use passdock_plugin_api::prelude::*;

use super::bounds::fits;
use crate::shared::read::{is, like, made_by};

pub(super) static RULES: Rules = rules! {
    rule cast_of_same_dtype { onnx.Cast|onnx.CastLike(%x, %like...) => %x }
    rule cast_of_cast {
        %inner = onnx.Cast|onnx.CastLike(%x, %rest...)
        %outer = onnx.Cast|onnx.CastLike(%inner, %more...)
    } => at_once;
    rule quantize_again keeps_type {
        %inner = onnx.DequantizeLinear(%x, %scale, %zero?) {axis = $axis}
        onnx.QuantizeLinear(%inner, %scale, %zero?) {axis = $axis}
    } => quantized;
    rule arg_of_dequantized {
        %inner = onnx.DequantizeLinear(%x, %scale, %zero?)
        onnx.ArgMax|onnx.ArgMin(%inner)
    } => unscaled;
    rule quantize_what_moved { %y = onnx.QuantizeLinear(%inner, %scale, %zero?) } => moved;
};

/// What is quantised as it was before is what it was: the error of the scale's product and quotient is less than half
/// a step for integers of 16 bits, if neither overflows.
fn quantized(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    Ok(is_exact(f, m.op("inner"), m.root())?.then(|| vec![m.value(f, "x")]))
}

/// Whether a value that is dequantised by one op and quantised by the other, with the same numbers, is what it was.
fn is_exact(f: &Function, from: OpId, to: OpId) -> Result<bool, EditError> {
    const SMALL: [DType; 4] = [DType::I8, DType::U8, DType::I16, DType::U16];
    let (Some(x), Some(scale)) = (f.operand(from, 0), f.operand(to, 1)) else {
        return Ok(false);
    };
    let is_same = f.dtype(scale) == DType::F32
        && SMALL.contains(&f.dtype(x))
        && f.dtype(x) == f.dtype(f.result(to, 0))
        && is_plain(f, to)
        && is_plain(f, from);
    let scales = f.constant_floats(scale)?.unwrap_or_default();
    Ok(is_same && !scales.is_empty() && scales.iter().all(|s| (1e-30..1e30).contains(s)))
}

/// Whether an op that quantises or dequantises has no attribute but its axis.
fn is_plain(f: &Function, op: OpId) -> bool {
    let has = |name| !matches!(f.attr(op, name), None | Some(Attr::Unset | Attr::Int(0)));
    !has("block_size") && !has("output_dtype") && !has("precision")
}

/// The largest of integers of 8 bits is where the largest of what they mean is: no two of them mean the same number.
fn unscaled(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, scale) = (m.value(f, "x"), m.value(f, "scale"));
    let is_small = [DType::I8, DType::U8].contains(&f.dtype(x)) && f.dtype(scale) == DType::F32;
    let scales = f.constant_floats(scale)?.unwrap_or_default();
    let is_one = matches!(scales[..], [scale] if (1e-30..1e30).contains(&scale));
    if !is_small || !is_one || !is_plain(f, m.op("inner")) || f.use_count(m.value(f, "inner")) != 1
    {
        return Ok(None);
    }
    let made = like(f, m.root(), &[]);
    made.map(|made| Ok(vec![r.op(made.operand(x))?]))
        .transpose()
}

/// The most ops between a `DequantizeLinear` and a `QuantizeLinear`.
const MOST_BETWEEN: usize = 32;

/// What is dequantised, only moved, and quantised the same way again is moved as it is.
fn moved(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let is_one = f.type_of(m.value(f, "scale")).element_count() == Some(1);
    let inner = m.value(f, "inner");
    if !is_one || made_by(f, inner, "onnx.DequantizeLinear").is_some() {
        return Ok(None);
    }
    let value = unquantized(r, m.root(), inner, &mut 0)?;
    Ok(value.map(|value| vec![value]))
}

/// What a value is made of by ops that only move elements, of what was quantised before as the root does it again.
fn unquantized(
    r: &mut Rewriter<'_>,
    root: OpId,
    value: ValueId,
    looked: &mut usize,
) -> Result<Option<ValueId>, EditError> {
    const MOVING: [&str; 8] = [
        "onnx.Transpose",
        "onnx.Reshape",
        "onnx.Squeeze",
        "onnx.Unsqueeze",
        "onnx.Flatten",
        "onnx.Slice",
        "onnx.Expand",
        "onnx.Gather",
    ];
    let f = r.function();
    *looked += 1;
    let Some(op) = f.defining_op(value).filter(|_| *looked <= MOST_BETWEEN) else {
        return Ok(None);
    };
    if is(f, op, "onnx.DequantizeLinear") {
        let is_same = f.operands(op).skip(1).eq(f.operands(root).skip(1));
        return Ok(match is_same && is_exact(f, op, root)? {
            true => f.operand(op, 0),
            false => None,
        });
    }
    let takes_many = is(f, op, "onnx.Concat");
    let moves = takes_many || MOVING.iter().any(|name| is(f, op, name));
    if !moves || f.use_count(value) != 1 || f.result_count(op) != 1 {
        return Ok(None);
    }
    let Some(made) = like(f, op, &[]) else {
        return Ok(None);
    };
    let mut operands: Vec<ValueId> = f.operands(op).collect();
    let count = if takes_many { operands.len() } else { 1 };
    for operand in &mut operands[..count] {
        match unquantized(r, root, *operand, looked)? {
            Some(value) => *operand = value,
            None => return Ok(None),
        }
    }
    r.op(made.operands(operands)).map(Some)
}

/// A cast of a cast is one, if the first loses nothing: its dtype has all numbers, or all that there can be.
fn at_once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.value(f, "inner"), m.value(f, "outer"));
    let (from, by, to) = (f.dtype(x), f.dtype(inner), f.dtype(outer));
    if !keeps_all(from, by) && !fits(r, x, by)? {
        return Ok(None);
    }
    if from == to {
        return Ok(Some(vec![x]));
    }
    // A negative float has no unsigned integer, where a negative integer has one.
    let differs = is_signed(from) && is_float(by) && is_unsigned(to);
    let is_known = is_float(to) || is_signed(to) || is_unsigned(to);
    let (Some(made), false, true) = (like(f, m.op("outer"), &[]), differs, is_known) else {
        return Ok(None);
    };
    let rest = f.operands(m.op("outer")).skip(1).collect::<Vec<_>>();
    Ok(Some(vec![r.op(made.operand(x).operands(rest))?]))
}

fn is_float(dtype: DType) -> bool {
    [DType::F64, DType::F32, DType::F16, DType::BF16].contains(&dtype)
}

fn is_signed(dtype: DType) -> bool {
    [DType::I64, DType::I32, DType::I16, DType::I8].contains(&dtype)
}

fn is_unsigned(dtype: DType) -> bool {
    [DType::U64, DType::U32, DType::U16, DType::U8].contains(&dtype)
}

/// Whether every number of a dtype is one of another.
fn keeps_all(from: DType, to: DType) -> bool {
    // Integers up to 2^bits, and whether there are negative ones.
    let range = |dtype: DType| -> Option<(u32, bool)> {
        Some(match dtype {
            DType::BOOL => (1, false),
            DType::U8 => (8, false),
            DType::U16 => (16, false),
            DType::U32 => (32, false),
            DType::U64 => (64, false),
            DType::I8 => (7, true),
            DType::I16 => (15, true),
            DType::I32 => (31, true),
            DType::I64 => (63, true),
            DType::BF16 => (8, true),
            DType::F16 => (11, true),
            DType::F32 => (24, true),
            DType::F64 => (53, true),
            _ => return None,
        })
    };
    if is_float(from) {
        return matches!(
            (from, to),
            (DType::F32, DType::F64) | (DType::F16 | DType::BF16, DType::F32 | DType::F64)
        );
    }
    match (range(from), range(to)) {
        (Some((bits, signed)), Some((room, takes_signed))) => {
            to != DType::BOOL && bits <= room && (takes_signed || !signed)
        }
        _ => false,
    }
}
