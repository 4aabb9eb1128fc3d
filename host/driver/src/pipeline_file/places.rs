//! The spans of everything in a document, which are looked up for errors.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The spans of an entry of a table, or of an item of a list.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The keys from the document to it; of an item its index.
    pub(super) path: Vec<String>,
    /// The key; of an item that of the list.
    pub(crate) name: String,
    /// The span of the key; of an item that of the item.
    pub(crate) key: Range<usize>,
    /// The span of the value; of a table with a header of its own, of the header.
    pub(crate) value: Range<usize>,
}

impl Place {
    /// Returns the places of everything in a document, the outer ones first.
    pub(super) fn all(document: &DeTable<'_>) -> Vec<Place> {
        let mut places = Vec::new();
        add_entries(&mut places, &[], document);
        places.sort_by_key(|place| place.path.len());
        places
    }

    /// Returns the entries of the table whose value has this span.
    pub(super) fn entries_of<'p>(places: &'p [Place], table: &Range<usize>) -> Vec<&'p Place> {
        let Some(table) = places.iter().rfind(|place| place.value == *table) else {
            return Vec::new();
        };
        let inner = table.inner(places);
        inner
            .filter(|place| place.path.len() == table.path.len() + 1)
            .collect()
    }

    /// Returns the places of what is in the value, the outer ones first.
    pub(super) fn inner<'p>(&'p self, places: &'p [Place]) -> impl Iterator<Item = &'p Place> {
        let is_longer = |place: &&Place| place.path.len() > self.path.len();
        let inner = places.iter().filter(is_longer);
        inner.filter(|place| place.path.starts_with(&self.path))
    }
}

fn add_entries(places: &mut Vec<Place>, path: &[String], table: &DeTable<'_>) {
    for (key, value) in table {
        let path = [path, &[key.to_string()]].concat();
        add(places, path, key.get_ref(), key.span(), value);
    }
}

/// Adds the place of a value, and those of everything in it. TOML's reader limits how deep values nest.
fn add(
    places: &mut Vec<Place>,
    path: Vec<String>,
    name: &str,
    key: Range<usize>,
    value: &Spanned<DeValue<'_>>,
) {
    match value.get_ref() {
        DeValue::Table(table) => add_entries(places, &path, table),
        DeValue::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let path = [&*path, &[at.to_string()]].concat();
                add(places, path, name, item.span(), item);
            }
        }
        _ => {}
    }
    places.push(Place {
        path,
        name: name.to_owned(),
        key,
        value: value.span(),
    });
}
