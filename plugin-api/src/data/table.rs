//! [`Table`]: an option whose entries have names that the user chooses.

use super::setting::{OptionDefault, OptionType, OptionValue};

/// An option that is a table: entries with names that the user chooses, sorted by name. In
/// [`options!`](crate::options), its type is `Table<i64>` or `Table<OptionValue>`.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// let sizes: Table<i64> = vec![("batch".to_owned(), 8)].into_iter().collect();
/// assert_eq!(sizes.get("batch"), Some(&8));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    entries: Vec<(String, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table {
            entries: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    /// Returns the value of an entry.
    pub fn get(&self, name: &str) -> Option<&T> {
        let mut entries = self.entries.iter();
        entries.find(|(key, _)| key == name).map(|(_, v)| v)
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> + '_ {
        self.entries.iter().map(|(name, v)| (name.as_str(), v))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> FromIterator<(String, T)> for Table<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Table<T> {
        Table {
            entries: entries.into_iter().collect(),
        }
    }
}

impl<T> IntoIterator for Table<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<T: OptionType> OptionType for Table<T> {
    const ZERO: OptionDefault = match T::ZERO {
        OptionDefault::Int(_) => OptionDefault::Ints,
        _ => OptionDefault::Values,
    };

    fn from_value(value: &OptionValue) -> Option<Table<T>> {
        match value {
            OptionValue::Table(entries) => entries
                .iter()
                .map(|(name, value)| Some((name.clone(), T::from_value(value)?)))
                .collect(),
            _ => None,
        }
    }

    fn into_value(self) -> OptionValue {
        let entries = self.into_iter().map(|(name, v)| (name, v.into_value()));
        OptionValue::Table(entries.collect())
    }
}
