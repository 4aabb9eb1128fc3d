//! `OpApi::supports`: whether a target takes an op, as the definitions of its operator say.

use passdock_abi::{OpId, Status, Str};
use passdock_ir::{Edit, EditFailure};

use super::asked::Asked;
use super::{AskedFor, OpCall, Question, definitions};
use crate::boundary::session::input;

/// The longest name of a target, in bytes: that of any name in a plugin's table.
const MAX_TARGET: usize = 256;

impl Question<'_> {
    pub(in crate::boundary) unsafe fn supports(&self, op: OpId, target: Str) -> Edit {
        let Question { context, session } = *self;
        // SAFETY: the contract: the text is there as long as the call.
        let target = unsafe { input::long_text(target, "target", MAX_TARGET)? };
        let name = self.name(op)?;
        // The first that speaks for the target decides: that it doesn't take the op is an answer.
        definitions::first_answer(context, session, name, "", |definition| {
            let asks = definition.entry.supports;
            let function = asks.filter(|_| definition.speaks_for(target))?;
            let mut call = OpCall {
                asked_for: AskedFor::Support(target),
                ..OpCall::new(session, op)
            };
            let answer =
                call.run(function, definition)
                    .map(|status| match (status, call.refusal.take()) {
                        (Status::OK, None) => Some(Ok(())),
                        (Status::NOT_FOUND, None) => None,
                        (status, Some(why)) if status != Status::PANICKED => {
                            Some(Err(EditFailure::refused(why)))
                        }
                        (status, said) => Some(Err(EditFailure {
                            status: Status::PANICKED,
                            ..Asked::new(context, session, op, definition).wrong(status, said)
                        })),
                    });
            answer.transpose()
        })?
    }
}

impl OpCall<'_> {
    pub(in crate::boundary) fn target(&mut self) -> Edit<Str> {
        match self.asked_for {
            AskedFor::Support(target) => Ok(Str::new(target)),
            _ => {
                let message = "Only `supports` of a definition is asked about a target.";
                Err(EditFailure::not_found(message))
            }
        }
    }
}
