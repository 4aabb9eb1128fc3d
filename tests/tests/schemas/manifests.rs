//! The schema of manifests accepts the same files as their reader.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use passdock::plugin::manifest::{self, Manifest};
use passdock::toml;
use passdock_tests::library;

use crate::changes::changes;
use crate::checker::Schema;

/// A manifest with every key, of a later ABI, so that no host compares its fingerprint.
const FULL: &str = r#"
[plugin]
name = "acme"
version = "1.0"
abi = "1.5"
min_host = "1.0"
ir = "1.0"
language = "1.0"
extensions = ["passdock.loops/1"]
panic = "none"
layout = "0123"
license = "MIT"
homepage = "https://acme.example"
requires = ["relax", "tir >= 0.1, < 2"]
permissions = ["network", "read:/opt/acme"]
compiler = "cc"
[[pass]]
name = "acme.transform.Tile"
kind = "function"
opt_level = 1
required = ["a.transform.B", "a.B"]
summary = "Tiles."
thread_safe = true
changes_interface = true
aliases = ["a.transform.B"]
phase = "late"
config = "acme.Tile"
[[pass.option]]
name = "size"
type = "int"
default = 1
min = 0
max = 9
doc = "The size."
[[pass.option]]
name = "order"
type = "string"
mandatory = true
choices = ["x", "y"]
[[pass.option]]
name = "sizes"
type = "ints"
rest = true
[[config]]
key = "acme.Tile"
doc = "Tiles."
[[config.field]]
name = "size"
type = "int"
[[config]]
key = "acme"
field = [{ name = "", type = "bool" }]
[[sequential]]
name = "acme.Cleanup"
passes = ["a.transform.B", { name = "acme.transform.Tile", options = { size = 1 } }]
opt_level = 1
required = ["a.B"]
summary = "Cleans up."
[[op]]
name = "acme.Silu"
since = 2
[[op]]
name = "onnx.Relu"
extends = true
[[instrument]]
name = "acme.count"
summary = "Counts."
[[instrument.option]]
name = "min"
type = "float"
"#;

/// Errors that a schema can't express: relations between values, and characters in free text.
const BETWEEN_VALUES: [&str; 7] = [
    "`default` of ",
    "a value within `min` and `max`",
    "in the manifest; rename or remove one",
    "the `key` of a `[[config]]` table",
    "incompatible record layout",
    "requires plugin ABI",
    "control characters",
];

fn schema() -> Schema {
    Schema::new(manifest::SCHEMA)
}

#[test]
fn schema_and_reader_agree_on_mutated_manifests() {
    let schema = schema();
    // For an unknown key or panic strategy, a host only warns.
    let loose = manifest::SCHEMA.replace("\"additionalProperties\": false,", "");
    let panic = "\"enum\": [\"unwind\", \"abort\", \"none\"]";
    assert!(loose.contains(panic));
    let loose = loose.replace(panic, "\"type\": \"string\"");
    let loose = Schema::new(&loose);
    let full: toml::Table = FULL.parse().expect("TOML");
    Manifest::parse(FULL).unwrap_or_else(|error| panic!("{error}"));
    assert!(schema.takes(&full));
    let mut keys = BTreeSet::new();
    keys_in(&toml::Value::Table(full.clone()), &mut keys);
    for table in schema.tables() {
        for key in schema.keys(table) {
            assert!(keys.contains(key), "`{key}` of {table} isn't tried");
        }
    }
    let mut used = BTreeSet::new();
    let (mut taken, mut rejected, mut wrong) = (0, 0, Vec::new());
    for change in changes(&full) {
        let (what, text) = (&change.what, change.file.to_string());
        let by_schema = schema.takes(&change.file);
        match Manifest::parse(&text) {
            Ok(manifest) if manifest.skipped.is_empty() => {
                assert!(loose.takes(&change.file), "schema rejects: {what}");
                taken += 1;
            }
            Ok(manifest) => assert!(!by_schema, "{what}: {}", manifest.skipped[0]),
            Err(error) => {
                let error = error.to_string();
                let rule = BETWEEN_VALUES.iter().find(|rule| error.contains(**rule));
                match rule {
                    _ if !by_schema => {}
                    Some(rule) => drop(used.insert(*rule)),
                    None => wrong.push(format!("{what}: {error}")),
                }
                rejected += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "the schema takes:\n{}", wrong.join("\n"));
    assert_eq!(used, BTreeSet::from(BETWEEN_VALUES));
    assert!(
        taken > 100 && rejected > 1000,
        "{taken} taken, {rejected} rejected"
    );
}

/// Collects the keys of all tables in a value.
fn keys_in(value: &toml::Value, keys: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                keys.insert(key.clone());
                keys_in(value, keys);
            }
        }
        toml::Value::Array(items) => items.iter().for_each(|item| keys_in(item, keys)),
        _ => {}
    }
}

