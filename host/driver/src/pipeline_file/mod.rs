//! A pipeline file: TOML, read with the place of everything in it.
//!
//! Every error underlines the key or value that it is about; a misspelt key gets the nearest valid
//! one. Names of passes, config keys and options are only read here: whether there are such passes
//! is asked when the pipeline is resolved, again with the place at hand.

pub(crate) mod built_in;
mod context;
mod passes;
mod table;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(crate) use context::ContextTable;
use passes::read_passes;
use table::{TOP, Table, not_toml};

use passdock_core::{ErrorKind, PassError, Phase, Snippet, suggest};

/// The JSON Schema of pipeline files, which `docs/pipelines.md` explains. `passdock schema pipeline`
/// prints it.
pub const SCHEMA: &str = include_str!("../../../../docs/schemas/pipeline.schema.json");

/// A value of the file, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Located<T> {
    /// The value itself.
    pub(crate) value: T,
    /// The bytes of the file that say it.
    pub(crate) span: Range<usize>,
}

impl<T> From<Spanned<T>> for Located<T> {
    fn from(value: Spanned<T>) -> Located<T> {
        Located {
            span: value.span(),
            value: value.into_inner(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Located<T>, D::Error> {
        Spanned::deserialize(from).map(Located::from)
    }
}

impl Located<String> {
    /// Names without their places.
    pub(crate) fn values(names: &[Located<String>]) -> Vec<String> {
        names.iter().map(|name| name.value.clone()).collect()
    }
}

/// A file's name and text, for errors that show its lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceText {
    /// The file's name, as the user gave it.
    pub(crate) name: Arc<str>,
    /// The whole text.
    pub(crate) text: Arc<str>,
}

/// A pipeline file, as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct PipelineFile {
    /// The file.
    pub(crate) source: SourceText,
    /// `[context]`.
    pub(crate) context: ContextTable,
    /// `[plugins] dirs`.
    pub(crate) plugin_dirs: Vec<Located<String>>,
    /// `[plugins] files`.
    pub(crate) plugin_files: Vec<Located<String>>,
    /// `[plugins.NAME]`.
    pub(crate) plugins: Vec<PluginTable>,
    /// `[[instruments]]`.
    pub(crate) instruments: Vec<InstrumentTable>,
    /// `[[passes]]`.
    pub(crate) passes: Vec<PassTable>,
}

/// A key and its value.
pub(crate) type Entry = (Located<String>, Given);

/// A value as the file gives it, and where it and what is in it stand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// The value itself.
    pub(crate) value: toml::Value,
    /// The bytes of the file that say it; of a table with a header of its own, the header.
    pub(crate) span: Range<usize>,
    /// The entries of a table and of the tables in it, the outer ones first.
    entries: Vec<Place>,
}

/// Where an entry of a table stands.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    name: Located<String>,
    value: Range<usize>,
}

impl Given {
    /// Where the name of an entry in it stands.
    pub(crate) fn name_of(&self, entry: &str) -> Option<&Range<usize>> {
        Some(&self.place(entry)?.name.span)
    }

    /// Where the value of an entry in it stands.
    pub(crate) fn value_of(&self, entry: &str) -> Option<&Range<usize>> {
        Some(&self.place(entry)?.value)
    }

    fn place(&self, entry: &str) -> Option<&Place> {
        self.entries.iter().find(|place| place.name.value == entry)
    }
}

/// Entries without their places.
pub(crate) fn table_of(entries: &[Entry]) -> toml::Table {
    let entries = entries.iter();
    entries
        .map(|(key, value)| (key.value.clone(), value.value.clone()))
        .collect()
}

/// A value in TOML that stands by itself, as in an argument of the command line.
pub(crate) fn lone_value(text: &str) -> Option<toml::Value> {
    let mut table: toml::Table = format!("value = {text}").parse().ok()?;
    table.remove("value").filter(|_| table.is_empty())
}

/// A table `[plugins.NAME]`.
#[derive(Clone, Debug)]
pub(crate) struct PluginTable {
    /// The plugin's name.
    pub(crate) name: Located<String>,
    /// Passes of other plugins that this one's replace.
    pub(crate) overrides: Vec<Located<String>>,
}

/// A table of `[[instruments]]`.
#[derive(Clone, Debug)]
pub(crate) struct InstrumentTable {
    /// The instrument's name.
    pub(crate) name: Located<String>,
    /// The other keys of the table.
    pub(crate) options: Vec<Entry>,
}

