//! Layout rules for operators that require ONNX's order of axes: they put the op between conversions of the layout.

use passdock_plugin_api::op::Layout;

use super::request::{LayoutRequest, Sizes, own};
use super::result::{Change, LayoutResult};
use crate::infer::{Inferred, Stop, invalid};

/// The leading axes of an operand with batch and channels before the spatial axes.
pub(super) const BATCH: &str = "NC";

/// Builds the op with its operands converted back, and its results converted to the layout of the first operand.
/// Operands and results that can't be split into whole blocks keep their layout.
pub(super) fn between(
    request: &LayoutRequest,
    operands: &[(usize, &str)],
) -> Inferred<LayoutResult> {
    let (mut laid, mut change) = (request.result(), Change::default());
    let mut result = None;
    for &(index, first) in operands {
        let Some(layout) = request.requested(index, first)? else {
            continue;
        };
        if first == BATCH && !is_usual(&layout) {
            return invalid!(
                "layout `{layout}` does not have the batch first and the spatial axes in order"
            );
        }
        if index == 0 {
            result = Some(layout.clone());
        }
        let sizes = sizes_of(request, index, layout.rank())?;
        if let Some(steps) = layout.steps_back(&sizes) {
            laid.operand(index, &layout);
            let name = laid.steps(&format!("operand{index}"), &steps)?;
            change.operands.push((index, name));
        }
    }
    let mut laid = laid.finish_op(request, change)?;
    let mut returned = laid.returned();
    if let Some(layout) = result {
        for (index, name) in returned.iter_mut().enumerate() {
            let Some(sizes) = request.result_sizes(index) else {
                continue;
            };
            if sizes.len() != layout.rank() || !request.has_result(index) {
                continue;
            }
            if let Some(steps) = layout.steps(&sizes) {
                laid.result(index, &layout);
                *name = laid.steps(name, &steps)?;
            }
        }
    }
    let mut layouts = laid.operands.iter().chain(&laid.results);
    // A request for the current layout is satisfied.
    let is_own = |&(index, first): &(usize, &str)| request.is_own(index, first);
    if !layouts.any(Option::is_some) && !operands.iter().any(is_own) {
        return invalid!("requested layouts do not fit the operands");
    }
    Ok(laid.returns(returned))
}

/// Whether the batch comes first and the spatial axes are in order, as kernels of such operators require.
fn is_usual(layout: &Layout) -> bool {
    let spatial = (2..layout.rank()).map(|axis| layout.position(axis));
    layout.position(0) == Some(0) && spatial.is_sorted_by(|a, b| a < b)
}

fn sizes_of(request: &LayoutRequest, index: usize, rank: usize) -> Inferred<Sizes> {
    match request.sizes(index) {
        Some(sizes) if sizes.len() == rank => Ok(sizes),
        Some(_) => Err(Stop::Unknown),
        None => own(BATCH, rank).map(|_| vec![None; rank]),
    }
}
