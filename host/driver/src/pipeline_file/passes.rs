//! `[[passes]]`: passes, rules, groups, phases and built-in pipelines.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use passdock_core::{ErrorKind, PassError, Phase};

use super::built_in::BuiltInPipeline;
use super::spans::EntrySpans;
use super::{Options, PassTable, PipelineFile, SourceText};

/// Maximum nesting depth of Sequentials in a file.
pub(super) const MAX_NESTING: usize = 64;

/// An element of a list of passes: a name or a table.
pub(super) enum PassEntry {
    Name(String),
    Table(Box<PassKeys>),
}

/// The keys of all kinds of elements.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PassKeys {
    #[serde(deserialize_with = "phase")]
    phase: Option<Spanned<Phase>>,
    rules: Option<Spanned<String>>,
    python: Option<Spanned<String>>,
    r#use: Option<Spanned<String>>,
    passes: Option<Vec<Spanned<PassEntry>>>,
    name: Option<Spanned<String>>,
    options: Options,
    opt_level: u32,
    required: Vec<Spanned<String>>,
    disabled: Vec<Spanned<String>>,
}

/// Deserializes a phase from a string. Serde's derived implementation accepts a table with one key, too.
fn phase<'de, D: Deserializer<'de>>(phase: D) -> Result<Option<Spanned<Phase>>, D::Error> {
    let name = Spanned::<String>::deserialize(phase)?;
    let span = name.span();
    let phase = Phase::deserialize(name.into_inner().into_deserializer())?;
    Ok(Some(Spanned::new(span, phase)))
}

/// The key that identifies a kind of element, the kind's name in messages, and the other keys of such elements.
const KINDS: [(&str, &str, &[&str]); 6] = [
    ("phase", "a phase", &[]),
    ("rules", "a `.rules` file", &["name"]),
    ("python", "a Python pass", &[]),
    ("use", "a built-in pipeline", &["disabled"]),
    (
        "passes",
        "a group",
        &["name", "opt_level", "required", "disabled"],
    ),
    ("name", "a pass", &["options", "disabled"]),
];

impl<'de> Deserialize<'de> for PassEntry {
    fn deserialize<D: Deserializer<'de>>(entry: D) -> Result<PassEntry, D::Error> {
        struct EntryVisitor;
        impl<'de> Visitor<'de> for EntryVisitor {
            type Value = PassEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pass name or a table")
            }

            fn visit_str<E>(self, name: &str) -> Result<PassEntry, E> {
                Ok(PassEntry::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PassEntry, A::Error> {
                let keys = PassKeys::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PassEntry::Table(Box::new(keys)))
            }
        }
        entry.deserialize_any(EntryVisitor)
    }
}

/// The document that contains the elements, for errors.
pub(super) struct Entries<'d> {
    source: &'d SourceText,
    spans: &'d [EntrySpans],
    /// The index of the innermost entry whose value has a span.
    by_value: HashMap<Range<usize>, usize>,
}

impl<'d> Entries<'d> {
    pub(super) fn new(source: &'d SourceText, spans: &'d [EntrySpans]) -> Entries<'d> {
        let values = spans.iter().enumerate();
        Entries {
            source,
            spans,
            by_value: values
                .map(|(at, entry)| (entry.value.clone(), at))
                .collect(),
        }
    }

    /// Converts a list of passes at a nesting depth of `depth`.
    pub(super) fn passes(
        &self,
        entries: Vec<Spanned<PassEntry>>,
        depth: usize,
    ) -> Result<Vec<PassTable>, PassError> {
        let entries = entries.into_iter();
        entries.map(|entry| self.pass(entry, depth)).collect()
    }

    fn pass(&self, entry: Spanned<PassEntry>, depth: usize) -> Result<PassTable, PassError> {
        let span = entry.span();
        let keys = match entry.into_inner() {
            PassEntry::Name(name) => PassKeys {
                name: Some(Spanned::new(span.clone(), name)),
                ..PassKeys::default()
            },
            PassEntry::Table(keys) => *keys,
        };
        self.check_keys(&span)?;
        let error = |message: String| self.source.error(span.clone(), "", message);
        Ok(if let Some(phase) = keys.phase {
            PassTable::Phase(phase)
        } else if let Some(file) = keys.rules {
            let name = keys.name;
            PassTable::Rules { file, name }
        } else if let Some(path) = keys.python {
            PassTable::Imported(path)
        } else if let Some(name) = keys.r#use {
            self.built_in(name, keys.disabled)?
        } else if let Some(passes) = keys.passes {
            if depth == MAX_NESTING {
                return Err(error(format!(
                    "Sequentials are nested deeper than {MAX_NESTING} levels"
                )));
            }
            PassTable::Sequential {
                passes: self.passes(passes, depth + 1)?,
                name: (keys.name).unwrap_or_else(|| Spanned::new(span, "sequential".to_owned())),
                opt_level: keys.opt_level,
                required: keys.required,
                disabled: keys.disabled,
            }
        } else {
            let name = keys.name;
            PassTable::Pass {
                name: name.ok_or_else(|| error("missing key `name` in `[[passes]]`".to_owned()))?,
                options: keys.options,
                disabled: keys.disabled,
            }
        })
    }

    /// Rejects keys that aren't valid for the kind of the element at a span.
    fn check_keys(&self, entry: &Range<usize>) -> Result<(), PassError> {
        let Some(&at) = self.by_value.get(entry) else {
            return Ok(());
        };
        let keys = || EntrySpans::entries(self.spans, at);
        let names: Vec<&str> = keys().map(|key| key.name.as_str()).collect();
        let Some(&(kind, what, others)) = KINDS.iter().find(|(kind, ..)| names.contains(kind))
        else {
            return Ok(());
        };
        let is_invalid = |key: &&EntrySpans| key.name != kind && !others.contains(&&*key.name);
        let Some(invalid) = keys().find(is_invalid) else {
            return Ok(());
        };
        let help = match (kind, &*invalid.name) {
            ("phase", _) => "split it into two entries: plugins provide the passes of a phase",
            ("python", "name") => "remove `name`: the Python code names the pass",
            ("rules", "disabled") => "disable a rule with `disabled_rule` in `[context]`",
            ("use", "options") => "set options of its passes in `[context.config]`",
            ("passes", "options") => "set options on the passes of the group",
            (_, "opt_level" | "required") | ("use", "name") => {
                "wrap the pass in an entry with `passes`, and set the key there"
            }
            _ => "split it into two entries, or remove one of the keys",
        };
        let message = format!("invalid key `{}` for {what}", invalid.name);
        let error = (self.source).error(invalid.key.clone(), "unexpected key", message);
        Err(error.help(help))
    }

    /// Converts a built-in pipeline, of which some passes may be disabled.
    fn built_in(
        &self,
        name: Spanned<String>,
        disabled: Vec<Spanned<String>>,
    ) -> Result<PassTable, PassError> {
        let built_in = BuiltInPipeline::named(name.get_ref()).map_err(|mut error| {
            error.kind = ErrorKind::Pipeline;
            self.source.locate(error, name.span())
        })?;
        let file = PipelineFile::parse(built_in.name, built_in.text)?;
        Ok(PassTable::BuiltIn {
            name,
            source: file.source,
            disabled,
            passes: file.passes,
        })
    }
}
