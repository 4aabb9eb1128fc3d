//! Plugins that are named by their files and of which nothing runs.

use std::collections::BTreeSet;

use passdock_core::plan::Plan;
use passdock_core::{Diagnostic, Severity, suggest};

use crate::prepare::{Prepared, Request, passes_in};

/// The most names of passes in a warning.
const NAMES: usize = 3;

/// A warning for each such plugin, where the request doesn't list passes itself. A plugin whose instrument is asked for
/// does something, and so does one of operators alone.
pub(super) fn warnings(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    if request.plugin_files.is_empty() || !request.passes.is_empty() || request.resumes {
        return Vec::new();
    }
    let passes = passes_in(&prepared.sequential).into_iter();
    let passes = passes.chain(prepared.plan.iter().flat_map(Plan::order));
    let scheduled: BTreeSet<String> = passes.map(|pass| pass.info().name.clone()).collect();
    // That there is no place for their phase is said anyway.
    let left_over: BTreeSet<&str> = prepared.phases.left_over().map(|(name, _)| name).collect();
    let instruments = prepared.context.instruments();
    let watching = instruments.iter().map(|instrument| instrument.name());
    let watching: BTreeSet<&str> = watching.collect();
    let plugins = prepared.context.registry().plugins();
    let named = plugins.iter().filter(|plugin| {
        let path = plugin.origin().path();
        path.is_some_and(|path| request.plugin_files.iter().any(|file| file == path))
    });
    named
        .filter_map(|plugin| {
            let manifest = plugin.manifest();
            let mut instruments = manifest.instruments.iter();
            let names: Vec<&str> = manifest.passes.iter().map(|pass| pass.name()).collect();
            let is_used = |name: &&str| scheduled.contains(*name) || left_over.contains(name);
            if names.is_empty()
                || names.iter().any(is_used)
                || instruments.any(|spec| watching.contains(spec.name.as_str()))
            {
                return None;
            }
            let listed = suggest::listed(names.iter().copied().take(NAMES));
            let others = match names.len().saturating_sub(NAMES) {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            let message = format!(
                "No pass of the plugin {} runs: {listed}{others}.",
                plugin.origin()
            );
            let mut warning = Diagnostic::new(Severity::Warning, "unscheduled", message);
            warning.help = Some(format!(
                "Run them with `--passes {}`, list them in a pipeline, or give them a phase in the plugin's source: \
                 `phase: \"late\"`.",
                names[0]
            ));
            Some(warning)
        })
        .collect()
}
