//! What a plugin says of itself, and whether its library is what it says.

use passdock_core::{Field, PanicStrategy, Plugin, boundary};

use super::{CheckAnswer, CheckedPlugin, Trail};

/// The manifest is readable, complete, and true of the library.
pub(super) fn manifest(checked: &CheckedPlugin, trail: &Trail) -> CheckAnswer {
    trail.at("the manifest was read");
    let plugin = match Plugin::open(&checked.file) {
        Ok(plugin) => plugin,
        Err(error) => return CheckAnswer::of(vec![sentence(&error.to_string())], Vec::new()),
    };
    let mut findings: Vec<String> = plugin
        .unknown_keys()
        .into_iter()
        .map(|said| {
            let help = said.help.unwrap_or_default();
            format!("{} {help}", said.message).trim_end().to_owned()
        })
        .collect();
    let mut notes = Vec::new();
    let manifest = plugin.manifest();
    for pass in &manifest.passes {
        if pass.summary.trim().is_empty() {
            findings.push(format!("The pass `{}` has no summary.", pass.name()));
        }
        undocumented(pass.name(), &pass.declaration.options, &mut notes);
    }
    for instrument in &manifest.instruments {
        if instrument.summary.trim().is_empty() {
            let name = &instrument.name;
            findings.push(format!("The instrument `{name}` has no summary."));
        }
        undocumented(&instrument.name, &instrument.options, &mut notes);
    }
    if manifest.plugin.version.trim().is_empty() {
        notes.push("The plugin has no version.".to_owned());
    }
    if manifest.plugin.panic == PanicStrategy::Abort {
        notes.push(
            "A panic ends the host's process: build with `panic = \"unwind\"` to have it caught."
                .to_owned(),
        );
    }
    trail.at(Trail::LOADING);
    if let Err(error) = plugin.load(boundary::host()) {
        findings.push(sentence(&error.to_string()));
    }
    CheckAnswer::of(findings, notes)
}

/// The library loads, twice.
pub(super) fn load(checked: &CheckedPlugin, trail: &Trail) -> CheckAnswer {
    for time in ["", " for the second time"] {
        trail.at(&format!("{}{time}", Trail::LOADING));
        let loaded =
            Plugin::open(&checked.file).and_then(|plugin| plugin.load(boundary::host()).map(drop));
        if let Err(error) = loaded {
            let said = match time {
                "" => sentence(&error.to_string()),
                time => format!("Loaded{time}: {}", sentence(&error.to_string())),
            };
            return CheckAnswer::of(vec![said], Vec::new());
        }
    }
    CheckAnswer::of(Vec::new(), Vec::new())
}

fn undocumented(owner: &str, fields: &[Field], notes: &mut Vec<String>) {
    for field in fields.iter().filter(|field| field.doc.trim().is_empty()) {
        let name = &field.name;
        notes.push(format!(
            "The option `{name}` of `{owner}` has no documentation."
        ));
    }
}

fn sentence(text: &str) -> String {
    passdock_core::capitalized(text)
}
