//! Remarks on parts of a request without effect: passes that don't run, and phases that the pipeline doesn't have.

use passdock_core::plan::Child;
use passdock_core::{Diagnostic, Severity};

use crate::prepare::{PIPELINE, Prepared, Request};

fn note(code: &str, message: String) -> Diagnostic {
    Diagnostic::new(Severity::Note, code, message)
}

/// Returns a note if the request's level overrides the pipeline's.
pub(in crate::pipeline) fn level(request: &Request, prepared: &Prepared) -> Option<Diagnostic> {
    let requested = request.opt_level?;
    let file = &prepared.file;
    let own = file.context.opt_level.filter(|own| *own != requested)?;
    let name = &file.source.name;
    let message = format!("`-O{requested}` overrides `opt_level = {own}` of `{name}`");
    Some(note("opt-level", message))
}

/// Returns a note for each pass that a flag names and that the pipeline neither lists, requires nor skips.
pub(super) fn absent(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let requested = request.instruments.iter();
    let printed = requested.flat_map(|requested| requested.flagged_passes());
    let required = request.required_pass.iter();
    let named = printed.chain(required.map(|name| ("--required-pass", name.as_str())));
    let present = prepared.pass_names();
    let registry = prepared.context.registry();
    let named = named.map(|(flag, name)| (flag, registry.canonical(name)));
    named
        .filter(|(_, name)| ![PIPELINE, "all"].contains(&&**name) && !present.contains(name))
        .map(|(flag, name)| {
            let message = format!(
                "`{flag}` names pass `{name}`, which is not in the pipeline, and has no effect unless another pass \
                 runs it"
            );
            note("absent-pass", message)
        })
        .collect()
}

/// Returns a warning for each pass of `--passes` that doesn't run, unless `--disabled-pass` names it.
pub(super) fn skipped(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let children = prepared.plan.iter().flat_map(|plan| &plan.children);
    let children: Vec<&Child> = children.collect();
    let (_, requested) = children.split_at(children.len().saturating_sub(request.passes.len()));
    let registry = prepared.context.registry();
    let disabled = request.disabled_pass.iter();
    let disabled: Vec<_> = disabled.map(|name| registry.canonical(name)).collect();
    let warning = |child: &&Child| {
        let (reason, info) = (child.skipped.as_ref()?, child.step.pass.info());
        if disabled.contains(&info.name) {
            return None;
        }
        let message = format!("pass `{}` does not run: {reason}", info.name);
        let help = match info.opt_level > prepared.context.opt_level() {
            true => format!("pass `--required-pass {}`, or a higher `-O`", info.name),
            false => "remove it from the pipeline's `disabled_pass`".to_owned(),
        };
        let warning = Diagnostic::new(Severity::Warning, "unscheduled", message);
        Some(warning.help(help))
    };
    requested.iter().filter_map(warning).collect()
}

/// Returns a warning about passes that declare a phase which the pipeline doesn't have. Passes that another pass
/// requires run anyway and are left out.
pub(super) fn unplaced(prepared: &Prepared) -> Option<Diagnostic> {
    let planned = prepared.pass_names();
    let unscheduled = prepared.phases.unscheduled();
    let unscheduled = unscheduled.filter(|(name, _)| !planned.contains(*name));
    let unscheduled: Vec<String> = unscheduled
        .map(|(name, phase)| format!("`{name}` (phase {})", phase.name()))
        .collect();
    if unscheduled.is_empty() {
        return None;
    }
    let unscheduled = unscheduled.join(", ");
    let message = format!("not run, because the pipeline lacks their phase: {unscheduled}");
    let help = "list them in `passes`, or add the phase to the pipeline: `{ phase = \"…\" }`";
    Some(Diagnostic::new(Severity::Warning, "unscheduled", message).help(help))
}
