//! Words of a manifest that stand for a choice: a pass's kind, an option's type, a phase.
//!
//! A newer plugin may use one that this host doesn't know. The entry that has it is left out, and
//! the rest of the plugin is used.

use serde::de::value::{Error, StrDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use passdock_diagnostic::suggest;

use super::Skipped;
use crate::error::PluginErrorKind as Kind;
use crate::names;

/// The reason why an entry of a manifest can't be used.
pub(crate) enum Odd {
    /// It is wrong, and with it the manifest.
    Wrong(Kind),
    /// It has a word that this host doesn't know.
    Unknown {
        /// What the word is: "kind `shader`".
        what: String,
        /// The advice, if a known word is near.
        help: Option<String>,
    },
}

impl From<Kind> for Odd {
    fn from(kind: Kind) -> Odd {
        Odd::Wrong(kind)
    }
}

/// The choice that a word stands for. `what` is said before the word: "kind".
pub(crate) fn choice<'de, T: Deserialize<'de>>(what: &str, word: &'de str) -> Result<T, Odd> {
    let mut asked = Asked { word, known: &[] };
    T::deserialize(&mut asked).map_err(|_| Odd::Unknown {
        what: format!("{what} `{}`", names::shown(word)),
        help: suggest::help(word, asked.known.iter().copied()),
    })
}

/// The entries that this host knows; what it leaves out goes to `skipped`.
pub(super) fn known<R, T>(
    entry: &'static str,
    raw: Vec<R>,
    name: fn(&R) -> &str,
    check: impl Fn(R) -> Result<T, Odd>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<T>, Kind> {
    let mut all = Vec::with_capacity(raw.len());
    for one in raw {
        let name = names::shown(name(&one));
        match check(one) {
            Ok(one) => all.push(one),
            Err(Odd::Wrong(kind)) => return Err(kind),
            Err(Odd::Unknown { what, help }) => skipped.push(Skipped {
                entry: entry.to_owned(),
                name,
                what,
                help,
            }),
        }
    }
    Ok(all)
}

/// A word, and the words that are known where it stands: the derived code passes them to the
/// deserializer before it reads.
struct Asked<'de> {
    word: &'de str,
    known: &'static [&'static str],
}

impl<'de> Deserializer<'de> for &mut Asked<'de> {
    type Error = Error;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.known = variants;
        let word: StrDeserializer<'de, Error> = self.word.into_deserializer();
        visitor.visit_enum(word)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom(""))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{FieldType, Manifest, PanicStrategy, PassKind, Phase, SCHEMA};
    use super::*;

    fn words<T: Deserialize<'static>>() -> Value {
        let mut asked = Asked {
            word: "",
            known: &[],
        };
        // Always an error: only the words are asked for.
        let _ = T::deserialize(&mut asked);
        json!(asked.known)
    }

    /// Each entry, and each child of a Sequential, may state which host it needs.
    #[test]
    fn an_entry_that_needs_a_newer_host_is_left_out() {
        let newer = "min_host = '0.999'\n";
        let child = "{ name = 'a.transform.New', min_host = '0.999' }";
        let text = format!(
            "[plugin]\nname = 'acme'\nabi = '0.4'\nir = '0.1'\npanic = 'none'\n\
             [[pass]]\nname = 'a.transform.New'\nkind = 'odd'\n{newer}\
             [[pass]]\nname = 'a.transform.Old'\nkind = 'module'\nmin_host = '0.4'\n\
             [[sequential]]\nname = 'a.New'\npasses = []\n{newer}\
             [[sequential]]\nname = 'a.Child'\npasses = [{child}]\n\
             [[sequential]]\nname = 'a.Old'\npasses = [{{ name = 'a.transform.Old', min_host = '0.4' }}]\n\
             [[config]]\nkey = 'a.key'\n{newer}\
             [[op]]\nname = 'a.New'\n{newer}[[op]]\nname = 'a.Old'\n\
             [[instrument]]\nname = 'a.new'\n{newer}"
        );
        let manifest = Manifest::parse(&text).expect("the rest is right");
        let counts = (manifest.passes.len(), manifest.sequentials.len());
        assert_eq!((counts, manifest.ops.len()), ((1, 1), 1));
        assert!(manifest.configs.is_empty() && manifest.instruments.is_empty());
        let skipped = manifest.skipped.iter();
        let skipped: Vec<String> = skipped
            .map(|s| format!("{} {}: {}", s.entry, s.name, s.what))
            .collect();
        expect_test::expect![[r#"
            config a.key: contract 0.999, which it needs
            pass a.transform.New: contract 0.999, which it needs
            sequential a.New: contract 0.999, which it needs
            sequential a.Child: contract 0.999, which its child `a.transform.New` needs
            op a.New: contract 0.999, which it needs
            instrument a.new: contract 0.999, which it needs"#]]
        .assert_eq(&skipped.join("\n"));
    }

    #[test]
    fn the_schema_has_the_words_that_are_read() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for (table, key, words) in [
            ("plugin", "panic", words::<PanicStrategy>()),
            ("pass", "kind", words::<PassKind>()),
            ("pass", "phase", words::<Phase>()),
            ("field", "type", words::<FieldType>()),
        ] {
            let property = &schema["definitions"][table]["properties"][key];
            assert_eq!(property["enum"], words, "{key}");
        }
    }

    #[test]
    fn an_unknown_way_to_panic_is_held_to_be_the_worst() {
        for (word, expected) in [
            ("unwind", PanicStrategy::Unwind),
            ("longjmp", PanicStrategy::Abort),
        ] {
            let text = format!("[plugin]\nname = 'p'\nabi = '0.4'\nir = '0.1'\npanic = '{word}'\n");
            let manifest = Manifest::parse(&text).expect("the rest is right");
            assert_eq!(manifest.plugin.panic, expected);
        }
    }
}
