//! `Split`: the lengths of its pieces are an operand since version 13; without them the number of pieces is said
//! since version 18.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        operators: &["Split"],
        version: 13,
        adapt: lengths,
    },
    Adapter {
        operators: &["Split"],
        version: 18,
        adapt: number,
    },
];

fn lengths(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(lengths) = site.take_ints(op, "split")? {
        let lengths = site.constant_ints(&lengths)?;
        site.set_operand(op, 1, lengths)?;
    }
    Ok(op)
}

fn number(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.operand(op, 1).is_none() {
        let pieces = site.f.result_count(op) as i64;
        site.f.set_attr(op, "num_outputs", pieces)?;
    }
    Ok(op)
}
