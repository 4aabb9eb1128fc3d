//! `OpApi::evaluate` and `evaluate_with`: evaluation of an op with constant operands. `OpApi::infer_with`: whether an
//! op would be valid with other operands.

use passdock_abi as abi;
use passdock_abi::{EvaluateDesc, OpId, Status, TypeId, ValueId};
use passdock_ir::{ConstantData, Edit, EditFailure, Function};

use super::shape_data::{constant_dims, known_results};
use super::{OpCall, OpQueries};
use crate::boundary::session::{FunctionSession, FunctionState};

impl OpQueries<'_> {
    pub(in crate::boundary) fn evaluate(
        &self,
        op: OpId,
        desc: &EvaluateDesc,
        count: usize,
    ) -> Edit<Vec<ValueId>> {
        let results = self.results(op, desc.max_bytes, count);
        let results =
            results.map_err(|error| self.missing_error(op, "cannot be evaluated", error))?;
        self.session.with(|state| {
            let function = state.edit()?;
            // The constants have no names: they get those of the values that they replace.
            let add = |(ty, bytes)| {
                let data = ConstantData::inline(bytes);
                function.add_constant(ty, data, abi::RegionId::NONE, "")
            };
            results.into_iter().map(add).collect()
        })
    }

    pub(in crate::boundary) fn evaluate_with(
        &self,
        op: OpId,
        operands: &[ValueId],
        desc: &EvaluateDesc,
        count: usize,
    ) -> Edit<Vec<ValueId>> {
        let results = {
            let _overridden = OperandOverride::new(self.session, op, operands)?;
            self.results(op, desc.max_bytes, count)?
        };
        self.session.with(|state| {
            state.edit()?;
            let function = state.own();
            let add = |(ty, bytes)| function.add_scratch(ty, ConstantData::inline(bytes));
            let values: Vec<ValueId> = results.into_iter().map(add).collect::<Edit<_>>()?;
            remember(state, op, &values);
            Ok(values)
        })
    }

    pub(in crate::boundary) fn infer_with(&self, op: OpId, operands: &[ValueId]) -> Edit {
        let Some(definition) = self.definition(self.name(op)?) else {
            return Ok(());
        };
        let Some(function) = definition.entry.infer else {
            return Ok(());
        };
        let _overridden = OperandOverride::new(self.session, op, operands)?;
        let queried = self.queried(op, &definition);
        let mut call = OpCall::new(self.session, op);
        let status = call.run(function, &definition)?;
        match (status, call.rejection.take()) {
            (Status::OK, None) | (Status::NOT_FOUND, _) => Ok(()),
            (Status::PANICKED, reason) => Err(queried.failure(status, reason)),
            (_, Some(why)) => Err(queried.blame(EditFailure::rejected(why))),
            (_, None) => Err(queried.failure(status, None)),
        }
    }

    /// Evaluates the results of an op. The message of a `NOT_FOUND` error is the reason why it can't be evaluated.
    fn results(&self, op: OpId, max_bytes: u64, count: usize) -> Edit<Vec<EvaluatedResult>> {
        let session = self.session;
        let name = self.check_results(op, count)?;
        if let Some(results) = known_results(session, op, max_bytes)? {
            return Ok(results);
        }
        let definition = self.required_definition(name)?;
        let Some(function) = definition.entry.evaluate else {
            return Err(EditFailure::not_found("its definition has no evaluation"));
        };
        // An evaluation that reads only types doesn't need the operands' elements.
        if definition.entry.traits & abi::OpEntry::SHAPE_ONLY == 0 {
            session.with(|state| check_operands(state.read()?, op, max_bytes))?;
        }
        let call = OpCall {
            budget: Some(max_bytes),
            ..OpCall::new(session, op)
        };
        let queried = self.queried(op, &definition);
        let mut results = queried.make_call(call, function)?.results;
        results.sort_by_key(|(index, ..)| *index);
        if results.len() != count {
            return Err(EditFailure::not_found(
                "its definition did not set all results",
            ));
        }
        let contradiction = session.with(|state| {
            let function = state.read()?;
            let mut pairs = function.results(op).zip(&results);
            Ok(pairs.find_map(|(value, &(index, ty, _))| {
                let is = function.value(value).ty;
                let [is, would] = match function.is_compatible(is, ty) {
                    true => return None,
                    false => [is, ty].map(|ty| passdock_ir::text::type_text(function, ty)),
                };
                Some((index, ty, function.describe(value), is, would))
            }))
        })?;
        let Some((index, ty, value, is, would)) = contradiction else {
            return Ok(results
                .into_iter()
                .map(|(_, ty, bytes)| (ty, bytes))
                .collect());
        };
        // The model is wrong if the definition infers the same type as it evaluates to.
        let mut inferred = OpCall::new(session, op);
        if let Some(infer) = definition.entry.infer {
            inferred.run(infer, &definition)?;
        }
        let agrees = |&(at, inferred): &(u32, TypeId)| {
            at == index
                && session.with(|state| Ok(state.read()?.is_compatible(inferred, ty))) == Ok(true)
        };
        if inferred.types.iter().any(agrees) {
            let why = format!("{value} is {would}, but the model declares {is}");
            return Err(EditFailure::not_found(why));
        }
        let definition = queried.describe();
        let message = format!("{definition} evaluates {value} to {would}, but its type is {is}");
        Err(queried.blame(EditFailure::rejected(message)))
    }
}

