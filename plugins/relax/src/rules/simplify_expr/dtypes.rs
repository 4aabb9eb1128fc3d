//! Redundant casts, chains of casts, and values that are dequantized and quantized again with the same parameters.
//!
//! Ops between a `DequantizeLinear` and a `QuantizeLinear` stay there, even if they only move elements. Runtimes match
//! the pair around each op and then compute in integers.

use passdock_plugin_api::prelude::*;

use super::bounds::fits;
use crate::shared::read::{is_float, like};

pub(super) static RULES: Rules = rules! {
    rule cast_of_same_dtype { onnx.Cast|onnx.CastLike(%x, %like...) => %x }
    rule cast_of_cast {
        %inner = onnx.Cast|onnx.CastLike(%x, %rest...)
        %outer = onnx.Cast|onnx.CastLike(%inner, %more...)
    } => merge_casts;
    rule quantize_of_dequantize keeps_type {
        %inner = onnx.DequantizeLinear(%x, %scale, %zero?) {axis = $axis}
        onnx.QuantizeLinear(%inner, %scale, %zero?) {axis = $axis}
    } => quantized;
};

/// Removes a `DequantizeLinear` and `QuantizeLinear` with the same parameters. The rounding error of multiplying and
/// dividing by the scale is less than half a step for 16-bit integers, if neither overflows.
fn quantized(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    Ok(is_exact(f, m.op("inner"), m.root())?.then(|| vec![m.value(f, "x")]))
}

/// Whether quantizing restores each value that `from` dequantizes.
fn is_exact(f: &Function, from: OpId, to: OpId) -> Result<bool, EditError> {
    const SMALL: [DType; 4] = [DType::I8, DType::U8, DType::I16, DType::U16];
    let (Some(x), Some(scale)) = (f.operand(from, 0), f.operand(to, 1)) else {
        return Ok(false);
    };
    let is_same = f.dtype(scale) == Some(DType::F32)
        && f.dtype(x).is_some_and(|dtype| SMALL.contains(&dtype))
        && f.dtype(x) == f.dtype(f.result(to, 0))
        && is_plain(f, to)
        && is_plain(f, from);
    let scales = f.constant_floats(scale)?.unwrap_or_default();
    Ok(is_same && !scales.is_empty() && scales.iter().all(|s| (1e-30..1e30).contains(s)))
}

/// Whether a quantization op has no attribute other than its axis.
fn is_plain(f: &Function, op: OpId) -> bool {
    let has = |name| !matches!(f.attr(op, name), None | Some(Attr::Unset | Attr::Int(0)));
    !has("block_size") && !has("output_dtype") && !has("precision")
}

/// Merges two casts if the first is lossless, because of its dtype or the bounds of its operand.
fn merge_casts(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (x, inner, outer) = (m.value(f, "x"), m.value(f, "inner"), m.value(f, "outer"));
    let dtype = |value| f.dtype(value).ok_or(NoMatch);
    let (from, by, to) = (dtype(x)?, dtype(inner)?, dtype(outer)?);
    NoMatch::unless(keeps_all(from, by) || fits(r, x, by)?)?;
    if from == to {
        return Ok(Some(vec![x]));
    }
    // Casting a negative float to unsigned is undefined, casting a negative integer isn't.
    let differs = is_signed(from) && is_float(by) && is_unsigned(to);
    let is_known = is_float(to) || is_signed(to) || is_unsigned(to);
    let new_op = like(f, m.op("outer"), &[])?;
    NoMatch::unless(!differs && is_known)?;
    let rest = f.operands(m.op("outer")).skip(1).collect::<Vec<_>>();
    Ok(Some(vec![r.op(new_op.operand(x).operands(rest))?]))
}

fn is_signed(dtype: DType) -> bool {
    [DType::I64, DType::I32, DType::I16, DType::I8].contains(&dtype)
}

fn is_unsigned(dtype: DType) -> bool {
    [DType::U64, DType::U32, DType::U16, DType::U8].contains(&dtype)
}

/// Whether a dtype can represent every number of another one.
fn keeps_all(from: DType, to: DType) -> bool {
    // The magnitude up to which all integers are exact, as a power of two, and whether negative integers are.
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