/// A table of `[[passes]]`, or a pass's name in a nested list.
#[derive(Clone, Debug)]
pub(crate) enum PassTable {
    /// One pass.
    Pass {
        /// The pass's registered name, or an alias.
        name: Located<String>,
        /// The options that the file gives.
        options: Vec<Entry>,
        /// The children that are left out, if it is a Sequential.
        disabled: Vec<Located<String>>,
    },
    /// A nested Sequential.
    Sequential {
        /// The Sequential's name.
        name: Located<String>,
        /// The level from which on it runs.
        opt_level: u32,
        /// The passes that it requires.
        required: Vec<Located<String>>,
        /// The passes that it leaves out.
        disabled: Vec<Located<String>>,
        /// The passes in it.
        passes: Vec<PassTable>,
    },
    /// The rules of a file.
    Rules {
        /// The file's path.
        file: Located<String>,
        /// The name of the pass, if the pipeline gives it one.
        name: Option<Located<String>>,
    },
    /// A pass of the program's own language, by where it is: `package.module:name`.
    Imported(Located<String>),
    /// The place of the passes that ask for a phase.
    Phase(Located<Phase>),
    /// A built-in pipeline, as a Sequential of its name.
    BuiltIn {
        /// The word that names it.
        name: Located<String>,
        /// Its own text.
        source: SourceText,
        /// The passes that are left out.
        disabled: Vec<Located<String>>,
        /// The passes in it.
        passes: Vec<PassTable>,
    },
}

impl PassTable {
    /// The tables in it.
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
    /// An error about a place in the file.
    pub(crate) fn error(
        &self,
        span: &Range<usize>,
        label: &str,
        message: impl Into<String>,
    ) -> PassError {
        self.show(PassError::new(ErrorKind::Pipeline, message), span, label)
    }

    /// Shows a place in the file with an error that has none yet.
    pub(crate) fn locate(&self, error: PassError, span: &Range<usize>) -> PassError {
        match error.snippet {
            None => self.show(error, span, ""),
            Some(_) => error,
        }
    }

    /// What shows a place in the file with an error that has none yet.
    pub(crate) fn at(&self, span: &Range<usize>) -> impl Fn(PassError) -> PassError {
        |error| self.locate(error, span)
    }

    fn show(&self, error: PassError, span: &Range<usize>, label: &str) -> PassError {
        error.snippet(Snippet::new(&self.name, &self.text, span.clone(), label))
    }
}

impl PipelineFile {
    /// The tables of its passes, and those in them, but for those of built-in pipelines.
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

    /// Reads a file's text; `name` is how errors call the file.
    pub(crate) fn parse(name: &str, text: &str) -> Result<PipelineFile, PassError> {
        let source = SourceText {
            name: name.into(),
            text: text.into(),
        };
        let root = DeTable::parse(text).map_err(|error| not_toml(&source, &error))?;
        let mut table = Table::new(&source, TOP, root.into());
        let context = table.table("context", "`[context]`")?;
        let context = context.map(ContextTable::read).transpose()?;
        let plugins = table.table("plugins", "`[plugins]`")?;
        let plugins = plugins.map(read_plugins).transpose()?.unwrap_or_default();
        let (plugin_dirs, plugin_files, plugins) = plugins;
        let instruments = table
            .tables("instruments", "`[[instruments]]`")?
            .into_iter();
        let instruments = instruments.map(read_instrument).collect::<Result<_, _>>()?;
        let passes = table.read("passes", |_, value| read_passes(&source, value, 0))?;
        table.finish()?;
        Ok(PipelineFile {
            context: context.unwrap_or_default(),
            plugin_dirs,
            plugin_files,
            plugins,
            instruments,
            passes: passes.unwrap_or_default(),
            source,
        })
    }
}

/// `[plugins]`: directories, files, and the tables of plugins.
type Plugins = (Vec<Located<String>>, Vec<Located<String>>, Vec<PluginTable>);

fn read_plugins(mut table: Table<'_, '_>) -> Result<Plugins, PassError> {
    let dirs = table.strings("dirs")?;
    let files = table.strings("files")?;
    let mut plugins = Vec::new();
    for (name, value) in std::mem::take(&mut table.rest) {
        let what = format!("`[plugins.{}]`", name.value);
        if !matches!(value.get_ref(), DeValue::Table(_)) {
            let message = format!("There is no key `{}` in `[plugins]`.", name.value);
            let error = table.source.error(&name.span, "unknown key", message);
            let keys = "Valid keys: `dirs`, `files`, and the names of plugins, whose tables are `[plugins.NAME]`.";
            let near = suggest::help(&name.value, ["dirs", "files"]);
            return Err(error.help(near.unwrap_or_else(|| keys.to_owned())));
        }
        let mut plugin = Table::from_value(table.source, &what, value)?;
        plugins.push(PluginTable {
            name,
            overrides: plugin.strings("override")?,
        });
        plugin.finish()?;
    }
    Ok((dirs, files, plugins))
}

fn read_instrument(mut table: Table<'_, '_>) -> Result<InstrumentTable, PassError> {
    let name = table.required_string("name")?;
    Ok(InstrumentTable {
        name,
        options: table.entries()?,
    })
}

#[cfg(test)]
mod tests;
