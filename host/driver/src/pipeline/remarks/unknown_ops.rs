//! Operators of a model that nobody defines: legal, left alone by every pass, and said once a run.

use std::collections::BTreeMap;

use passdock_abi::SymbolId;
use passdock_core::{Diagnostic, OpDefs, Severity};
use passdock_ir::{Function, Module, OpName};

use super::{counts, graphs};

/// More operators of a domain than are named.
const SHOWN: usize = 8;

/// Says which operators the definitions don't know, by domain, with how many ops of each there are.
pub(in crate::pipeline) fn warning(module: &Module, defs: &OpDefs) -> Option<Diagnostic> {
    let mut domains: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for function in graphs(module) {
        for ((name, _), count) in counts(function) {
            if let Some((domain, operator)) = unknown(module, function, name, defs) {
                let found = domains.entry(domain).or_default();
                *found.entry(operator).or_default() += count;
            }
        }
    }
    if domains.is_empty() {
        return None;
    }
    let operators: usize = domains.values().map(BTreeMap::len).sum();
    let ops: usize = domains.values().flat_map(BTreeMap::values).sum();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let message = format!(
        "No plugin defines {operators} operator{} of the model ({ops} op{}).",
        plural(operators),
        plural(ops),
    );
    let mut diagnostic = Diagnostic::new(Severity::Warning, "unknown-operators", message);
    if defs.is_empty() {
        diagnostic.help = Some(
            "No plugin defines any op, and so passes can't infer types, evaluate, or erase what an op \
             leaves unused. The standard plugin `onnx-ops` defines ONNX's; `passdock list plugins` shows \
             what was found."
                .to_owned(),
        );
        return Some(diagnostic);
    }
    let notes = domains.iter().map(|(domain, found)| note(domain, found));
    diagnostic.notes = notes.collect();
    diagnostic.help = Some(
        "Passes leave such ops where they are and know nothing of their results. A plugin may define \
         them; `passdock list ops` shows what is defined."
            .to_owned(),
    );
    Some(diagnostic)
}

/// Domain and operator, if nobody says what it is: no definition, no function, not the IR itself.
fn unknown(
    module: &Module,
    function: &Function,
    name: SymbolId,
    defs: &OpDefs,
) -> Option<(String, String)> {
    let text = function.text(name);
    let parsed = OpName::parse(text)?;
    let domain = parsed.domain?;
    let imported = function.symbols().find(&domain);
    let version = imported.and_then(|domain| function.opset(domain));
    if module.function(name).is_some() || defs.knows(text, version) {
        return None;
    }
    let since = defs.first_version(text);
    let operator = match since {
        Some(since) => format!("{} (defined from version {since} on)", parsed.name),
        None => parsed.name.into_owned(),
    };
    let domain = if domain.is_empty() {
        "ONNX's own domain"
    } else {
        &domain
    };
    Some((domain.to_owned(), operator))
}

/// `com.acme: 12 Foo, 1 Bar`, the most frequent first.
fn note(domain: &str, found: &BTreeMap<String, usize>) -> String {
    let mut operators: Vec<(&String, &usize)> = found.iter().collect();
    operators.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let mut shown: Vec<String> = operators
        .iter()
        .take(SHOWN)
        .map(|(operator, count)| format!("{count} {operator}"))
        .collect();
    if operators.len() > SHOWN {
        shown.push(format!("{} more", operators.len() - SHOWN));
    }
    format!("{domain}: {}", shown.join(", "))
}
