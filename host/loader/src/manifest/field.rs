//! Types and values of options and config fields, and their conversion from TOML.

use passdock_diagnostic::terminal::is_hidden;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::names;

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
    /// Returns the type's name for messages.
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Bool => "a bool",
            FieldType::Int => "an int",
            FieldType::Float => "a float",
            FieldType::String => "a string",
            FieldType::Strings => "a list of strings",
            FieldType::Rules => "a list of rules",
            FieldType::Ints => "a table of ints",
            FieldType::Values => "a table of values",
        }
    }

    /// Whether the type is a table with arbitrary keys.
    pub fn is_table(self) -> bool {
        matches!(self, FieldType::Ints | FieldType::Values)
    }

    /// Returns the default value of a field without a declared default.
    pub fn zero(self) -> Value {
        match self {
            FieldType::Bool => false.into(),
            FieldType::Int => 0.into(),
            FieldType::Float => 0.0.into(),
            FieldType::String => String::new().into(),
            FieldType::Strings | FieldType::Rules => Value::Array(Vec::new()),
            FieldType::Ints | FieldType::Values => Value::Table(Table::new()),
        }
    }

    /// Converts a value to this type. Integers are accepted as floats; other conversions return `None`.
    pub fn accept(self, value: &Value) -> Option<Value> {
        let fits = match (self, value) {
            (FieldType::Float, Value::Integer(i)) => return Some(Value::Float(*i as f64)),
            (FieldType::Bool, Value::Boolean(_))
            | (FieldType::Int, Value::Integer(_))
            | (FieldType::Float, Value::Float(_))
            | (FieldType::String, Value::String(_)) => true,
            (FieldType::Strings | FieldType::Rules, Value::Array(items)) => {
                items.iter().all(Value::is_str)
            }
            (FieldType::Ints, Value::Table(table)) => table.values().all(Value::is_integer),
            (FieldType::Values, Value::Table(table)) => table.values().all(is_plain),
            _ => false,
        };
        fits.then(|| value.clone())
    }
}

/// Overlays a value with that of a later layer. Tables are merged by key; other values are replaced.
pub fn overlay(value: &mut Value, later: Value) {
    match (value, later) {
        (Value::Table(table), Value::Table(later)) => table.extend(later),
        (value, later) => *value = later,
    }
}

/// Formats a value as readable TOML: strings in double quotes, lists on one line.
pub fn toml_text(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let escaped = text.chars().map(|c| match c {
                '"' | '\\' => format!("\\{c}"),
                '\n' => "\\n".to_owned(),
                c if is_hidden(c) => match u32::from(c) {
                    code @ ..=0xffff => format!("\\u{code:04x}"),
                    code => format!("\\U{code:08x}"),
                },
                c => c.to_string(),
            });
            format!("\"{}\"", escaped.collect::<String>())
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if !table.is_empty() => {
            let entries = table.iter();
            let entries =
                entries.map(|(key, value)| format!("{} = {}", toml_key(key), toml_text(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Table(_) => "{}".to_owned(),
        Value::Float(x) if x.is_nan() => "nan".to_owned(),
        Value::Float(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}

/// Formats a table as a file, with the headers of tables and of lists of tables.
pub fn toml_file(table: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, "", table);
    out
}

/// Writes a table below its header, which names it `path`.
fn write_table(out: &mut String, path: &str, table: &Table) {
    let is_table_list = |value: &Value| {
        let items = value.as_array().filter(|items| !items.is_empty());
        items.is_some_and(|items| items.iter().all(Value::is_table))
    };
    let (nested, plain): (Vec<_>, Vec<_>) = table
        .iter()
        .partition(|(_, value)| value.is_table() || is_table_list(value));
    for (key, value) in plain {
        *out += &format!("{} = {}\n", toml_key(key), toml_text(value));
    }
    for (key, value) in nested {
        let key = toml_key(key);
        let path = if path.is_empty() {
            key
        } else {
            format!("{path}.{key}")
        };
        let (header, tables) = match value {
            Value::Array(items) => (format!("[[{path}]]"), items.as_slice()),
            table => (format!("[{path}]"), std::slice::from_ref(table)),
        };
        for table in tables.iter().filter_map(Value::as_table) {
            let gap = if out.is_empty() { "" } else { "\n" };
            *out += &format!("{gap}{header}\n");
            write_table(out, &path, table);
        }
    }
}

/// Formats a TOML key, bare if possible.
fn toml_key(key: &str) -> String {
    match names::is_identifier(key) {
        true => key.to_owned(),
        false => toml_text(&key.into()),
    }
}

/// Whether a value is a bool, a number, a string, or a nested list of these.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Boolean(_) | Value::Integer(_) | Value::Float(_) => true,
        Value::String(_) => true,
        // The TOML parser limits the depth of arrays.
        Value::Array(items) => items.iter().all(is_plain),
        Value::Table(_) | Value::Datetime(_) => false,
    }
}
