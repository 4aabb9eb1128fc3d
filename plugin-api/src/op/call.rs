//! [`OpCall`]: a call of an op definition.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ops::Deref;

use passdock_abi as abi;
use passdock_abi::{Dim, OpId, Status, TypeId};

use crate::data::{optional, EditError};
use crate::ffi::{FunctionHandle, Tables};
use crate::ir::{Function, Type, TypeSpec};

/// A call of an op definition: the op, the function that contains it (an `OpCall` dereferences to `&Function`), and
/// methods to return results.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Infers the type of a result that is the type of the operand.
/// fn same_as_operand(call: &OpCall) -> OpResult {
///     let x = call.operand(0).ok_or("its operand is left out")?;
///     call.set_result_like(0, x)?;
///     Ok(())
/// }
/// ```
pub struct OpCall {
    pub(crate) handle: *mut abi::OpCall,
    op: OpId,
    function: FunctionHandle,
    /// Results that were already allocated: a second allocation would alias the first.
    allocated: RefCell<Vec<usize>>,
}

impl Deref for OpCall {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}

impl OpCall {
    /// # Safety
    /// The handles conform to the ABI, and live until the function that the host calls returns.
    pub(crate) unsafe fn from_raw(
        tables: &'static Tables,
        handle: *mut abi::OpCall,
        function: abi::FunctionRef,
        op: OpId,
    ) -> OpCall {
        OpCall {
            handle,
            op,
            // SAFETY: the caller guarantees a valid function handle.
            function: unsafe { Function::from_raw(tables, function) },
            allocated: RefCell::new(Vec::new()),
        }
    }

    /// Returns the op.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// Returns an operand; `None` if it is omitted or `index` is out of range.
    pub fn operand(&self, index: usize) -> Option<abi::ValueId> {
        self.function.operand(self.op(), index)
    }

    /// Returns the number of operands.
    pub fn operand_count(&self) -> usize {
        self.function.operand_count(self.op())
    }

    /// Returns the number of results.
    pub fn result_count(&self) -> usize {
        self.function.result_count(self.op())
    }

    /// Returns the type of an operand; the unknown type if it is omitted.
    pub fn operand_type(&self, index: usize) -> Type<'_> {
        let value = self.operand(index).unwrap_or(abi::ValueId::NONE);
        self.function.type_of(value)
    }

    /// Returns the elements of a constant operand; `None` if it isn't constant.
    ///
    /// # Errors
    /// If the file that stores the bytes can't be read.
    pub fn operand_data(&self, index: usize) -> Result<Option<&[u8]>, EditError> {
        match self.operand(index) {
            Some(value) => self.function.constant_data(value),
            None => Ok(None),
        }
    }

    /// Returns the known elements of an operand, a small integer tensor such as a shape, as dims; `None` if nothing is
    /// known.
    ///
    /// # Errors
    /// If the host can't determine them.
    pub fn operand_dims(&self, index: usize) -> Result<Option<Vec<Dim>>, EditError> {
        Ok(optional(self.raw_operand_dims(index))?.map(<[Dim]>::to_vec))
    }

    /// Sets the type of a result.
    ///
    /// # Errors
    /// If there is no such result, the type is invalid, or in `supports`, which only reads.
    pub fn set_result_type(&self, index: usize, ty: &TypeSpec) -> Result<(), EditError> {
        self.raw_set_result_type(index, ty.desc())
    }

    /// Sets the type of a result to that of a value of the function.
    ///
    /// # Errors
    /// See [`OpCall::set_result_type`].
    pub fn set_result_like(&self, index: usize, value: abi::ValueId) -> Result<(), EditError> {
        self.set_result_type(index, &TypeSpec::from(self.function.type_of(value)))
    }

    /// Interns a type, to use it in another type.
    ///
    /// # Errors
    /// If the description is invalid, and in `supports`, which only reads.
    pub fn add_type(&self, ty: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw_add_type(ty.desc())
    }

    /// Allocates `len` zeroed bytes for the elements of a result. Fill them before the function returns.
    ///
    /// # Errors
    /// If there is no such result, it was allocated before, or it is larger than the host's limit.
    #[allow(clippy::mut_from_ref)] // Fresh memory at each call: the second for a result is rejected.
    pub fn allocate_result(
        &self,
        index: usize,
        ty: &TypeSpec,
        len: usize,
    ) -> Result<&mut [u8], EditError> {
        if self.allocated.borrow().contains(&index) {
            let message = format!("result {} is already allocated", index);
            return Err(EditError::new(Status::INVALID, message, Some(self.op())));
        }
        let room = self.raw_allocate_result(index, ty.desc(), len);
        let room = room.map_err(|error| match error.status {
            Status::NOT_FOUND => EditError {
                message: "its results are larger than the limit".to_owned(),
                ..error
            },
            _ => error,
        })?;
        self.allocated.borrow_mut().push(index);
        if room.is_null() || len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: `len` zeroed bytes of the host, which are used only here until the call returns.
        Ok(unsafe { std::slice::from_raw_parts_mut(room, len) })
    }

    /// Returns the target in question, in `supports` of a definition; empty elsewhere.
    pub fn target(&self) -> &str {
        self.raw_target().unwrap_or_default()
    }

    /// Returns the requested or available layout of an operand, in `layout` and `alter_layout` of a definition. `None`
    /// if the operand keeps its layout. [`LaidOut`](crate::LaidOut) describes the syntax.
    pub fn requested_layout(&self, index: usize) -> Option<&str> {
        self.raw_requested_layout(index).ok()
    }
}
