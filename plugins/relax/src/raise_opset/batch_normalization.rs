//! `BatchNormalization`: without training since version 7 unless it has more results, channel by channel since 9; what
//! training gives changed with 14.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        operators: &["BatchNormalization"],
        version: 7,
        adapt: without_training,
    },
    Adapter {
        operators: &["BatchNormalization"],
        version: 9,
        adapt: by_channel,
    },
    Adapter {
        operators: &["BatchNormalization"],
        version: 14,
        adapt: one_result,
    },
];

fn without_training(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.take_int(op, "is_test")? {
        None | Some(0) => Err(Stop::refused("it is one of training (`is_test` is 0)")),
        Some(_) => Ok(op),
    }
}

fn by_channel(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.take_int(op, "spatial")? {
        None | Some(1) => Ok(op),
        Some(_) => Err(Stop::refused(
            "it normalizes each element by itself (`spatial` is 0)",
        )),
    }
}

/// Before, more results than one said that it trains.
fn one_result(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    let more = site.f.results(op).iter().skip(1);
    if more.copied().any(|result| !site.f.is_absent(result)) {
        return Err(Stop::refused(
            "it is one of training (it has more than one result)",
        ));
    }
    if site.f.result_count(op) == 1 {
        return Ok(op);
    }
    let operands: Vec<ValueId> = site.f.operands(op).collect();
    let new = OpBuilder::new("onnx.BatchNormalization").operands(operands);
    let types = [site.f.type_id(site.f.result(op, 0))];
    let new = new.take_attrs().results(types).loc(site.f.loc(op));
    Ok(site.f.replace_op(op, new)?)
}
