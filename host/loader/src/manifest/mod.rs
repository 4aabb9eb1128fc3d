//! The manifest: what a plugin says about itself, read without running any of its code.
//!
//! It is TOML text from a file that nobody checked before, so everything in it is doubted: length,
//! encoding, syntax, names, numbers, types of defaults. Keys that this host doesn't know are
//! ignored, so that newer plugins can say more.

mod declaration;
mod field;
pub(crate) mod raw;
mod schema;
pub mod states;

use std::collections::HashSet;

use passdock_abi as abi;
use serde::{Deserialize, Serialize};

use crate::error::{PluginErrorKind as Kind, Ver};
use crate::names;
pub use declaration::{PassDeclaration, PassInfo};
pub use field::{FieldType, FieldValue, toml_text};
pub use schema::{ConfigError, ConfigValue, Field, Schema, Wrong};
pub use states::{State, States};

/// The longest manifest, its NUL included.
pub const MAX_LEN: u64 = 1 << 20;

/// What a plugin says about itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Manifest {
    /// The plugin as a whole.
    pub plugin: PluginSpec,
    /// Its passes, in its order.
    #[serde(rename = "pass")]
    pub passes: Vec<PassSpec>,
    /// The config keys that it registers.
    #[serde(rename = "config")]
    pub configs: Vec<Schema>,
    /// The ops that it defines.
    #[serde(rename = "op")]
    pub ops: Vec<OpSpec>,
    /// The instruments that it offers, in its order.
    #[serde(rename = "instrument")]
    pub instruments: Vec<InstrumentSpec>,
}

/// The plugin as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginSpec {
    /// Its short name.
    pub name: String,
    /// Its own version, free text.
    pub version: String,
    /// The layout it was built against.
    #[serde(serialize_with = "ver")]
    pub abi: Ver,
    /// The oldest layout that has all it uses.
    #[serde(serialize_with = "ver")]
    pub min_host: Ver,
    /// The meaning it was built against.
    #[serde(serialize_with = "ver")]
    pub ir: Ver,
    /// What a panic in it does.
    pub panic: PanicStrategy,
    /// A fingerprint of the records it was built with.
    pub layout: Option<String>,
    /// What built it.
    pub compiler: Option<String>,
}

/// What a panic in a plugin does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PanicStrategy {
    /// Its gate catches it.
    Unwind,
    /// It ends the process.
    Abort,
    /// It has none (C).
    None,
}

/// What a pass works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// Each graph function.
    Function,
    /// Each prim function.
    PrimFunction,
    /// The module.
    Module,
}

impl PassKind {
    /// The contract's number for it.
    pub fn abi(self) -> abi::PassKind {
        match self {
            PassKind::Function => abi::PassKind::FUNCTION,
            PassKind::PrimFunction => abi::PassKind::PRIM_FUNCTION,
            PassKind::Module => abi::PassKind::MODULE,
        }
    }
}

/// Where a pass asks to stand in a pipeline that has places for phases.
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
    /// All, in their usual order.
    pub const ALL: [Phase; 4] = [Phase::Early, Phase::Simplify, Phase::Late, Phase::Lower];

    /// As manifests and pipelines write it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Early => "early",
            Phase::Simplify => "simplify",
            Phase::Late => "late",
            Phase::Lower => "lower",
        }
    }

    /// The phase of a name.
    pub fn named(name: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// A pass as the manifest describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassSpec {
    /// What every pass says about itself.
    #[serde(flatten)]
    pub declaration: PassDeclaration,
    /// The part of a module that it works on.
    pub kind: PassKind,
    /// What it does, in a sentence or two.
    pub summary: String,
    /// The config key whose struct is the second layer of its options.
    pub config: Option<String>,
    /// Its options.
    #[serde(rename = "option")]
    pub options: Vec<Field>,
}

impl PassSpec {
    /// The registered name.
    pub fn name(&self) -> &str {
        &self.declaration.info.name
    }
}

/// An op that the plugin defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpSpec {
    /// Its canonical name, domain included.
    pub name: String,
    /// The first version of its domain with this meaning.
    pub since: u32,
}

/// An instrument as the manifest describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstrumentSpec {
    /// Its registered name.
    pub name: String,
    /// What it is for, in a sentence or two.
    pub summary: String,
    /// Its options.
    #[serde(rename = "option")]
    pub options: Vec<Field>,
}

/// The versions that host and plugin use with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// The layout.
    pub abi: Ver,
    /// The meaning.
    pub ir: Ver,
}

impl Manifest {
    /// Reads the bytes of the exported symbol: TOML text, a NUL, and nothing of interest after it.
    ///
    /// # Errors
    /// If the bytes aren't a manifest, or one for another host.
    pub fn from_symbol(bytes: &[u8]) -> Result<Manifest, Kind> {
        // The symbol may be padded, so the first NUL ends the text.
        let Some(len) = bytes.iter().position(|&b| b == 0) else {
            return Err(match bytes.len() as u64 > MAX_LEN {
                true => Kind::ManifestTooLong {
                    len: bytes.len() as u64,
                    limit: MAX_LEN,
                },
                false => Kind::ManifestNotTerminated,
            });
        };
        if len as u64 >= MAX_LEN {
            return Err(Kind::ManifestTooLong {
                len: len as u64 + 1,
                limit: MAX_LEN,
            });
        }
        let text = std::str::from_utf8(&bytes[..len]).map_err(|e| Kind::ManifestNotUtf8 {
            at: e.valid_up_to(),
        })?;
        Manifest::parse(text)
    }

