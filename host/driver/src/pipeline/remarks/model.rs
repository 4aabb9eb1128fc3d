//! Warnings about a model before the passes run: undefined operators, unsupported opsets, recursion.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use passdock_abi::SymbolId;
use passdock_core::{Diagnostic, OpDefs, Severity};
use passdock_ir::{Function, Module, OpName};

use super::{counts, graphs};
use crate::model_file::Format;
use crate::prepare::Request;

/// Maximum number of operators listed per domain.
const SHOWN: usize = 8;

/// Warns about recursive functions if the input or the output is an ONNX file. The IR allows them, ONNX doesn't.
pub(in crate::pipeline) fn recursion(request: &Request, module: &Module) -> Option<Diagnostic> {
    let mut paths = [Some(&request.model), request.output.as_ref()].into_iter();
    let is_onnx = |path: Option<_>| {
        path.is_some_and(|path| matches!(Format::from_path(path), Ok(Format::Onnx)))
    };
    if !paths.any(is_onnx) {
        return None;
    }
    let circle = passdock_onnx::recursion(module)?;
    Some(warning(
        "recursive-functions",
        format!("the model has recursive functions: {circle}"),
        "remove one of the calls; ONNX forbids recursion, and passdock writes such functions only unchanged",
    ))
}

/// Warns about imported opsets of ONNX that are newer than all op definitions, if the model has ops of their domains.
pub(in crate::pipeline) fn newer_opset(module: &Module, defs: &OpDefs) -> Option<Diagnostic> {
    let mut newest: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, since, _) in defs.iter() {
        if let Some(domain) = domain_of_onnx(name) {
            let newest = newest.entry(domain).or_default();
            *newest = since.max(*newest);
        }
    }
    let mut newer: BTreeMap<&str, i64> = BTreeMap::new();
    for function in graphs(module) {
        for (&domain, &known) in &newest {
            let imported = function.symbols().find(domain);
            let version = imported.and_then(|domain| function.opset(domain));
            if let Some(version) = version.filter(|&version| version > known)
                && uses(function, domain, defs)
            {
                let newest = newer.entry(domain).or_default();
                *newest = version.max(*newest);
            }
        }
    }
    let newer = newer.iter().map(|(domain, version)| {
        let newest_version = newest[domain];
        match *domain {
            "" => format!("opset {version} (newest supported: {newest_version})"),
            _ => format!("version {version} of `{domain}` (newest supported: {newest_version})"),
        }
    });
    let newer: Vec<String> = newer.collect();
    if newer.is_empty() {
        return None;
    }
    Some(warning(
        "newer-opset",
        format!("the model uses {}", newer.join(" and ")),
        "check the result with `--verify-outputs`, or use a newer `onnx-ops`; operators are treated as in their \
         newest supported version",
    ))
}

/// Returns the domain of an operator if its versions follow ONNX's releases. For other domains, the newest definition
/// may be older than the domain's version.
fn domain_of_onnx(name: &str) -> Option<&str> {
    match name.rsplit_once('.')?.0 {
        "onnx" => Some(""),
        domain => domain.starts_with("ai.onnx.").then_some(domain),
    }
}

/// Returns `true` if a function has an op with a definition in a domain.
fn uses(function: &Function, domain: &str, defs: &OpDefs) -> bool {
    let names = counts(function).into_keys();
    let mut names = names.map(|(name, _)| function.text(name));
    names.any(|name| domain_of_onnx(name) == Some(domain) && defs.knows(name, None))
}

/// Warns about operators that no plugin defines, with the number of ops per domain and operator. Such ops are valid,
/// but passes leave them alone.
pub(in crate::pipeline) fn unknown_ops(module: &Module, defs: &OpDefs) -> Option<Diagnostic> {
    let mut domains: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for function in graphs(module) {
        for ((name, _), count) in counts(function) {
            if let Some((domain, operator)) = unknown(module, function, name, defs) {
                let operators = domains.entry(domain).or_default();
                *operators.entry(operator).or_default() += count;
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
        "no plugin defines {operators} operator{} of the model ({ops} op{})",
        plural(operators),
        plural(ops),
    );
    if defs.is_empty() {
        return Some(warning(
            "unknown-operators",
            message,
            "load the standard plugin `onnx-ops`; without definitions, passes cannot infer types, evaluate ops or \
             erase unused ops; `passdock list plugins` lists the available plugins",
        ));
    }
    let mut warning = warning(
        "unknown-operators",
        message,
        "load a plugin that defines them; without definitions, passes leave these ops unchanged and cannot infer their \
         result types; `passdock list ops` lists the defined operators",
    );
    let notes = domains.iter();
    warning.notes = notes.map(|(domain, ops)| counted(domain, ops)).collect();
    Some(warning)
}

/// Returns the domain and operator of an op that has no definition, calls no function, and isn't part of the IR.
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
    let operator = match defs.first_version(text) {
        Some(since) => format!("{} (defined since version {since})", parsed.name),
        None => parsed.name.into_owned(),
    };
    let domain = match &*domain {
        "" => "ONNX's own domain",
        domain => domain,
    };
    Some((domain.to_owned(), operator))
}

/// Renders operators with their counts, most frequent first: `com.acme: 12 Foo, 1 Bar`.
fn counted(domain: &str, operators: &BTreeMap<String, usize>) -> String {
    let mut operators: Vec<(&String, &usize)> = operators.iter().collect();
    operators.sort_by_key(|&(_, count)| Reverse(count));
    let shown = operators.iter().take(SHOWN);
    let mut shown: Vec<String> = shown
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if operators.len() > SHOWN {
        shown.push(format!("{} more", operators.len() - SHOWN));
    }
    format!("{domain}: {}", shown.join(", "))
}

fn warning(code: &str, message: String, help: &str) -> Diagnostic {
    Diagnostic::new(Severity::Warning, code, message).help(help)
}
