//! The manifest: a plugin's description of itself, which is read without running its code.
//!
//! A manifest is TOML text from an untrusted file. All of it is checked: length, encoding, syntax, names, numbers,
//! types of defaults. For compatibility with newer plugins, unknown keys are ignored, and entries with unknown enum
//! values are skipped.

mod declaration;
mod entry;
mod field;
mod read;
mod requirement;
mod schema;
mod setting;
mod typed;

use std::collections::{BTreeMap, HashSet};

use passdock_abi as abi;
use passdock_sandbox::Permission;
use serde::{Deserialize, Serialize};
use toml::de::DeTable;

use crate::error::{PluginErrorKind as Kind, Ver};
use crate::names;
pub use declaration::{PassDeclaration, PassInfo};
pub use field::{FieldType, overlay, toml_file, toml_text};
pub use requirement::{Requirement, Unsatisfied, VersionRange};
pub use schema::{ConfigError, ConfigValue, Field, InvalidPart, Schema};
pub use setting::setting;
pub use typed::toml_value;

/// The JSON Schema of manifests that this host supports, which `docs/manifests.md` explains. `passdock schema manifest`
/// prints it.
pub const SCHEMA: &str = include_str!("manifest.schema.json");

/// The maximum length of a manifest in bytes, its NUL included.
pub const MAX_LEN: u64 = 1 << 20;

/// A plugin's description of itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The plugin as a whole.
    pub plugin: ManifestPlugin,
    /// The plugin's passes, in declared order.
    #[serde(rename = "pass")]
    pub passes: Vec<ManifestPass>,
    /// The plugin's Sequentials, in declared order.
    #[serde(rename = "sequential")]
    pub sequentials: Vec<ManifestSequential>,
    /// The config keys that the plugin registers.
    #[serde(rename = "config")]
    pub configs: Vec<Schema>,
    /// The op definitions and extensions of the plugin.
    #[serde(rename = "op")]
    pub ops: Vec<OpSpec>,
    /// The plugin's instruments, in declared order.
    #[serde(rename = "instrument")]
    pub instruments: Vec<InstrumentDeclaration>,
    /// The entries that this host skips, since it doesn't support them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The warnings about unknown keys.
    #[serde(skip)]
    pub(crate) warnings: Vec<ManifestWarning>,
}

/// A warning about an unknown item of a manifest. Newer plugins may have more items, but most unknown ones are typos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestWarning {
    /// The message, without the location and the final period.
    pub(crate) message: String,
    /// The help, if a known key is near.
    pub(crate) help: Option<String>,
}

/// An entry of a manifest with an unknown enum value, or for a newer host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The kind of entry: `pass`, `sequential`, `config`, `op` or `instrument`.
    pub entry: String,
    /// The entry's name.
    pub name: String,
    /// The unsupported item: "kind `shader`", or "plugin ABI 1.3".
    pub unsupported: String,
    /// The help, if a known value is near.
    pub help: Option<String>,
}

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Skipped {
            entry,
            name,
            unsupported,
            ..
        } = self;
        write!(f, "skipped {entry} `{name}`: unsupported {unsupported}")
    }
}

/// The plugin as a whole: its name, versions and build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestPlugin {
    /// The plugin's short name.
    pub name: String,
    /// The plugin's own version, as free text.
    pub version: String,
    /// The plugin's license, preferably as an SPDX expression.
    pub license: Option<String>,
    /// The address of the plugin's web page.
    pub homepage: Option<String>,
    /// The plugins that it requires.
    pub requires: Vec<Requirement>,
    /// What it needs and the sandbox denies unless the user grants it.
    pub permissions: Vec<Permission>,
    /// The ABI version that the plugin was built against, which determines the layout of records.
    pub abi: Ver,
    /// The oldest ABI version that has everything the plugin uses.
    pub min_host: Ver,
    /// The IR version that the plugin was built against, which determines the meaning of records.
    pub ir: Ver,
    /// The version of the IR text, rules and layouts that the plugin passes to the host.
    pub language: Option<Ver>,
    /// The extensions of the ABI that the plugin can't do without.
    pub extensions: Vec<String>,
    /// The effect of a panic in the plugin. An unknown one is treated as `Abort`.
    pub panic: PanicStrategy,
    /// The fingerprint of the record layout that it was built with.
    pub layout: Option<String>,
    /// The compiler that built it.
    pub compiler: Option<String>,
}

/// The effect of a panic in a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PanicStrategy {
    /// The plugin catches it at its boundary.
    Unwind,
    /// The process ends.
    Abort,
    /// Panics don't exist (C).
    None,
}

/// The part of a module that a pass works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// Each graph function by itself.
    Function,
    /// Each prim function by itself.
    PrimFunction,
    /// The whole module.
    Module,
}

impl PassKind {
    /// Returns the value of this kind in the plugin ABI.
    pub fn abi(self) -> abi::PassKind {
        match self {
            PassKind::Function => abi::PassKind::FUNCTION,
            PassKind::PrimFunction => abi::PassKind::PRIM_FUNCTION,
            PassKind::Module => abi::PassKind::MODULE,
        }
    }
}

