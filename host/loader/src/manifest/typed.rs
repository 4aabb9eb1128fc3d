//! Options as Rust types: the structs that the SDK's `options!` declares, and scalars.

use passdock_plugin_api::__private::{OptionDefault, OptionSpec};
use passdock_plugin_api::{OptionValue, Options};

use super::field::FieldType;
use super::schema::{ConfigError, ConfigValue, Field, InvalidPart, Schema};

impl Schema {
    /// Creates the schema of a struct of options, or of a scalar.
    pub fn from_options<T: Options>(key: impl Into<String>) -> Schema {
        Schema::new(key, Field::from_options::<T>())
    }

    /// Checks that the fields are those of `T`.
    ///
    /// # Errors
    /// If a name or a type differs.
    pub fn check_type<T: Options>(&self) -> Result<(), ConfigError> {
        let is_same = |(own, spec): (&Field, &OptionSpec)| {
            own.name == spec.name && own.ty == field_type(spec.default)
        };
        match self.fields.len() == T::OPTIONS.len()
            && self.fields.iter().zip(T::OPTIONS).all(is_same)
        {
            true => Ok(()),
            false => Err(self.type_mismatch()),
        }
    }

    /// Converts a checked value to a `T`.
    ///
    /// # Errors
    /// If the value lacks a mandatory field, or doesn't fit `T`.
    pub fn read<T: Options>(&self, value: &ConfigValue) -> Result<T, ConfigError> {
        if let Some(missing) = self.missing(|name| value.contains_key(name)) {
            let message = format!(
                "missing required field `{}` of `{}`",
                missing.name, self.key
            );
            let part = InvalidPart::Value;
            return Err(ConfigError::new(part, &self.key, None, message));
        }
        let read = T::read(&|name| Ok(value.get(name).map(option_value)));
        read.map_err(|_| self.type_mismatch())
    }

    fn type_mismatch(&self) -> ConfigError {
        let message = format!(
            "config option `{}` is {}, not of the requested type",
            self.key,
            self.type_name()
        );
        ConfigError::new(InvalidPart::Value, &self.key, None, message)
    }
}

impl Field {
    /// Returns the fields of a struct of options. A scalar has one field with an empty name.
    pub fn from_options<T: Options>() -> Vec<Field> {
        let defaults = T::default().values().into_iter();
        let field = |(spec, default): (&OptionSpec, OptionValue)| {
            let ty = field_type(spec.default);
            let docs = spec.docs.iter();
            let docs: Vec<&str> = docs.map(|d| d.strip_prefix(' ').unwrap_or(d)).collect();
            Field {
                default: ty.accept(&toml_value(default)).unwrap_or(ty.zero()),
                mandatory: spec.mandatory,
                doc: docs.join("\n"),
                range: spec.range,
                choices: spec.choices.iter().map(|&choice| choice.into()).collect(),
                rest: spec.rest,
                ..Field::new(spec.name, ty)
            }
        };
        T::OPTIONS.iter().zip(defaults).map(field).collect()
    }
}

fn field_type(default: OptionDefault) -> FieldType {
    match default {
        OptionDefault::Bool(_) => FieldType::Bool,
        OptionDefault::Int(_) => FieldType::Int,
        OptionDefault::Float(_) => FieldType::Float,
        OptionDefault::Str(_) => FieldType::String,
        OptionDefault::Strs(_) => FieldType::Strings,
        OptionDefault::Rules(_) => FieldType::Rules,
        OptionDefault::Ints => FieldType::Ints,
        OptionDefault::Values => FieldType::Values,
    }
}

/// Converts a field's value for the SDK.
fn option_value(value: &toml::Value) -> OptionValue {
    match value {
        toml::Value::Boolean(value) => OptionValue::Bool(*value),
        toml::Value::Integer(value) => OptionValue::Int(*value),
        toml::Value::Float(value) => OptionValue::Float(*value),
        toml::Value::String(text) => OptionValue::String(text.clone()),
        toml::Value::Array(items) => OptionValue::List(items.iter().map(option_value).collect()),
        toml::Value::Table(table) => {
            let entries = table.iter();
            OptionValue::Table(
                entries
                    .map(|(name, v)| (name.clone(), option_value(v)))
                    .collect(),
            )
        }
        toml::Value::Datetime(date) => OptionValue::String(date.to_string()),
    }
}

/// Converts an option's value to TOML. A struct of options becomes a table of its fields.
pub fn toml_value(value: OptionValue) -> toml::Value {
    match value {
        OptionValue::Bool(value) => value.into(),
        OptionValue::Int(value) => value.into(),
        OptionValue::Float(value) => value.into(),
        OptionValue::String(text) => text.into(),
        OptionValue::List(items) => toml::Value::Array(items.into_iter().map(toml_value).collect()),
        OptionValue::Table(entries) => {
            let entries = entries.into_iter();
            toml::Value::Table(entries.map(|(name, v)| (name, toml_value(v))).collect())
        }
        // `OptionValue` is non-exhaustive, but the SDK has the host's version and therefore no other variants.
        other => other.to_string().into(),
    }
}
