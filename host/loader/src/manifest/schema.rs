//! The schema of options: their fields, and the check of values against them.

use std::fmt;

use serde::Serialize;

use std::collections::BTreeMap;

use passdock_diagnostic::suggest;

use toml::Value;

use super::field::{FieldType, overlay};

/// The fields of a config key, or the options of a pass or an instrument.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Schema {
    /// The config key, or the name of the pass or instrument.
    pub key: String,
    /// The documentation of a config key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The fields. A single one with an empty name makes the option a scalar.
    pub fields: Vec<Field>,
}

/// A checked value of an option: its fields, usually with defaults filled in. The name of a scalar's field is `""`.
pub type ConfigValue = BTreeMap<String, Value>;

/// An option of a pass or of an instrument, or a field of a config key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The field's type.
    #[serde(rename = "type")]
    pub ty: FieldType,
    /// The default value.
    pub default: Value,
    /// Whether the field must be set, so that its default is ignored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mandatory: bool,
    /// The field's documentation.
    pub doc: String,
    /// The minimum and the maximum integer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(i64, i64)>,
    /// The allowed strings, or empty if all are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether undeclared fields become entries of this table.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
}

/// An error about a config key, a field or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The config key, or the name of the pass or instrument.
    pub key: String,
    /// The field, if the error is about one.
    pub field: Option<String>,
    /// The part that is invalid.
    pub part: InvalidPart,
    /// The message, without the help.
    pub message: String,
    /// The help on how to fix the error.
    pub help: Option<String>,
}

/// The invalid part, which is underlined in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidPart {
    /// The key isn't registered, or is registered already.
    Key,
    /// The field doesn't exist.
    Field,
    /// The value has another type, or is out of range.
    Value,
}

impl ConfigError {
    /// Creates an error without help.
    pub fn new(
        part: InvalidPart,
        key: &str,
        field: Option<&str>,
        message: impl Into<String>,
    ) -> ConfigError {
        ConfigError {
            key: key.to_owned(),
            field: field.map(str::to_owned),
            part,
            message: message.into(),
            help: None,
        }
    }

    /// Adds help on how to fix the error.
    pub fn help(mut self, help: impl Into<String>) -> ConfigError {
        self.help = Some(help.into());
        self
    }
}

impl Schema {
    /// Creates the schema of a pass's or an instrument's options, or of a config key.
    pub fn new(key: impl Into<String>, fields: Vec<Field>) -> Schema {
        Schema {
            key: key.into(),
            doc: String::new(),
            fields,
        }
    }

    /// Whether the option is a single value instead of a struct.
    pub fn is_scalar(&self) -> bool {
        matches!(self.fields.as_slice(), [field] if field.name.is_empty())
    }

    /// Returns the option's type for messages.
    pub fn type_name(&self) -> String {
        match self.fields.as_slice() {
            [field] if field.name.is_empty() => field.ty.name().to_owned(),
            fields => {
                let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                format!("a table of {{{}}}", names.join(", "))
            }
        }
    }

    /// Returns the default values of all fields that aren't mandatory.
    pub fn defaults(&self) -> ConfigValue {
        let pair = |field: &Field| (field.name.clone(), field.default.clone());
        let fields = self.fields.iter().filter(|field| !field.mandatory);
        fields.map(pair).collect()
    }

    /// Returns the first mandatory field that isn't set.
    pub fn missing(&self, is_set: impl Fn(&str) -> bool) -> Option<&Field> {
        let mut mandatory = self.fields.iter().filter(|field| field.mandatory);
        mandatory.find(|field| !is_set(&field.name))
    }

    /// Returns the table for undeclared fields, if any.
    fn rest(&self) -> Option<&Field> {
        self.fields.iter().find(|field| field.rest)
    }

    /// Returns the field that a name sets: the field of that name, or the table for undeclared ones.
    ///
    /// # Errors
    /// If there is no such field. The error suggests the nearest name.
    pub fn settable(&self, name: &str) -> Result<&Field, ConfigError> {
        match (self.field(name), self.rest()) {
            (Err(_), Some(rest)) => Ok(rest),
            (field, _) => field,
        }
    }

