//! The tables of a manifest, read key by key. A value of another type than its key's is an error; a key that nothing
//! reads is a warning, since a newer plugin may say more.

use std::cell::RefCell;

use passdock_diagnostic::suggest;
use toml::{Table, Value};

use super::schema::shown;
use super::{ManifestWarning, read};
use crate::error::PluginErrorKind as Kind;
use crate::names;

/// The reason why an entry of a manifest can't be used.
pub(super) enum EntryError {
    /// The entry is wrong, and with it the manifest.
    Wrong(Kind),
    /// The entry has a word that this host doesn't know, so only this entry is left out.
    Unknown(UnknownWord),
}

/// A word of a manifest that this host doesn't know.
pub(super) struct UnknownWord {
    /// The description of the word: "kind `shader`".
    pub(super) what: String,
    /// The advice, if a known word is near.
    pub(super) help: Option<String>,
}

impl From<Kind> for EntryError {
    fn from(kind: Kind) -> EntryError {
        EntryError::Wrong(kind)
    }
}

impl From<UnknownWord> for EntryError {
    fn from(word: UnknownWord) -> EntryError {
        EntryError::Unknown(word)
    }
}

/// A table of a manifest that is being read.
pub(super) struct Entry<'t> {
    table: &'t Table,
    /// The place of a key in messages: " of pass `acme.transform.Fuse`".
    place: String,
    /// The keys that were read, whether the table has them or not.
    read: RefCell<Vec<&'static str>>,
    warnings: RefCell<Vec<ManifestWarning>>,
}

impl<'t> Entry<'t> {
    /// The whole manifest.
    pub(super) fn root(table: &'t Table) -> Entry<'t> {
        Entry::new(table, String::new())
    }

    fn new(table: &'t Table, place: String) -> Entry<'t> {
        Entry {
            table,
            place,
            read: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    /// Returns the name of the entry, or its key, as messages show it.
    pub(super) fn name(&self) -> String {
        let name = self.table.get("name").or_else(|| self.table.get("key"));
        names::shown(name.and_then(Value::as_str).unwrap_or_default())
    }

    /// Reads the value of a key with `convert`, which returns `None` for a value of another type.
    pub(super) fn value<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        convert: impl Fn(&'t Value) -> Option<T>,
    ) -> Result<Option<T>, Kind> {
        self.read.borrow_mut().push(key);
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        convert(value).map(Some).ok_or_else(|| Kind::ManifestType {
            what: format!("`{key}`{}", self.place),
            got: names::shown(&shown(value)),
            expected,
        })
    }

    pub(super) fn string(&self, key: &'static str) -> Result<Option<&'t str>, Kind> {
        self.value(key, "a string", Value::as_str)
    }

    pub(super) fn required_string(&self, key: &'static str) -> Result<&'t str, Kind> {
        self.string(key)?.ok_or_else(|| self.missing(key))
    }

    /// Reads a string, which is empty if there is none.
    pub(super) fn text(&self, key: &'static str) -> Result<String, Kind> {
        Ok(self.string(key)?.unwrap_or_default().to_owned())
    }

    /// Rejects texts that a terminal may not show.
    pub(super) fn check_texts(&self) -> Result<(), Kind> {
        let texts = self.table.iter();
        let mut hidden = texts.filter_map(|(key, value)| Some((key, hidden_text(value)?)));
        let Some((key, text)) = hidden.next() else {
            return Ok(());
        };
        let what = format!("`{}`{}", names::shown(key), self.place);
        let rule = "control characters other than newline and tab aren't allowed";
        Err(read::refused(what, names::shown(text), rule))
    }

    pub(super) fn bool(&self, key: &'static str) -> Result<bool, Kind> {
        let value = self.value(key, "a bool", Value::as_bool)?;
        Ok(value.unwrap_or_default())
    }

    pub(super) fn int(&self, key: &'static str) -> Result<Option<i64>, Kind> {
        self.value(key, "an int", Value::as_integer)
    }

    pub(super) fn strings(&self, key: &'static str) -> Result<Vec<&'t str>, Kind> {
        let convert = |value: &'t Value| value.as_array()?.iter().map(Value::as_str).collect();
        let strings = self.value(key, "a list of strings", convert)?;
        Ok(strings.unwrap_or_default())
    }

    pub(super) fn table(&self, key: &'static str) -> Result<Option<&'t Table>, Kind> {
        self.value(key, "a table", Value::as_table)
    }

    pub(super) fn array(&self, key: &'static str) -> Result<&'t [Value], Kind> {
        let array = self.value(key, "a list", Value::as_array)?;
        array.map(Vec::as_slice).ok_or_else(|| self.missing(key))
    }

    /// Reads a table in this one with `read`.
    pub(super) fn nested<T>(
        &self,
        kind: &str,
        table: &'t Table,
        read: impl FnOnce(&Entry<'t>) -> Result<T, EntryError>,
    ) -> Result<T, EntryError> {
        let mut entry = Entry::new(table, String::new());
        entry.place = match entry.name().as_str() {
            "" => format!(" of one {kind}{}", self.place),
            name => format!(" of {kind} `{name}`{}", self.place),
        };
        let result = read(&entry)?;
        self.warnings.borrow_mut().extend(entry.warnings());
        Ok(result)
    }

    /// Reads a list of tables, which is empty if there is none.
    pub(super) fn tables(&self, key: &'static str) -> Result<Vec<&'t Table>, Kind> {
        let convert = |value: &'t Value| value.as_array()?.iter().map(Value::as_table).collect();
        let tables = self.value(key, "a list of tables", convert)?;
        Ok(tables.unwrap_or_default())
    }

    /// Adds a warning about the entry.
    pub(super) fn warn(&self, message: String, help: Option<String>) {
        let warning = ManifestWarning { message, help };
        self.warnings.borrow_mut().push(warning);
    }

    /// Returns the warnings about the entry, which was read to its end: one for each key that wasn't read, with the
    /// nearest one that was.
    pub(super) fn warnings(self) -> Vec<ManifestWarning> {
        let read = self.read.into_inner();
        let unread = self
            .table
            .keys()
            .filter(|key| !read.contains(&key.as_str()));
        let unknown = unread.map(|key| ManifestWarning {
            message: format!("This host doesn't know the key `{key}`{}", self.place),
            help: suggest::help(key, read.iter().copied()),
        });
        unknown.chain(self.warnings.into_inner()).collect()
    }

    /// Returns the keys that were read, sorted.
    #[cfg(test)]
    pub(super) fn keys(&self) -> std::collections::BTreeSet<&'static str> {
        self.read.borrow().iter().copied().collect()
    }

    fn missing(&self, key: &'static str) -> Kind {
        Kind::ManifestMissing {
            key,
            place: self.place.clone(),
        }
    }
}

/// Finds a text in a value, or a key of a table, that a terminal may not show. The TOML parser limits how deep values
/// nest.
fn hidden_text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.as_str()).filter(|text| !names::is_text(text)),
        Value::Array(items) => items.iter().find_map(hidden_text),
        Value::Table(table) => table.iter().find_map(|(key, value)| {
            let key = Some(key.as_str()).filter(|key| !names::is_text(key));
            key.or_else(|| hidden_text(value))
        }),
        _ => None,
    }
}
