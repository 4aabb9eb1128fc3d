//! Passes that flags name and that aren't in the pipeline: not wrong, but without effect.

use std::collections::BTreeSet;

use super::build::{PIPELINE, passes_in};
use super::request::Request;
use passdock_core::plan::Plan;
use passdock_core::{Diagnostic, Registry, Sequential, Severity};

/// A note for each such name. A pass that is required, or skipped, is one of the pipeline's.
pub(super) fn notes(
    request: &Request,
    registry: &Registry,
    sequential: &Sequential,
    plan: &Plan,
) -> Vec<Diagnostic> {
    let print = &request.print;
    let flags = [
        ("--print-before", &print.before),
        ("--print-after", &print.after),
        ("--require", &request.required_pass),
    ];
    if flags.iter().all(|(_, names)| names.is_empty()) {
        return Vec::new();
    }
    let passes = passes_in(sequential).into_iter().chain(plan.order());
    let mut present: BTreeSet<String> = passes.map(|pass| pass.info().name.clone()).collect();
    present.extend([PIPELINE, "all"].map(str::to_owned));
    let named = flags.into_iter().flat_map(|(flag, names)| {
        let names = names.iter().map(|name| registry.canonical(name));
        names.map(move |name| (flag, name))
    });
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
