//! The tables of a manifest, read key by key. A value of the wrong type is an error. An unknown key is a warning, since
//! newer plugins may have more keys.

use std::cell::RefCell;

use passdock_diagnostic::{InvalidShape, suggest};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, IntoDeserializer};
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

use super::schema::value_text;
use super::{ManifestWarning, read};
use crate::error::PluginErrorKind as Kind;
use crate::names;

/// The reason why an entry of a manifest can't be used.
pub(super) enum EntryError {
    /// The entry is invalid, and so is the manifest.
    Invalid(Kind),
    /// The entry has an unknown enum value, such as "kind `shader`", so only this entry is skipped. The second string
    /// is help, if a known value is near.
    Unknown(String, Option<String>),
}

impl From<Kind> for EntryError {
    fn from(kind: Kind) -> EntryError {
        EntryError::Invalid(kind)
    }
}

/// A parsed value. Its strings are parts of the text, so that parsing a manifest allocates little.
pub(super) type Item<'t> = Spanned<DeValue<'t>>;

/// A table of a manifest that is being read.
pub(super) struct Entry<'t> {
    table: &'t DeTable<'t>,
    /// The kind of entry and the entry that contains it; `None` for the whole manifest.
    parent: Option<(&'t str, &'t Entry<'t>)>,
    /// The keys that were requested, whether the table has them or not.
    read: RefCell<Vec<&'static str>>,
    warnings: RefCell<Vec<ManifestWarning>>,
}

