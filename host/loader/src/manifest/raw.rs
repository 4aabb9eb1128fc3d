//! The manifest as TOML spells it, and the checks that turn it into [`Manifest`]'s parts.
//!
//! [`Manifest`]: super::Manifest

use passdock_abi as abi;
use serde::Deserialize;

use super::declaration::{PassDeclaration, PassInfo};
use super::field::{FieldType, FieldValue};
use super::schema::{Field, Schema};
use super::sequential::RawSequential;
use super::table::Table;
use super::word::{Odd, choice};
use super::{
    InstrumentDeclaration, ManifestPass, ManifestPlugin, OpSpec, PanicStrategy, Phase, each,
};
use crate::error::{PluginErrorKind as Kind, Ver};
use crate::names;

#[derive(Deserialize)]
pub(crate) struct RawManifest {
    pub(crate) plugin: Table<RawPlugin>,
    #[serde(default)]
    pub(crate) pass: Vec<Table<RawPass>>,
    #[serde(default)]
    pub(crate) sequential: Vec<Table<RawSequential>>,
    #[serde(default)]
    pub(crate) config: Vec<Table<RawConfig>>,
    #[serde(default)]
    pub(crate) op: Vec<Table<RawOp>>,
    #[serde(default)]
    pub(crate) instrument: Vec<Table<RawInstrument>>,
}

/// The part of a manifest that is read when the rest can't be understood.
#[derive(Deserialize)]
pub(crate) struct OnlyPlugin {
    pub(crate) plugin: Table<RawPlugin>,
}

