//! `OpApi::supports`: whether a target takes an op, as the definitions of its operator say.

use passdock_abi::{OpId, Status, Str};
use passdock_ir::{Edit, EditFailure};

use super::{OpCall, OpQuery, Question};
use crate::boundary::session::input;

/// The longest name of a target, in bytes: that of any name in a plugin's table.
const MAX_TARGET: usize = 256;

impl Question<'_> {
    pub(in crate::boundary) unsafe fn supports(&self, op: OpId, target: Str) -> Edit {
        // SAFETY: the contract: the text is there as long as the call.
        let target = unsafe { input::long_text(target, "target", MAX_TARGET)? };
        let name = self.name(op)?;
        // The first that speaks for the target decides: that it doesn't take the op is an answer.
        self.first_answer(name, "", |definition| {
            let asks = definition.entry.supports;
            let function = asks.filter(|_| definition.targets.contains(&target))?;
            let mut call = OpCall {
                query: OpQuery::Support(target),
                ..OpCall::new(self.session, op)
            };
            let status = match call.run(function, definition) {
                Ok(status) => status,
                Err(error) => return Some(Err(error)),
            };
            match (status, call.refusal.take()) {
                (Status::OK, None) => Some(Ok(())),
                (Status::NOT_FOUND, None) => None,
                (status, Some(why)) if status != Status::PANICKED => {
                    Some(Err(EditFailure::refused(why)))
                }
                (status, reason) => Some(Err(EditFailure {
                    status: Status::PANICKED,
                    ..self.queried(op, definition).wrong(status, reason)
                })),
            }
        })
    }
}

impl OpCall<'_> {
    pub(in crate::boundary) fn target(&mut self) -> Edit<Str> {
        match self.query {
            OpQuery::Support(target) => Ok(Str::new(target)),
            _ => {
                let message = "Only `supports` of a definition is asked about a target.";
                Err(EditFailure::not_found(message))
            }
        }
    }
}
