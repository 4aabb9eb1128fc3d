//! [`OpCall`]: how a definition answers about one op.

use std::cell::RefCell;
use std::ops::Deref;

use passdock_abi as abi;
use passdock_abi::{Dim, ExprKind, OpId, Status, TypeId};

use crate::data::EditError;
use crate::ir::{Function, FunctionHandle, Type, TypeSpec};
use crate::raw::RawOpCall;

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
    raw: RawOpCall,
    function: FunctionHandle,
    /// Results that have room already: a second one would alias the first.
    allocated: RefCell<Vec<u32>>,
}

impl Deref for OpCall {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}

impl OpCall {
    pub(crate) fn new(raw: RawOpCall, function: FunctionHandle) -> OpCall {
        OpCall {
            raw,
            function,
            allocated: RefCell::new(Vec::new()),
        }
    }

    /// The op that is asked about.
    pub fn op(&self) -> OpId {
        self.raw.op
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
        match self.raw.operand_dims(index as u32) {
            Ok(dims) => Ok(Some(dims.to_vec())),
            Err(error) if error.status == Status::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A result has this type.
    ///
    /// # Errors
    /// If there is no such result, or the type isn't one, and in `supports`, which only reads.
    pub fn set_result_type(&self, index: usize, ty: &TypeSpec) -> Result<(), EditError> {
        self.raw.set_result_type(index as u32, &ty.desc())
    }

    /// A result has the type of a value of the function.
    ///
    /// # Errors
    /// As [`OpCall::set_result_type`].
    pub fn set_result_like(&self, index: usize, value: abi::ValueId) -> Result<(), EditError> {
        self.set_result_type(index, &TypeSpec::from(self.function.type_of(value)))
    }

    /// A result, a small tensor of integers or booleans, holds these, row by row. More than 256 may be dropped.
    ///
    /// # Errors
    /// If there is no such result, or a dim means nothing here.
    pub fn set_result_dims(&self, index: usize, dims: &[Dim]) -> Result<(), EditError> {
        self.raw.set_result_dims(index as u32, dims)
    }

    /// A dim expression, in canonical form.
    ///
    /// # Errors
    /// If a side names nothing, and in `supports`, which only reads.
    pub fn add_expr(&self, kind: ExprKind, left: Dim, right: Dim) -> Result<Dim, EditError> {
        self.raw.add_expr(kind, left, right)
    }

    /// The id of a type, to be used in another.
    ///
    /// # Errors
    /// If the description isn't one of a type, and in `supports`, which only reads.
    pub fn add_type(&self, ty: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw.add_type(&ty.desc())
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
        let index = index as u32;
        if self.allocated.borrow().contains(&index) {
            let message = format!("result {} was allocated before", index);
            return Err(EditError::new(Status::INVALID, message, Some(self.op())));
        }
        let room = self.raw.room(index, &ty.desc(), len)?;
        self.allocated.borrow_mut().push(index);
        Ok(room)
    }

    /// Sets the op's body, in any part of a definition but its types and its evaluation: the IR text of one function,
    /// written for this very op. Its parameter `i` is the op's operand slot `i` (that of an operand that is left out
    /// may not be used), its first results are the op's, and it has the opsets of the op's function.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// const SILU: OpDef = OpDef::new("acme.Silu", 1).operands(1, 1).decompose(|call| {
    ///     call.set_body("fn @silu(%x) { %s = onnx.Sigmoid(%x) %y = onnx.Mul(%x, %s) return %y }")?;
    ///     Ok(())
    /// });
    /// # assert!(SILU.all_traits().decomposes());
    /// ```
    ///
    /// # Errors
    /// If the text isn't one function in IR text.
    pub fn set_body(&self, text: &str) -> Result<(), EditError> {
        self.raw.set_body(text)
    }

    /// In `supports` of a definition: the target that is asked about; empty elsewhere.
    pub fn target(&self) -> &str {
        self.raw.target().unwrap_or_default()
    }

    /// In `layout` and `alter_layout` of a definition: the layout in which an operand is asked for, or can be had
    /// without an op more, as [`LaidOut`](crate::LaidOut) writes it; `None`: as it is.
    pub fn wanted_layout(&self, index: usize) -> Option<&str> {
        self.raw.wanted_layout(index as u32).ok()
    }

    /// In the same: sets the layout in which the body takes an operand; where it isn't set, as it is.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn set_operand_layout(&self, index: usize, layout: &str) -> Result<(), EditError> {
        self.raw.set_operand_layout(index as u32, layout)
    }

    /// In the same: sets the layout in which the body gives a result; where it isn't set, as it is.
    ///
    /// # Errors
    /// If there is no such result.
    pub fn set_result_layout(&self, index: usize, layout: &str) -> Result<(), EditError> {
        self.raw.set_result_layout(index as u32, layout)
    }
}