#[test]
fn schema_and_reader_reject_invalid_manifests() {
    let schema = schema();
    let plugin = "[plugin]\nname = 'a'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n";
    for wrong in [
        "",
        "[[plugin]]\nname = 'a'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n",
        "[plugin]\nname = 'a'\nabi = '1.0'\nir = '1.0'\n",
        "[plugin]\nname = 'a b'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n",
        "[plugin]\nname = 'a'\nabi = 1.0\nir = '1.0'\npanic = 'none'\n",
        "[plugin]\nname = 'a'\nabi = '1.99999999999'\nir = '1.0'\npanic = 'none'\n",
        "[plugin]\nname = 'a'\nabi = '1.0.1'\nir = '1.0'\npanic = 'none'\n",
        "[plugin]\nname = 'a'\nabi = '1.0'\nir = '1.0'\npanic = 1\n",
    ] {
        assert!(!schema.takes(&wrong.parse().expect("TOML")), "{wrong}");
        assert!(Manifest::parse(wrong).is_err(), "{wrong}");
    }
    for wrong in [
        "[[pass]]\nname = 'a.transform.B'",
        "[[pass]]\nname = 'B'\nkind = 'module'",
        "[[pass]]\nname = 'a.transform.B'\nkind = 'module'\nopt_level = -1",
        "[[pass]]\nname = 'a.transform.B'\nkind = 'module'\nthread_safe = 'yes'",
        "[[pass]]\nname = 'a.transform.B'\nkind = 'module'\n[[pass.option]]\nname = ''\ntype = 'int'",
        "[[sequential]]\nname = 'a.B'",
        "[[sequential]]\nname = 'B'\npasses = []",
        "[[sequential]]\nname = 'a.B'\npasses = [1]",
        "[[sequential]]\nname = 'a.B'\npasses = [{ options = {} }]",
        "[[config]]\nkey = 'a b'",
        "[[op]]\nname = 'a b'",
        "[[op]]\nname = 'a.B'\nsince = 0",
        "[[instrument]]\nname = 'b'",
        "[[pass]]\nname = 'a.transform.B'\nkind = 'module'\nsummary = \"\\u0007\"",
        "[[config]]\nkey = 'a'\nfield = [{ name = '', type = 'int' }, { name = 'b', type = 'int' }]",
        "[[config]]\nkey = 'a'\nfield = [{ name = 'b', type = 'int', rest = true }]",
        "[[config]]\nkey = 'a'\nfield = [{ name = 'b', type = 'string', min = 1 }]",
        "[[config]]\nkey = 'a'\nfield = [{ name = 'b', type = 'values', max = 1 }]",
        "[[config]]\nkey = 'a'\nfield = [{ name = 'b', type = 'int', choices = ['c'] }]",
        "[[config]]\nkey = 'a'\nfield = [{ name = 'b', type = 'strings', choices = ['c'] }]",
    ] {
        let wrong = format!("{plugin}{wrong}");
        assert!(!schema.takes(&wrong.parse().expect("TOML")), "{wrong}");
        assert!(Manifest::parse(&wrong).is_err(), "{wrong}");
    }
    // Newer hosts may support these, so the entry is skipped.
    for newer in [
        "[[pass]]\nname = 'a.transform.B'\nkind = 'shader'",
        "[[pass]]\nname = 'a.transform.B'\nkind = 'module'\nphase = 'last'",
        "[[instrument]]\nname = 'a.b'\n[[instrument.option]]\nname = 'x'\ntype = 'dtype'",
    ] {
        let newer = format!("{plugin}{newer}");
        assert!(!schema.takes(&newer.parse().expect("TOML")), "{newer}");
        assert_eq!(
            Manifest::parse(&newer).expect("a manifest").skipped.len(),
            1,
            "{newer}"
        );
    }
}

#[test]
fn schema_accepts_existing_manifests() {
    let schema = schema();
    let plugins = [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
        passdock_plugins_tir::PLUGIN,
    ];
    let linked = plugins.map(|plugin| plugin.manifest_text().to_owned());
    let built = [
        "passdock_conformance",
        "passdock_sdk_passes",
        "passdock_tap",
    ];
    let built = built.map(|name| text_in(&library(name)));
    for text in linked.iter().chain(&built) {
        let table: toml::Table = text.parse().expect("TOML");
        assert!(schema.takes(&table), "{text}");
    }
}

/// Returns the manifest in a plugin's file: from its first table to the NUL.
fn text_in(library: &Path) -> String {
    let bytes = fs::read(library).unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    let start = b"[plugin]\nname = ";
    let at = bytes.windows(start.len()).position(|bytes| bytes == start);
    let text = &bytes[at.expect("a manifest")..];
    let end = text.iter().position(|&byte| byte == 0).expect("a NUL");
    String::from_utf8(text[..end].to_vec()).expect("UTF-8")
}
