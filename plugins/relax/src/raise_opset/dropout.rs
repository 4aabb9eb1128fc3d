//! `Dropout`: without training since version 7 unless it is asked for, with a mask of bools since 10, its ratio an
//! operand and its mask all true since 12.

use passdock_plugin_api::prelude::*;

use super::adapter::{Adapter, Site, Stop};

pub(super) const ADAPTERS: &[Adapter] = &[
    Adapter {
        operators: &["Dropout"],
        version: 7,
        adapt: without_training,
    },
    Adapter {
        operators: &["Dropout"],
        version: 10,
        adapt: with_bools,
    },
    Adapter {
        operators: &["Dropout"],
        version: 12,
        adapt: ratio,
    },
];

fn without_training(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    match site.take_int(op, "is_test")? {
        None | Some(0) => Err(Stop::refused("it is one of training (`is_test` is 0)")),
        Some(_) => Ok(op),
    }
}

fn with_bools(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    check_mask(site, op, "has bools from version 10 on")?;
    if site.f.result_count(op) == 1 {
        return Ok(op);
    }
    let operands: Vec<ValueId> = site.f.operands(op).collect();
    let new = OpBuilder::new("onnx.Dropout")
        .operands(operands)
        .take_attrs();
    let types = [site.f.type_id(site.f.result(op, 0))];
    let new = new.results(types).loc(site.f.loc(op));
    Ok(site.f.replace_op(op, new)?)
}

/// Nothing is dropped, whatever it is; it stays for those who train the model on.
fn ratio(site: &mut Site<'_>, op: OpId) -> Result<OpId, Stop> {
    // Nothing was said of it before, and runtimes made it all false.
    check_mask(site, op, "is all true from version 12 on")?;
    if let Some(ratio) = site.take_float(op, "ratio")? {
        let ratio = site.constant_scalar(DType::F32, &ratio.to_le_bytes())?;
        site.set_operand(op, 1, ratio)?;
    }
    Ok(op)
}

fn check_mask(site: &Site<'_>, op: OpId, what: &str) -> Result<(), Stop> {
    let mask = site.f.results(op).get(1);
    if mask.is_some_and(|&mask| site.f.use_count(mask) > 0) {
        return Err(Stop::refused(format!("its mask is used, and {what}")));
    }
    Ok(())
}
