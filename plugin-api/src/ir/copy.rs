//! [`Function`]: copies of regions and ops, within the function and from other functions of the module.

use passdock_abi as abi;
use passdock_abi::{Capture, OpId, Position, RegionId, Status, ValueId};

use super::Function;
use crate::data::EditError;
use crate::ffi::descriptions::CloneDesc;

/// The function itself, as the source of a copy.
const SELF: abi::FunctionRef = abi::CloneDesc::EMPTY.source;

impl Function {
    /// Copies ops of one region, with all nested ops, to a position in this function.
    ///
    /// `captures` are values that the ops use but don't define, with their replacements. Other values stay the same.
    /// The ops may be given in any order; the copies are in program order. Returns the copies of the results of the
    /// first op in `ops`, then of the second one, and so on.
    ///
    /// # Errors
    /// If the ops aren't in one region, one of them is a terminator, or a value that they use isn't visible at the
    /// position.
    pub fn clone_ops(
        &mut self,
        ops: &[OpId],
        at: Position,
        captures: &[Capture],
    ) -> Result<Vec<ValueId>, EditError> {
        let count = self.result_count_of_all(ops);
        self.clone_into(SELF, RegionId::NONE, ops, at, captures, count)
    }

    /// Copies ops as [`Function::clone_ops`], but from another function of the module: a [`Snapshot`](crate::Snapshot),
    /// or the other function of [`Module::edit_both`](crate::Module::edit_both).
    ///
    /// Types, attributes with their tensors, locations, and constants that the ops use are copied. Any other value that
    /// they use but don't define must be in `captures`.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    /// use passdock_plugin_api::record::Capture;
    ///
    /// /// Copies an op of `main`, which has one operand, to the end of a function.
    /// fn copy(m: &mut Module, op: OpId, to: &str) -> Result<(), EditError> {
    ///     let main = m.snapshot("main")?;
    ///     let f = m.edit(to)?;
    ///     let capture = Capture {
    ///         value: main.operand(op, 0).unwrap_or(ValueId::NONE),
    ///         replacement: f.params()[0],
    ///     };
    ///     let results = f.clone_ops_from(&main, &[op], Position::end_of(f.body()), &[capture])?;
    ///     f.set_results(f.body(), &results)
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`Function::clone_ops`]; also if a value that the ops use is neither a constant nor in `captures`. The
    /// message names it.
    pub fn clone_ops_from(
        &mut self,
        source: &Function,
        ops: &[OpId],
        at: Position,
        captures: &[Capture],
    ) -> Result<Vec<ValueId>, EditError> {
        let count = source.result_count_of_all(ops);
        let source = self.source(source)?;
        self.clone_into(source, RegionId::NONE, ops, at, captures, count)
    }

    /// Copies the ops of a region, without its terminator, to a position in this function. Returns the copies of the
    /// terminator's operands.
    ///
    /// `args` replace the region's arguments. `captures` are values from outside of the region, with their
    /// replacements.
    ///
    /// # Errors
    /// If the number of arguments differs, or a value isn't visible at the position.
    pub fn clone_region(
        &mut self,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[Capture],
    ) -> Result<Vec<ValueId>, EditError> {
        let captures = self.with_args(region, args, captures)?;
        let count = self.result_count_of(region);
        self.clone_into(SELF, region, &[], at, &captures, count)
    }

    /// Copies a region as [`Function::clone_region`], but from another function: inlining. `captures` are values of the
    /// source from outside of the region, with their replacements here. Constants that aren't in `captures` are copied.
    ///
    /// # Errors
    /// See [`Function::clone_region`]; also if a captured value isn't in `captures`.
    pub fn clone_region_from(
        &mut self,
        source: &Function,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[Capture],
    ) -> Result<Vec<ValueId>, EditError> {
        let captures = source.with_args(region, args, captures)?;
        let count = source.result_count_of(region);
        let source = self.source(source)?;
        self.clone_into(source, region, &[], at, &captures, count)
    }

    /// Copies a region, or the list of ops if it is NONE. Returns the `count` values that correspond to their results.
    fn clone_into(
        &mut self,
        source: abi::FunctionRef,
        region: RegionId,
        ops: &[OpId],
        at: Position,
        captures: &[Capture],
        count: usize,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; count];
        self.raw_clone_ops(CloneDesc {
            flags: 0,
            source,
            region,
            ops,
            at,
            captures,
            results: &mut results,
        })?;
        Ok(results)
    }

    /// Returns captures and the replacements of a region's arguments.
    fn with_args(
        &self,
        region: RegionId,
        args: &[ValueId],
        captures: &[Capture],
    ) -> Result<Vec<Capture>, EditError> {
        // The host reports an unknown region.
        let record = self.raw.region(region.0);
        let own = record.map_or(&[][..], |record| self.raw.ids(record.args));
        if own.len() != args.len() {
            let message = format!(
                "{} has {} arguments, found {}",
                region,
                own.len(),
                args.len()
            );
            return Err(EditError::new(Status::INVALID, message, None));
        }
        let pairs = own.iter().zip(args);
        let pairs = pairs.map(|(&value, &replacement)| Capture { value, replacement });
        Ok(pairs.chain(captures.iter().copied()).collect())
    }

    /// Returns a function to copy from. Fails if it belongs to another host.
    fn source(&self, source: &Function) -> Result<abi::FunctionRef, EditError> {
        let what = "the function to copy from";
        self.raw.tables.expect(source.raw.tables, what)?;
        Ok(source.as_raw())
    }

    /// Returns the number of results of these ops. Unknown ops count as 0; the host reports them.
    fn result_count_of_all(&self, ops: &[OpId]) -> usize {
        let records = ops.iter().filter_map(|op| self.raw.op(op.0));
        records.map(|record| record.results.len as usize).sum()
    }

    /// Returns the number of values that a region yields. 0 for an unknown region, which the host reports.
    fn result_count_of(&self, region: RegionId) -> usize {
        let last = self
            .raw
            .region(region.0)
            .and_then(|region| self.raw.op(region.last.0));
        last.map_or(0, |op| op.operands.len as usize)
    }
}
