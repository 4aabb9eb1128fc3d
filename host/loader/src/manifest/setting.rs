//! Options and config values as the contract hands them out.

use passdock_abi::{Setting, SettingItem, SettingKind, Str};

use super::FieldValue;

/// The place that items are kept at, as long as the setting lives.
type Keep<'k> = &'k mut dyn FnMut(Vec<SettingItem>) -> *const SettingItem;

/// A value as a setting, which points to the value's texts.
pub fn setting(value: &FieldValue, keep: Keep<'_>) -> Setting {
    match value {
        FieldValue::Bool(b) => from_bool(*b),
        FieldValue::Int(i) => from_int(*i),
        FieldValue::Float(x) => from_float(*x),
        FieldValue::String(text) => from_text(text),
        FieldValue::Strings(list) => {
            let items = list.iter().map(|text| item("", from_text(text)));
            from_items(SettingKind::LIST, items.collect(), keep)
        }
        FieldValue::Ints(table) => {
            let items = table
                .iter()
                .map(|(name, &value)| item(name, from_int(value)));
            from_items(SettingKind::TABLE, items.collect(), keep)
        }
        FieldValue::Values(table) => {
            let entries = table.iter();
            let items = entries.map(|(name, value)| item(name, from_toml(value, keep)));
            let items = items.collect();
            from_items(SettingKind::TABLE, items, keep)
        }
    }
}

/// A value in a table of values: a bool, a number, a string, or a list of these.
fn from_toml(value: &toml::Value, keep: Keep<'_>) -> Setting {
    match value {
        toml::Value::Boolean(b) => from_bool(*b),
        toml::Value::Integer(i) => from_int(*i),
        toml::Value::Float(x) => from_float(*x),
        toml::Value::String(text) => from_text(text),
        toml::Value::Array(values) => {
            let items = values.iter().map(|value| item("", from_toml(value, keep)));
            let items = items.collect();
            from_items(SettingKind::LIST, items, keep)
        }
        // No option accepts these.
        toml::Value::Datetime(_) | toml::Value::Table(_) => Setting::EMPTY,
    }
}

fn from_bool(value: bool) -> Setting {
    Setting {
        kind: SettingKind::BOOL,
        int: i64::from(value),
        ..Setting::EMPTY
    }
}

fn from_int(value: i64) -> Setting {
    Setting {
        kind: SettingKind::INT,
        int: value,
        ..Setting::EMPTY
    }
}

fn from_float(value: f64) -> Setting {
    Setting {
        kind: SettingKind::FLOAT,
        float: value,
        ..Setting::EMPTY
    }
}

fn from_text(text: &str) -> Setting {
    Setting {
        kind: SettingKind::STRING,
        string: Str::new(text),
        ..Setting::EMPTY
    }
}

fn from_items(kind: SettingKind, items: Vec<SettingItem>, keep: Keep<'_>) -> Setting {
    Setting {
        kind,
        item_count: items.len() as u32,
        item_stride: size_of::<SettingItem>() as u32,
        items: keep(items),
        ..Setting::EMPTY
    }
}

fn item(name: &str, value: Setting) -> SettingItem {
    SettingItem {
        name: Str::new(name),
        value,
    }
}
