//! Conversion of options and config values to the plugin ABI.

use passdock_abi::{Setting, SettingItem, SettingKind, Str};
use toml::Value;

/// A function that stores items for as long as the setting lives, and returns their address.
type Keep<'k> = &'k mut dyn FnMut(Vec<SettingItem>) -> *const SettingItem;

/// Converts a value to a setting, which points to the value's strings.
pub fn setting(value: &Value, keep: Keep<'_>) -> Setting {
    let empty = Setting::EMPTY;
    match value {
        Value::Boolean(b) => Setting {
            kind: SettingKind::BOOL,
            int: i64::from(*b),
            ..empty
        },
        Value::Integer(i) => Setting {
            kind: SettingKind::INT,
            int: *i,
            ..empty
        },
        Value::Float(x) => Setting {
            kind: SettingKind::FLOAT,
            float: *x,
            ..empty
        },
        Value::String(text) => Setting {
            kind: SettingKind::STRING,
            string: Str::new(text),
            ..empty
        },
        Value::Array(values) => {
            let items = values.iter().map(|value| item("", value, keep));
            let items = items.collect();
            from_items(SettingKind::LIST, items, keep)
        }
        Value::Table(table) => {
            let items = table.iter().map(|(name, value)| item(name, value, keep));
            let items = items.collect();
            from_items(SettingKind::TABLE, items, keep)
        }
        // No option accepts a date.
        Value::Datetime(_) => empty,
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

fn item(name: &str, value: &Value, keep: Keep<'_>) -> SettingItem {
    SettingItem {
        name: Str::new(name),
        value: setting(value, keep),
    }
}
