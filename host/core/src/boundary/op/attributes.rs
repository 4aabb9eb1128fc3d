//! The attributes that an op's definition lists.

use passdock_abi as abi;
use passdock_abi::{AttrEntry, OpId, Status};
use passdock_ir::EditError;

use super::definitions;
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::{gate, input};

// SAFETY of the call is the contract's: handles are those that the host handed out and that haven't
// ended.

pub(in crate::boundary) unsafe extern "C" fn attributes(
    cx: *mut abi::Context,
    f: *const abi::Function,
    op: OpId,
    out: *mut *const AttrEntry,
    count: *mut u32,
    stride: *mut u32,
) -> Status {
    // SAFETY: see above. A definition's table lives for good: no library is unloaded.
    unsafe {
        gate::call(FunctionSession::of(f), |session| {
            input::check_out(out)?;
            input::check_out(count)?;
            input::check_out(stride)?;
            let context = ContextSession::of(cx)?;
            let name = session.with(|state| Ok(state.read()?.live_op(op)?.name))?;
            let entry = definitions::get(context, session, name)?.entry;
            if entry.attrs.is_null() {
                return Err(EditError::not_found("its definition lists no attributes"));
            }
            input::answer(out, entry.attrs);
            input::answer(count, entry.attr_count);
            input::answer(stride, entry.attr_stride);
            Ok(())
        })
    }
}
