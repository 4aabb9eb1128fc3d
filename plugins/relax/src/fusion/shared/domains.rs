//! Domains of functions that passes made, taken back when the functions are gone.

use std::collections::BTreeSet;

use passdock_plugin_api::prelude::*;

/// What the domains begin with that passes make up. All others are the model's, or its user's.
pub(crate) const OWN: &str = "passdock.";

/// Takes back what functions import of our own domains, now that these functions were removed: where none of a domain
/// is left, and no op is of it.
///
/// # Errors
/// If the host refuses an edit.
pub fn take_back_domains(m: &mut Module<'_>, removed: &[SymbolId]) -> PassResult {
    let domains = removed
        .iter()
        .filter_map(|&name| m.text(name).rsplit_once('.'));
    let domains = domains.map(|(domain, _)| domain.to_owned());
    let mut domains: BTreeSet<String> = domains.filter(|domain| domain.starts_with(OWN)).collect();
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
        let is_used = |domain: &str| names.iter().any(|used| is_of(m.text(used.name), domain));
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

/// Whether a name is of a domain.
fn is_of(name: &str, domain: &str) -> bool {
    name.strip_prefix(domain)
        .is_some_and(|rest| rest.starts_with('.'))
}
