//! Who can pad instead of a Pad.

use passdock_plugin_api::prelude::*;

use super::padding::Padding;
use crate::shared::read::made_by;

/// An op that uses what was padded, and how it pads then.
pub(super) struct User {
    pub(super) op: OpId,
    pub(super) pads: Vec<i64>,
    /// Whether it has to count what it pads.
    pub(super) counts: bool,
}

impl User {
    pub(super) fn of(f: &Function, op: OpId, padding: &Padding) -> Result<Option<User>, EditError> {
        let own = own_pads(f, op, padding.pads.len());
        let Some(own) = own.filter(|_| !f.traits(op).is_ambiguous()) else {
            return Ok(None);
        };
        let pads: Vec<i64> = own.iter().zip(&padding.pads).map(|(a, b)| a + b).collect();
        let pads_nothing = own.iter().all(|&pad| pad == 0);
        let mut user = User {
            op,
            pads,
            counts: false,
        };
        let fits = match f.name(op) {
            "onnx.Conv" => padding.is_zero() && has_rank(f, op, 1, padding),
            "onnx.ConvInteger" => padding.is(f, f.operand(op, 2))? && has_rank(f, op, 1, padding),
            "onnx.QLinearConv" => padding.is(f, f.operand(op, 2))? && has_rank(f, op, 3, padding),
            "onnx.AveragePool" => {
                let counts = is(f, op, "count_include_pad", 1);
                user.counts = !counts;
                let may_count = counts
                    || pads_nothing
                        && is(f, op, "count_include_pad", 0)
                        && f.opset("").is_some_and(|version| version >= 7);
                padding.is_zero()
                    && may_count
                    && has_elements(f, padding.x)
                    && fits_windows(f, op, &user.pads)
            }
            "onnx.MaxPool" => {
                // Behind a Relu, a window's largest element is no less than 0.
                let is_behind_relu = made_by(f, padding.x, "onnx.Relu").is_some();
                let is_least =
                    padding.is_lowest() || padding.is_zero() && pads_nothing && is_behind_relu;
                is_least
                    && has_elements(f, padding.x)
                    && f.result_count(op) == 1
                    && fits_windows(f, op, &user.pads)
            }
            _ => false,
        };
        Ok(fits.then_some(user))
    }
}

/// The pads of an op itself; `None` if it works them out.
fn own_pads(f: &Function, op: OpId, count: usize) -> Option<Vec<i64>> {
    let (is_said, is_none) = match f.attr(op, "auto_pad") {
        None => (true, false),
        Some(Attr::String(auto)) => (auto == b"NOTSET" || auto == b"VALID", auto == b"VALID"),
        Some(_) => (false, false),
    };
    let pads = match f.attr(op, "pads") {
        _ if is_none => vec![0; count],
        None => vec![0; count],
        Some(Attr::Ints(pads)) => pads.to_vec(),
        Some(_) => return None,
    };
    (is_said && pads.len() == count && pads.iter().all(|&pad| pad >= 0)).then_some(pads)
}

/// Whether weights have the spatial axes that were padded.
fn has_rank(f: &Function, op: OpId, weights: usize, padding: &Padding) -> bool {
    let rank = f.operand(op, weights).and_then(|weights| f.rank(weights));
    rank == Some(padding.pads.len() / 2 + 2)
}

fn is(f: &Function, op: OpId, name: &str, wanted: i64) -> bool {
    match f.attr(op, name) {
        None => wanted == 0,
        Some(value) => matches!(value, Attr::Int(value) if value == wanted),
    }
}

/// Whether a pool may pad so: each window has something that isn't padding, and none goes beyond it.
fn fits_windows(f: &Function, op: OpId, pads: &[i64]) -> bool {
    let Some(windows) = f.ints(op, "kernel_shape") else {
        return false;
    };
    let is_dense = match f.attr(op, "dilations") {
        None => true,
        Some(Attr::Ints(dilations)) => dilations.iter().all(|&step| step == 1),
        Some(_) => false,
    };
    let axes = windows.len();
    let is_within = |(at, &pad): (usize, &i64)| pad < windows[at % axes];
    let fits = pads.len() == 2 * axes && pads.iter().enumerate().all(is_within);
    fits && is_dense && is(f, op, "ceil_mode", 0)
}

/// Whether no spatial axis of a value may be empty: runtimes refuse pools whose pads alone fill a window.
fn has_elements(f: &Function, value: ValueId) -> bool {
    let mut spatial = f.dims(value).into_iter().flatten().skip(2);
    spatial.all(|dim| dim.as_const().is_some_and(|size| size > 0))
}
