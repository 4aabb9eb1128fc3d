//! Adapters for attributes that became operands: of `Slice` in version 10, of `Clip` and `Pad` in 11, of `Split`,
//! `Squeeze`, `Unsqueeze` and `ReduceSum` in 13, of the other reductions in 18.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};

/// Converts the attribute `axes` to the second operand.
pub(super) fn axes(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.attr_to_operand(op, "axes", 1)
}

/// Converts the axes of a reduction. Empty axes mean all axes in both versions, because `noop_with_empty_axes` is 0 by
/// default.
pub(super) fn axes_of_some(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.ints(op, "axes").is_some_and(<[i64]>::is_empty) {
        site.f.remove_attr(op, "axes")?;
    }
    axes(site, op)
}

pub(super) fn axes_of_unsqueeze(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.f.attr(op, "axes").ok_or("missing attribute `axes`")?;
    axes(site, op)
}

/// Converts the bounds of a `Clip`. The default bounds were those of float32 for all element types; now they are those
/// of the element type.
pub(super) fn bounds(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let dtype = site.f.operand(op, 0).and_then(|x| site.f.dtype(x));
    for (index, name, limit) in [(1, "min", f32::MIN), (2, "max", f32::MAX)] {
        let bound = site.take_float(op, name)?.unwrap_or(limit);
        if bound == limit && dtype == Some(DType::F32) {
            continue;
        }
        let bound = site.constant_like(op, bound.into())?;
        site.set_operand(op, index, bound)?;
    }
    Ok(op)
}

/// Renames `paddings` to `pads`, as in version 2.
pub(super) fn paddings(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(pads) = site.take_ints(op, "paddings")? {
        site.f.set_attr(op, "pads", pads)?;
    }
    Ok(op)
}

pub(super) fn pads(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.f.attr(op, "pads").ok_or("missing attribute `pads`")?;
    site.attr_to_operand(op, "pads", 1)?;
    let value = site.take_float(op, "value")?;
    // An attribute parameter may have the value `constant`.
    let is_constant = match site.f.attr(op, "mode") {
        Some(Attr::String(mode)) => mode == b"constant",
        _ => true,
    };
    // 0 is the default.
    if let Some(value) = value.filter(|value| is_constant && value.to_bits() != 0) {
        let value = site.constant_like(op, value.into())?;
        site.set_operand(op, 2, value)?;
    }
    Ok(op)
}

pub(super) fn ranges(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let starts = site.take_ints(op, "starts")?;
    let ends = site.take_ints(op, "ends")?;
    let (starts, ends) = starts
        .zip(ends)
        .ok_or("missing attribute `starts` or `ends`")?;
    // Without `axes`, the ranges apply to the first axes.
    let first = || (0..starts.len() as i64).collect();
    let axes: Vec<i64> = site.take_ints(op, "axes")?.unwrap_or_else(first);
    for (index, ints) in [(1, &starts), (2, &ends), (3, &axes)] {
        let ints = site.constant_ints(ints)?;
        site.set_operand(op, index, ints)?;
    }
    Ok(op)
}

/// Sets the number of outputs of a `Split` without lengths, which version 18 requires.
pub(super) fn number_of_pieces(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.operand(op, 1).is_none() {
        let pieces = site.f.result_count(op) as i64;
        site.f.set_attr(op, "num_outputs", pieces)?;
    }
    Ok(op)
}
