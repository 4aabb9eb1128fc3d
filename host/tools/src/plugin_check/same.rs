//! Whether passes make the same: again, on several threads, and of what they made.

use passdock_core::{ManifestPass, PassError, toml};
use passdock_ir::{Module, text};

use super::CheckAnswer;
use super::answer::{PassOutput, first_difference};
use super::corpus::{self, Sample};
use super::subject::Subject;

/// How often the same is made in one process.
const TIMES: usize = 3;
/// More threads than one, on any machine.
const JOBS: usize = 8;

/// A pass makes the same of the same.
pub(super) fn determinism(subject: &Subject<'_>) -> CheckAnswer {
    if subject.passes().is_empty() {
        return CheckAnswer::skipped("There is no pass to run.");
    }
    let (mut findings, mut made) = (Vec::new(), Vec::new());
    for pass in subject.passes() {
        for sample in &subject.samples {
            let first = once(subject, pass, sample, 0);
            let mut again = (1..TIMES).map(|_| once(subject, pass, sample, 0));
            let what = format!("What `{}` makes of {}", pass.name(), sample.name);
            match again.find(|again| *again != first) {
                Some(other) => {
                    let place = first_difference(&first, &other);
                    findings.push(format!("{what} is another module each time{place}"));
                }
                None => made.push(PassOutput::new(what, first)),
            }
        }
    }
    CheckAnswer {
        made,
        ..CheckAnswer::of(findings, Vec::new())
    }
}

/// Passes that may run on several functions at once don't depend on whether they do.
pub(super) fn threads(subject: &Subject<'_>) -> CheckAnswer {
    let is_meant = |pass: &&ManifestPass| pass.declaration.thread_safe;
    let passes: Vec<&ManifestPass> = subject.passes().iter().filter(is_meant).collect();
    if passes.is_empty() {
        return CheckAnswer::skipped("No pass is declared `thread_safe`.");
    }
    let sample = match corpus::many() {
        Ok(sample) => sample,
        Err(error) => return CheckAnswer::skipped(error.to_string()),
    };
    let mut findings = Vec::new();
    for pass in passes {
        let alone = once(subject, pass, &sample, 1);
        let mut together = (0..TIMES).map(|_| once(subject, pass, &sample, JOBS));
        if let Some(made) = together.find(|made| *made != alone) {
            findings.push(format!(
                "`{}` makes another module of {} on {JOBS} threads than on one{}",
                pass.name(),
                sample.name,
                first_difference(&alone, &made)
            ));
        }
    }
    CheckAnswer::of(findings, Vec::new())
}

/// Which passes change what they made.
pub(super) fn idempotence(subject: &Subject<'_>) -> CheckAnswer {
    if subject.passes().is_empty() {
        return CheckAnswer::skipped("There is no pass to run.");
    }
    let mut notes = Vec::new();
    for pass in subject.passes() {
        let again = subject.samples.iter().find(|sample| {
            let made = subject.run(pass, &toml::Table::new(), sample, |context| context);
            let Ok(made) = made else {
                return false;
            };
            let after = text::print(&made);
            let next = Sample::of(format!("what it made of {}", sample.name), made);
            let next = subject.run(pass, &toml::Table::new(), &next, |context| context);
            next.is_ok_and(|next| text::print(&next) != after)
        });
        if let Some(sample) = again {
            notes.push(format!(
                "`{}` changes what it made of {}: a second run does more.",
                pass.name(),
                sample.name
            ));
        }
    }
    CheckAnswer::of(Vec::new(), notes)
}

/// What comes of a pass, as text: the module, or the error.
fn once(subject: &Subject<'_>, pass: &ManifestPass, sample: &Sample, jobs: usize) -> String {
    let made = subject.run(pass, &toml::Table::new(), sample, |context| {
        context.jobs(jobs)
    });
    shown(made)
}

fn shown(made: Result<Module, PassError>) -> String {
    match made {
        Ok(module) => text::print(&module),
        Err(error) => error.to_string(),
    }
}
