//! [`Cursor`]: iterates over a function's ops while they are replaced.

use passdock_plugin_api::prelude::*;

/// A position in a function, including nested regions.
pub(crate) struct Cursor {
    /// The next op in the current region.
    pub(crate) next: Option<OpId>,
    /// The ops at which enclosing regions continue, innermost last.
    after: Vec<Option<OpId>>,
}

impl Cursor {
    /// Returns a cursor before the first op of the body.
    pub(crate) fn new(f: &Function) -> Cursor {
        Cursor {
            next: f.first_op(f.body()),
            after: Vec::new(),
        }
    }

    /// Returns the next op; `None` after the last.
    pub(crate) fn advance(&mut self, f: &Function) -> Option<OpId> {
        while self.next.is_none() {
            self.next = self.after.pop()?;
        }
        let op = self.next?;
        self.next = f.next_op(op);
        Some(op)
    }

    /// Enters the regions of an op, which must be the last one returned.
    pub(crate) fn enter(&mut self, f: &Function, op: OpId) {
        for &region in f.regions(op) {
            self.after
                .push(std::mem::replace(&mut self.next, f.first_op(region)));
        }
    }
}
