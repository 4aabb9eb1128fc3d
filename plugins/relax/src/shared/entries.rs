//! The functions that a model's users call, and what they take and give by name.

use passdock_plugin_api::nearest;
use passdock_plugin_api::prelude::*;

/// The graph functions that no other one calls.
pub(crate) fn entries(m: &Module<'_>) -> Result<Vec<SymbolId>, EditError> {
    let graph = m.call_graph()?;
    let functions = graph
        .functions()
        .filter(|entry| entry.kind == FunctionKind::GRAPH);
    let names = functions.map(|entry| entry.name);
    Ok(names
        .filter(|&name| graph.callers(name).all(|caller| caller == name))
        .collect())
}

/// The sentence about a name that isn't among those that there are: the nearest, then all.
pub(crate) fn unknown(what: &str, name: &str, known: &[String]) -> PassError {
    let near = match nearest(name, known.iter().map(String::as_str)) {
        Some(other) => format!(" Did you mean `{other}`?"),
        None => String::new(),
    };
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let there = match listed.is_empty() {
        true => "none".to_owned(),
        false => listed.join(", "),
    };
    PassError::config(format!(
        "The model has no {what} `{name}`.{near} There are: {there}."
    ))
}
