//! The functions that a model's users call, and what they take and give by name.

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
    let near = known
        .iter()
        .map(|other| (distance(name, other), other))
        .min()
        // Two letters of five may be wrong.
        .filter(|&(distance, other)| distance * 5 <= name.len().max(other.len()) * 2);
    let near = match near {
        Some((_, other)) => format!(" Did you mean `{other}`?"),
        None => String::new(),
    };
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let there = match listed.is_empty() {
        true => "none".to_owned(),
        false => listed.join(", "),
    };
    PassError::new(format!(
        "The model has no {what} `{name}`.{near} There are: {there}."
    ))
}

/// The number of letters to put in, take out or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
