//! Hosts of older contracts.

use std::collections::BTreeMap;

use passdock_abi as abi;
use passdock_core::{boundary, capitalized, toml};
use passdock_ir::text;

use super::subject::{Fault, Subject, told};
use super::{CheckAnswer, instruments, ops};

/// What came of passes on samples: the module as text, or what was said.
type PassOutput = BTreeMap<(String, String), Result<String, String>>;

/// The plugin works with the least host that it says it serves: one whose tables end where those of the
/// contract in `min_host` do, and that has no extension.
pub(super) fn older_hosts(subject: &Subject<'_>) -> CheckAnswer {
    let said = subject.plugin.manifest().plugin.min_host;
    let minor = said.minor.max(abi::OLDEST_MINOR);
    let Some(host) = boundary::older_host(minor) else {
        return CheckAnswer::skipped(format!("This host can't be one of contract {said}."));
    };
    subject
        .trail
        .at("the library was loaded into an older host");
    // All that is run below is what this host has loaded.
    if let Err(error) = subject.plugin.load(host) {
        return CheckAnswer::unusable(capitalized(&error.to_string()));
    }
    let mut findings = Vec::new();
    let older = runs(subject, &mut findings);
    findings.extend(ops::ops(subject).reasons_of_failure());
    findings.extend(instruments::instruments(subject).reasons_of_failure());
    let notes = match subject.anew() {
        Some(whole) => differences(&older, &runs(&whole, &mut Vec::new())),
        None => vec![
            "It serves one host in a process: what it makes in this one isn't compared.".to_owned(),
        ],
    };
    CheckAnswer::of(findings, notes)
}

/// Runs all passes on all samples; adds what they do wrong.
fn runs(subject: &Subject<'_>, findings: &mut Vec<String>) -> PassOutput {
    let mut made = PassOutput::new();
    for pass in subject.passes() {
        let mut faults = Vec::new();
        for sample in &subject.samples {
            let run = subject.run(pass, &toml::Table::new(), sample, |context| context);
            let run = run.map(|module| text::print(&module)).map_err(|error| {
                let said = told(pass.name(), &sample.name, &error);
                if matches!(subject.fault(&error), Fault::Panic | Fault::Invalid) {
                    faults.push(said.clone());
                }
                said
            });
            made.insert((pass.name().to_owned(), sample.name.clone()), run);
        }
        // One of each pass says enough.
        findings.extend(faults.into_iter().take(1));
    }
    made
}

/// Which passes do another thing in the older host: they may, with less to go by.
fn differences(older: &PassOutput, whole: &PassOutput) -> Vec<String> {
    let mut notes = BTreeMap::new();
    for (at, made) in older {
        let (pass, sample) = at;
        let note = match (made, whole.get(at)) {
            (Err(said), Some(Ok(_))) => format!("In the older host alone: {said}"),
            (Ok(made), Some(Ok(other))) if made != other => {
                format!("`{pass}` makes another module of {sample} in the older host.")
            }
            _ => continue,
        };
        notes.entry(pass).or_insert(note);
    }
    notes.into_values().collect()
}
