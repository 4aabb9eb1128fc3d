//! The functions of a module: selection of those that a pass works on, and call order.

use std::collections::HashSet;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{CallGraph, nearest};

/// Returns the graph functions.
pub(crate) fn graph_functions(m: &Module<'_>) -> impl Iterator<Item = SymbolId> + use<> {
    let entries = m
        .functions()
        .filter(|entry| entry.kind == FunctionKind::GRAPH);
    entries.map(|entry| entry.name)
}

/// Returns the graph functions that don't skip optimization.
pub(crate) fn optimized_functions(m: &Module<'_>) -> Result<Vec<SymbolId>, EditError> {
    let mut names = Vec::new();
    for name in graph_functions(m) {
        if !m.snapshot(name)?.skips_optimization() {
            names.push(name);
        }
    }
    Ok(names)
}

/// Returns the graph functions without callers other than themselves.
pub(crate) fn entries(m: &Module<'_>) -> Result<Vec<SymbolId>, EditError> {
    let graph = m.call_graph()?;
    let is_entry = |&name: &SymbolId| graph.callers(name).all(|caller| caller == name);
    Ok(graph_functions(m).filter(is_entry).collect())
}

/// Returns all functions in post-order: each after its callees for which `is_followed` is true. Also returns cycles of
/// calls among these.
pub(crate) fn callees_first(
    graph: &CallGraph,
    is_followed: impl Fn(SymbolId) -> bool,
) -> (Vec<SymbolId>, Vec<Vec<SymbolId>>) {
    let callees = |caller| {
        let callees = graph.callees(caller).filter(|&name| is_followed(name));
        callees.collect::<Vec<_>>().into_iter()
    };
    let (mut order, mut done, mut open) = (Vec::new(), HashSet::new(), HashSet::new());
    let (mut circles, mut circular) = (Vec::new(), HashSet::<SymbolId>::new());
    for root in graph.functions().map(|entry| entry.name) {
        if done.contains(&root) {
            continue;
        }
        open.insert(root);
        let mut path = vec![(root, callees(root))];
        while let Some((caller, rest)) = path.last_mut() {
            let Some(callee) = rest.next() else {
                open.remove(caller);
                done.insert(*caller);
                order.push(*caller);
                path.pop();
                continue;
            };
            // Of several cycles that share a function, one is reported, as removing the function breaks all.
            if open.contains(&callee) {
                if !circular.contains(&callee) {
                    let names = path.iter().map(|(name, _)| *name);
                    let circle: Vec<SymbolId> = names.skip_while(|&name| name != callee).collect();
                    circular.extend(&circle);
                    circles.push(circle);
                }
            } else if !done.contains(&callee) {
                open.insert(callee);
                path.push((callee, callees(callee)));
            }
        }
    }
    (order, circles)
}

/// Returns an error about an unknown name, with the nearest known name and a list of all.
pub(crate) fn unknown(what: &str, name: &str, known: &[String]) -> PassError {
    let near = match nearest(name, known.iter().map(String::as_str)) {
        Some(other) => format!("; did you mean `{other}`?"),
        None => String::new(),
    };
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let known = match listed.is_empty() {
        true => "none".to_owned(),
        false => listed.join(", "),
    };
    PassError::config(format!(
        "the model has no {what} `{name}`; {what}s: {known}{near}"
    ))
}