/// The type and the bytes of a result.
pub(in crate::boundary) type EvaluatedResult = (TypeId, Box<[u8]>);

/// A guard that replaces an op's operands, and restores them on drop.
struct OperandOverride<'s> {
    session: &'s FunctionSession,
    op: OpId,
    operands: Vec<ValueId>,
}

impl<'s> OperandOverride<'s> {
    fn new(
        session: &'s FunctionSession,
        op: OpId,
        operands: &[ValueId],
    ) -> Edit<OperandOverride<'s>> {
        let mut overridden = OperandOverride {
            session,
            op,
            operands: operands.to_vec(),
        };
        overridden.change(Function::show_operands)?;
        Ok(overridden)
    }

    fn change(&mut self, change: fn(&mut Function, OpId, &mut [ValueId]) -> Edit) -> Edit {
        let (op, operands) = (self.op, &mut self.operands);
        self.session.with(|state| {
            state.edit()?;
            change(state.own(), op, operands)
        })?;
        // The first edit copied the function.
        self.session.refresh();
        Ok(())
    }
}

impl Drop for OperandOverride<'_> {
    fn drop(&mut self) {
        // An error is impossible: operands that could be replaced can be restored.
        let _ = self.change(Function::take_back_operands);
    }
}

/// Rejects operands that can't be used for evaluation: one isn't constant, or the splats among them would expand to
/// more bytes than `MAX_SPLATS` and `max_bytes`.
fn check_operands(function: &Function, op: OpId, max_bytes: u64) -> Edit {
    const MAX_SPLATS: u64 = 64 << 20;
    let mut splats = 0_u64;
    for (index, slot) in function.operands(op).iter().enumerate() {
        if slot.value.is_none() {
            continue;
        }
        let Some(constant) = function.as_constant(slot.value) else {
            let why = format!("operand {index} is not constant");
            return Err(EditFailure::not_found(why));
        };
        let record = function.constant(constant);
        if record.storage == abi::Storage::SPLAT {
            splats = splats.saturating_add(record.byte_len);
        }
    }
    if splats > max_bytes.max(MAX_SPLATS) {
        let why = format!("the operands would have {splats} bytes");
        return Err(EditFailure::not_found(why));
    }
    Ok(())
}

/// Records the elements of small results for inference before the results become constants.
fn remember(state: &mut FunctionState, op: OpId, values: &[ValueId]) {
    let results: Vec<ValueId> = state.function().results(op).collect();
    for (result, &value) in results.into_iter().zip(values) {
        if let Some(dims) = constant_dims(state.function(), value) {
            state.extras().dims.insert(result, dims);
        }
    }
}
