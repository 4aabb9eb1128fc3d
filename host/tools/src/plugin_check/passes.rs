//! The checks that run each pass on each module.

use passdock_core::{ContextBuilder, PassError, Verify, toml};
use passdock_driver::pipeline::UsedOperators;
use passdock_ir::Module;

use super::CheckResult;
use super::corpus::Sample;
use super::subject::{Subject, described};

/// Checks that passes resolve their names, don't panic, explain their errors, and leave valid modules.
pub(super) fn passes(subject: &Subject<'_>) -> CheckResult {
    let definitions = subject.registry.op_defs();
    let undefined = |sample: &Sample, output: &Module| {
        let used = UsedOperators::new(&sample.fresh());
        let first = used.invalid_ops(output, &definitions).into_iter().next();
        first.map(|(_, message)| message)
    };
    let verified = |context: ContextBuilder| context.verify(Verify::All);
    let mut result = survey(subject, verified, |_| true, undefined);
    for sequential in &subject.plugin.manifest().sequentials {
        let (name, sample) = (sequential.name(), &subject.samples[0]);
        subject.trail.at_pass(name, &sample.name);
        let pass = subject.registry.get_pass(name);
        let output = pass.and_then(|pass| subject.call(pass, sample.fresh(), |context| context));
        if let Err(error) = output
            && subject.is_fault(&error)
            && is_own(name, &error)
        {
            result.findings.push(described(name, &sample.name, &error));
        }
    }
    result.into_check(subject)
}

/// The faults of all passes, and the modules that they reject.
pub(super) struct PassSurvey {
    pub(super) findings: Vec<String>,
    rejections: Vec<String>,
    /// The number of passes that rejected all samples.
    rejecting_passes: usize,
}

/// Runs each pass on each sample and collects its first fault: an error for which `is_relevant` holds, or the message
/// that `check_output` returns for its output.
pub(super) fn survey(
    subject: &Subject<'_>,
    configure: impl Fn(ContextBuilder) -> ContextBuilder,
    is_relevant: impl Fn(&PassError) -> bool,
    check_output: impl Fn(&Sample, &Module) -> Option<String>,
) -> PassSurvey {
    let (mut findings, mut rejections, mut rejecting_passes) = (Vec::new(), Vec::new(), 0);
    for pass in subject.passes() {
        let name = pass.name();
        let samples = subject.samples.iter().filter(|one| one.concerns(pass.kind));
        let samples: Vec<&Sample> = samples.collect();
        let mut rejected = Vec::new();
        let fault = samples.iter().find_map(|sample| {
            match subject.run(pass, &toml::Table::new(), sample, &configure) {
                Ok(output) => check_output(sample, &output)
                    .map(|message| format!("`{name}` on {}: {message}", sample.name)),
                Err(error) if !subject.is_fault(&error) => {
                    rejected.push(described(name, &sample.name, &error));
                    None
                }
                // Faults of a pass that this one runs are reported for that pass.
                Err(error) if !is_own(name, &error) || !is_relevant(&error) => None,
                Err(error) => Some(described(name, &sample.name, &error)),
            }
        });
        if let (None, Some(first)) = (&fault, rejected.first()) {
            let (count, all) = (rejected.len(), samples.len());
            rejecting_passes += usize::from(count == all);
            rejections.push(format!("{count} of {all} modules rejected: {first}"));
        }
        findings.extend(fault);
    }
    PassSurvey {
        findings,
        rejections,
        rejecting_passes,
    }
}

impl PassSurvey {
    fn into_check(self, subject: &Subject<'_>) -> CheckResult {
        match subject.passes() {
            [] if self.findings.is_empty() => {
                CheckResult::skipped("the plugin has no passes to run")
            }
            passes if self.findings.is_empty() && self.rejecting_passes == passes.len() => {
                let reason =
                    "the passes reject all modules of the check; add a model with `--model`";
                CheckResult {
                    notes: self.rejections,
                    ..CheckResult::skipped(reason)
                }
            }
            _ => CheckResult::new(self.findings, self.rejections),
        }
    }
}

/// Whether a fault is in the pass itself, and not in another pass that it runs.
fn is_own(pass: &str, error: &PassError) -> bool {
    error.pass.as_deref().is_none_or(|failed| failed == pass)
}
