//! A call into an op definition.

use passdock_abi as abi;
use passdock_abi::{OpId, Status};

use super::lent::Lent;
use super::tables::Tables;
use crate::data::EditError;

/// A call handle, the op that is asked about, and the tables to answer through.
#[derive(Clone, Copy)]
pub(crate) struct RawOpCall {
    pub(super) tables: &'static Tables,
    pub(super) handle: *mut abi::OpCall,
    pub(crate) op: OpId,
}

impl RawOpCall {
    /// # Safety
    /// `handle` is as the contract says and outlives the answer.
    pub(crate) unsafe fn new(
        tables: &'static Tables,
        handle: *mut abi::OpCall,
        op: OpId,
    ) -> RawOpCall {
        RawOpCall { tables, handle, op }
    }

    /// Turns a status into a result with the host's sentence.
    pub(super) fn done(
        &self,
        status: Status,
        call: &str,
        op: Option<OpId>,
    ) -> Result<(), EditError> {
        if status.is_ok() {
            return Ok(());
        }
        Err(EditError::described(status, self.last_error(), call, op))
    }

    /// Zeroed room for a result, until the call returns. The caller asks once per result.
    #[allow(clippy::mut_from_ref)] // Fresh memory at each call.
    pub(crate) fn room(
        &self,
        index: u32,
        ty: &Lent<'_, abi::TypeDesc>,
        len: usize,
    ) -> Result<&mut [u8], EditError> {
        let room = self.allocate_result(index, ty, len);
        let room = room.map_err(|error| match error.status {
            Status::NOT_FOUND => EditError {
                message: "its results are larger than the limit".to_owned(),
                ..error
            },
            _ => error,
        })?;
        if room.is_null() || len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: `len` zeroed bytes of the host's that nobody else uses until the call returns;
        // each result is asked for once.
        Ok(unsafe { std::slice::from_raw_parts_mut(room, len) })
    }
}