    /// Reads a manifest's text. Versions are looked at first: a plugin of another major may write
    /// the rest in another way.
    ///
    /// # Errors
    /// If the text isn't a manifest, or one for another host.
    pub fn parse(text: &str) -> Result<Manifest, Kind> {
        if text.trim().is_empty() {
            return Err(Kind::ManifestSyntax {
                message: "it is empty; declare the symbol as an array that holds the text, not as \
                          a pointer to it"
                    .to_owned(),
            });
        }
        let syntax = |e: toml::de::Error| Kind::ManifestSyntax {
            message: located(text, &e),
        };
        match toml::from_str::<raw::Manifest>(text) {
            Ok(raw) => {
                let plugin = raw.plugin.check()?;
                plugin.negotiate()?;
                let manifest = Manifest {
                    plugin,
                    passes: each(raw.pass, raw::Pass::check)?,
                    configs: each(raw.config, raw::Config::check)?,
                    ops: each(raw.op, raw::Op::check)?,
                    instruments: each(raw.instrument, raw::Instrument::check)?,
                };
                manifest.check_unique()?;
                Ok(manifest)
            }
            Err(error) => {
                let versions = toml::from_str::<raw::OnlyPlugin>(text).map_err(syntax)?;
                versions.plugin.check()?.negotiate()?;
                Err(syntax(error))
            }
        }
    }

    /// The versions that this host and the plugin use with each other.
    ///
    /// # Errors
    /// If this host and the plugin have no version in common.
    pub fn negotiate(&self) -> Result<Negotiated, Kind> {
        self.plugin.negotiate()
    }

    fn check_unique(&self) -> Result<(), Kind> {
        unique("the pass", self.passes.iter().map(|p| p.name()))?;
        unique(
            "the config key",
            self.configs.iter().map(|c| c.key.as_str()),
        )?;
        for pass in &self.passes {
            unique("the option", pass.options.iter().map(|o| o.name.as_str()))?;
            one_rest(pass.name(), &pass.options)?;
        }
        for config in &self.configs {
            unique("the field", config.fields.iter().map(|o| o.name.as_str()))?;
            one_rest(&config.key, &config.fields)?;
            if config.fields.len() > 1 && config.fields.iter().any(|f| f.name.is_empty()) {
                return Err(Kind::ManifestValue {
                    what: format!("a field name of the config key `{}`", config.key),
                    got: String::new(),
                    rule: "only a key with a single field may leave its name empty",
                });
            }
        }
        let instruments = self.instruments.iter();
        unique("the instrument", instruments.map(|i| i.name.as_str()))?;
        for instrument in &self.instruments {
            let options = instrument.options.iter();
            unique("the option", options.map(|o| o.name.as_str()))?;
            one_rest(&instrument.name, &instrument.options)?;
        }
        let mut seen = HashSet::new();
        for op in &self.ops {
            if !seen.insert((op.name.as_str(), op.since)) {
                return Err(Kind::ManifestDuplicate {
                    what: "the op",
                    name: format!("{} since {}", op.name, op.since),
                });
            }
        }
        Ok(())
    }
}

/// Refuses a second place for options that aren't declared.
fn one_rest(owner: &str, fields: &[Field]) -> Result<(), Kind> {
    match fields.iter().filter(|field| field.rest).nth(1) {
        None => Ok(()),
        Some(second) => Err(Kind::ManifestValue {
            what: format!("`rest` of `{}` of `{owner}`", second.name),
            got: "true".to_owned(),
            rule: "only one option takes what isn't declared",
        }),
    }
}

impl PluginSpec {
    fn negotiate(&self) -> Result<Negotiated, Kind> {
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
        // Of another minor, records may be longer; of the same they are the same, or one side was
        // built from another draft of the contract.
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
        Ok(Negotiated {
            abi: Ver {
                major: host_abi.major,
                minor: host_abi.minor.min(self.abi.minor),
            },
            ir: Ver {
                major: host_ir.major,
                minor: host_ir.minor.min(self.ir.minor),
            },
        })
    }
}

fn each<R, T>(raw: Vec<R>, check: impl Fn(R) -> Result<T, Kind>) -> Result<Vec<T>, Kind> {
    raw.into_iter().map(check).collect()
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), Kind> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Kind::ManifestDuplicate {
                what,
                name: names::shown(name),
            });
        }
    }
    Ok(())
}

/// The parser's message with the line and column it is about, on one line.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = names::shown(&error.message().replace('\n', ", "));
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
            format!("line {line}, column {column}: {message}")
        }
        None => message,
    }
}

fn ver<S: serde::Serializer>(v: &Ver, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(v)
}

#[cfg(test)]
mod tests;
