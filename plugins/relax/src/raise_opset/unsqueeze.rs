//! `Unsqueeze`: its axes are an operand since version 13.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};
use super::axes;

pub(super) const ADAPTERS: &[Adapter] = &[Adapter {
    operators: &["Unsqueeze"],
    version: 13,
    adapt: to_13,
}];

fn to_13(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.f.attr(op, "axes") {
        Some(_) => axes::to_operand(site, op),
        None => Err(Stop::refused("it has no axes")),
    }
}
