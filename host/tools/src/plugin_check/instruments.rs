//! Instruments around passes.

use std::sync::Arc;

use passdock_core::{
    ErrorKind, InstrumentDeclaration, InstrumentSetup, PassError, PassInfo, create_function_pass,
};

use super::CheckAnswer;
use super::corpus::Sample;
use super::subject::{Subject, mandatory};

/// Each instrument watches the plugin's passes, and one that does nothing.
pub(super) fn instruments(subject: &Subject<'_>) -> CheckAnswer {
    let all = &subject.plugin.manifest().instruments;
    if all.is_empty() {
        return CheckAnswer::skipped("The plugin has no instruments.");
    }
    let mut findings = Vec::new();
    for instrument in all {
        let mut samples = subject.samples.iter();
        let fault = samples.find_map(|sample| {
            let error = watch(subject, instrument, sample).err()?;
            Some(format!(
                "`{}` on {}: {}",
                instrument.name, sample.name, error.message
            ))
        });
        findings.extend(fault);
    }
    CheckAnswer::of(findings, Vec::new())
}

/// Runs passes on a sample under an instrument, asks for its report, and frees it.
fn watch(
    subject: &Subject<'_>,
    instrument: &InstrumentDeclaration,
    sample: &Sample,
) -> Result<(), PassError> {
    let name = &instrument.name;
    subject
        .trail
        .at(&format!("`{name}` watched passes on {}", sample.name));
    let mut setup = InstrumentSetup::new(&subject.registry);
    setup.sink = Arc::new(|_| ());
    let options = mandatory(&instrument.options);
    let made = subject.registry.get_instrument(name, &options, &setup)?;
    let nothing = create_function_pass(PassInfo::new("check.transform.Nothing"), |_, _| Ok(()));
    let own = subject.passes().iter();
    let own = own.map(|pass| subject.registry.get_pass(pass.name()));
    // A pass whose names can't be looked up is another check's.
    for pass in [nothing].into_iter().chain(own.flatten()) {
        let called = subject.call(pass, sample.fresh(), |context| {
            context.shared_instrument(made.clone())
        });
        match called {
            Err(error) if error.kind == ErrorKind::Instrument => return Err(error),
            // What a pass does wrong is another check's.
            _ => {}
        }
    }
    let context = passdock_core::PassContext::builder()
        .registry(&subject.registry)
        .shared_instrument(made)
        .build()?;
    context.scope(|cx| {
        cx.instrument_reports()
            .into_iter()
            .try_for_each(|r| r.map(drop))
    })?;
    let endings = context.endings();
    drop(context);
    endings.take().map_or(Ok(()), Err)
}
