//! [`Cursor`]: goes over a function's ops while they are replaced.

use passdock_plugin_api::prelude::*;

/// A place among the ops of a function: those of its regions, too.
pub(crate) struct Cursor {
    /// The op that comes next in its region.
    pub(crate) next: Option<OpId>,
    /// Where to go on when a region is done, innermost last.
    after: Vec<Option<OpId>>,
}

impl Cursor {
    /// Before the first op of the body.
    pub(crate) fn new(f: &Function) -> Cursor {
        Cursor {
            next: f.first_op(f.body()),
            after: Vec::new(),
        }
    }

    /// The next op; `None` after the last.
    pub(crate) fn advance(&mut self, f: &Function) -> Option<OpId> {
        while self.next.is_none() {
            self.next = self.after.pop()?;
        }
        let op = self.next?;
        self.next = f.next_op(op);
        Some(op)
    }

    /// Goes into the regions of the op before which it came.
    pub(crate) fn enter(&mut self, f: &Function, op: OpId) {
        for &region in f.regions(op) {
            self.after
                .push(std::mem::replace(&mut self.next, f.first_op(region)));
        }
    }
}
