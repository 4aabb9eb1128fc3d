//! Opset imports of domains that passes created, which are removed with their functions.

use std::collections::BTreeSet;

use passdock_plugin_api::prelude::*;

use crate::shared::operators::DOMAIN_PREFIX;

/// Removes opset imports of passdock domains after functions were removed: those of domains that have no functions and
/// no ops any more.
///
/// # Errors
///
/// Fails if the host rejects an edit.
pub fn remove_domains(m: &mut Module<'_>, removed: &[SymbolId]) -> PassResult {
    let domains = removed
        .iter()
        .filter_map(|&name| m.text(name).rsplit_once('.'));
    let domains = domains.map(|(domain, _)| domain.to_owned());
    let mut domains: BTreeSet<String> = domains
        .filter(|domain| domain.starts_with(DOMAIN_PREFIX))
        .collect();
    let entries: Vec<_> = m.functions().collect();
    for entry in &entries {
        if let Some((domain, _)) = m.text(entry.name).rsplit_once('.') {
            domains.remove(domain);
        }
    }
    if domains.is_empty() {
        return Ok(());
    }
    for entry in entries.iter().filter(|f| f.kind == FunctionKind::GRAPH) {
        let f = m.snapshot(entry.name)?;
        let imports: Vec<&String> = domains
            .iter()
            .filter(|domain| f.opset(domain).is_some())
            .collect();
        if imports.is_empty() {
            continue;
        }
        let names = f.names()?;
        let is_used = |domain: &str| {
            let prefix = format!("{domain}.");
            let mut used = names.iter().map(|used| m.text(used.name));
            used.any(|name| name.starts_with(&prefix))
        };
        let unused: Vec<&String> = imports
            .into_iter()
            .filter(|domain| !is_used(domain))
            .collect();
        drop(f);
        for domain in unused {
            m.edit(entry.name)?.set_opset(domain, 0)?;
        }
    }
    Ok(())
}