#[derive(Deserialize)]
pub(crate) struct RawPlugin {
    name: String,
    #[serde(default)]
    version: String,
    abi: String,
    min_host: Option<String>,
    ir: String,
    panic: String,
    layout: Option<String>,
    compiler: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct RawPass {
    pub(crate) name: String,
    min_host: Option<String>,
    kind: String,
    #[serde(default)]
    opt_level: i64,
    #[serde(default)]
    required: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    thread_safe: bool,
    #[serde(default)]
    changes_interface: bool,
    phase: Option<String>,
    config: Option<String>,
    #[serde(default)]
    option: Vec<Table<RawField>>,
}

#[derive(Deserialize)]
pub(crate) struct RawConfig {
    pub(crate) key: String,
    min_host: Option<String>,
    #[serde(default)]
    doc: String,
    #[serde(default)]
    field: Vec<Table<RawField>>,
}

#[derive(Deserialize)]
pub(crate) struct RawField {
    name: String,
    #[serde(rename = "type")]
    ty: String,
    default: Option<toml::Value>,
    #[serde(default)]
    mandatory: bool,
    min: Option<i64>,
    max: Option<i64>,
    #[serde(default)]
    choices: Vec<String>,
    #[serde(default)]
    rest: bool,
    #[serde(default)]
    doc: String,
}

#[derive(Deserialize)]
pub(crate) struct RawOp {
    pub(crate) name: String,
    min_host: Option<String>,
    #[serde(default = "first_version")]
    since: i64,
    #[serde(default)]
    extends: bool,
}

fn first_version() -> i64 {
    1
}

#[derive(Deserialize)]
pub(crate) struct RawInstrument {
    pub(crate) name: String,
    min_host: Option<String>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    option: Vec<Table<RawField>>,
}

impl RawPlugin {
    pub(crate) fn check(self) -> Result<ManifestPlugin, Kind> {
        let abi = version("abi", &self.abi)?;
        Ok(ManifestPlugin {
            name: word("the plugin's name", self.name)?,
            version: text("the plugin's version", self.version)?,
            abi,
            min_host: match &self.min_host {
                Some(min_host) => version("min_host", min_host)?,
                None => abi,
            },
            ir: version("ir", &self.ir)?,
            // A new way to panic is held to be the worst.
            panic: choice("panic", &self.panic).unwrap_or(PanicStrategy::Abort),
            layout: self.layout.map(|t| text("`layout`", t)).transpose()?,
            compiler: self.compiler.map(|t| text("`compiler`", t)).transpose()?,
        })
    }
}

impl RawPass {
    /// The pass, unless it has a word that this host doesn't know, or its options stand under one of
    /// the config keys that this host can't read.
    pub(crate) fn check(self, unread: &[String]) -> Result<ManifestPass, Odd> {
        for_host(self.min_host.as_deref(), "it")?;
        let name = pass_name("a pass's name", self.name)?;
        let opt_level = level(&name, self.opt_level)?;
        let required = required(&name, self.required)?;
        let what = format!("a name in `aliases` of `{name}`");
        let aliases = each(self.aliases, |alias| pass_name(&what, alias))?;
        let config = self
            .config
            .map(|key| dotted(&format!("`config` of `{name}`"), key))
            .transpose()?;
        if let Some(key) = config.as_ref().filter(|key| unread.contains(key)) {
            return Err(Odd::Unknown {
                what: format!("fields of its config key `{key}`"),
                help: None,
            });
        }
        let options = fields(self.option, &name, false)?;
        let phase: Option<Phase> = self.phase.map(|word| choice("phase", &word)).transpose()?;
        Ok(ManifestPass {
            summary: text(&format!("the summary of `{name}`"), self.summary)?,
            declaration: PassDeclaration {
                info: PassInfo {
                    name,
                    opt_level,
                    required,
                },
                phase,
                thread_safe: self.thread_safe,
                changes_interface: self.changes_interface,
                aliases,
                config,
                options,
            },
            kind: choice("kind", &self.kind)?,
        })
    }
}

/// The level of a pass.
pub(super) fn level(pass: &str, level: i64) -> Result<u32, Kind> {
    u32::try_from(level).map_err(|_| {
        let what = format!("`opt_level` of `{pass}`");
        refused(what, level, "a level is an integer ≥ 0")
    })
}

/// The names that a pass requires: of passes and of Sequentials.
pub(super) fn required(pass: &str, names: Vec<String>) -> Result<Vec<String>, Kind> {
    let what = format!("a name in `required` of `{pass}`");
    each(names, |name| any_pass_name(&what, name))
}

impl RawConfig {
    pub(crate) fn check(self) -> Result<Schema, Odd> {
        for_host(self.min_host.as_deref(), "it")?;
        let key = dotted("a config key", self.key)?;
        let fields = fields(self.field, &key, true)?;
        let doc = text(&format!("the doc of `{key}`"), self.doc)?;
        Ok(Schema { key, doc, fields })
    }
}

/// The options or fields of an entry.
fn fields(raw: Vec<Table<RawField>>, owner: &str, may_be_empty: bool) -> Result<Vec<Field>, Odd> {
    let fields = raw.into_iter();
    fields.map(|f| f.0.check(owner, may_be_empty)).collect()
}

impl RawField {
    fn check(self, owner: &str, may_be_empty: bool) -> Result<Field, Odd> {
        let ty: FieldType = choice(
            &format!("type of its field `{}`:", names::shown(&self.name)),
            &self.ty,
        )?;
        let name = match self.name.is_empty() && may_be_empty {
            true => self.name,
            false => word(&format!("the name of an option of `{owner}`"), self.name)?,
        };
        let default = match &self.default {
            None => ty.zero(),
            Some(value) => ty.accept(value).ok_or_else(|| Kind::ManifestDefault {
                what: format!("`{name}` of `{owner}`"),
                got: type_name(value),
                expected: ty.name(),
            })?,
        };
        let what = format!("a text of `{name}` of `{owner}`");
        self.default
            .iter()
            .try_for_each(|value| check_texts(&what, value))?;
        for choice in &self.choices {
            check_text(&what, choice)?;
        }
        let integer = matches!(ty, FieldType::Int | FieldType::Ints);
        let given = [
            ("min", self.min.is_some(), integer),
            ("max", self.max.is_some(), integer),
            ("choices", !self.choices.is_empty(), ty == FieldType::String),
        ];
        if let Some((key, ..)) = given.iter().find(|(_, given, may)| *given && !may) {
            let what = format!("the type of `{name}` of `{owner}`, which has `{key}`,");
            let rule = "`min` and `max` are for `int` and `ints`, and `choices` for `string`";
            return Err(refused(what, &self.ty, rule).into());
        }
        let range = match (self.min, self.max) {
            (None, None) => None,
            (min, max) => Some((min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX))),
        };
        let fits = match &default {
            _ if self.mandatory => range.is_none_or(|(min, max)| min <= max),
            FieldValue::Int(i) => range.is_none_or(|(min, max)| (min..=max).contains(i)),
            FieldValue::Ints(table) => table
                .values()
                .all(|i| range.is_none_or(|(min, max)| (min..=max).contains(i))),
            FieldValue::String(s) => self.choices.is_empty() || self.choices.contains(s),
            _ => true,
        };
        if !fits {
            let rule = "it must be within `min` and `max`, and one of `choices`";
            let what = format!("the default of `{name}` of `{owner}`");
            return Err(refused(what, default, rule).into());
        }
        if self.rest && !ty.is_table() {
            let rule = "only a table takes what isn't declared: its type is `ints` or `values`";
            let what = format!("`rest` of `{name}` of `{owner}`");
            return Err(refused(what, "true", rule).into());
        }
        Ok(Field {
            doc: text(&format!("the doc of `{name}` of `{owner}`"), self.doc)?,
            name,
            ty,
            default,
            mandatory: self.mandatory,
            range,
            choices: self.choices,
            rest: self.rest,
        })
    }
}

