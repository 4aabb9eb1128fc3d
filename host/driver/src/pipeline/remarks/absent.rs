//! Passes that flags name and that aren't in the pipeline: not wrong, but without effect.

use std::collections::BTreeSet;

use passdock_core::plan::Plan;
use passdock_core::{Diagnostic, Severity};

use crate::prepare::{PIPELINE, Prepared, Request, passes_in};

/// A note for each such name. A pass that is required, or skipped, is one of the pipeline's.
pub(super) fn notes(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let asked = request.instruments.iter();
    let printed = asked.flat_map(|asked| asked.flagged_passes());
    let required = request.required_pass.iter();
    let named = printed.chain(required.map(|name| ("--require", name.as_str())));
    let mut named = named.peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let passes = passes_in(&prepared.sequential).into_iter();
    let passes = passes.chain(prepared.plan.iter().flat_map(Plan::order));
    let mut present: BTreeSet<String> = passes.map(|pass| pass.info().name.clone()).collect();
    present.extend([PIPELINE, "all"].map(str::to_owned));
    let registry = prepared.context.registry();
    let named = named.map(|(flag, name)| (flag, registry.canonical(name)));
    let absent = named.filter(|(_, name)| !present.contains(name));
    absent
        .map(|(flag, name)| {
            let message = format!(
                "`{flag}` names the pass `{name}`, which isn't in the pipeline: unless another \
                 pass runs it, that is without effect."
            );
            Diagnostic::new(Severity::Note, "absent-pass", message)
        })
        .collect()
}