    /// Returns the field of this name.
    ///
    /// # Errors
    /// If there is no such field. The error suggests the nearest name.
    pub fn field(&self, name: &str) -> Result<&Field, ConfigError> {
        let field = self.fields.iter().find(|field| field.name == name);
        field.ok_or_else(|| {
            let names = || self.fields.iter().map(|field| field.name.as_str());
            let help = match suggest::help(name, names()) {
                _ if self.is_scalar() => format!("`{}` is {}", self.key, self.type_name()),
                Some(help) => help,
                None => format!("valid fields: {}", suggest::listed(names())),
            };
            let message = format!("unknown field `{name}` of `{}`", self.key);
            ConfigError::new(InvalidPart::Field, &self.key, Some(name), message).help(help)
        })
    }

    /// Checks a value, and adds defaults for missing fields.
    ///
    /// # Errors
    /// If a field is unknown, or a value has the wrong type, is out of range or not among the choices.
    pub fn accept(&self, value: &Value) -> Result<ConfigValue, ConfigError> {
        let mut accepted = self.defaults();
        for (name, value) in self.accept_part(value)? {
            match accepted.get_mut(&name) {
                Some(default) => overlay(default, value),
                None => _ = accepted.insert(name, value),
            }
        }
        Ok(accepted)
    }

    /// Checks a value, and returns only the fields that it sets. Undeclared fields become entries of the table for
    /// them.
    ///
    /// # Errors
    /// See [`Schema::accept`].
    pub fn accept_part(&self, value: &Value) -> Result<ConfigValue, ConfigError> {
        if self.is_scalar() {
            let value = self.fields[0].accept(value, &self.key)?;
            return Ok(ConfigValue::from([(String::new(), value)]));
        }
        let Some(table) = value.as_table() else {
            let message = format!(
                "invalid value for `{}`: expected {}, found {}",
                self.key,
                self.type_name(),
                value_text(value)
            );
            let part = InvalidPart::Value;
            return Err(ConfigError::new(part, &self.key, None, message));
        };
        let mut accepted = ConfigValue::new();
        // Declared fields come first, so that the error about an entry that is set twice is about its own name.
        let is_declared = |name: &String| self.fields.iter().any(|field| field.name == *name);
        let (declared, rest): (Vec<_>, Vec<_>) =
            table.iter().partition(|(name, _)| is_declared(name));
        for (name, value) in declared {
            let value = self.field(name)?.accept(value, &self.key)?;
            accepted.insert(name.clone(), value);
        }
        for (name, value) in rest {
            let field = self.settable(name)?;
            let entry = field.accept_entry(name, value, &self.key)?;
            let table = accepted
                .entry(field.name.clone())
                .or_insert_with(|| field.ty.zero());
            if table
                .as_table()
                .is_some_and(|table| table.contains_key(name))
            {
                let message = format!(
                    "duplicate entry `{name}`: set directly and in field `{}`",
                    field.name
                );
                let error = ConfigError::new(InvalidPart::Field, &self.key, Some(name), message);
                return Err(error.help("remove one of them"));
            }
            overlay(table, entry);
        }
        Ok(accepted)
    }
}

impl Field {
    /// Creates a field that accepts any value of a type, without documentation.
    pub fn new(name: impl Into<String>, ty: FieldType) -> Field {
        Field {
            name: name.into(),
            ty,
            default: ty.zero(),
            mandatory: false,
            doc: String::new(),
            range: None,
            choices: Vec::new(),
            rest: false,
        }
    }

    /// Describes the values that the field accepts, for lists: its type, its range or its choices.
    pub fn accepted_values(&self) -> String {
        if self.rest {
            return format!("NAME = {}", self.entry_rule());
        }
        match self.range {
            Some(range) => format!("{} {}", self.ty.name(), range_text(range)),
            None if self.choices.is_empty() => self.ty.name().to_owned(),
            None => format!(
                "one of {}",
                suggest::listed(self.choices.iter().map(String::as_str))
            ),
        }
    }