impl RawOp {
    pub(crate) fn check(self) -> Result<OpSpec, Odd> {
        for_host(self.min_host.as_deref(), "it")?;
        if !names::is_op(&self.name) {
            let rule = "an op's name is its domain and name, without blanks";
            return Err(refused("an op's name", names::shown(&self.name), rule).into());
        }
        match self.since {
            since @ 1.. => Ok(OpSpec {
                name: self.name,
                since,
                extends: self.extends,
            }),
            _ => {
                let what = format!("`since` of `{}`", self.name);
                let rule = "the first version of a domain is 1";
                Err(refused(what, self.since, rule).into())
            }
        }
    }
}

impl RawInstrument {
    pub(crate) fn check(self) -> Result<InstrumentDeclaration, Odd> {
        for_host(self.min_host.as_deref(), "it")?;
        let rule = names::INSTRUMENT_RULE;
        let name = require(
            names::is_instrument,
            "an instrument's name",
            self.name,
            rule,
        )?;
        Ok(InstrumentDeclaration {
            options: fields(self.option, &name, false)?,
            summary: text(&format!("the summary of `{name}`"), self.summary)?,
            name,
        })
    }
}

/// Leaves out an entry that needs a newer host than this one. `who` needs it: the entry, or a part of it.
pub(super) fn for_host(min_host: Option<&str>, who: &str) -> Result<(), Odd> {
    let needed = min_host.map(|text| version("min_host", text)).transpose()?;
    match needed {
        Some(needed) if (needed.major, needed.minor) > (abi::ABI.major, abi::ABI.minor) => {
            let what = format!("contract {needed}, which {who} needs");
            Err(Odd::Unknown { what, help: None })
        }
        _ => Ok(()),
    }
}

fn version(key: &str, value: &str) -> Result<Ver, Kind> {
    let number = |part: &str| -> Option<u32> {
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    let parsed = value.split_once('.').and_then(|(major, minor)| {
        let (major, minor) = (number(major)?, number(minor)?);
        Some(Ver { major, minor })
    });
    let rule = "a version is written `major.minor`";
    parsed.ok_or_else(|| refused(format!("`{key}`"), names::shown(value), rule))
}

fn pass_name(what: &str, name: String) -> Result<String, Kind> {
    require(names::is_pass, what, name, names::PASS_RULE)
}

/// The name of a pass, or of a Sequential.
pub(super) fn any_pass_name(what: &str, name: String) -> Result<String, Kind> {
    require(names::is_sequential, what, name, names::ANY_PASS_RULE)
}

pub(super) fn sequential_name(what: &str, name: String) -> Result<String, Kind> {
    require(names::is_sequential, what, name, names::SEQUENTIAL_RULE)
}

fn dotted(what: &str, name: String) -> Result<String, Kind> {
    require(names::is_dotted, what, name, names::DOTTED_RULE)
}

fn word(what: &str, name: String) -> Result<String, Kind> {
    require(
        names::is_word,
        what,
        name,
        "it is a word of letters, digits, `_` and `-`, not longer than 256 bytes",
    )
}

pub(super) fn text(what: &str, value: String) -> Result<String, Kind> {
    check_text(what, &value)?;
    Ok(value)
}

pub(super) fn check_text(what: &str, text: &str) -> Result<(), Kind> {
    let rule = "control characters other than newline and tab aren't allowed";
    match names::is_text(text) {
        true => Ok(()),
        false => Err(refused(what, names::shown(text), rule)),
    }
}

/// Checks all texts in a value, keys of tables among them. How deep it nests the TOML parser limits.
pub(super) fn check_texts(what: &str, value: &toml::Value) -> Result<(), Kind> {
    match value {
        toml::Value::String(text) => check_text(what, text),
        toml::Value::Array(items) => items.iter().try_for_each(|item| check_texts(what, item)),
        toml::Value::Table(table) => table.iter().try_for_each(|(key, value)| {
            check_text(what, key)?;
            check_texts(what, value)
        }),
        _ => Ok(()),
    }
}

fn require(
    rule: fn(&str) -> bool,
    what: &str,
    value: String,
    sentence: &'static str,
) -> Result<String, Kind> {
    match rule(&value) {
        true => Ok(value),
        false => Err(refused(what, names::shown(&value), sentence)),
    }
}

/// The error about a value that breaks a rule.
pub(super) fn refused(what: impl Into<String>, got: impl ToString, rule: &'static str) -> Kind {
    Kind::ManifestValue {
        what: what.into(),
        got: got.to_string(),
        rule,
    }
}

fn type_name(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::Boolean(_) => FieldType::Bool.name(),
        toml::Value::Integer(_) => FieldType::Int.name(),
        toml::Value::Float(_) => FieldType::Float.name(),
        toml::Value::String(_) => FieldType::String.name(),
        toml::Value::Datetime(_) => "a date",
        toml::Value::Array(_) => "an array",
        toml::Value::Table(_) => "a table",
    }
}
