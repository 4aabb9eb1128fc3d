//! Tables of a manifest, which are written as tables.
//!
//! What serde derives for a struct also takes a list of its fields' values, in their order:
//! `config = [["a.b"]]`. Nobody means that.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A struct that is read from a table and from nothing else.
pub(crate) struct Table<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<T>, D::Error> {
        struct OfEntries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for OfEntries<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<M: MapAccess<'de>>(self, entries: M) -> Result<Table<T>, M::Error> {
                T::deserialize(MapAccessDeserializer::new(entries)).map(Table)
            }
        }

        deserializer.deserialize_map(OfEntries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::Manifest;

    const PLUGIN: &str =
        "[plugin]\nname = \"acme\"\nabi = \"0.4\"\nir = \"0.1\"\npanic = \"none\"\n";

    /// What serde derives would take a list for a table: the values of its keys, in their order.
    #[test]
    fn a_list_is_no_table() {
        for (list, expected) in [
            (
                "config = [[\"a.b\"]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `config = [["a.b"]]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "config = [{ key = \"a.b\", field = [[\"x\", \"int\"]] }]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `config = [{ key = "a.b", field = [["x", "int"]] }]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "pass = [[\"a.transform.B\", \"module\"]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `pass = [["a.transform.B", "module"]]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "[[pass]]\nname = \"a.transform.B\"\nkind = \"module\"\noption = [[\"x\", \"int\"]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 9 of the pass `a.transform.B`, `option = [["x", "int"]]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "sequential = [[\"a.B\", []]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `sequential = [["a.B", []]]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "[[sequential]]\nname = \"a.B\"\npasses = [[\"a.C\", { x = 1 }]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 8 of the sequential `a.B`, `passes = [["a.C", { x = 1 }]]`: a child is a pass's name, or a table with its `name` and `options`"#
                ]],
            ),
            (
                "op = [[\"a.B\", 1]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `op = [["a.B", 1]]`: invalid type: sequence, expected a table"#
                ]],
            ),
            (
                "instrument = [[\"a.b\"]]",
                expect![[
                    r#"its manifest isn't the TOML that hosts read: line 1, `instrument = [["a.b"]]`: invalid type: sequence, expected a table"#
                ]],
            ),
        ] {
            let text = match list.starts_with('[') {
                true => format!("{PLUGIN}{list}"),
                false => format!("{list}\n{PLUGIN}"),
            };
            let error = Manifest::parse(&text).expect_err("a list");
            expected.assert_eq(&error.to_string());
        }
        let error = Manifest::parse("plugin = [\"a\", \"1\", \"0.4\", \"0.4\", \"0.1\", \"none\"]");
        expect![[r#"its manifest isn't the TOML that hosts read: line 1, `plugin = ["a", "1", "0.4", "0.4", "0.1", "none"]`: invalid type: sequence, expected a table"#]].assert_eq(&error.expect_err("a list").to_string());
    }
}