    /// Describes the values that an entry of the table accepts, for messages.
    fn entry_rule(&self) -> String {
        match (self.ty, self.range) {
            (FieldType::Ints, Some(range)) => {
                format!("{} {}", FieldType::Int.name(), range_text(range))
            }
            (FieldType::Ints, None) => FieldType::Int.name().to_owned(),
            _ => "a bool, a number, a string, or a list of these".to_owned(),
        }
    }

    /// Checks the value of one entry, and returns it in a table. `key` is for the message.
    fn accept_entry(&self, name: &str, value: &Value, key: &str) -> Result<Value, ConfigError> {
        let one = toml::Table::from_iter([(name.to_owned(), value.clone())]);
        let accepted = self.ty.accept(&Value::Table(one));
        if let Some(accepted) = accepted.filter(|table| self.in_range(table)) {
            return Ok(accepted);
        }
        let quoted = value
            .as_str()
            .filter(|text| self.ty == FieldType::Ints && text.trim().parse::<i64>().is_ok());
        let message = format!(
            "invalid value for `{name}` of `{key}`: expected {}, found {}",
            self.entry_rule(),
            value_text(value)
        );
        let mut error = ConfigError::new(InvalidPart::Value, key, Some(name), message);
        error.help = quoted.map(|text| format!("remove the quotes: {text}"));
        Err(error)
    }

    /// Whether all entries of a table are in the range.
    fn in_range(&self, table: &Value) -> bool {
        let (Some((min, max)), Some(table)) = (self.range, table.as_table()) else {
            return true;
        };
        let mut numbers = table.values().filter_map(Value::as_integer);
        numbers.all(|i| (min..=max).contains(&i))
    }

    /// Checks a value of this field. `key` is for the message.
    ///
    /// # Errors
    /// If the value has the wrong type, is out of range or not among the choices.
    pub fn accept(&self, value: &Value, key: &str) -> Result<Value, ConfigError> {
        if self.ty.is_table()
            && let Some(table) = value.as_table()
        {
            // Entries are checked individually, so that the message names the invalid one.
            let mut accepted = self.ty.zero();
            for (name, value) in table {
                overlay(&mut accepted, self.accept_entry(name, value, key)?);
            }
            return Ok(accepted);
        }
        let (rule, help) = match (self.ty.accept(value), self.range) {
            (Some(Value::Integer(i)), Some((min, max))) if i < min || i > max => {
                (self.accepted_values(), None)
            }
            (Some(Value::String(s)), _)
                if !self.choices.is_empty() && !self.choices.contains(&s) =>
            {
                let choices = || self.choices.iter().map(String::as_str);
                (self.accepted_values(), suggest::help(&s, choices()))
            }
            (Some(value), _) => return Ok(value),
            // A string isn't accepted as a list of one string.
            (None, _) if self.ty.zero().is_array() && value.is_str() => {
                let help = format!("did you mean `[{value}]`?");
                (self.ty.name().to_owned(), Some(help))
            }
            (None, _) => {
                let quoted = value.as_str().filter(|text| {
                    let read = text.parse::<Value>().ok();
                    read.is_some_and(|value| self.ty.accept(&value).is_some())
                });
                let help = quoted.map(|text| format!("remove the quotes: {text}"));
                (self.ty.name().to_owned(), help)
            }
        };
        let (what, field) = match self.name.as_str() {
            "" => (format!("`{key}`"), None),
            name => (format!("`{name}` of `{key}`"), Some(name)),
        };
        let message = format!(
            "invalid value for {what}: expected {rule}, found {}",
            value_text(value)
        );
        let mut error = ConfigError::new(InvalidPart::Value, key, field, message);
        error.help = help;
        Err(error)
    }
}

/// Formats the range of integers from a minimum to a maximum, for messages.
fn range_text(range: (i64, i64)) -> String {
    match range {
        (min, i64::MAX) => format!("≥ {min}"),
        (i64::MIN, max) => format!("≤ {max}"),
        (min, max) => format!("from {min} to {max}"),
    }
}

/// Formats a value for messages.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(s) => format!("{s:?}"),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Boolean(b) => b.to_string(),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}
