//! `Slice`: where it starts and ends, and along which axes, are operands since version 10.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[Adapter {
    operators: &["Slice"],
    version: 10,
    adapt: operands,
}];

fn operands(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let (Some(starts), Some(ends)) = (site.take_ints(op, "starts")?, site.take_ints(op, "ends")?)
    else {
        return Err(Stop::refused("it has no starts or no ends"));
    };
    // Without axes they were the first ones, and are all.
    let first = || (0..starts.len() as i64).collect();
    let axes: Vec<i64> = site.take_ints(op, "axes")?.unwrap_or_else(first);
    for (index, ints) in [(1, &starts), (2, &ends), (3, &axes)] {
        let ints = site.constant_ints(ints)?;
        site.set_operand(op, index, ints)?;
    }
    Ok(op)
}
