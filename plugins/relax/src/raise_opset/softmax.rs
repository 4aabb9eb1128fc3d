//! Adapters of `Softmax`, `LogSoftmax` and `Hardmax`. Up to version 12, they normalize jointly over `axis` and all
//! later axes; since 13, over one axis.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};

/// The first opset whose `Reshape` has `allowzero`. Before, a size that is 0 only at run time may make the model fail.
const ALLOWS_ZERO: i64 = 14;

pub(super) fn along_one_axis(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let x = site.f.operand(op, 0).ok_or("missing operand")?;
    let from = site.take_int(op, "axis")?.unwrap_or(1);
    let is_empty = site
        .f
        .dims(x)
        .is_some_and(|mut dims| dims.any(|dim| dim.as_const() == Some(0)));
    // An empty tensor has the same result for all axes.
    let only = if is_empty {
        Some(-1)
    } else {
        the_only_one(site.f, x, from)
    };
    if let Some(axis) = only {
        site.f.set_attr(op, "axis", axis)?;
        return Ok(op);
    }
    let at = Position::before(op);
    let loc = site.f.loc(op);
    let created = |name: &'static str| OpBuilder::new(name).loc(loc);
    let flat = created("onnx.Flatten").operand(x).attr("axis", from);
    let flat = site.cx.create_value(site.f, flat, at)?;
    let (shape, may_be_zero) = match site.f.shape(x) {
        Some(sizes) => (site.constant_ints(&sizes)?, false),
        None => (
            site.cx
                .create_value(site.f, created("onnx.Shape").operand(x), at)?,
            true,
        ),
    };
    let name = site.f.symbol(op);
    let new = OpBuilder::new(name).operand(flat).attr("axis", -1).loc(loc);
    let new = site.f.create_op(new.untyped_results(1), at)?;
    site.cx.infer(site.f, new)?;
    let back = created("onnx.Reshape").operands([site.f.result(new, 0), shape]);
    let back = match may_be_zero && site.to >= ALLOWS_ZERO {
        true => back.attr("allowzero", 1),
        false => back,
    };
    let types = [site.f.type_id(site.f.result(op, 0))];
    site.f.replace_op(op, back.results(types))?;
    Ok(new)
}

/// Returns the only axis from `from` on whose size may differ from 1, or `None` if there are several.
fn the_only_one(f: &Function, x: ValueId, from: i64) -> Option<i64> {
    let Some(dims) = f.dims(x) else {
        // -1 is the last axis in any rank.
        return (from == -1).then_some(-1);
    };
    let rank = dims.len() as i64;
    let first = if from < 0 { from + rank } else { from };
    if !(0..rank).contains(&first) {
        return None;
    }
    if first == rank - 1 {
        return Some(from);
    }
    let axes = dims.enumerate().skip(first as usize);
    let mut long = axes
        .filter(|(_, dim)| dim.as_const() != Some(1))
        .map(|(axis, _)| axis as i64);
    match (long.next(), long.next()) {
        (axis, None) => Some(axis.unwrap_or(first)),
        _ => None,
    }
}
