//! Types and values of options and config fields, and their conversion from TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum FieldType {
    Bool,
    Int,
    Float,
    String,
    Strings,
    Rules,
    Ints,
    Values,
}

impl FieldType {
    /// The type's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Bool => "a bool",
            FieldType::Int => "an int",
            FieldType::Float => "a float",
            FieldType::String => "a string",
            FieldType::Strings => "a list of strings",
            FieldType::Rules => "a list of texts of rules",
            FieldType::Ints => "a table of ints",
            FieldType::Values => "a table of values",
        }
    }

    /// Whether the type is a table, whose entries the user names.
    pub fn is_table(self) -> bool {
        matches!(self, FieldType::Ints | FieldType::Values)
    }

    /// The default value of a field whose manifest gives none.
    pub fn zero(self) -> FieldValue {
        match self {
            FieldType::Bool => FieldValue::Bool(false),
            FieldType::Int => FieldValue::Int(0),
            FieldType::Float => FieldValue::Float(0.0),
            FieldType::String => FieldValue::String(String::new()),
            FieldType::Strings | FieldType::Rules => FieldValue::Strings(Vec::new()),
            FieldType::Ints => FieldValue::Ints(BTreeMap::new()),
            FieldType::Values => FieldValue::Values(BTreeMap::new()),
        }
    }

    /// The TOML value as a value of this type, if it is one: an integer is a float, too.
    pub fn accept(self, value: &toml::Value) -> Option<FieldValue> {
        match (self, value) {
            (FieldType::Bool, toml::Value::Boolean(b)) => Some(FieldValue::Bool(*b)),
            (FieldType::Int, toml::Value::Integer(i)) => Some(FieldValue::Int(*i)),
            (FieldType::Float, toml::Value::Float(x)) => Some(FieldValue::Float(*x)),
            (FieldType::Float, toml::Value::Integer(i)) => Some(FieldValue::Float(*i as f64)),
            (FieldType::String, toml::Value::String(s)) => Some(FieldValue::String(s.clone())),
            (FieldType::Strings | FieldType::Rules, toml::Value::Array(items)) => {
                let strings = items.iter().map(|item| item.as_str().map(str::to_owned));
                strings.collect::<Option<_>>().map(FieldValue::Strings)
            }
            (FieldType::Ints, toml::Value::Table(table)) => {
                let entries = table
                    .iter()
                    .map(|(name, value)| Some((name.clone(), value.as_integer()?)));
                entries.collect::<Option<_>>().map(FieldValue::Ints)
            }
            (FieldType::Values, toml::Value::Table(table)) => {
                let entries = table
                    .iter()
                    .map(|(name, value)| is_plain(value).then(|| (name.clone(), value.clone())));
                entries.collect::<Option<_>>().map(FieldValue::Values)
            }
            _ => None,
        }
    }
}

/// A value as TOML that is easy to read: strings between double quotes, lists on one line.
pub fn toml_text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => {
            let escaped = text.chars().map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            });
            format!("\"{}\"", escaped.collect::<String>())
        }
        toml::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_text).collect();
            format!("[{}]", items.join(", "))
        }
        toml::Value::Float(x) if x.is_nan() => "nan".to_owned(),
        toml::Value::Float(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}

/// Whether a value is a bool, a number, a string, or a list of these or of such lists.
fn is_plain(value: &toml::Value) -> bool {
    match value {
        toml::Value::Boolean(_) | toml::Value::Integer(_) | toml::Value::Float(_) => true,
        toml::Value::String(_) => true,
        // The TOML parser limits how deep arrays nest.
        toml::Value::Array(items) => items.iter().all(is_plain),
        toml::Value::Table(_) | toml::Value::Datetime(_) => false,
    }
}

/// A value of an option or of a config field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum FieldValue {
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
    Strings(Vec<String>),
    Ints(BTreeMap<String, i64>),
    Values(BTreeMap<String, toml::Value>),
}

impl FieldValue {
    /// The type of the value; texts of rules are strings.
    pub fn ty(&self) -> FieldType {
        match self {
            FieldValue::Bool(_) => FieldType::Bool,
            FieldValue::Int(_) => FieldType::Int,
            FieldValue::Float(_) => FieldType::Float,
            FieldValue::String(_) => FieldType::String,
            FieldValue::Strings(_) => FieldType::Strings,
            FieldValue::Ints(_) => FieldType::Ints,
            FieldValue::Values(_) => FieldType::Values,
        }
    }

    /// Overlays the value with a later layer's: entry by entry in a table, else as a whole.
    pub fn overlay(&mut self, later: FieldValue) {
        match (self, later) {
            (FieldValue::Ints(table), FieldValue::Ints(later)) => table.extend(later),
            (FieldValue::Values(table), FieldValue::Values(later)) => table.extend(later),
            (value, later) => *value = later,
        }
    }
}

impl std::fmt::Display for FieldValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FieldValue::Bool(b) => b.fmt(f),
            FieldValue::Int(i) => i.fmt(f),
            FieldValue::Float(x) => write!(f, "{x:?}"),
            FieldValue::String(s) => write!(f, "{s:?}"),
            FieldValue::Strings(list) => write!(f, "{list:?}"),
            FieldValue::Ints(table) => write_table(f, table),
            FieldValue::Values(table) => write_table(f, table),
        }
    }
}

fn write_table<T: std::fmt::Display>(
    f: &mut std::fmt::Formatter<'_>,
    table: &BTreeMap<String, T>,
) -> std::fmt::Result {
    if table.is_empty() {
        return f.write_str("{}");
    }
    let entries = table
        .iter()
        .map(|(key, value)| format!("{key:?} = {value}"));
    write!(f, "{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}
