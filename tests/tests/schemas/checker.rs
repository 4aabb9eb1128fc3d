//! A checker for the part of JSON Schema that the schemas in `docs/schemas` use.

use passdock::toml;
use regex_lite::Regex;
use serde_json::{Map, Value, json};

/// A schema.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn new(text: &str) -> Schema {
        let schema = Schema(serde_json::from_str(text).expect("a schema is JSON"));
        schema.check_keywords(&schema.0);
        schema
    }

    /// Returns the definition of a name; for an empty name, the whole schema.
    pub(crate) fn definition(&self, name: &str) -> &Value {
        match name {
            "" => &self.0,
            name => &self.0["definitions"][name],
        }
    }

    /// Returns the names of all definitions with properties, including the whole schema.
    pub(crate) fn tables(&self) -> Vec<&str> {
        let definitions = self.0["definitions"].as_object().expect("definitions");
        let named = definitions.iter().map(|(name, _)| name.as_str());
        let all = named.chain([""]);
        all.filter(|name| self.definition(name)["properties"].is_object())
            .collect()
    }

    /// Returns the property names of a definition.
    pub(crate) fn keys(&self, name: &str) -> Vec<&str> {
        let properties = self.definition(name)["properties"].as_object();
        let properties = properties.unwrap_or_else(|| panic!("{name} has properties"));
        properties.keys().map(String::as_str).collect()
    }

    pub(crate) fn takes(&self, file: &toml::Table) -> bool {
        self.fits(&self.0, &json(&toml::Value::Table(file.clone())))
    }

    /// Returns the path in a value that doesn't match a definition.
    #[allow(dead_code, reason = "only answers are checked by parts")]
    pub(crate) fn misfit(&self, name: &str, value: &Value) -> Option<String> {
        self.misfit_in(self.definition(name), value, name)
    }

    fn misfit_in(&self, schema: &Value, value: &Value, path: &str) -> Option<String> {
        if self.fits(schema, value) {
            return None;
        }
        if let Some(reference) = schema.get("$ref") {
            return self.misfit_in(self.referred(reference), value, path);
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        let within = properties
            .filter_map(|(key, rule)| Some((format!("{path}.{key}"), rule, value.get(key)?)));
        let items = value.as_array().into_iter().flatten().enumerate();
        let items = items.map(|(at, item)| (format!("{path}[{at}]"), &schema["items"], item));
        let found = within
            .chain(items.filter(|(_, rule, _)| !rule.is_null()))
            .find_map(|(path, rule, part)| self.misfit_in(rule, part, &path));
        found.or_else(|| Some(format!("{path}: {value}")))
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let schema = match schema {
            Value::Bool(any) => return *any,
            Value::Object(schema) => schema,
            other => panic!("{other} is no schema"),
        };
        schema
            .iter()
            .all(|(keyword, rule)| self.obeys(schema, keyword, rule, value))
    }

    /// Whether a value satisfies one keyword. Keywords for other types are ignored.
    fn obeys(
        &self,
        schema: &Map<String, Value>,
        keyword: &str,
        rule: &Value,
        value: &Value,
    ) -> bool {
        let part = |pattern: &Value, part: &Value| self.fits(pattern, part);
        let mut rules = rule.as_array().into_iter().flatten();
        match keyword {
            "$ref" => self.fits(self.referred(rule), value),
            "type" => match rule.as_str() {
                Some(name) => is_of_type(value, name),
                None => rules.any(|name| is_of_type(value, name.as_str().expect("a type"))),
            },
            "enum" => rules.any(|choice| choice == value),
            "allOf" => rules.all(|rule| part(rule, value)),
            "anyOf" => rules.any(|rule| part(rule, value)),
            "not" => !part(rule, value),
            "if" => part(rule, value) || part(&schema["else"], value),
            "items" => match value.as_array() {
                Some(items) => items.iter().all(|item| part(rule, item)),
                None => true,
            },
            "required" => match value.as_object() {
                Some(table) => rules.all(|key| table.contains_key(key.as_str().expect("a key"))),
                None => true,
            },
            "properties" => match value.as_object() {
                Some(table) => rule
                    .as_object()
                    .expect("properties are a table")
                    .iter()
                    .all(|(key, rule)| table.get(key).is_none_or(|value| part(rule, value))),
                None => true,
            },
            "additionalProperties" => match value.as_object() {
                Some(table) => table
                    .iter()
                    .filter(|(key, _)| {
                        let properties = schema.get("properties");
                        properties
                            .and_then(|known| known.get(key.as_str()))
                            .is_none()
                    })
                    .all(|(_, value)| part(rule, value)),
                None => true,
            },
            "minimum" => value
                .as_i64()
                .is_none_or(|value| Some(value) >= rule.as_i64()),
            "maximum" => value
                .as_i64()
                .is_none_or(|value| Some(value) <= rule.as_i64()),
            "maxItems" => value
                .as_array()
                .is_none_or(|items| Some(items.len() as u64) <= rule.as_u64()),
            "minLength" => length(value).is_none_or(|length| Some(length) >= rule.as_u64()),
            "maxLength" => length(value).is_none_or(|length| Some(length) <= rule.as_u64()),
            "pattern" => value.as_str().is_none_or(|value| {
                let pattern = rule.as_str().expect("a pattern");
                Regex::new(pattern).expect("a pattern").is_match(value)
            }),
            "else" | "$schema" | "title" | "description" | "default" | "definitions" => true,
            other => panic!("a keyword that this checker doesn't know: {other}"),
        }
    }

    fn referred(&self, reference: &Value) -> &Value {
        let path = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let found = path.and_then(|path| self.0.pointer(path));
        found.unwrap_or_else(|| panic!("{reference} leads nowhere"))
    }

    /// Checks the keywords of a schema. A reference has no other keywords, because editors ignore them.
    fn check_keywords(&self, value: &Value) {
        if let Some(table) = value.as_object() {
            if let Some(reference) = table.get("$ref") {
                assert_eq!(table.len(), 1, "keys next to {reference}");
                self.referred(reference);
            }
            table.values().for_each(|value| self.check_keywords(value));
        }
        let items = value.as_array().into_iter().flatten();
        items.for_each(|value| self.check_keywords(value));
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        other => panic!("a type that this checker doesn't know: {other}"),
    }
}

fn length(value: &Value) -> Option<u64> {
    Some(value.as_str()?.chars().count() as u64)
}

/// Converts TOML to JSON. A date is neither string nor number.
fn json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => json!(text),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) => json!(number),
        toml::Value::Boolean(value) => json!(value),
        toml::Value::Datetime(_) => Value::Null,
        toml::Value::Array(items) => items.iter().map(json).collect(),
        toml::Value::Table(table) => {
            let entries = table.iter();
            let entries = entries.map(|(key, value)| (key.clone(), json(value)));
            Value::Object(entries.collect())
        }
    }
}
