//! What a run says beside its errors: of flags and names that have no effect, and of the model before and after it.

mod absent;
mod aliases;
mod level;
mod made_ops;
mod recursion;
mod unknown_ops;
mod unplaced;

use passdock_core::Diagnostic;

pub(super) use level::note as level;
pub use made_ops::UsedOperators;
pub(super) use recursion::warning as recursion;
pub(super) use unknown_ops::warning as unknown_ops;

use crate::prepare::{Prepared, Request};

/// Notes on what a request says, before its model is read.
pub(super) fn of_request(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let notes = level::note(request, prepared).into_iter();
    let notes = notes.chain(aliases::note(request, prepared));
    let notes = notes.chain(absent::notes(request, prepared));
    notes.chain(unplaced::note(prepared)).collect()
}
