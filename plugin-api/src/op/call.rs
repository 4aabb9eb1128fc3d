//! [`OpCall`]: how a definition answers about one op.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ops::Deref;

use passdock_abi as abi;
use passdock_abi::{Dim, OpId, Status, TypeId};

use crate::data::{optional, EditError};
use crate::ffi::{FunctionHandle, Tables};
use crate::ir::{Function, Type, TypeSpec};

/// An op that a definition is asked about: reads the function it stands in (it is a `&Function`
/// too), and answers.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// The type rule of an op whose result has its operand's type.
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
    /// Results that have room already: a second one would alias the first.
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
    /// The handles are as the contract says, and live until the function that the host calls returns.
    pub(crate) unsafe fn from_raw(
        tables: &'static Tables,
        handle: *mut abi::OpCall,
        function: abi::FunctionRef,
        op: OpId,
    ) -> OpCall {
        OpCall {
            handle,
            op,
            // SAFETY: the caller's promise.
            function: unsafe { Function::from_raw(tables, function) },
            allocated: RefCell::new(Vec::new()),
        }
    }

    /// The op that is asked about.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// An operand; `None` if there is no such one, or it is left out.
    pub fn operand(&self, index: usize) -> Option<abi::ValueId> {
        self.function.operand(self.op(), index)
    }

    /// The number of its operands.
    pub fn operand_count(&self) -> usize {
        self.function.operand_count(self.op())
    }

    /// The number of its results.
    pub fn result_count(&self) -> usize {
        self.function.result_count(self.op())
    }

    /// The type of an operand; an unknown type if it is left out.
    pub fn operand_type(&self, index: usize) -> Type<'_> {
        let value = self.operand(index).unwrap_or(abi::ValueId::NONE);
        self.function.type_of(value)
    }

    /// The elements of an operand that is constant; `None` if it isn't.
    ///
    /// # Errors
    /// If the file that holds the bytes can't be read.
    pub fn operand_data(&self, index: usize) -> Result<Option<&[u8]>, EditError> {
        match self.operand(index) {
            Some(value) => self.function.constant_data(value),
            None => Ok(None),
        }
    }

    /// The elements of an operand that is a shape as dims, as far as they are known; `None` if
    /// nothing is.
    ///
    /// # Errors
    /// If the host can't tell.
    pub fn operand_dims(&self, index: usize) -> Result<Option<Vec<Dim>>, EditError> {
        Ok(optional(self.raw_operand_dims(index))?.map(<[Dim]>::to_vec))
    }

    /// A result has this type.
    ///
    /// # Errors
    /// If there is no such result, or the type isn't one, and in `supports`, which only reads.
    pub fn set_result_type(&self, index: usize, ty: &TypeSpec) -> Result<(), EditError> {
        self.raw_set_result_type(index, ty.desc())
    }

    /// A result has the type of a value of the function.
    ///
    /// # Errors
    /// As [`OpCall::set_result_type`].
    pub fn set_result_like(&self, index: usize, value: abi::ValueId) -> Result<(), EditError> {
        self.set_result_type(index, &TypeSpec::from(self.function.type_of(value)))
    }

    /// The id of a type, to be used in another.
    ///
    /// # Errors
    /// If the description isn't one of a type, and in `supports`, which only reads.
    pub fn add_type(&self, ty: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw_add_type(ty.desc())
    }

    /// Room for `len` bytes of a result's elements, all zero, to be filled before returning. Can
    /// be asked for once per result; refused if the host has set a smaller limit.
    ///
    /// # Errors
    /// If there is no such result, it was asked for before, or is larger than the host's limit.
    #[allow(clippy::mut_from_ref)] // Fresh memory at each call: the second for a result is refused.
    pub fn allocate_result(
        &self,
        index: usize,
        ty: &TypeSpec,
        len: usize,
    ) -> Result<&mut [u8], EditError> {
        if self.allocated.borrow().contains(&index) {
            let message = format!("result {} was allocated before", index);
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
        // SAFETY: `len` zeroed bytes of the host's that nobody else uses until the call returns.
        Ok(unsafe { std::slice::from_raw_parts_mut(room, len) })
    }

    /// In `supports` of a definition: the target that is asked about; empty elsewhere.
    pub fn target(&self) -> &str {
        self.raw_target().unwrap_or_default()
    }

    /// In `layout` and `alter_layout` of a definition: the layout in which an operand is asked for, or can be had
    /// without an op more, as [`LaidOut`](crate::LaidOut) writes it; `None`: as it is.
    pub fn wanted_layout(&self, index: usize) -> Option<&str> {
        self.raw_wanted_layout(index).ok()
    }
}
