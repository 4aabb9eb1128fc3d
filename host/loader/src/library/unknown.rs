//! Unknown keys of a manifest. The host ignores them, so that newer plugins can say more; most of
//! them are mistakes all the same, and warnings for the plugin's author.

use passdock_abi as abi;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

use passdock_diagnostic::{Diagnostic, Severity, suggest};

use super::Plugin;
use crate::error::Ver;
use crate::file;
use crate::manifest::{Odd, PanicStrategy, RawChildTable, RawSequential, choice, raw};

impl Plugin {
    /// Warnings, one for each key of the manifest that this host doesn't know, and for each entry
    /// that it leaves out, with the nearest one that it knows. None if the plugin is a part of this
    /// program. Reads the file again.
    pub fn unknown_keys(&self) -> Vec<Diagnostic> {
        let own = self.manifest().plugin.abi;
        let host = Ver::from(abi::ABI);
        // A file that can't be read any more is an error only when the plugin is needed.
        let path = self.origin().path();
        let Some(text) = path.and_then(|path| file::manifest_text(path).ok()) else {
            return Vec::new();
        };
        let skipped = self.manifest().skipped.iter();
        let skipped = skipped.map(|skipped| {
            let said = skipped.to_string().replacen("the ", "The ", 1);
            (said, skipped.help.clone())
        });
        let said = skipped.chain(unknown(&text));
        said.map(|(message, help)| {
            let message = format!("{message} in the manifest of plugin {}.", self.origin());
            let mut warning = Diagnostic::new(Severity::Warning, "manifest", message);
            warning.help = help;
            if own.minor > host.minor {
                warning.notes.push(format!(
                    "The plugin is built for contract {own}, which may know it; this host has {host}."
                ));
            }
            warning
        })
        .collect()
    }
}

/// The message for each unknown key of a manifest, without its end, and a suggestion.
fn unknown(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Found(Vec::new());
    let root: Table = text.parse().unwrap_or_default();
    found.keys::<raw::RawManifest>(&root, "");
    if let Some(plugin) = root.get("plugin").and_then(Value::as_table) {
        found.keys::<raw::RawPlugin>(plugin, " of `[plugin]`");
        let panic = plugin.get("panic").and_then(Value::as_str);
        panic.into_iter().for_each(|word| found.panic(word));
    }
    for (key, field) in [
        ("pass", "option"),
        ("config", "field"),
        ("instrument", "option"),
    ] {
        for table in tables(&root, key) {
            let place = place(key, table);
            match key {
                "pass" => found.keys::<raw::RawPass>(table, &place),
                "config" => found.keys::<raw::RawConfig>(table, &place),
                _ => found.keys::<raw::RawInstrument>(table, &place),
            }
            for inner in tables(table, field) {
                let inner_place = self::place(field, inner) + &place;
                found.keys::<raw::RawField>(inner, &inner_place);
            }
        }
    }
    for sequential in tables(&root, "sequential") {
        let place = place("sequential", sequential);
        found.keys::<RawSequential>(sequential, &place);
        for child in tables(sequential, "passes") {
            found.keys::<RawChildTable>(child, &format!(" of a child{place}"));
        }
    }
    for op in tables(&root, "op") {
        found.keys::<raw::RawOp>(op, &place("op", op));
    }
    found.0
}

struct Found(Vec<(String, Option<String>)>);

impl Found {
    fn keys<'de, T: Deserialize<'de>>(&mut self, table: &Table, place: &str) {
        let known = keys_of::<T>();
        for key in table.keys().filter(|key| !known.contains(&key.as_str())) {
            let message = format!("This host doesn't know the key `{key}`{place}");
            let help = suggest::help(key, known.iter().copied());
            self.0.push((message, help));
        }
    }

    fn panic(&mut self, word: &str) {
        if let Err(Odd::Unknown { what, help }) = choice::<PanicStrategy>("panic", word) {
            let message = format!("This host takes the unknown {what} for `abort`");
            self.0.push((message, help));
        }
    }
}

fn tables<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = &'t Table> {
    let items = table.get(key).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_table)
}

