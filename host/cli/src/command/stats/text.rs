//! Text of a model's in lines and cells: escaped, and not too much of it.

use passdock::terminal;

use crate::show::{self, count};

/// A list has no more entries than this; the JSON has the rest.
pub(super) const MOST: usize = 40;
/// The characters that a name or value may have.
const MOST_CHARACTERS: usize = 100;

/// The text in place of a list's entries that aren't shown.
pub(super) fn more(entries: usize) -> Option<String> {
    let hidden = entries.checked_sub(MOST).filter(|&hidden| hidden > 0)?;
    let hidden = count(hidden as u64);
    Some(format!("… and {hidden} more (--json has all)"))
}

/// A name, as [`show::name`] shows it.
pub(super) fn name(name: &str) -> String {
    fit(show::name(name))
}

/// The beginning of a text that is too long for a line.
pub(super) fn fit(text: String) -> String {
    terminal::shortened(text, MOST_CHARACTERS)
}