/// The phase of a pipeline in which a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Phase {
    Early,
    Simplify,
    Late,
    Lower,
}

impl Phase {
    /// All phases, in their usual order.
    pub const ALL: [Phase; 4] = [Phase::Early, Phase::Simplify, Phase::Late, Phase::Lower];

    /// Returns the phase's name in manifests and pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Early => "early",
            Phase::Simplify => "simplify",
            Phase::Late => "late",
            Phase::Lower => "lower",
        }
    }
}

/// A pass in a manifest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestPass {
    /// The declaration, which every pass has.
    #[serde(flatten)]
    pub declaration: PassDeclaration,
    /// The part of a module that the pass works on.
    pub kind: PassKind,
    /// The summary of what the pass does, one or two sentences.
    pub summary: String,
}

impl ManifestPass {
    /// Returns the pass's registered name.
    pub fn name(&self) -> &str {
        &self.declaration.info.name
    }

    /// Iterates over the other names of the pass.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.declaration.aliases.iter().map(String::as_str)
    }
}

/// A Sequential in a manifest. The plugin's table has no entry for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestSequential {
    /// The declaration, which every pass has. Only the info is set.
    #[serde(flatten, serialize_with = "serialize_info")]
    pub declaration: PassDeclaration,
    /// The children, in order.
    pub passes: Vec<ManifestChild>,
    /// The summary of the Sequential's purpose, one or two sentences.
    pub summary: String,
}

/// A child of a Sequential: a pass of any plugin, or another Sequential.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestChild {
    /// The registered name of the pass.
    pub name: String,
    /// The options that the Sequential sets. They are checked when the Sequential is requested.
    pub options: BTreeMap<String, toml::Value>,
}

impl ManifestSequential {
    /// Returns the Sequential's registered name.
    pub fn name(&self) -> &str {
        &self.declaration.info.name
    }
}

/// An op definition or extension in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpSpec {
    /// The op's canonical name, domain included.
    pub name: String,
    /// The first version of its domain with this meaning.
    pub since: i64,
    /// Whether the plugin only extends the operator's definition, which may be another plugin's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub extends: bool,
}

/// An instrument in a manifest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstrumentDeclaration {
    /// The instrument's registered name.
    pub name: String,
    /// The summary of what the instrument does, one or two sentences.
    pub summary: String,
    /// The options of the instrument.
    pub options: Vec<Field>,
}

impl Manifest {
    /// Parses a manifest from the bytes of the exported symbol: TOML text and a NUL. Bytes after the NUL are ignored.
    ///
    /// # Errors
    /// If the bytes aren't a manifest, or are one for another host.
    pub fn from_symbol(bytes: &[u8]) -> Result<Manifest, Kind> {
        // The symbol may be padded, so the first NUL ends the text.
        let end = bytes.iter().position(|&b| b == 0);
        let len = end.map_or(bytes.len(), |end| end + 1) as u64;
        if len > MAX_LEN {
            let limit = MAX_LEN;
            return Err(Kind::ManifestTooLong { len, limit });
        }
        let end = end.ok_or(Kind::ManifestNotTerminated)?;
        let text = std::str::from_utf8(&bytes[..end]).map_err(|e| Kind::ManifestNotUtf8 {
            at: e.valid_up_to(),
        })?;
        Manifest::parse(text)
    }

    /// Parses a manifest. Versions are checked first, since the format of the rest may differ in other major versions.
    ///
    /// # Errors
    /// If the text isn't a manifest, or is one for another host.
    pub fn parse(text: &str) -> Result<Manifest, Kind> {
        if text.trim().is_empty() {
            return Err(Kind::ManifestSyntax {
                message:
                    "the text is empty; declare the symbol as an array with the text, not as a \
                          pointer to it"
                        .to_owned(),
            });
        }
        let table = DeTable::parse(text).map_err(|error| Kind::ManifestSyntax {
            message: located(text, &error),
        })?;
        let manifest = read::manifest(table.get_ref())?;
        manifest.check_unique()?;
        manifest.check_config_keys()?;
        Ok(manifest)
    }

    /// Whether an entry of this kind and name was skipped.
    pub(crate) fn skips(&self, entry: &str, name: &str) -> bool {
        self.skipped
            .iter()
            .any(|s| s.entry == entry && s.name == name)
    }

