//! The check of a plugin's instruments.

use std::sync::Arc;

use passdock_core::{
    ErrorKind, InstrumentDeclaration, InstrumentSetup, PassContext, PassError, PassInfo,
    create_function_pass,
};

use super::CheckResult;
use super::corpus::Sample;
use super::subject::{Subject, mandatory};

/// Checks that each instrument can observe the plugin's passes and a pass that does nothing.
pub(super) fn instruments(subject: &Subject<'_>) -> CheckResult {
    match subject.plugin.manifest().instruments.is_empty() {
        true => CheckResult::skipped("the plugin has no instruments"),
        false => CheckResult::new(findings(subject, |_| true), Vec::new()),
    }
}

/// Returns the first relevant error of each instrument.
pub(super) fn findings(
    subject: &Subject<'_>,
    is_relevant: impl Fn(&PassError) -> bool,
) -> Vec<String> {
    let all = subject.plugin.manifest().instruments.iter();
    let findings = all.filter_map(|instrument| {
        subject.samples.iter().find_map(|sample| {
            let error = observe(subject, instrument, sample).err();
            let error = error.filter(&is_relevant)?;
            let (name, sample) = (&instrument.name, &sample.name);
            Some(format!("`{name}` on {sample}: {}", error.message))
        })
    });
    findings.collect()
}

/// Runs passes on a sample under an instrument, reads its report, and drops it.
fn observe(
    subject: &Subject<'_>,
    instrument: &InstrumentDeclaration,
    sample: &Sample,
) -> Result<(), PassError> {
    let name = &instrument.name;
    let step = format!("observing passes on {} with `{name}`", sample.name);
    subject.trail.at(&step);
    let mut setup = InstrumentSetup::new(&subject.registry);
    setup.sink = Arc::new(|_| ());
    let options = mandatory(&instrument.options);
    let instrument = subject.registry.get_instrument(name, &options, &setup)?;
    let nothing = create_function_pass(PassInfo::new("check.transform.Nothing"), |_, _| Ok(()));
    let own = subject.passes().iter();
    let own = own.filter_map(|pass| subject.registry.get_pass(pass.name()).ok());
    for pass in [nothing].into_iter().chain(own) {
        let output = subject.call(pass, sample.fresh(), |context| {
            context.shared_instrument(instrument.clone())
        });
        // Errors of passes are reported by other checks.
        output.map(drop).or_else(|error| match error.kind {
            ErrorKind::Instrument => Err(error),
            _ => Ok(()),
        })?;
    }
    let context = PassContext::builder()
        .registry(&subject.registry)
        .shared_instrument(instrument)
        .build()?;
    context.scope(|cx| {
        let mut reports = cx.instrument_reports().into_iter();
        reports.try_for_each(|report| report.map(drop))
    })?;
    let endings = context.endings();
    drop(context);
    endings.take().map_or(Ok(()), Err)
}
