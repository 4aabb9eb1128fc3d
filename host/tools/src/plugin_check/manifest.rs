//! The check of a plugin's manifest and of loading its library.

use passdock_core::{Field, PanicStrategy, Plugin, boundary};

use super::subject::Subject;
use super::{CheckResult, Trail};

/// Checks that the manifest is complete and matches the library, and that the library loads twice.
pub(super) fn manifest(subject: &Subject<'_>) -> CheckResult {
    let plugin = &subject.plugin;
    let unknown = plugin.unknown_keys().into_iter().map(|diagnostic| {
        let help = diagnostic.help.map(|help| format!("; {help}"));
        diagnostic.message + &help.unwrap_or_default()
    });
    let mut findings: Vec<String> = unknown.collect();
    let mut notes = Vec::new();
    let manifest = plugin.manifest();
    let passes = manifest.passes.iter();
    let passes = passes.map(|p| ("pass", p.name(), &p.summary, &p.declaration.options));
    let instruments = manifest.instruments.iter();
    let instruments = instruments.map(|i| ("instrument", &*i.name, &i.summary, &i.options));
    for (kind, name, summary, options) in passes.chain(instruments) {
        if summary.trim().is_empty() {
            findings.push(format!("{kind} `{name}` has no summary"));
        }
        let is_undocumented = |field: &&Field| field.doc.trim().is_empty();
        notes.extend(options.iter().filter(is_undocumented).map(|field| {
            let field = &field.name;
            format!("option `{field}` of `{name}` has no documentation")
        }));
    }
    if manifest.plugin.version.trim().is_empty() {
        notes.push("the plugin has no version".to_owned());
    }
    if manifest.plugin.panic == PanicStrategy::Abort {
        let note = "a panic aborts the host process; build with `panic = \"unwind\"` so that the host can catch it";
        notes.push(note.to_owned());
    }
    subject.trail.at(Trail::LOADING);
    if let Err(error) = plugin.load(boundary::host()) {
        findings.push(error.to_string());
        return CheckResult {
            unusable: true,
            ..CheckResult::new(findings, notes)
        };
    }
    subject.trail.at("loading the library a second time");
    let reopened =
        Plugin::open(subject.file()).and_then(|reopened| reopened.load(boundary::host()).map(drop));
    if let Err(error) = reopened {
        findings.push(format!("second load failed: {error}"));
    }
    CheckResult::new(findings, notes)
}
