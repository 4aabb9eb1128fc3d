//! `OpApi::supports`: whether a target supports an op, by the definitions of its operator.

use passdock_abi::{OpId, Status, Str};
use passdock_ir::{Edit, EditFailure};

use super::{OpCall, OpQueries, OpQuery};
use crate::boundary::session::input;

/// The maximum length of a target's name, in bytes: the limit for names in plugins' tables.
const MAX_TARGET: usize = 256;

impl OpQueries<'_> {
    pub(in crate::boundary) unsafe fn supports(&self, op: OpId, target: Str) -> Edit {
        // SAFETY: the text is valid during the call, by the plugin ABI.
        let target = unsafe { input::long_text(target, "target", MAX_TARGET)? };
        let name = self.name(op)?;
        // The first definition for the target decides. A rejection is a decision, too.
        self.first_result(name, "", |definition| {
            let supports_fn = definition.entry.supports;
            let function = supports_fn.filter(|_| definition.targets.contains(&target))?;
            let mut call = OpCall {
                query: OpQuery::Support(target),
                ..OpCall::new(self.session, op)
            };
            let status = match call.run(function, definition) {
                Ok(status) => status,
                Err(error) => return Some(Err(error)),
            };
            match (status, call.rejection.take()) {
                (Status::OK, None) => Some(Ok(())),
                (Status::NOT_FOUND, None) => None,
                (status, Some(why)) if status != Status::PANICKED => {
                    Some(Err(EditFailure::rejected(why)))
                }
                (status, reason) => Some(Err(EditFailure {
                    status: Status::PANICKED,
                    ..self.queried(op, definition).failure(status, reason)
                })),
            }
        })
    }
}

impl OpCall<'_> {
    pub(in crate::boundary) fn target(&mut self) -> Edit<Str> {
        match self.query {
            OpQuery::Support(target) => Ok(self.lent_text(target)),
            _ => {
                let message = "only `supports` of a definition has a target";
                Err(EditFailure::not_found(message))
            }
        }
    }
}
