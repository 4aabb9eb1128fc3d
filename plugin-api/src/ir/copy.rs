//! [`Function`]: copies of regions and ops, from the function itself and from others of the module.

use passdock_abi as abi;
use passdock_abi::{OpId, Position, RegionId, ValueId};

use super::Function;
use crate::data::EditError;
use crate::ffi::descriptions::{CloneDesc, CloneOpsDesc};

/// The function itself, as the source of a copy.
const SELF: abi::FunctionRef = abi::CloneDesc::EMPTY.source;

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
        self.raw_clone_ops(CloneOpsDesc {
            flags: 0,
            source: SELF,
            ops,
            at,
            captures,
            results: &mut results,
        })?;
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
        let source = self.source(source)?;
        self.raw_clone_ops(CloneOpsDesc {
            flags: 0,
            source,
            ops,
            at,
            captures,
            results: &mut results,
        })?;
        Ok(results)
    }

    /// Copies the ops of a region, without its terminator, to a place in this function. `args` stand for the region's
    /// arguments; `captures` are pairs (value seen from inside the region, what stands for it in the copy). Returns
    /// what stands for the terminator's operands.
    ///
    /// # Errors
    /// If there isn't one value for each argument, or something isn't visible at the place.
    pub fn clone_region(
        &mut self,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; self.result_count_of(region)];
        self.raw_clone_region(CloneDesc {
            flags: 0,
            region,
            source: SELF,
            at,
            args,
            captures,
            results: &mut results,
        })?;
        Ok(results)
    }

    /// Copies as [`Function::clone_region`] does, from another function: inlining. `captures` are pairs (value of the
    /// source that is defined outside of the region, what stands for it here). Constants that aren't among them are
    /// copied.
    ///
    /// # Errors
    /// As [`Function::clone_region`]; also if a captured value isn't among the pairs.
    pub fn clone_region_from(
        &mut self,
        source: &Function,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[[ValueId; 2]],
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; source.result_count_of(region)];
        let source = self.source(source)?;
        self.raw_clone_region(CloneDesc {
            flags: 0,
            region,
            source,
            at,
            args,
            captures,
            results: &mut results,
        })?;
        Ok(results)
    }

    /// A function to copy from, unless it is another host's.
    fn source(&self, source: &Function) -> Result<abi::FunctionRef, EditError> {
        let what = "the function to copy from";
        self.raw.tables.expect(source.raw.tables, what)?;
        Ok(source.as_raw())
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
