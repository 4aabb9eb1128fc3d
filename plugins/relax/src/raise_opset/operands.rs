//! Attributes that became operands: of `Slice` with version 10, of `Clip` and `Pad` with 11, of `Split`, `Squeeze`,
//! `Unsqueeze` and `ReduceSum` with 13, of the other reductions with 18.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};

/// Makes the attribute `axes` the second operand.
pub(super) fn axes(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.attr_to_operand(op, "axes", 1)
}

/// No axes are all of them, before and after: `noop_with_empty_axes` is 0 unless it is set.
pub(super) fn axes_of_some(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.ints(op, "axes").is_some_and(<[i64]>::is_empty) {
        site.f.remove_attr(op, "axes")?;
    }
    axes(site, op)
}

pub(super) fn axes_of_unsqueeze(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.f.attr(op, "axes").ok_or("it has no axes")?;
    axes(site, op)
}

/// A bound that isn't given was the largest float32, of any element type; now it is the largest of the type.
pub(super) fn bounds(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let dtype = site.f.operand(op, 0).map(|x| site.f.dtype(x));
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

/// Renames `paddings`, which is called `pads` since version 2.
pub(super) fn paddings(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(pads) = site.take_ints(op, "paddings")? {
        site.f.set_attr(op, "pads", pads)?;
    }
    Ok(op)
}

pub(super) fn pads(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    site.f.attr(op, "pads").ok_or("it has no pads")?;
    site.attr_to_operand(op, "pads", 1)?;
    let value = site.take_float(op, "value")?;
    // A mode that is an attribute of the function may be `constant`.
    let is_constant = match site.f.attr(op, "mode") {
        Some(Attr::String(mode)) => mode == b"constant",
        _ => true,
    };
    // 0 is what is padded with if nothing is said.
    if let Some(value) = value.filter(|value| is_constant && value.to_bits() != 0) {
        let value = site.constant_like(op, value.into())?;
        site.set_operand(op, 2, value)?;
    }
    Ok(op)
}

pub(super) fn ranges(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let starts = site.take_ints(op, "starts")?;
    let ends = site.take_ints(op, "ends")?;
    let (starts, ends) = starts.zip(ends).ok_or("it has no starts or no ends")?;
    // Without axes they were the first ones, and are all.
    let first = || (0..starts.len() as i64).collect();
    let axes: Vec<i64> = site.take_ints(op, "axes")?.unwrap_or_else(first);
    for (index, ints) in [(1, &starts), (2, &ends), (3, &axes)] {
        let ints = site.constant_ints(ints)?;
        site.set_operand(op, index, ints)?;
    }
    Ok(op)
}

/// Says the number of pieces where the lengths are left out, as `Split` does since version 18.
pub(super) fn number_of_pieces(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.operand(op, 1).is_none() {
        let pieces = site.f.result_count(op) as i64;
        site.f.set_attr(op, "num_outputs", pieces)?;
    }
    Ok(op)
}
