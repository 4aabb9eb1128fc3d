//! Strings of a model for lines and table cells, escaped and truncated.

use passdock::terminal;

use crate::show::{self, count};

/// Maximum number of entries shown for a list. The JSON has all.
pub(super) const MAX_ROWS: usize = 40;
/// Maximum number of characters of a name or value.
const MAX_CHARS: usize = 100;

/// Returns the line that reports how many entries of a list are hidden.
pub(super) fn more(entries: usize) -> Option<String> {
    let hidden = entries.checked_sub(MAX_ROWS).filter(|&hidden| hidden > 0)?;
    let hidden = count(hidden as u64);
    Some(format!("… and {hidden} more (--json has all)"))
}

/// Returns a name as [`show::name`] shows it, truncated.
pub(super) fn name(name: &str) -> String {
    fit(show::name(name))
}

/// Truncates a string to fit on a line.
pub(super) fn fit(text: String) -> String {
    terminal::shortened(text, MAX_CHARS)
}
