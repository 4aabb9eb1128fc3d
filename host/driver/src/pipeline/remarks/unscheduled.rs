//! Warnings about plugins that the user named by file or directory and that have no effect on the run. Plugins in
//! default directories are available for other runs.

use std::collections::BTreeSet;
use std::path::Path;

use passdock_core::{Diagnostic, Plugin, Severity, suggest};

use crate::pipeline_file::PassTable;
use crate::prepare::{Prepared, Request};

/// Maximum number of passes listed in a warning.
const NAMES: usize = 3;

/// Returns a warning for each such plugin, unless the request lists passes. Plugins with a requested instrument, with
/// only op definitions, or that another plugin requires are in use. Plugins in directories count only with a built-in
/// pipeline, and not in directories that provide passes it lists, which contain the standard plugins.
pub(in crate::pipeline) fn warnings(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    if !request.passes.is_empty() || request.resumes {
        return Vec::new();
    }
    let registry = prepared.context.registry();
    let plugins = registry.plugins();
    let lists = |plugin: &Plugin| {
        let mut passes = plugin.manifest().passes.iter();
        passes.any(|pass| prepared.phases.lists(pass.name()))
    };
    let listed = plugins.iter().filter(|plugin| lists(plugin));
    let listed: BTreeSet<&Path> = listed.filter_map(|plugin| dir_of(plugin)).collect();
    let has_built_in = has_built_in(prepared);
    let is_named = |plugin: &Plugin| {
        let is_file = |path| request.plugin_files.iter().any(|file| file == path);
        plugin.origin().path().is_some_and(is_file)
            || has_built_in
                && registry.is_named(plugin.name())
                && dir_of(plugin).is_some_and(|dir| !listed.contains(dir))
    };
    let mut used = prepared.pass_names();
    // Missing phases have a separate note.
    let unscheduled = prepared.phases.unscheduled();
    used.extend(unscheduled.map(|(name, _)| name.to_owned()));
    let instruments = prepared.context.instruments();
    let watches = |name: &str| instruments.iter().any(|own| own.name() == name);
    let is_required = |name: &str| {
        let required = plugins.iter().map(|own| &own.manifest().plugin.requires);
        required.flatten().any(|required| required.name == name)
    };
    let is_idle = |plugin: &Plugin| {
        let manifest = plugin.manifest();
        !manifest.passes.is_empty()
            && !manifest
                .passes
                .iter()
                .any(|pass| used.contains(pass.name()))
            && !manifest.instruments.iter().any(|spec| watches(&spec.name))
            && !is_required(plugin.name())
    };
    let idle = plugins
        .iter()
        .filter(|plugin| is_named(plugin) && is_idle(plugin));
    idle.map(|plugin| warning(plugin)).collect()
}

fn dir_of(plugin: &Plugin) -> Option<&Path> {
    plugin.origin().path()?.parent()
}

fn warning(plugin: &Plugin) -> Diagnostic {
    let passes = plugin.manifest().passes.iter();
    let names: Vec<&str> = passes.map(|pass| pass.name()).collect();
    let listed = suggest::listed(names.iter().copied().take(NAMES));
    let others = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let origin = plugin.origin();
    let message = format!("no pass of plugin {origin} runs: {listed}{others}");
    Diagnostic::new(Severity::Warning, "unscheduled", message).help(format!(
        "run them with `--passes {}`, list them in a pipeline, or declare a phase in the plugin's source: \
         `phase: \"late\"`",
        names[0]
    ))
}

/// Returns `true` if the pipeline is or contains a built-in one. It then lists passes of the standard plugins and has
/// all phases.
fn has_built_in(prepared: &Prepared) -> bool {
    let mut tables = prepared.file.tables();
    prepared.built_in || tables.any(|table| matches!(table, PassTable::BuiltIn { .. }))
}
