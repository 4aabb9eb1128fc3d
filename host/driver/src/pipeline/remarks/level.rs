//! The level of a pipeline's file, where `-O` says another one: it doesn't count, which is said.

use passdock_core::{Diagnostic, Severity};

use crate::prepare::{Prepared, Request};

/// A note if the level of the request takes the place of another one of the file.
pub(in crate::pipeline) fn note(request: &Request, prepared: &Prepared) -> Option<Diagnostic> {
    let asked = request.opt_level?;
    let file = &prepared.file;
    let own = file.context.opt_level.filter(|own| *own != asked)?;
    let name = &file.source.name;
    let message = format!("`-O{asked}` replaces `opt_level = {own}` of `{name}`.");
    Some(Diagnostic::new(Severity::Note, "opt-level", message))
}
