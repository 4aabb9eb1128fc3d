//! The names in a plugin: of passes that its passes require or run, of its Sequentials' children.

use passdock_core::{PassError, suggest, toml};

use super::CheckAnswer;
use super::subject::{Fault, Subject, told};

/// All names stand for passes that are there, and no pass leads to itself.
pub(super) fn requirements(subject: &Subject<'_>) -> CheckAnswer {
    let manifest = subject.plugin.manifest();
    if manifest.passes.is_empty() && manifest.sequentials.is_empty() {
        return CheckAnswer::skipped("The plugin has no passes.");
    }
    let mut findings = Vec::new();
    for pass in subject.passes() {
        let mut missing = pass.declaration.info.required.iter();
        let missing = missing.find(|name| !subject.registry.contains(name));
        if let Some(name) = missing {
            let known = subject.registry.pass_names();
            let near = suggest::help(name, known.iter().map(String::as_str));
            let help = near.unwrap_or_else(|| {
                "Name the plugin that has it with `--plugin` or `--plugin-dir`.".to_owned()
            });
            let of = pass.name();
            findings.push(format!(
                "`{of}` requires `{name}`, which isn't there. {help}"
            ));
            continue;
        }
        let faults = subject.samples.iter().filter_map(|sample| {
            let error = subject.run(pass, &toml::Table::new(), sample, |context| context);
            Some((sample, error.err()?))
        });
        let mut faults = faults.filter(|(_, error)| is_of_names(subject, error));
        if let Some((sample, error)) = faults.next() {
            findings.push(told(pass.name(), &sample.name, &error));
        }
    }
    for sequential in &manifest.sequentials {
        let name = sequential.name();
        subject.trail.at(&format!("`{name}` was looked up"));
        let found = subject.registry.get_pass(name);
        let checked = found.and_then(|pass| {
            let Some(sample) = subject.samples.first() else {
                return Ok(());
            };
            subject
                .call(pass, sample.fresh(), |context| context)
                .map(drop)
        });
        match checked {
            Err(error) if is_of_names(subject, &error) => {
                findings.push(told(name, "any module", &error));
            }
            _ => {}
        }
    }
    CheckAnswer::of(findings, Vec::new())
}

fn is_of_names(subject: &Subject<'_>, error: &PassError) -> bool {
    matches!(subject.fault(error), Fault::Names | Fault::Config)
}
