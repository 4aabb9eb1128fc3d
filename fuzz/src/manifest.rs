//! What is asserted of reading a plugin's manifest.

use passdock_loader::PluginErrorKind;
use passdock_loader::manifest::{Manifest, toml_text};
use toml::{Table, Value};

use super::memory::bounded;

/// The manifest's kinds of entries, and those of them that may be left out.
const ENTRIES: [(&str, bool); 5] = [
    ("pass", true),
    ("sequential", false),
    ("config", true),
    ("op", false),
    ("instrument", true),
];

/// Reads the bytes of the manifest in a library, which are this text and a NUL. It is an error that
/// names a place, or each of its entries is in what was read or in what was left out, and all of it
/// can be shown. `true`: it is a manifest.
pub fn check(text: &[u8]) -> bool {
    let symbol = [text, b"\0"].concat();
    let read = bounded("reading a manifest of", symbol.len(), || {
        Manifest::from_symbol(&symbol)
    });
    // The symbol's text ends where the first NUL is.
    let end = symbol.iter().position(|&byte| byte == 0).unwrap_or(0);
    match (read, std::str::from_utf8(&symbol[..end])) {
        (Ok(manifest), Ok(text)) => {
            check_read(&manifest, text);
            true
        }
        (Err(error), Ok(text)) => {
            check_error(&error, text);
            false
        }
        (read, Err(_)) => {
            assert!(matches!(read, Err(PluginErrorKind::ManifestNotUtf8 { at }) if at < end));
            false
        }
    }
}

fn check_error(error: &PluginErrorKind, text: &str) {
    let said = error.to_string();
    assert_shown(&said);
    assert!(said.len() < 4096, "{} bytes are no sentence", said.len());
    if let PluginErrorKind::ManifestSyntax { message } = error {
        let place = message.strip_prefix("line ").and_then(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            Some((rest[..end].parse::<usize>().ok()?, &rest[end..]))
        });
        match place {
            Some((line, shown)) => {
                let line = text.split('\n').nth(line - 1).expect("a line of the text");
                let column = shown
                    .strip_prefix(", column ")
                    .and_then(|rest| rest.split_once(": "));
                if let Some(column) = column.and_then(|(column, _)| column.parse::<usize>().ok()) {
                    assert!(column <= line.chars().count() + 1, "{said}");
                }
            }
            None => assert!(message.starts_with("it is empty"), "no place: {said}"),
        }
    }
}

fn check_read(manifest: &Manifest, text: &str) {
    let raw: Table = toml::from_str(text).expect("what was read is TOML");
    let shown = serde_json::to_value(manifest).expect("a manifest is JSON");
    for (kind, may_be_left_out) in ENTRIES {
        let written = raw.get(kind).map_or(0, |entries| {
            let entries = entries.as_array().expect("entries are a list");
            assert!(entries.iter().all(Value::is_table), "a list for a `{kind}`");
            entries.len()
        });
        let read = shown[kind].as_array().map_or(0, Vec::len);
        let left_out = manifest.skipped.iter().filter(|s| s.entry == kind).count();
        assert_eq!(written, read + left_out, "entries of `{kind}`");
        assert!(may_be_left_out || left_out == 0, "a `{kind}` left out");
    }
    assert_json(&shown);
    for skipped in &manifest.skipped {
        assert_shown(&skipped.to_string());
        assert_shown(skipped.help.as_deref().unwrap_or_default());
    }
    for field in manifest
        .passes
        .iter()
        .flat_map(|pass| &pass.declaration.options)
    {
        assert_shown(&field.takes());
        assert_value(&field.default);
    }
    for schema in &manifest.configs {
        assert_shown(&schema.type_name());
        schema
            .fields
            .iter()
            .for_each(|field| assert_value(&field.default));
        // The defaults are values that the schema takes.
        let nothing = Value::Table(Table::new());
        if !schema.is_scalar() {
            schema
                .accept(&nothing)
                .expect("a struct without its fields");
        }
    }
    for child in manifest.sequentials.iter().flat_map(|s| &s.passes) {
        child.options.values().for_each(assert_toml);
    }
}

/// A default is of its type, and what is shown of it is text.
fn assert_value(value: &Value) {
    assert_shown(&toml_text(value));
    assert_toml(value);
}

/// What is shown of a value is the value again, and no date.
fn assert_toml(value: &Value) {
    let text = format!("value = {}", toml_text(value));
    let again: Table = text
        .parse()
        .unwrap_or_else(|error| panic!("{text} isn't TOML: {error}"));
    assert_same(&again["value"], value);
}

fn assert_same(a: &Value, b: &Value) {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_same(a, b));
        }
        (Value::Table(a), Value::Table(b)) => {
            assert!(a.keys().eq(b.keys()));
            a.values()
                .zip(b.values())
                .for_each(|(a, b)| assert_same(a, b));
        }
        (Value::Datetime(_), _) | (_, Value::Datetime(_)) => panic!("a date: {b}"),
        _ => assert_eq!(a, b),
    }
}

/// All texts of what is shown are such that a terminal may show them.
fn assert_json(value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => assert_shown(text),
        serde_json::Value::Array(items) => items.iter().for_each(assert_json),
        serde_json::Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            assert_shown(key);
            assert_json(value);
        }),
        _ => {}
    }
}

fn assert_shown(text: &str) {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(
        !text.contains(steers),
        "it would steer a terminal: {text:?}"
    );
}
