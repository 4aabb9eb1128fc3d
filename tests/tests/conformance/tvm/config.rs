//! TVM's config options: `PassConfigManager`.

use std::collections::BTreeMap;

use toml::Value;

use super::{Thrown, thrown};

/// The options by key. TVM's hash map has no particular order.
pub(crate) type Options = BTreeMap<&'static str, Kind>;
pub(crate) type Values = BTreeMap<String, Value>;

/// The type of an option.
pub(crate) enum Kind {
    Bool,
    Int,
    /// Fields with their defaults.
    Struct(Vec<(&'static str, Value)>),
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Kind::Bool | Kind::Int => "IntImm",
            Kind::Struct(_) => "tir.transform.UnrollLoopConfig",
        }
    }
}

pub(super) fn options() -> Options {
    let fields = [
        ("auto_max_step", 0.into()),
        ("explicit_unroll", true.into()),
    ];
    BTreeMap::from([
        ("tir.limit", Kind::Int),
        ("tir.disable_vectorize", Kind::Bool),
        ("tir.UnrollLoop", Kind::Struct(fields.into())),
    ])
}

/// `PassConfigManager::Legalize`.
pub(super) fn legalize(options: &Options, set: Vec<(String, Value)>) -> Result<Values, Thrown> {
    let mut values = Values::new();
    for (key, value) in set {
        let kind = options.get(key.as_str()).ok_or_else(|| {
            let keys: Vec<&str> = options.keys().rev().copied().collect();
            let message = format!(
                "Invalid config option '{key}' candidates are: {}",
                keys.join(",")
            );
            thrown("config", message)
        })?;
        let result = match (kind, &value) {
            (Kind::Struct(fields), Value::Table(table)) => {
                if let Some(odd) = table.keys().find(|k| fields.iter().all(|f| f.0 != *k)) {
                    return Err(thrown(
                        "config",
                        format!("unexpected keyword argument '{odd}'"),
                    ));
                }
                let field = |(name, default): &(&str, Value)| {
                    let value = match (table.get(*name), default) {
                        (None, default) => default.clone(),
                        (Some(Value::Boolean(value)), Value::Integer(_)) => {
                            i64::from(*value).into()
                        }
                        (Some(Value::Integer(value)), Value::Boolean(_)) => (*value != 0).into(),
                        (Some(value), default) if value.same_type(default) => value.clone(),
                        (Some(_), Value::Boolean(_)) => false.into(),
                        (Some(_), _) => 0.into(),
                    };
                    ((*name).to_owned(), value)
                };
                Value::Table(fields.iter().map(field).collect())
            }
            (Kind::Bool, Value::Integer(value)) => (*value != 0).into(),
            (Kind::Int, Value::Boolean(value)) => i64::from(*value).into(),
            (Kind::Bool, Value::Boolean(_)) | (Kind::Int, Value::Integer(_)) => value,
            (kind, value) => {
                let (want, got) = (kind.name(), value.type_str());
                let message =
                    format!("Expect config {key} to have type {want}, but instead get {got}");
                return Err(thrown("config", message));
            }
        };
        // An integer has to fit in its type.
        let fits = |value: &Value| value.as_integer().is_none_or(|i| i32::try_from(i).is_ok());
        let all_fit = result
            .as_table()
            .map_or(fits(&result), |table| table.values().all(fits));
        if !all_fit {
            return Err(thrown(
                "config",
                format!("Integer value of {key} is out of range"),
            ));
        }
        values.insert(key, result);
    }
    Ok(values)
}

/// `PassContext::GetConfig` with the type that each key has in the scenarios.
pub(super) fn read(values: &Values, key: &str) -> Result<String, Thrown> {
    let shown = match values.get(key) {
        None => return Ok("not set".to_owned()),
        Some(Value::Table(table)) => {
            let fields: Vec<String> = table.values().map(Value::to_string).collect();
            fields.join(", ")
        }
        Some(value) => value.to_string(),
    };
    Ok(shown)
}

/// `PassContext::ListConfigs`.
pub(super) fn list(options: &Options) -> String {
    let shown = options
        .iter()
        .map(|(key, kind)| format!("{key} {}", kind.name()));
    shown.collect::<Vec<_>>().join("\n")
}
