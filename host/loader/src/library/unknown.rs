//! Unknown keys of a manifest. The host ignores them, so that newer plugins can say more; in a
//! plugin that isn't newer they are mistakes, and warnings for its author.

use passdock_abi as abi;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;
use toml::{Table, Value};

use passdock_diagnostic::{Diagnostic, Severity, suggest};

use super::Plugin;
use crate::error::Ver;
use crate::file;
use crate::manifest::{RawChildTable, RawSequential, raw};

impl Plugin {
    /// Warnings, one for each key of the manifest that this host doesn't know. None if the plugin
    /// was built against a newer contract, or is a part of this program. Reads the file again.
    pub fn unknown_keys(&self) -> Vec<Diagnostic> {
        let own = self.manifest().plugin.abi;
        let host = Ver::from(abi::ABI);
        let path = self.origin().path().filter(|_| own.minor <= host.minor);
        // A file that can't be read any more is an error only when the plugin is needed.
        let Some(text) = path.and_then(|path| file::manifest_text(path).ok()) else {
            return Vec::new();
        };
        let skipped = self.manifest().skipped.iter();
        let skipped = skipped.map(|skipped| (format!("{skipped}."), skipped.help.clone()));
        let said = skipped.chain(unknown(&text));
        said.map(|(message, help)| {
            let message = format!("In the manifest of plugin {} {message}", self.origin());
            let mut warning = Diagnostic::new(Severity::Warning, "manifest", message);
            warning.help = help;
            warning
        })
        .collect()
    }
}

/// The message for each unknown key of a manifest, and a suggestion.
fn unknown(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Found(Vec::new());
    let root: Table = text.parse().unwrap_or_default();
    found.keys::<raw::RawManifest>(&root, "the file");
    if let Some(plugin) = root.get("plugin").and_then(Value::as_table) {
        found.keys::<raw::RawPlugin>(plugin, "`[plugin]`");
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
                let name = inner.get("name").and_then(Value::as_str);
                let inner_place = format!("the {field} `{}` of {place}", name.unwrap_or_default());
                found.keys::<raw::RawField>(inner, &inner_place);
            }
        }
    }
    for sequential in tables(&root, "sequential") {
        let place = place("sequential", sequential);
        found.keys::<RawSequential>(sequential, &place);
        for child in tables(sequential, "passes") {
            found.keys::<RawChildTable>(child, &format!("a child of {place}"));
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
            let message = format!("there is a key `{key}` in {place}, which this host ignores.");
            let help = suggest::help(key, known.iter().copied());
            self.0.push((message, help));
        }
    }
}

fn tables<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = &'t Table> {
    let items = table.get(key).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_table)
}

fn place(key: &str, table: &Table) -> String {
    let name = table.get("name").or_else(|| table.get("key"));
    match name.and_then(Value::as_str) {
        Some(name) => format!("`[[{key}]]` of `{name}`"),
        None => format!("`[[{key}]]`"),
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
    use expect_test::expect;

    use super::*;

    #[test]
    fn each_table_knows_its_keys() {
        let text = "
colour = 1
[plugin]
name = 'acme'
versoin = '1.0'
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
        let said: Vec<String> = unknown(text)
            .into_iter()
            .map(|(message, help)| format!("{message} {}", help.as_deref().unwrap_or("-")))
            .collect();
        expect![[r#"
            there is a key `colour` in the file, which this host ignores. -
            there is a key `versoin` in `[plugin]`, which this host ignores. Did you mean `version`?
            there is a key `requird` in `[[pass]]` of `acme.transform.X`, which this host ignores. Did you mean `required`?
            there is a key `defualt` in the option `limit` of `[[pass]]` of `acme.transform.X`, which this host ignores. Did you mean `default`?
            there is a key `filed` in `[[config]]` of `acme.X`, which this host ignores. Did you mean `field`?
            there is a key `sumary` in `[[instrument]]` of `acme.count`, which this host ignores. Did you mean `summary`?
            there is a key `level` in `[[sequential]]` of `acme.Cleanup`, which this host ignores. -
            there is a key `option` in a child of `[[sequential]]` of `acme.Cleanup`, which this host ignores. Did you mean `options`?
            there is a key `nam` in `[[op]]`, which this host ignores. Did you mean `name`?"#]].assert_eq(&said.join("\n"));
        assert_eq!(keys_of::<raw::RawOp>(), ["name", "since"]);
    }
}
