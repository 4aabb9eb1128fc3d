//! Passes that ask for a phase for which a pipeline has no place: they don't run, which is said.

use std::collections::HashSet;

use passdock_core::plan::Plan;
use passdock_core::{Diagnostic, Severity};

use crate::prepare::Prepared;

/// One note for all of them. A pass that another one requires runs nevertheless.
pub(super) fn note(prepared: &Prepared) -> Option<Diagnostic> {
    let planned = prepared.plan.iter().flat_map(Plan::order);
    let planned: HashSet<String> = planned.map(|pass| pass.info().name.clone()).collect();
    let left = prepared.phases.left_over();
    let left = left.filter(|(name, _)| !planned.contains(*name));
    let left: Vec<String> = left
        .map(|(name, phase)| format!("`{name}` (phase {})", phase.name()))
        .collect();
    if left.is_empty() {
        return None;
    }
    let message = format!(
        "The pipeline has no place for {}: not run.",
        left.join(", ")
    );
    let mut note = Diagnostic::new(Severity::Note, "no-place", message);
    note.help =
        Some("List them in `passes`, or give the phase a place: `{ phase = \"…\" }`.".into());
    Some(note)
}
