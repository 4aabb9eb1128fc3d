//! A call into an op definition.

use passdock_abi as abi;
use passdock_abi::{Dim, ExprKind, OpId, Status, TypeId};

use super::parts::TypeParts;
use super::tables::{text, Tables};
use crate::data::EditError;

/// A call handle and the tables to answer through.
#[derive(Clone, Copy)]
pub(crate) struct RawOpCall {
    tables: &'static Tables,
    handle: *mut abi::OpCall,
}

macro_rules! call {
    ($self:ident.$name:ident($op:expr; $($argument:expr),*)) => {
        match $self.tables.definitions.$name {
            Some(function) => {
                // SAFETY: the handle lives as long as `self`; what the arguments point to lives
                // until the call returns.
                let status = unsafe { function($self.handle, $($argument),*) };
                if status.is_ok() {
                    Ok(())
                } else {
                    let said = $self.last_error();
                    Err(EditError::described(status, said, stringify!($name), Some($op)))
                }
            }
            None => Err(EditError::unsupported(stringify!($name), Some($op))),
        }
    };
}

impl RawOpCall {
    /// # Safety
    /// `handle` is as the contract says and outlives the answer.
    pub(crate) unsafe fn new(tables: &'static Tables, handle: *mut abi::OpCall) -> RawOpCall {
        RawOpCall { tables, handle }
    }

    /// The host's sentence about the last call, until the next.
    fn last_error<'a>(self) -> &'a str {
        match self.tables.definitions.last_error {
            // SAFETY: the handle lives as long as `self`; the text is copied before the next call.
            Some(function) => unsafe { text(function(self.handle)) },
            None => "",
        }
    }

    pub(crate) fn set_result_type(
        self,
        op: OpId,
        index: u32,
        ty: &TypeParts<'_>,
    ) -> Result<(), EditError> {
        call!(self.set_result_type(op; index, &ty.desc()))
    }

    pub(crate) fn set_result_dims(
        self,
        op: OpId,
        index: u32,
        dims: &[Dim],
    ) -> Result<(), EditError> {
        call!(self.set_result_dims(op; index, dims.as_ptr(), dims.len()))
    }

    /// The elements of an operand, as far as they are known.
    pub(crate) fn operand_dims(self, op: OpId, index: u32) -> Result<Option<Vec<Dim>>, EditError> {
        let (mut dims, mut count) = (std::ptr::null(), 0);
        match call!(self.operand_dims(op; index, &mut dims, &mut count)) {
            Ok(()) if count == 0 || dims.is_null() => Ok(Some(Vec::new())),
            // SAFETY: the host's array, alive until the call returns; copied.
            Ok(()) => Ok(Some(
                unsafe { std::slice::from_raw_parts(dims, count) }.to_vec(),
            )),
            Err(error) if error.status == Status::NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn add_expr(
        self,
        op: OpId,
        kind: ExprKind,
        left: Dim,
        right: Dim,
    ) -> Result<Dim, EditError> {
        let mut out = Dim::UNKNOWN;
        call!(self.add_expr(op; kind, left, right, &mut out))?;
        Ok(out)
    }

    pub(crate) fn add_type(self, op: OpId, ty: &TypeParts<'_>) -> Result<TypeId, EditError> {
        let mut out = TypeId::NONE;
        call!(self.add_type(op; &ty.desc(), &mut out))?;
        Ok(out)
    }

    /// Zeroed room for a result, until the call returns. The caller asks once per result.
    pub(crate) fn allocate_result<'a>(
        self,
        op: OpId,
        index: u32,
        ty: &TypeParts<'_>,
        len: usize,
    ) -> Result<&'a mut [u8], EditError> {
        let mut out = std::ptr::null_mut();
        call!(self.allocate_result(op; index, &ty.desc(), len, &mut out)).map_err(
            |mut error| {
                if error.status == Status::NOT_FOUND {
                    error.message = "its results are larger than the limit".to_owned();
                }
                error
            },
        )?;
        if out.is_null() || len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: `len` zeroed bytes of the host's that nobody else uses until the call returns;
        // each result is asked for once.
        Ok(unsafe { std::slice::from_raw_parts_mut(out, len) })
    }

    pub(crate) fn set_body(self, op: OpId, body: &str) -> Result<(), EditError> {
        call!(self.set_body(op; abi::Str::new(body)))
    }

    /// The layout that an operand is asked for in, or has. It lives until the call returns, as the handle does.
    pub(crate) fn wanted_layout<'a>(self, op: OpId, index: u32) -> Option<&'a str> {
        let mut out = abi::Str::EMPTY;
        call!(self.wanted_layout(op; index, &mut out)).ok()?;
        // SAFETY: the host's text, alive until the call returns.
        Some(unsafe { text(out) })
    }

    /// The target that is asked about; empty if none is. It lives until the call returns, as the handle does.
    pub(crate) fn target<'a>(self, op: OpId) -> &'a str {
        let mut out = abi::Str::EMPTY;
        match call!(self.target(op; &mut out)) {
            // SAFETY: the host's text, alive until the call returns.
            Ok(()) => unsafe { text(out) },
            Err(_) => "",
        }
    }

    pub(crate) fn set_operand_layout(
        self,
        op: OpId,
        index: u32,
        layout: &str,
    ) -> Result<(), EditError> {
        call!(self.set_operand_layout(op; index, abi::Str::new(layout)))
    }

    pub(crate) fn set_result_layout(
        self,
        op: OpId,
        index: u32,
        layout: &str,
    ) -> Result<(), EditError> {
        call!(self.set_result_layout(op; index, abi::Str::new(layout)))
    }

    pub(crate) fn refuse(self, reason: &str) {
        if let Some(function) = self.tables.definitions.refuse {
            // SAFETY: the handle lives as long as `self`; the host copies the text.
            unsafe { function(self.handle, abi::Str::new(reason)) }
        }
    }
}
