//! What passes must not do, whatever they are given: panic, fail without a word, leave invalid IR, change
//! interfaces or the host's memory.

use passdock_core::{PanicStrategy, PassError, Verify, toml};
use passdock_driver::pipeline::UsedOperators;
use passdock_ir::Module;

use super::CheckAnswer;
use super::corpus::Sample;
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

/// Passes that fail say why.
pub(super) fn failures(subject: &Subject<'_>) -> CheckAnswer {
    survey(subject, Fault::Unexplained, Verify::Changed, false)
}

/// All that passes make is right.
pub(super) fn verifier(subject: &Subject<'_>) -> CheckAnswer {
    let defs = subject.registry.op_defs();
    let unfit = |sample: &Sample, made: &Module| {
        let wrong = UsedOperators::of(&sample.fresh()).wrong_in(made, &defs);
        wrong.into_iter().next().map(|(_, said)| said)
    };
    let mut answer = survey_with(subject, Fault::Invalid, Verify::All, false, unfit);
    answer.notes.extend(refusals(subject));
    answer
}

/// Interfaces stay, where nothing else is declared.
pub(super) fn interface(subject: &Subject<'_>) -> CheckAnswer {
    survey(subject, Fault::Interface, Verify::Changed, false)
}

/// The module that a pass was given stays what it was.
pub(super) fn read_only(subject: &Subject<'_>) -> CheckAnswer {
    // The verifier is off, so that a fault of this kind is of what was written into.
    survey(subject, Fault::Invalid, Verify::Off, true)
}

/// Runs all passes on all samples, and tells for each pass the first fault of a kind.
fn survey(subject: &Subject<'_>, kind: Fault, verify: Verify, immutable: bool) -> CheckAnswer {
    survey_with(subject, kind, verify, immutable, |_, _| None)
}

/// As [`survey`], and what is wrong with what a pass made of a sample.
fn survey_with(
    subject: &Subject<'_>,
    kind: Fault,
    verify: Verify,
    immutable: bool,
    wrong: impl Fn(&Sample, &Module) -> Option<String>,
) -> CheckAnswer {
    if subject.passes().is_empty() {
        return CheckAnswer::skipped("There is no pass to run.");
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
            let is_meant =
                |error: &PassError| subject.fault(error) == kind && is_own(pass.name(), error);
            match subject.run(pass, &toml::Table::new(), sample, configure) {
                Ok(made) => wrong(sample, &made)
                    .map(|said| format!("`{}` on {}: {said}", pass.name(), sample.name)),
                Err(error) => is_meant(&error).then(|| told(pass.name(), &sample.name, &error)),
            }
        });
        findings.extend(found);
    }
    CheckAnswer::of(findings, Vec::new())
}

/// Whether a fault is told of this pass: one of a pass that it runs is told of that one.
fn is_own(pass: &str, error: &PassError) -> bool {
    error.pass.as_deref().is_none_or(|failed| failed == pass)
}

/// Which passes say of samples that they can't, which they may; they weren't tried on these.
fn refusals(subject: &Subject<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for pass in subject.passes() {
        let mut refused = Vec::new();
        let samples = subject.samples.iter();
        let samples: Vec<_> = samples.filter(|one| one.concerns(pass.kind)).collect();
        for sample in &samples {
            let made = subject.run(pass, &toml::Table::new(), sample, |context| context);
            let error = made.err();
            let is_refusal =
                |error: &PassError| matches!(subject.fault(error), Fault::Refusal | Fault::Unfit);
            let error = error.filter(is_refusal);
            refused.extend(error.map(|error| told(pass.name(), &sample.name, &error)));
        }
        let (count, all) = (refused.len(), samples.len());
        let Some(first) = refused.first() else {
            continue;
        };
        let help = match count == all {
            true => " So it wasn't tried: give it a module that it takes with `--model`.",
            false => "",
        };
        notes.push(format!(
            "It refuses {count} of {all} modules: {first}{help}"
        ));
    }
    notes
}
