//! Plugins that are named by their files or directories and of which nothing runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use passdock_core::plan::Plan;
use passdock_core::{Diagnostic, Plugin, Severity, suggest};

use crate::pipeline_file::PassTable;
use crate::prepare::{Prepared, Request, passes_in};

/// The most names of passes in a warning.
const NAMES: usize = 3;

/// A warning for each such plugin, where the request doesn't list passes itself. A plugin whose instrument is asked for
/// does something, and so does one of operators alone. Directories count where a built-in pipeline runs, without those
/// that it lists passes of: they have the standard plugins.
pub(in crate::pipeline) fn warnings(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    if !request.passes.is_empty() || request.resumes {
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
    let dir_of = |plugin: &Plugin| Some(plugin.origin().path()?.parent()?.to_owned());
    let is_listed = |plugin: &&Arc<Plugin>| {
        let mut passes = plugin.manifest().passes.iter();
        passes.any(|pass| prepared.phases.lists(pass.name()))
    };
    let listed_dirs: BTreeSet<PathBuf> = plugins
        .iter()
        .filter(is_listed)
        .filter_map(|plugin| dir_of(plugin))
        .collect();
    let has_built_in = has_built_in(prepared);
    let named = plugins.iter().filter(|plugin| {
        let path = plugin.origin().path();
        let is_file = path.is_some_and(|path| request.plugin_files.iter().any(|file| file == path));
        is_file || has_built_in && dir_of(plugin).is_some_and(|dir| !listed_dirs.contains(&dir))
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

/// Whether the pipeline is a built-in one, or has one in it: it lists the standard plugins' passes and has a place for
/// each phase.
fn has_built_in(prepared: &Prepared) -> bool {
    let mut open: Vec<&PassTable> = prepared.file.passes.iter().collect();
    while let Some(table) = open.pop() {
        if matches!(table, PassTable::BuiltIn { .. }) {
            return true;
        }
        open.extend(table.inner());
    }
    prepared.built_in
}
