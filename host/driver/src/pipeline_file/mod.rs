//! Pipeline files: TOML, deserialized with spans for errors.
//!
//! The structs define the keys of a file. `errors` converts errors of serde to diagnostics. Names of passes, config
//! keys and options are only parsed here; they are resolved later, in `prepare`.

pub(crate) mod built_in;
mod context;
mod errors;
mod passes;
mod spans;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use toml::de::DeTable;

pub(crate) use context::ContextTable;
use errors::{invalid_shape, invalid_syntax};
use passes::{Entries, PassEntry};
pub(crate) use spans::EntrySpans;

use passdock_core::{ErrorKind, PassError, Phase, Snippet};

/// The JSON Schema of pipeline files, documented in `docs/pipelines.md`. `passdock schema pipeline` prints it.
pub const SCHEMA: &str = include_str!("pipeline.schema.json");

/// Returns names without their spans.
pub(crate) fn values(names: &[Spanned<String>]) -> Vec<String> {
    names.iter().map(|name| name.get_ref().clone()).collect()
}

/// A file's name and text, for errors that show source lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceText {
    /// The file's name, as the user gave it.
    pub(crate) name: Arc<str>,
    /// The whole text.
    pub(crate) text: Arc<str>,
}

/// A parsed pipeline file.
#[derive(Clone, Debug, Default)]
pub(crate) struct PipelineFile {
    /// The source.
    pub(crate) source: SourceText,
    /// `[context]`.
    pub(crate) context: ContextTable,
    /// `[plugins]`.
    pub(crate) plugins: PluginsTable,
    /// `[[instruments]]`.
    pub(crate) instruments: Vec<InstrumentTable>,
    /// `[[passes]]`.
    pub(crate) passes: Vec<PassTable>,
}

/// The tables of a file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    context: Table<ContextTable>,
    plugins: PluginsTable,
    instruments: Vec<InstrumentTable>,
    passes: Vec<Spanned<PassEntry>>,
}

/// A table with arbitrary keys. If a nested table has its own header, its span is that of the header.
pub(crate) type Options = BTreeMap<Spanned<String>, Spanned<toml::Value>>;

/// Returns options without their spans.
pub(crate) fn table_of(options: &Options) -> toml::Table {
    options
        .iter()
        .map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
        .collect()
}

/// Parses a single TOML value, as in a command-line argument.
pub(crate) fn parse_value(text: &str) -> Option<toml::Value> {
    let mut table: toml::Table = format!("value = {text}").parse().ok()?;
    table.remove("value").filter(|_| table.is_empty())
}

/// The name of an element of `instruments` in messages.
const INSTRUMENT: &str = "an instrument table";

/// The table `[plugins]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PluginsTable {
    /// Directories to search for plugins.
    pub(crate) dirs: Vec<Spanned<String>>,
    /// Plugin files.
    pub(crate) files: Vec<Spanned<String>>,
    /// The public keys whose signatures are trusted.
    pub(crate) trusted_keys: Vec<Spanned<String>>,
    /// The tables `[plugins.NAME]`, with their names.
    pub(crate) tables: Vec<(Spanned<String>, PluginTable)>,
}

/// A table `[plugins.NAME]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PluginTable {
    /// Passes of other plugins that this plugin's passes override.
    #[serde(default, rename = "override")]
    pub(crate) overrides: Vec<Spanned<String>>,
    /// Permissions that the user grants to the plugin.
    #[serde(default)]
    pub(crate) allow: Vec<Spanned<String>>,
    /// The maximum time of a call of the plugin in seconds.
    #[serde(default)]
    pub(crate) timeout_s: Option<Spanned<f64>>,
    /// The maximum memory of the process during a call of the plugin in MiB.
    #[serde(default)]
    pub(crate) memory_mb: Option<Spanned<u64>>,
    /// The range of versions that the pipeline accepts.
    pub(crate) version: Option<Spanned<String>>,
}

/// A table of `[[instruments]]`.
#[derive(Clone, Debug)]
pub(crate) struct InstrumentTable {
    /// The instrument's name.
    pub(crate) name: Spanned<String>,
    /// The other keys of the table.
    pub(crate) options: Options,
}

/// A table of `[[passes]]`, or a pass name in a list.
#[derive(Clone, Debug)]
pub(crate) enum PassTable {
    /// A pass.
    Pass {
        /// The registered name or an alias.
        name: Spanned<String>,
        /// The options in the file.
        options: Options,
        /// The skipped children, if it is a Sequential.
        disabled: Vec<Spanned<String>>,
    },
    /// A nested Sequential.
    Sequential {
        /// The Sequential's name.
        name: Spanned<String>,
        /// The minimum level at which it runs.
        opt_level: u32,
        /// The passes that it requires.
        required: Vec<Spanned<String>>,
        /// The skipped passes.
        disabled: Vec<Spanned<String>>,
        /// The passes in it.
        passes: Vec<PassTable>,
    },
    /// The pass of a .rules file.
    Rules {
        /// The file's path.
        file: Spanned<String>,
        /// The name of the pass, if the pipeline sets one.
        name: Option<Spanned<String>>,
    },
    /// A pass in the program's own language, located by `package.module:name`.
    Imported(Spanned<String>),
    /// The extension point for passes that declare a phase.
    Phase(Spanned<Phase>),
    /// A built-in pipeline, as a Sequential with its name.
    BuiltIn {
        /// The name.
        name: Spanned<String>,
        /// The source.
        source: SourceText,
        /// The skipped passes.
        disabled: Vec<Spanned<String>>,
        /// The passes in it.
        passes: Vec<PassTable>,
    },
}

