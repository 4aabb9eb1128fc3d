//! `OpApi::supports`: whether a target takes an op, as the definitions of its operator say.

use passdock_abi as abi;
use passdock_abi::{OpCall as Handle, OpId, Status, Str};
use passdock_ir::EditError;

use super::asked::Asked;
use super::{AskedFor, OpCall, answer, definitions};
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::{gate, input};

/// The longest name of a target, in bytes: that of any name in a plugin's table.
const MAX_TARGET: usize = 256;

// SAFETY of both calls is the contract's: handles are those that the host handed out and that haven't
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
            definitions::first_answer(context, session, name, "", |definition| {
                let asks = definition.entry.supports;
                let function = asks.filter(|_| definition.speaks_for(target))?;
                let mut call = OpCall {
                    asked_for: AskedFor::Support(target),
                    ..OpCall::new(session, op)
                };
                let answer = call.run(function, definition).map(|status| {
                    match (status, call.refusal.take()) {
                        (Status::OK, None) => Some(Ok(())),
                        (Status::NOT_FOUND, None) => None,
                        (status, Some(why)) if status != Status::PANICKED => {
                            Some(Err(EditError::refused(why)))
                        }
                        (status, said) => Some(Err(EditError {
                            status: Status::PANICKED,
                            ..Asked::new(context, session, op, definition).wrong(status, said)
                        })),
                    }
                });
                answer.transpose()
            })?
        })
    }
}

pub(in crate::boundary) unsafe extern "C" fn target(call: *mut Handle, out: *mut Str) -> Status {
    // SAFETY: see above.
    answer(call, |call| unsafe {
        input::check_out(out)?;
        let AskedFor::Support(target) = call.asked_for else {
            let message = "Only `supports` of a definition is asked about a target.";
            return Err(EditError::not_found(message));
        };
        input::answer(out, Str::new(target));
        Ok(())
    })
}
