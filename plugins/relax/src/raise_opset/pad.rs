//! `Pad`: how much and with what it pads are operands since version 11.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        operators: &["Pad"],
        version: 2,
        adapt: renamed,
    },
    Adapter {
        operators: &["Pad"],
        version: 11,
        adapt: operands,
    },
];

fn renamed(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(pads) = site.take_ints(op, "paddings")? {
        site.f.set_attr(op, "pads", pads)?;
    }
    Ok(op)
}

fn operands(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let Some(pads) = site.take_ints(op, "pads")? else {
        return Err(Stop::refused("it has no pads"));
    };
    let value = site.take_float(op, "value")?;
    let pads = site.constant_ints(&pads)?;
    site.set_operand(op, 1, pads)?;
    let is_constant = match site.f.attr(op, "mode") {
        None => true,
        Some(Attr::String(mode)) => mode == b"constant",
        // It may be.
        Some(_) => true,
    };
    // 0 is what is padded with if nothing is said.
    if let Some(value) = value.filter(|value| is_constant && value.to_bits() != 0) {
        let value = site.constant_like(op, value.into())?;
        site.set_operand(op, 2, value)?;
    }
    Ok(op)
}
