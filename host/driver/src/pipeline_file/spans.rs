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
    /// Returns the spans of all entries in a document, outermost first.
    pub(super) fn all(document: &DeTable<'_>) -> Vec<EntrySpans> {
        let mut spans = Vec::new();
        add_entries(&mut spans, &[], document);
        spans.sort_by_key(|entry| entry.path.len());
        spans
    }

    /// Returns the entries of the table whose value has a given span.
    pub(super) fn entries_of<'p>(
        spans: &'p [EntrySpans],
        table: &Range<usize>,
    ) -> Vec<&'p EntrySpans> {
        let Some(table) = spans.iter().rfind(|entry| entry.value == *table) else {
            return Vec::new();
        };
        let inner = table.inner(spans);
        inner
            .filter(|entry| entry.path.len() == table.path.len() + 1)
            .collect()
    }

    /// Returns the spans of all entries in the value, outermost first.
    pub(super) fn inner<'p>(
        &'p self,
        spans: &'p [EntrySpans],
    ) -> impl Iterator<Item = &'p EntrySpans> {
        let is_longer = |entry: &&EntrySpans| entry.path.len() > self.path.len();
        let inner = spans.iter().filter(is_longer);
        inner.filter(|entry| entry.path.starts_with(&self.path))
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
    spans.push(EntrySpans {
        path,
        name: name.to_owned(),
        key,
        value: value.span(),
    });
}
