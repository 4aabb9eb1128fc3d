//! Adapters of `BatchNormalization` and `Dropout`, which have no training mode by default since version 7.
//!
//! `BatchNormalization` always works per channel since version 9; its results in training mode changed in 14. `Dropout`
//! has a boolean mask since version 10. Since 12, its ratio is an operand, and the mask is all true in inference mode.

use passdock_plugin_api::prelude::*;

use super::adapter::{Site, Stop};
use crate::shared::read::add_tensor;

pub(super) fn without_training(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.take_int(op, "is_test")? {
        None | Some(0) => Err("it is in training mode (`is_test` is 0)".into()),
        Some(_) => Ok(op),
    }
}

pub(super) fn by_channel(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.take_int(op, "spatial")? {
        None | Some(1) => Ok(op),
        Some(_) => Err("it normalizes each element separately (`spatial` is 0)".into()),
    }
}

/// Before version 14, more than one result meant training mode.
pub(super) fn one_result(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let mut more = site.f.results(op).iter().skip(1);
    if more.any(|&result| !site.f.is_absent(result)) {
        return Err("it is in training mode (it has more than one result)".into());
    }
    with_one_result(site, op)
}

pub(super) fn with_bools(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    check_mask(site, op, "has element type bool since version 10")?;
    with_one_result(site, op)
}

/// Converts the ratio to an operand. It has no effect in inference mode, but stays for further training.
pub(super) fn ratio(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    // Before version 12, the mask in inference mode was unspecified, and runtimes returned all false.
    check_mask(site, op, "is all true since version 12")?;
    if let Some(ratio) = site.take_float(op, "ratio")? {
        let ratio = add_tensor(site.f, DType::F32, &[], &ratio.to_le_bytes())?;
        site.set_operand(op, 1, ratio)?;
    }
    Ok(op)
}

fn check_mask(site: &Site<'_>, op: OpId, what: &str) -> Result<(), Stop> {
    let mask = site.f.results(op).get(1);
    match mask.is_some_and(|&mask| site.f.use_count(mask) > 0) {
        true => Err(Stop::Unsupported(format!("its mask is used, but {what}"))),
        false => Ok(()),
    }
}

/// Removes all results except the first.
fn with_one_result(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    if site.f.result_count(op) == 1 {
        return Ok(op);
    }
    let operands: Vec<ValueId> = site.f.operands(op).collect();
    let new = OpBuilder::new(site.f.symbol(op)).operands(operands);
    let ty = site.f.type_id(site.f.result(op, 0));
    let new = new.take_attrs().result(ty).loc(site.f.loc(op));
    Ok(site.f.replace_op(op, new)?)
}
