//! [`Function`]: copies of regions and ops, from the function itself and from others of the module.

use passdock_abi::{OpId, Position, RegionId, TypeId, ValueId};

use super::function::Function;
use crate::data::EditError;
use crate::raw::lent;

impl Function {
    /// Copies ops of a region, with all that is nested in them, to a place in this function. `captures` are
    /// pairs (value that the ops use and don't make, what stands for it in the copies); what isn't among
    /// them stands for itself. The ops may be given in any order; the copies have the program's. Answers what
    /// stands for the results of the first op of the list, then for those of the next, and so on.
    ///
    /// # Errors
    /// If the ops aren't of one region, one of them ends it, or a value that they use isn't visible at the place.
    pub fn clone_ops(
        &mut self,
        ops: &[OpId],
        at: Position,
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; self.result_count_of_all(ops)];
        let desc = lent::clone_ops(&self.raw, None, ops, at, captures, &mut results)?;
        self.raw.clone_ops(&desc)?;
        Ok(results)
    }

    /// Copies as [`Function::clone_ops`] does, from another function of the module: a
    /// [`Snapshot`](crate::Snapshot), or the other one of [`Module::edit_both`](crate::Module::edit_both). Types
    /// with what they are made of, attributes with their tensors, locations and constants that the ops use come along;
    /// any other value that they use and don't make has to be among `captures`.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Puts a copy of an op of `main`, which has one operand, at the end of a function.
    /// fn copy(m: &mut Module, op: OpId, to: &str) -> Result<(), EditError> {
    ///     let main = m.snapshot("main")?;
    ///     let f = m.edit(to)?;
    ///     let used = main.operand(op, 0).unwrap_or(ValueId::NONE);
    ///     let pairs = [[used, f.params()[0]]];
    ///     let results = f.clone_ops_from(&main, &[op], Position::end_of(f.body()), &pairs)?;
    ///     f.set_results(f.body(), &results)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Function::clone_ops`]; also if a value that the ops use is neither constant nor among the pairs, which
    /// names it.
    pub fn clone_ops_from(
        &mut self,
        source: &Function,
        ops: &[OpId],
        at: Position,
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; source.result_count_of_all(ops)];
        let source = Some(&source.raw);
        let desc = lent::clone_ops(&self.raw, source, ops, at, captures, &mut results)?;
        self.raw.clone_ops(&desc)?;
        Ok(results)
    }

    /// Replaces the body with a copy of that of another function of the module. Parameters are matched by position,
    /// and sizes that `from` names after its parameters become those of this function's. Domains that only `from`
    /// imports are imported.
    ///
    /// # Errors
    /// Before anything is changed: if the functions haven't as many parameters and results, of types that fit, or an
    /// op would mean something else in this function's opset.
    pub fn replace_body(&mut self, from: &Function) -> Result<(), EditError> {
        self.raw.replace_body(&from.raw)
    }

    /// A type of another function of the module as a type of this one: ids of types belong to one function.
    /// Dims keep their symbols; what these mean is the function's own, so a name of a parameter's size may
    /// have to become the size of what is handed over ([`Function::create_call`] does that).
    ///
    /// # Errors
    /// If the other function has no such type, or is of another module.
    pub fn type_from(&mut self, source: &Function, ty: TypeId) -> Result<TypeId, EditError> {
        self.raw.type_from(&source.raw, ty)
    }

    /// Copies the ops of a region, without its terminator, to a place in this function. `args`
    /// stand for the region's arguments. Answers what stands for the terminator's operands.
    ///
    /// # Errors
    /// If there isn't one value for each argument, or something isn't visible at the place.
    pub fn clone_region(
        &mut self,
        region: RegionId,
        at: Position,
        args: &[ValueId],
    ) -> Result<Vec<ValueId>, EditError> {
        self.clone_region_mapped(region, at, args, &[])
    }

    /// Copies as [`Function::clone_region`] does; `captures` are pairs (value seen from inside the
    /// region, what stands for it in the copy).
    ///
    /// # Errors
    /// As [`Function::clone_region`].
    pub fn clone_region_mapped(
        &mut self,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; self.result_count_of(region)];
        let place = (region, at);
        let desc = lent::clone_region(&self.raw, None, place, args, captures, &mut results)?;
        self.raw.clone_region(&desc)?;
        Ok(results)
    }

    /// Copies as [`Function::clone_region`] does, from another function: inlining.
    ///
    /// # Errors
    /// As [`Function::clone_region`].
    pub fn clone_region_from(
        &mut self,
        source: &Function,
        region: RegionId,
        at: Position,
        args: &[ValueId],
    ) -> Result<Vec<ValueId>, EditError> {
        self.clone_region_from_mapped(source, region, at, args, &[])
    }

    /// Copies as [`Function::clone_region_from`] does; `captures` are pairs (value of the source that is defined
    /// outside of the region, what stands for it here). Constants that aren't among them are copied.
    ///
    /// # Errors
    /// As [`Function::clone_region`]; also if a captured value isn't among the pairs.
    pub fn clone_region_from_mapped(
        &mut self,
        source: &Function,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; source.result_count_of(region)];
        let (source, place) = (Some(&source.raw), (region, at));
        let desc = lent::clone_region(&self.raw, source, place, args, captures, &mut results)?;
        self.raw.clone_region(&desc)?;
        Ok(results)
    }

    /// The number of results of these ops; of one that isn't there 0, which the host will say.
    fn result_count_of_all(&self, ops: &[OpId]) -> usize {
        let records = ops.iter().filter_map(|op| self.raw.op(op.0));
        records.map(|record| record.results.len as usize).sum()
    }

    /// The number of values that a region gives out; 0 if there is no such region, which the host
    /// will say.
    fn result_count_of(&self, region: RegionId) -> usize {
        let last = self
            .raw
            .region(region.0)
            .and_then(|region| self.raw.op(region.last.0));
        last.map_or(0, |op| op.operands.len as usize)
    }
}
