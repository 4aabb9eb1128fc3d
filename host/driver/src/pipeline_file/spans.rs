//! The spans of everything in a document, which are looked up for errors.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The spans of an entry of a table, or of an item of a list.
#[derive(Clone, Debug)]
pub(crate) struct EntrySpans {
    /// The keys from the document to it; of an item its index.
    pub(super) path: Vec<String>,
    /// The key; of an item that of the list.
    pub(crate) name: String,
    /// The span of the key; of an item that of the item.
    pub(crate) key: Range<usize>,
    /// The span of the value; of a table with a header of its own, of the header.
    pub(crate) value: Range<usize>,
}

impl EntrySpans {
    /// Returns the spans of everything in a document, the outer ones first.
    pub(super) fn all(document: &DeTable<'_>) -> Vec<EntrySpans> {
        let mut spans = Vec::new();
        add_entries(&mut spans, &[], document);
        spans.sort_by_key(|entry| entry.path.len());
        spans
    }

    /// Returns the entries of the table whose value has this span.
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

    /// Returns the spans of what is in the value, the outer ones first.
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

/// Adds the spans of a value, and those of everything in it. TOML's reader limits how deep values nest.
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
