//! Copies: of regions, ops and types, within a function and from one to another.

use passdock_abi as abi;
use passdock_abi::{OpId, Position, RegionId, TypeId, ValueId};

use super::function::{call, RawFunction};
use crate::data::EditError;

/// The reference that stands for the edited function itself.
const NOBODY: abi::FunctionRef = abi::FunctionRef {
    handle: std::ptr::null_mut(),
    view: std::ptr::null(),
};

impl RawFunction {
    /// The reference of a function to copy from, unless it is another host's; `None`: this one.
    fn source(&self, source: Option<&RawFunction>) -> Result<abi::FunctionRef, EditError> {
        match source {
            None => Ok(NOBODY),
            Some(source) => {
                let what = "the function to copy from";
                self.tables.expect(source.tables, what)?;
                Ok(source.reference())
            }
        }
    }

    /// `source`: another function; `None`: this one.
    pub(crate) fn clone_region(
        &mut self,
        source: Option<&RawFunction>,
        region: RegionId,
        at: Position,
        args: &[ValueId],
        captures: &[[ValueId; 2]],
        result_count: usize,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; result_count];
        let desc = abi::CloneDesc {
            region,
            source: self.source(source)?,
            at,
            args: args.as_ptr(),
            arg_count: args.len(),
            captures: captures.as_ptr(),
            capture_count: captures.len(),
            results: results.as_mut_ptr(),
            result_count: results.len(),
            ..abi::CloneDesc::EMPTY
        };
        call!(self.clone_region(None; &desc))?;
        Ok(results)
    }

    /// `source`: another function; `None`: this one. `result_count`: of all the ops together.
    pub(crate) fn clone_ops(
        &mut self,
        source: Option<&RawFunction>,
        ops: &[OpId],
        at: Position,
        captures: &[[ValueId; 2]],
        result_count: usize,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; result_count];
        let desc = abi::CloneOpsDesc {
            source: self.source(source)?,
            ops: ops.as_ptr(),
            op_count: ops.len(),
            at,
            captures: captures.as_ptr(),
            capture_count: captures.len(),
            results: results.as_mut_ptr(),
            result_count: results.len(),
            ..abi::CloneOpsDesc::EMPTY
        };
        call!(self.clone_ops(None; &desc))?;
        Ok(results)
    }

    pub(crate) fn replace_body(&mut self, source: &RawFunction) -> Result<(), EditError> {
        let source = self.source(Some(source))?.handle;
        call!(self.replace_body(None; source))
    }

    pub(crate) fn type_from(
        &mut self,
        source: &RawFunction,
        ty: TypeId,
    ) -> Result<TypeId, EditError> {
        let source = self.source(Some(source))?.handle;
        let mut out = TypeId::NONE;
        call!(self.type_from(None; source, ty, &mut out))?;
        Ok(out)
    }
}
