//! The spans of all entries in a document, for errors.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The spans of a table's entry or of a list's element.
#[derive(Clone, Debug)]
pub(crate) struct EntrySpans {
    /// The keys on the path from the root, with the indices of list elements.
    pub(super) path: Vec<String>,
    /// The key, or for an element the key of its list.
    pub(crate) name: String,
    /// The span of the key, or of the element.
    pub(crate) key: Range<usize>,
    /// The span of the value. If the value is a table with its own header, this is the span of the header.
    pub(crate) value: Range<usize>,
}

impl EntrySpans {
    /// Returns the spans of all entries in a document, each before the entries in its value.
    pub(super) fn all(document: &DeTable<'_>) -> Vec<EntrySpans> {
        let mut spans = Vec::new();
        add_entries(&mut spans, &[], document);
        spans
    }

    /// Returns the spans of all entries in the value of the entry at an index.
    pub(super) fn inner(spans: &[EntrySpans], at: usize) -> &[EntrySpans] {
        let inner = &spans[at + 1..];
        let depth = spans[at].path.len();
        let end = inner.iter().position(|entry| entry.path.len() <= depth);
        &inner[..end.unwrap_or(inner.len())]
    }

    /// Returns the entries of the table that is the value of the entry at an index.
    pub(super) fn entries(spans: &[EntrySpans], at: usize) -> impl Iterator<Item = &EntrySpans> {
        let depth = spans[at].path.len() + 1;
        let inner = EntrySpans::inner(spans, at).iter();
        inner.filter(move |entry| entry.path.len() == depth)
    }
}

fn add_entries(spans: &mut Vec<EntrySpans>, path: &[String], table: &DeTable<'_>) {
    for (key, value) in table {
        let path = [path, &[key.to_string()]].concat();
        add(spans, path, key.get_ref(), key.span(), value);
    }
}

/// Adds the spans of a value and of everything in it. The recursion is bounded by the TOML parser's nesting limit.
fn add(
    spans: &mut Vec<EntrySpans>,
    path: Vec<String>,
    name: &str,
    key: Range<usize>,
    value: &Spanned<DeValue<'_>>,
) {
    spans.push(EntrySpans {
        path: path.clone(),
        name: name.to_owned(),
        key,
        value: value.span(),
    });
    match value.get_ref() {
        DeValue::Table(table) => add_entries(spans, &path, table),
        DeValue::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let path = [&*path, &[at.to_string()]].concat();
                add(spans, path, name, item.span(), item);
            }
        }
        _ => {}
    }
}