impl<'t> Entry<'t> {
    /// Creates the entry of the whole manifest.
    pub(super) fn root(table: &'t DeTable<'t>) -> Entry<'t> {
        Entry::new(table, None)
    }

    fn new(table: &'t DeTable<'t>, parent: Option<(&'t str, &'t Entry<'t>)>) -> Entry<'t> {
        Entry {
            table,
            parent,
            read: RefCell::new(Vec::with_capacity(16)),
            warnings: RefCell::default(),
        }
    }

    /// Returns the name of the entry, or its key, for messages.
    pub(super) fn name(&self) -> String {
        let name = self.table.get("name").or_else(|| self.table.get("key"));
        let name = name.and_then(|name| name.get_ref().as_str());
        names::escaped(name.unwrap_or_default())
    }

    /// Returns the suffix for keys in messages, such as " of pass `acme.transform.Fuse`".
    fn location(&self) -> String {
        let Some((kind, parent)) = self.parent else {
            return String::new();
        };
        match self.name().as_str() {
            "" => format!(" of one {kind}{}", parent.location()),
            name => format!(" of {kind} `{name}`{}", parent.location()),
        }
    }

    /// Reads the value of a key with `convert`, which returns `None` for a value of another type.
    pub(super) fn value<T>(
        &self,
        key: &'static str,
        expected: &str,
        convert: impl Fn(&'t Item<'t>) -> Option<T>,
    ) -> Result<Option<T>, Kind> {
        self.read.borrow_mut().push(key);
        let value = self.table.get(key);
        let convert = |value| {
            convert(value).ok_or_else(|| self.type_mismatch(key, &described(value), expected))
        };
        value.map(convert).transpose()
    }

    /// Reads the value of a key, if the entry has it.
    pub(super) fn get<T: DeserializeOwned>(
        &self,
        key: &'static str,
    ) -> Result<Option<T>, EntryError> {
        // Serde would deserialize a date as a string.
        let undated = |value: &'t Item<'t>| (!has_date(value)).then(|| value.clone());
        let value = self.value(key, "another value", undated)?;
        let value = value.map(|value| T::deserialize(ValueDeserializer::from(value)));
        let value = value.transpose();
        value.map_err(|error| match InvalidShape::parse(error.message()) {
            InvalidShape::TypeMismatch { got, expected } => {
                self.type_mismatch(key, got, expected).into()
            }
            _ => self
                .type_mismatch(key, error.message(), "another value")
                .into(),
        })
    }

    /// Reads the enum value of a key, if the entry has it.
    pub(super) fn enum_value<T: DeserializeOwned>(
        &self,
        key: &'static str,
    ) -> Result<Option<T>, EntryError> {
        let enum_value = self.get::<String>(key)?;
        let read = enum_value.map(|enum_value| T::deserialize(enum_value.into_deserializer()));
        read.transpose().map_err(|error: de::value::Error| {
            let message = error.to_string();
            let (enum_value, valid) = match InvalidShape::parse(&message) {
                InvalidShape::UnknownVariant(enum_value, valid) => (enum_value, valid),
                _ => ("", Vec::new()),
            };
            let what = format!("{key} `{}`", names::escaped(enum_value));
            EntryError::Unknown(what, suggest::help(enum_value, valid))
        })
    }

    /// Reads a list of tables, which is empty if the entry doesn't have it.
    pub(super) fn tables(&self, key: &'static str) -> Result<Vec<&'t DeTable<'t>>, Kind> {
        let convert = |value: &'t Item<'t>| {
            let items = value.get_ref().as_array()?.iter();
            items.map(|item| item.get_ref().as_table()).collect()
        };
        let tables = self.value(key, "a list of tables", convert)?;
        Ok(tables.unwrap_or_default())
    }

    /// Reads the value of a required key.
    pub(super) fn required<T: DeserializeOwned>(&self, key: &'static str) -> Result<T, EntryError> {
        Ok(self.get(key)?.ok_or_else(|| self.missing(key))?)
    }

    /// Reads the enum value of a required key.
    pub(super) fn required_enum_value<T: DeserializeOwned>(
        &self,
        key: &'static str,
    ) -> Result<T, EntryError> {
        Ok(self.enum_value(key)?.ok_or_else(|| self.missing(key))?)
    }

    /// Returns the error about a missing key.
    pub(super) fn missing(&self, key: &'static str) -> Kind {
        let location = self.location();
        Kind::ManifestMissing { key, location }
    }

    /// Reads the value of a key, or returns the default if the entry doesn't have it.
    pub(super) fn optional<T: DeserializeOwned + Default>(
        &self,
        key: &'static str,
    ) -> Result<T, EntryError> {
        Ok(self.get(key)?.unwrap_or_default())
    }

    /// Returns the error about a value of the wrong type.
    fn type_mismatch(&self, key: &str, got: &str, expected: &str) -> Kind {
        Kind::ManifestType {
            what: format!("`{key}`{}", self.location()),
            got: names::escaped(got),
            expected: expected.to_owned(),
        }
    }

    /// Rejects strings with control characters.
    pub(super) fn check_texts(&self) -> Result<(), Kind> {
        let texts = self.table.iter();
        let mut hidden = texts.filter_map(|(key, value)| Some((key, hidden_text(value)?)));
        let Some((key, text)) = hidden.next() else {
            return Ok(());
        };
        let what = format!("`{}`{}", names::escaped(key.get_ref()), self.location());
        let rule = "no control characters other than newline and tab";
        Err(read::invalid(what, names::escaped(text), rule))
    }

    /// Reads a nested table with `read`.
    pub(super) fn nested<T>(
        &self,
        kind: &str,
        table: &DeTable<'_>,
        read: impl FnOnce(&Entry<'_>) -> Result<T, EntryError>,
    ) -> Result<T, EntryError> {
        let entry = Entry::new(table, Some((kind, self)));
        let result = read(&entry)?;
        self.warnings.borrow_mut().extend(entry.warnings());
        Ok(result)
    }

    /// Adds a warning about the entry.
    pub(super) fn warn(&self, message: String, help: Option<String>) {
        let warning = ManifestWarning { message, help };
        self.warnings.borrow_mut().push(warning);
    }

    /// Returns the warnings about an entry after reading it: one for each key that wasn't requested, with the nearest
    /// one that was.
    pub(super) fn warnings(self) -> Vec<ManifestWarning> {
        let read = self.read.borrow();
        let keys = self.table.keys().map(|key| &**key.get_ref());
        let unread = keys.filter(|key| !read.contains(key));
        let unknown = unread.map(|key| ManifestWarning {
            message: format!("unknown key `{key}`{}", self.location()),
            help: suggest::help(key, read.iter().copied()),
        });
        unknown.chain(self.warnings.take()).collect()
    }

    /// Returns the keys that were read, sorted.
    #[cfg(test)]
    pub(super) fn keys(&self) -> std::collections::BTreeSet<&'static str> {
        self.read.borrow().iter().copied().collect()
    }
}

/// Finds a string with control characters in a value, including keys of tables. The TOML parser limits the depth of
/// values.
fn hidden_text<'v>(value: &'v Item<'_>) -> Option<&'v str> {
    match value.get_ref() {
        DeValue::String(text) => Some(&**text).filter(|text| !names::is_text(text)),
        DeValue::Array(items) => items.iter().find_map(hidden_text),
        DeValue::Table(table) => table.iter().find_map(|(key, value)| {
            let key = Some(&**key.get_ref()).filter(|key| !names::is_text(key));
            key.or_else(|| hidden_text(value))
        }),
        _ => None,
    }
}

/// Converts a parsed value to an owned one. `None` if a number is out of range.
pub(super) fn owned(value: &Item<'_>) -> Option<Value> {
    Value::deserialize(ValueDeserializer::from(value.clone())).ok()
}

/// Formats a parsed value for messages.
pub(super) fn described(value: &Item<'_>) -> String {
    let value = owned(value);
    value.map_or("a number out of range".to_owned(), |value| {
        value_text(&value)
    })
}

/// Whether a value contains a date.
pub(super) fn has_date(value: &Item<'_>) -> bool {
    match value.get_ref() {
        DeValue::Datetime(_) => true,
        DeValue::Array(items) => items.iter().any(has_date),
        DeValue::Table(table) => table.values().any(has_date),
        _ => false,
    }
}
