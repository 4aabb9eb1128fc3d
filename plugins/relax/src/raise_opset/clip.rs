//! `Clip`: its bounds are operands since version 11.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[Adapter {
    operators: &["Clip"],
    version: 11,
    adapt: bounds,
}];

/// A bound that isn't given was the largest float32, of any element type; now it is the largest of the type.
fn bounds(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
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
