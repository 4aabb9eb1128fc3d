//! Ops that can't be converted, and the errors about them.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

/// The maximum number of errors that are shown.
const MAX_SHOWN: usize = 20;

/// The ops that can't be converted.
pub(super) struct Unsupported {
    /// The requested opset.
    pub(super) to: i64,
    /// The first op for each function, operator and reason, and the number of such ops.
    found: Vec<(Diagnostic, usize)>,
    positions: HashMap<(String, String), usize>,
    /// The latest opset that all ops can be converted to.
    free: i64,
}

impl Unsupported {
    pub(super) fn new(to: i64) -> Unsupported {
        Unsupported {
            to,
            found: Vec::new(),
            positions: HashMap::new(),
            free: to,
        }
    }

    /// Records an op of opset `from` that can be converted at most to opset `up_to`.
    pub(super) fn add(&mut self, f: &Function, op: OpId, from: i64, up_to: i64, why: &str) {
        self.free = self.free.min(up_to);
        let message = format!(
            "cannot raise `{}` from opset {from} to {}: {why}",
            f.name(op),
            self.to
        );
        let key = (f.function_name().to_owned(), message.clone());
        let next = self.found.len();
        let position = *self.positions.entry(key).or_insert(next);
        match self.found.get_mut(position) {
            Some((_, count)) => *count += 1,
            None => {
                let error = Diagnostic::error(message).code("relax::opset-not-raised");
                self.found.push((error.at(OpSpan::op(op).within(f)), 1));
            }
        }
    }

    /// Emits the recorded errors. If there is any, the pass fails.
    pub(super) fn emit(self, cx: &PassContext) {
        let hidden = self.found.len().saturating_sub(MAX_SHOWN);
        let help = match self.free {
            0 => "replace these ops; the model is unchanged".to_owned(),
            free => format!(
                "raise to opset {free}, replace these ops, or export the model again; the model is unchanged"
            ),
        };
        let last = self.found.len().min(MAX_SHOWN);
        for (at, (mut error, count)) in self.found.into_iter().take(MAX_SHOWN).enumerate() {
            if count > 1 {
                error = error.with_note(format!("and {} more in this function", count - 1));
            }
            if at + 1 == last {
                if hidden > 0 {
                    error = error.with_note(format!("further errors not shown: {hidden}"));
                }
                error = error.help(help.clone());
            }
            cx.emit(&error);
        }
    }
}
