//! Unified diffs of modules, in the format of `diff -u`.

use std::sync::Arc;

use crate::terminal;
use passdock_ir::{Function, Module, text};
use similar::TextDiff;

/// Maximum number of lines of a text to compare. A diff of longer texts takes too long, so only their sizes are shown.
const MAX_LINES: usize = 20_000;

/// Returns a unified diff of two modules' brief IR text, function by function. It is empty if the texts are equal.
/// Values have the same numbers in both. Names, locations and long data aren't compared, because brief text leaves them
/// out.
pub fn unified(a: &Module, b: &Module) -> String {
    let metadata = |module: &Module| -> String {
        let lines = module.metadata().iter();
        lines
            .map(|(key, value)| format!("metadata {key:?} = {value:?}\n"))
            .collect()
    };
    let mut out = difference("module", &metadata(a), &metadata(b));
    for new in b.functions() {
        let name = new.text(new.name());
        let old = a.function_named(name);
        if old.is_some_and(|old| Arc::ptr_eq(old, new)) {
            continue;
        }
        out.push_str(&unified_function(name, old.map(|f| &**f), Some(new)));
    }
    for old in a.functions() {
        let name = old.text(old.name());
        if b.function_named(name).is_none() {
            out.push_str(&unified_function(name, Some(old), None));
        }
    }
    out
}

/// Returns a unified diff of a function's text, which is empty if nothing differs.
fn unified_function(name: &str, old: Option<&Function>, new: Option<&Function>) -> String {
    let [old, new] = text::print_brief_pair(old, new);
    difference(&format!("@{}", terminal::safe_line(name)), &old, &new)
}

/// Colors a diff for terminals. Control characters are escaped.
pub fn colored(diff: &str) -> String {
    let diff = terminal::safe(diff);
    let color = |line: &str| match line.trim_start().as_bytes().first() {
        Some(b'+') => Some("32"),
        Some(b'-') => Some("31"),
        Some(b'~') => Some("33"),
        Some(b'@') => Some("36"),
        _ => None,
    };
    let lines = diff.lines().map(|line| match color(line) {
        Some(color) => format!("\x1b[{color}m{line}\x1b[0m\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

fn difference(heading: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (olds, news) = (old.lines().count(), new.lines().count());
    if olds.max(news) > MAX_LINES {
        return format!("{heading}: {olds} lines became {news}\n");
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff()
        .context_radius(2)
        .header(heading, heading)
        .to_string()
}