/// Whose keys a table has, as the words behind a key.
fn place(key: &str, table: &Table) -> String {
    let name = table.get("name").or_else(|| table.get("key"));
    match name.and_then(Value::as_str) {
        Some(name) => format!(" of {key} `{name}`"),
        None => format!(" of `[[{key}]]`"),
    }
}

/// The keys of a struct's fields. The derived code passes them to the deserializer before it reads.
fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct Asked(&'static [&'static str]);

    impl<'de> Deserializer<'de> for &mut Asked {
        type Error = value::Error;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            _visitor: V,
        ) -> Result<V::Value, value::Error> {
            self.0 = fields;
            Err(value::Error::custom(""))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, value::Error> {
            Err(value::Error::custom(""))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
            unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut asked = Asked(&[]);
    // Always an error: only the fields are asked for.
    let _ = T::deserialize(&mut asked);
    asked.0
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use expect_test::expect;

    use super::*;
    use crate::manifest;

    #[test]
    fn each_table_knows_its_keys() {
        let text = "
colour = 1
[plugin]
name = 'acme'
versoin = '1.0'
panic = 'unwound'
[[pass]]
name = 'acme.transform.X'
requird = ['relax.transform.InferType']
[[pass.option]]
name = 'limit'
type = 'int'
defualt = 3
[[config]]
key = 'acme.X'
filed = []
[[sequential]]
name = 'acme.Cleanup'
passes = ['a.transform.B', { name = 'a.transform.C', option = { n = 1 } }]
level = 1
[[op]]
nam = 'onnx.Relu'
[[instrument]]
name = 'acme.count'
sumary = 'Counts.'
";
        let unknown: Vec<String> = unknown(text)
            .into_iter()
            .map(|(message, help)| format!("{message}. {}", help.as_deref().unwrap_or("-")))
            .collect();
        let unknown = unknown
            .join("\n")
            .replace("This host doesn't know the key ", "");
        expect![[r#"
            `colour`. -
            `versoin` of `[plugin]`. Did you mean `version`?
            This host takes the unknown panic `unwound` for `abort`. Did you mean `unwind`?
            `requird` of pass `acme.transform.X`. Did you mean `required`?
            `defualt` of option `limit` of pass `acme.transform.X`. Did you mean `default`?
            `filed` of config `acme.X`. Did you mean `field`?
            `sumary` of instrument `acme.count`. Did you mean `summary`?
            `level` of sequential `acme.Cleanup`. -
            `option` of a child of sequential `acme.Cleanup`. Did you mean `options`?
            `nam` of `[[op]]`. Did you mean `name`?"#]]
        .assert_eq(&unknown);
        assert_eq!(
            keys_of::<raw::RawOp>(),
            ["name", "min_host", "since", "extends"]
        );
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema: serde_json::Value = serde_json::from_str(manifest::SCHEMA).unwrap();
        let mut read = BTreeMap::from([
            ("", keys_of::<raw::RawManifest>()),
            ("plugin", keys_of::<raw::RawPlugin>()),
            ("pass", keys_of::<raw::RawPass>()),
            ("sequential", keys_of::<RawSequential>()),
            ("child", keys_of::<RawChildTable>()),
            ("config", keys_of::<raw::RawConfig>()),
            ("field", keys_of::<raw::RawField>()),
            ("op", keys_of::<raw::RawOp>()),
            ("instrument", keys_of::<raw::RawInstrument>()),
        ]);
        let definitions = schema["definitions"].as_object().unwrap().iter();
        let definitions = definitions.map(|(name, schema)| (name.as_str(), schema));
        for (name, schema) in definitions.chain([("", &schema)]) {
            let Some(properties) = schema["properties"].as_object() else {
                continue;
            };
            let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            let read = read
                .remove(name)
                .unwrap_or_else(|| panic!("who reads {name}?"));
            assert_eq!(known, BTreeSet::from_iter(read.iter().copied()), "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name}");
        }
        assert!(read.is_empty(), "not in the schema: {:?}", read.keys());
    }
}
