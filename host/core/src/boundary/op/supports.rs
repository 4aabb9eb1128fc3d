//! `OpApi::supports`: whether a target takes an op, as the definitions of its operator say.

use passdock_abi as abi;
use passdock_abi::{OpId, Status, Str};
use passdock_ir::EditError;

use super::{OpCall, definitions};
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::{gate, input};

/// The longest name of a target, in bytes: that of any name in a plugin's table.
const MAX_TARGET: usize = 256;

// SAFETY of the call is the contract's: handles are those that the host handed out and that haven't
// ended, and the text is there as long as the call.

pub(in crate::boundary) unsafe extern "C" fn supports(
    cx: *mut abi::Context,
    f: *const abi::Function,
    op: OpId,
    target: Str,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::call(FunctionSession::of(f), |session| {
            let context = ContextSession::of(cx)?;
            let target = input::long_text(target, "target", MAX_TARGET)?;
            let name = session.with(|state| Ok(state.read()?.live_op(op)?.name))?;
            // The first that speaks for the target decides: that it doesn't take the op is an answer.
            let none = "no definition speaks for the target";
            definitions::first_answer(context, session, name, none, |definition| {
                let function = definition.entry.supports?;
                if definition.target() != target {
                    return None;
                }
                let answered = OpCall::new(session, op).answered(context, function, definition);
                Some(match answered {
                    Ok(_) => Ok(Ok(())),
                    Err(error) => Ok(Err(match error.status {
                        Status::NOT_FOUND => EditError::refused(error.message),
                        _ => EditError {
                            status: Status::PANICKED,
                            ..error
                        },
                    })),
                })
            })
            .and_then(|decided| decided)
        })
    }
}
