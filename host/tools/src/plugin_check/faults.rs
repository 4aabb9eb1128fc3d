//! What passes must not do, whatever they are given: panic, leave invalid IR, change interfaces or
//! the host's memory.

use passdock_core::{PanicStrategy, PassError, Verify, toml};

use super::CheckAnswer;
use super::subject::{Fault, Subject, told};

/// No pass panics.
pub(super) fn panics(subject: &Subject<'_>) -> CheckAnswer {
    let mut answer = survey(subject, Fault::Panic, Verify::Changed, false);
    let strategy = subject.plugin.manifest().plugin.panic;
    match (strategy, answer.verdict.is_bad()) {
        (PanicStrategy::Unwind, true) => {
            let note = "Each panic was caught, as the manifest says (`unwind`).";
            answer.notes.push(note.to_owned());
        }
        (PanicStrategy::None, true) => {
            let reason = "The manifest says that there are no panics (`none`).";
            answer.reasons.push(reason.to_owned());
        }
        _ => {}
    }
    answer
}

/// All that passes make is right.
pub(super) fn verifier(subject: &Subject<'_>) -> CheckAnswer {
    let mut answer = survey(subject, Fault::Invalid, Verify::All, false);
    answer.notes.extend(refusals(subject));
    answer
}

/// Interfaces stay, where nothing else is declared.
pub(super) fn interface(subject: &Subject<'_>) -> CheckAnswer {
    survey(subject, Fault::Interface, Verify::Changed, false)
}

/// The module that a pass was given stays what it was.
pub(super) fn read_only(subject: &Subject<'_>) -> CheckAnswer {
    survey(subject, Fault::Other, Verify::All, true)
}

/// Runs all passes on all samples, and tells for each pass the first fault of a kind.
fn survey(subject: &Subject<'_>, kind: Fault, verify: Verify, immutable: bool) -> CheckAnswer {
    if subject.passes().is_empty() {
        return CheckAnswer::skipped("The plugin has no passes.");
    }
    let mut findings: Vec<String> = Vec::new();
    for pass in subject.passes() {
        let found = subject.samples.iter().find_map(|sample| {
            let configure = |context: passdock_core::ContextBuilder| {
                let context = context.verify(verify);
                match immutable {
                    true => context.config("testing.immutable_module", true),
                    false => context,
                }
            };
            let error = subject.run(pass, &toml::Table::new(), sample, configure);
            let is_meant =
                |error: &PassError| subject.fault(error) == kind && is_own(pass.name(), error);
            let error = error.err().filter(is_meant)?;
            Some(told(pass.name(), &sample.name, &error))
        });
        findings.extend(found);
    }
    CheckAnswer::of(findings, Vec::new())
}

/// Whether a fault is told of this pass: one of a pass that it runs is told of that one.
fn is_own(pass: &str, error: &PassError) -> bool {
    error.pass.as_deref().is_none_or(|failed| failed == pass)
}

/// Which passes say of all samples that they can't: they weren't really tried.
fn refusals(subject: &Subject<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for pass in subject.passes() {
        let mut first = None;
        let runs = subject.samples.iter().all(|sample| {
            let made = subject.run(pass, &toml::Table::new(), sample, |context| context);
            match made {
                Ok(_) => false,
                Err(error) => {
                    if matches!(subject.fault(&error), Fault::Refusal | Fault::Unfit) {
                        first.get_or_insert_with(|| told(pass.name(), &sample.name, &error));
                    }
                    true
                }
            }
        });
        if let (true, Some(first)) = (runs, first) {
            notes.push(format!(
                "A pass takes no module of the corpus, so give it one with `--model`: {first}"
            ));
        }
    }
    notes
}
