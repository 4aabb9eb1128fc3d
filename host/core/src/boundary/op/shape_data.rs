//! Shape data: small integer tensors whose elements are known as dims.

use passdock_abi::{Dim, OpId, ValueId};
use passdock_ir::constant::integer_bytes;
use passdock_ir::{Edit, EditFailure, Function};

use super::MAX_SHAPE_DATA;
use super::evaluate::EvaluatedResult;
use crate::boundary::session::lending;
use crate::boundary::session::{FunctionSession, FunctionState};

/// Returns the results of an op if inference found all their elements to be constant, whatever the operands are. For
/// example, the second dim of `[n, 3]` is 3.
pub(in crate::boundary) fn known_results(
    session: &FunctionSession,
    op: OpId,
    max_bytes: u64,
) -> Edit<Option<Vec<EvaluatedResult>>> {
    session.with(|state| {
        if !state.has_extras() {
            return Ok(None);
        }
        let results: Vec<ValueId> = state.read()?.results(op).collect();
        let mut constants = Vec::with_capacity(results.len());
        for &result in &results {
            let dims = state.extras().dims.get(&result);
            let numbers = dims.and_then(|dims| dims.iter().map(|dim| dim.as_const()).collect());
            let Some(numbers): Option<Vec<i64>> = numbers else {
                return Ok(None);
            };
            let function = state.function();
            let ty = function.value(result).ty;
            let bytes = integer_bytes(function.ty(ty).dtype, &numbers);
            let count = function.constant_elements(ty)?;
            match bytes {
                Some(bytes) if count == Some(numbers.len() as u64) => constants.push((ty, bytes)),
                _ => return Ok(None),
            }
        }
        let total: u64 = constants.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        Ok((!constants.is_empty() && total <= max_bytes).then_some(constants))
    })
}

/// Returns the elements of a small integer constant, as dims.
pub(in crate::boundary) fn constant_dims(f: &Function, value: ValueId) -> Option<Box<[Dim]>> {
    let numbers = f.constant_integers(value, MAX_SHAPE_DATA)?;
    Some(numbers.into_iter().map(Dim::constant).collect())
}

impl FunctionState {
    pub(in crate::boundary) fn known_dims(&mut self, value: ValueId) -> Edit<&[Dim]> {
        self.read()?.live_value(value)?;
        let none = || EditFailure::not_found("the value's elements are unknown");
        self.dims_of(value)
            .map(lending::result_list)
            .ok_or_else(none)
    }
}
