//! Assertions about reading a plugin's manifest.

use passdock_loader::PluginErrorKind;
use passdock_loader::manifest::{Manifest, toml_text};
use toml::{Table, Value};

use super::memory::bounded;

/// Reads the bytes of a library's manifest: `text` and a NUL. The result must be an error with a location, or a
/// manifest in which each entry was either read or reported as skipped. All of its strings must be printable. Returns
/// `true` if it is a manifest.
pub fn check(text: &[u8]) -> bool {
    let symbol = [text, b"\0"].concat();
    let read = || Manifest::from_symbol(&symbol);
    let read = bounded("reading a manifest of", symbol.len(), read);
    // The symbol's text ends at the first NUL.
    let end = symbol.iter().position(|&byte| byte == 0).unwrap_or(0);
    match (read, std::str::from_utf8(&symbol[..end])) {
        (Ok(manifest), Ok(text)) => {
            check_read(&manifest, text);
            return true;
        }
        (Err(error), Ok(text)) => check_error(&error, text),
        (read, Err(_)) => {
            assert!(matches!(read, Err(PluginErrorKind::ManifestNotUtf8 { at }) if at < end));
        }
    }
    false
}

fn check_error(error: &PluginErrorKind, text: &str) {
    let shown = error.to_string();
    assert_shown(&shown);
    assert!(shown.len() < 4096, "{} bytes are too long", shown.len());
    if let PluginErrorKind::ManifestSyntax { message } = error
        && !message.starts_with("the text is empty")
    {
        let mut numbers = message
            .split(|c: char| !c.is_ascii_digit())
            .filter(|n| !n.is_empty());
        let mut number = || numbers.next()?.parse::<usize>().ok();
        let line = text.split('\n').nth(number().expect("a line number") - 1);
        let columns = line.expect("a line of the text").chars().count() + 1;
        let column = message.contains(", column ").then(number).flatten();
        assert!(column.is_none_or(|column| column <= columns), "{shown}");
    }
}

fn check_read(manifest: &Manifest, text: &str) {
    let raw: Table = toml::from_str(text).expect("what was read is TOML");
    let shown = serde_json::to_value(manifest).expect("a manifest is JSON");
    for kind in ["pass", "sequential", "config", "op", "instrument"] {
        let may_be_left_out = !matches!(kind, "sequential" | "op");
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
    let passes = manifest.passes.iter();
    let options = passes.flat_map(|pass| &pass.declaration.options);
    for field in options.chain(manifest.configs.iter().flat_map(|schema| &schema.fields)) {
        assert_shown(&field.accepted_values());
        assert_shown(&toml_text(&field.default));
        assert_toml(&field.default);
    }
    for schema in manifest.configs.iter().filter(|schema| !schema.is_scalar()) {
        // The schema accepts its own defaults.
        let result = schema.accept(&Value::Table(Table::new()));
        assert!(result.is_ok(), "a struct without its fields: {result:?}");
    }
    for child in manifest.sequentials.iter().flat_map(|s| &s.passes) {
        child.options.values().for_each(assert_toml);
    }
}

/// Asserts that the printed form of a value parses to the same value, and that it has no dates.
fn assert_toml(value: &Value) {
    match value {
        Value::Datetime(_) => panic!("a date: {value}"),
        Value::Array(items) => items.iter().for_each(assert_toml),
        Value::Table(entries) => entries.values().for_each(assert_toml),
        _ => {}
    }
    let text = format!("value = {}", toml_text(value));
    let again: Table = text.parse().expect("what is shown is TOML");
    // Compared as text, because NaN isn't equal to itself.
    assert_eq!(format!("{:?}", again["value"]), format!("{value:?}"));
}

/// Asserts that all strings are safe to print on a terminal.
fn assert_json(value: &serde_json::Value) {
    match value {
        serde_json::Value::String(text) => assert_shown(text),
        serde_json::Value::Array(items) => items.iter().for_each(assert_json),
        serde_json::Value::Object(entries) => {
            entries.keys().for_each(|key| assert_shown(key));
            entries.values().for_each(assert_json);
        }
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
