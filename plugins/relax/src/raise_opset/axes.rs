//! Axes, which were an attribute and are an operand.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};

/// Makes the attribute `axes` the second operand.
pub(super) fn to_operand(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if let Some(axes) = site.take_ints(op, "axes")? {
        let axes = site.constant_ints(&axes)?;
        site.set_operand(op, 1, axes)?;
    }
    Ok(op)
}