impl PassTable {
    /// Returns the nested tables.
    pub(crate) fn inner(&self) -> &[PassTable] {
        match self {
            PassTable::Sequential { passes, .. } | PassTable::BuiltIn { passes, .. } => passes,
            PassTable::Pass { .. }
            | PassTable::Rules { .. }
            | PassTable::Imported(_)
            | PassTable::Phase(_) => &[],
        }
    }
}

impl SourceText {
    /// Returns an error at a span of the file.
    pub(crate) fn error(
        &self,
        span: Range<usize>,
        label: &str,
        message: impl Into<String>,
    ) -> PassError {
        self.show(PassError::new(ErrorKind::Pipeline, message), span, label)
    }

    /// Adds a span of the file to an error that has no snippet.
    pub(crate) fn locate(&self, error: PassError, span: Range<usize>) -> PassError {
        match error.snippet {
            None => self.show(error, span, ""),
            Some(_) => error,
        }
    }

    /// Returns the spans of all entries in the value at a span.
    pub(crate) fn spans_in(&self, value: Range<usize>) -> Vec<EntrySpans> {
        let document = DeTable::parse(&self.text);
        let spans = document.map_or(Vec::new(), |document| EntrySpans::all(document.get_ref()));
        let outer = spans.iter().position(|entry| entry.value == value);
        outer.map_or(Vec::new(), |outer| {
            EntrySpans::inner(&spans, outer).to_vec()
        })
    }

    /// Returns a function that adds a span of the file to an error that has no snippet.
    pub(crate) fn at(&self, span: Range<usize>) -> impl FnOnce(PassError) -> PassError {
        |error| self.locate(error, span)
    }

    fn show(&self, error: PassError, span: Range<usize>, label: &str) -> PassError {
        error.snippet(Snippet::new(&self.name, &self.text, span, label))
    }
}

impl PipelineFile {
    /// Returns the tables of its passes in depth-first order, without those in built-in pipelines.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &PassTable> {
        let mut open: Vec<&PassTable> = self.passes.iter().rev().collect();
        std::iter::from_fn(move || {
            let table = open.pop()?;
            if let PassTable::Sequential { passes, .. } = table {
                open.extend(passes.iter().rev());
            }
            Some(table)
        })
    }

    /// Parses a file's text. `name` is the file's name in errors.
    pub(crate) fn parse(name: &str, text: &str) -> Result<PipelineFile, PassError> {
        let source = SourceText {
            name: name.into(),
            text: text.into(),
        };
        let document = DeTable::parse(text).map_err(|error| invalid_syntax(&source, &error))?;
        let spans = EntrySpans::all(document.get_ref());
        let tables = Tables::deserialize(toml::Deserializer::from(document))
            .map_err(|error| invalid_shape(&source, &spans, &error))?;
        let passes = Entries::new(&source, &spans).passes(tables.passes, 0)?;
        Ok(PipelineFile {
            context: tables.context.0,
            plugins: tables.plugins,
            instruments: tables.instruments,
            passes,
            source,
        })
    }
}

/// A struct that must be a table in the file. Serde's derived implementations accept lists, too.
#[derive(Default)]
struct Table<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<Table<T>, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Table)
            }
        }
        table.deserialize_map(TableVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for PluginsTable {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<PluginsTable, D::Error> {
        struct TableVisitor;
        impl<'de> Visitor<'de> for TableVisitor {
            type Value = PluginsTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PluginsTable, A::Error> {
                let mut table = PluginsTable::default();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    match key.get_ref().as_str() {
                        "dirs" => table.dirs = map.next_value()?,
                        "files" => table.files = map.next_value()?,
                        "trusted_keys" => table.trusted_keys = map.next_value()?,
                        _ => {
                            let Table(plugin) = map.next_value()?;
                            table.tables.push((key, plugin));
                        }
                    }
                }
                Ok(table)
            }
        }
        table.deserialize_map(TableVisitor)
    }
}

impl<'de> Deserialize<'de> for InstrumentTable {
    fn deserialize<D: Deserializer<'de>>(table: D) -> Result<InstrumentTable, D::Error> {
        struct TableVisitor;
        impl<'de> Visitor<'de> for TableVisitor {
            type Value = InstrumentTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(INSTRUMENT)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<InstrumentTable, A::Error> {
                let (mut name, mut options) = (None, Options::new());
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    match key.get_ref().as_str() {
                        "name" => name = Some(map.next_value()?),
                        _ => _ = options.insert(key, map.next_value()?),
                    }
                }
                let name = name.ok_or_else(|| de::Error::missing_field("name"))?;
                Ok(InstrumentTable { name, options })
            }
        }
        table.deserialize_map(TableVisitor)
    }
}

#[cfg(test)]
mod tests;