    fn check_unique(&self) -> Result<(), Kind> {
        let passes = self.passes.iter().map(ManifestPass::name);
        let sequentials = self.sequentials.iter().map(ManifestSequential::name);
        let aliases = self.passes.iter().flat_map(ManifestPass::aliases);
        unique("pass", passes.chain(sequentials).chain(aliases))?;
        unique("config key", self.configs.iter().map(|c| c.key.as_str()))?;
        for pass in &self.passes {
            check_fields("option", pass.name(), &pass.declaration.options)?;
        }
        for config in &self.configs {
            check_fields("field", &config.key, &config.fields)?;
            if config.fields.len() > 1 && config.fields.iter().any(|f| f.name.is_empty()) {
                let what = format!("field name of config key `{}`", config.key);
                let rule = "a name, because the key has several fields";
                return Err(read::invalid(what, "", rule));
            }
        }
        let instruments = self.instruments.iter();
        unique("instrument", instruments.map(|i| i.name.as_str()))?;
        for instrument in &self.instruments {
            check_fields("option", &instrument.name, &instrument.options)?;
        }
        let mut seen = HashSet::new();
        for op in &self.ops {
            if !seen.insert((op.name.as_str(), op.since, op.extends)) {
                return Err(Kind::ManifestDuplicate {
                    what: "op",
                    name: format!("{} since {}", op.name, op.since),
                });
            }
        }
        Ok(())
    }

    /// Rejects a pass with a config key that the manifest doesn't declare, or declares with other types.
    fn check_config_keys(&self) -> Result<(), Kind> {
        for pass in &self.passes {
            let (declared, name) = (&pass.declaration, pass.name());
            let Some(key) = &declared.config else {
                continue;
            };
            let Some(schema) = self.configs.iter().find(|schema| schema.key == *key) else {
                let what = format!("`config` of `{name}`");
                let rule = "the `key` of a `[[config]]` table with fields for the pass's options";
                return Err(read::invalid(what, key, rule));
            };
            for option in &declared.options {
                let mut fields = schema.fields.iter();
                let of_other_type = |f: &&Field| f.name == option.name && f.ty != option.ty;
                if let Some(field) = fields.find(of_other_type) {
                    return Err(Kind::ManifestType {
                        what: format!("type of field `{}` of `{key}`", field.name),
                        got: field.ty.name().to_owned(),
                        expected: format!("{}, as the option of `{name}`", option.ty.name()),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Rejects duplicate options, and a second `rest` option.
fn check_fields(what: &'static str, owner: &str, fields: &[Field]) -> Result<(), Kind> {
    unique(what, fields.iter().map(|field| field.name.as_str()))?;
    match fields.iter().filter(|field| field.rest).nth(1) {
        None => Ok(()),
        Some(second) => {
            let what = format!("`rest` of `{}` of `{owner}`", second.name);
            let rule = "`false`, because another option has `rest`";
            Err(read::invalid(what, "true", rule))
        }
    }
}

impl ManifestPlugin {
    /// Rejects a plugin whose versions aren't compatible with this host.
    fn check_versions(&self) -> Result<(), Kind> {
        let (host_abi, host_ir) = (Ver::from(abi::ABI), Ver::from(abi::IR));
        if self.abi.major != host_abi.major {
            return Err(Kind::AbiMajor {
                got: self.abi,
                supported: host_abi.major,
            });
        }
        if self.min_host.major != self.abi.major || self.min_host.minor > self.abi.minor {
            return Err(Kind::MinHost {
                min_host: self.min_host,
                abi: self.abi,
            });
        }
        if self.min_host.minor > host_abi.minor {
            return Err(Kind::HostTooOld {
                needed: self.min_host,
                host: host_abi,
            });
        }
        // Records of another minor version may be longer. Within a version, they only differ if one side was built from
        // another draft of the ABI.
        let layout = format!("{:08x}", abi::LAYOUT);
        if let Some(got) = self.layout.as_ref().filter(|_| self.abi == host_abi)
            && *got != layout
        {
            return Err(Kind::Layout {
                got: got.clone(),
                supported: layout,
                abi: self.abi,
            });
        }
        if self.ir.major != host_ir.major {
            return Err(Kind::IrMajor {
                got: self.ir,
                supported: host_ir.major,
            });
        }
        if let Some(got) = self.language.filter(|own| own.major != abi::LANGUAGE.major) {
            let supported = abi::LANGUAGE.major;
            return Err(Kind::LanguageMajor { got, supported });
        }
        let mut extensions = self.extensions.iter();
        match extensions.find(|name| *name != abi::LOOPS_EXTENSION) {
            None => Ok(()),
            Some(name) => Err(Kind::UnknownExtension {
                name: names::escaped(name),
            }),
        }
    }
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), Kind> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Kind::ManifestDuplicate {
                what,
                name: names::escaped(name),
            });
        }
    }
    Ok(())
}

/// Returns the parser's message with the text of its line. Its number isn't that of a line in the author's file,
/// because the build adds lines.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = names::escaped(&error.message().replace('\n', ", "));
    let Some(span) = error.span() else {
        return message;
    };
    let at = text.floor_char_boundary(span.start);
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    format!("at `{}`: {message}", names::escaped(line.trim()))
}

fn serialize_info<S: serde::Serializer>(
    declaration: &PassDeclaration,
    out: S,
) -> Result<S::Ok, S::Error> {
    declaration.info.serialize(out)
}

#[cfg(test)]
mod tests;
