//! Opsets of ONNX that are newer than every definition: an op takes the newest definition of its operator.

use std::collections::BTreeMap;

use passdock_core::{Diagnostic, OpDefs, Severity};
use passdock_ir::{Function, Module};

use super::{counts, graphs};

/// Warns of the newer opsets that ops of the model are in.
pub(in crate::pipeline) fn warning(module: &Module, defs: &OpDefs) -> Option<Diagnostic> {
    let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, since, _) in defs.iter() {
        if let Some(domain) = domain_of_onnx(name) {
            let newest = newest.entry(domain).or_default();
            *newest = since.max(*newest);
        }
    }
    let mut newer: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for function in graphs(module) {
        for (&domain, &known) in &newest {
            let imported = function.symbols().find(domain);
            let version = imported.and_then(|domain| function.opset(domain));
            if let Some(version) = version.filter(|&version| version > known)
                && uses(function, domain, defs)
            {
                let (newest, _) = newer.entry(domain).or_insert((version, known));
                *newest = version.max(*newest);
            }
        }
    }
    if newer.is_empty() {
        return None;
    }
    let newer = newer.iter().map(|(&domain, (version, known))| {
        let version = match domain {
            "" => format!("opset {version}"),
            _ => format!("version {version} of `{domain}`"),
        };
        format!("{version} (the newest known is {known})")
    });
    let newer: Vec<String> = newer.collect();
    let message = format!("The model uses {}.", newer.join(" and "));
    let mut diagnostic = Diagnostic::new(Severity::Warning, "newer-opset", message);
    diagnostic.help = Some(
        "An operator is treated as in the newest version that is known of it. If it has changed since, the result may \
            be \
         wrong: check it with `--verify-outputs`, or use a newer `onnx-ops`."
            .to_owned(),
    );
    Some(diagnostic)
}

/// The domain of an operator, if its versions are those of ONNX's releases. A plugin needn't define an operator in the
/// newest version of its own domain.
fn domain_of_onnx(name: &str) -> Option<&str> {
    match name.rsplit_once('.')?.0 {
        "onnx" => Some(""),
        domain => domain.starts_with("ai.onnx.").then_some(domain),
    }
}

/// Whether a function has ops of a domain that are defined.
fn uses(function: &Function, domain: &str, defs: &OpDefs) -> bool {
    let names = counts(function).into_keys();
    let mut names = names.map(|(name, _)| function.text(name));
    names.any(|name| domain_of_onnx(name) == Some(domain) && defs.knows(name, None))
}
