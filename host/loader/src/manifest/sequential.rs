//! The Sequentials of a manifest: passes in order under a name, with nothing in the plugin's table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use toml::value::Datetime;

use super::declaration::{PassDeclaration, PassInfo};
use super::raw::{
    any_pass_name, check_text, check_texts, for_host, level, refused, required, sequential_name,
    text,
};
use super::table::Table;
use super::word::Odd;

/// A Sequential as the manifest describes it. Nothing else of the plugin says anything about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestSequential {
    /// The declaration, which every pass has: of a Sequential its info alone.
    #[serde(flatten, serialize_with = "info_of")]
    pub declaration: PassDeclaration,
    /// The children, in order.
    pub passes: Vec<ManifestChild>,
    /// The summary of what the Sequential is for, in a sentence or two.
    pub summary: String,
}

/// A child of a Sequential: a pass of any plugin, or another Sequential.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManifestChild {
    /// The registered name of the pass.
    pub name: String,
    /// The options that the Sequential gives to it; they are checked when it is resolved.
    pub options: BTreeMap<String, toml::Value>,
}

impl ManifestSequential {
    /// The Sequential's registered name.
    pub fn name(&self) -> &str {
        &self.declaration.info.name
    }
}

fn info_of<S: Serializer>(declared: &PassDeclaration, out: S) -> Result<S::Ok, S::Error> {
    declared.info.serialize(out)
}

#[derive(Deserialize)]
pub(crate) struct RawSequential {
    pub(crate) name: String,
    min_host: Option<String>,
    passes: Vec<RawChild>,
    #[serde(default)]
    opt_level: i64,
    #[serde(default)]
    required: Vec<String>,
    #[serde(default)]
    summary: String,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a child is a pass's name, or a table with its `name` and `options`"
)]
enum RawChild {
    Name(String),
    Table(Table<RawChildTable>),
}

#[derive(Deserialize)]
pub(crate) struct RawChildTable {
    name: String,
    min_host: Option<String>,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
}

impl RawSequential {
    /// The Sequential, unless it or one of its children needs a newer host.
    pub(crate) fn check(self) -> Result<ManifestSequential, Odd> {
        for_host(self.min_host.as_deref(), "it")?;
        let name = sequential_name("a Sequential's name", self.name)?;
        let passes = self.passes.into_iter().map(|child| child.check(&name));
        Ok(ManifestSequential {
            summary: text(&format!("the summary of `{name}`"), self.summary)?,
            passes: passes.collect::<Result<_, _>>()?,
            declaration: PassDeclaration::from(PassInfo {
                opt_level: level(&name, self.opt_level)?,
                required: required(&name, self.required)?,
                name,
            }),
        })
    }
}

impl RawChild {
    fn check(self, owner: &str) -> Result<ManifestChild, Odd> {
        let (name, min_host, options) = match self {
            RawChild::Name(name) => (name, None, BTreeMap::new()),
            RawChild::Table(Table(table)) => (table.name, table.min_host, table.options),
        };
        let what = format!("a name in `passes` of `{owner}`");
        let name = any_pass_name(&what, name)?;
        for_host(min_host.as_deref(), &format!("its child `{name}`"))?;
        for (option, value) in &options {
            let what = format!("a text in the options of `{name}` of `{owner}`");
            check_text(&what, option)?;
            check_texts(&what, value)?;
            if let Some(date) = date_in(value) {
                let what = format!("the option `{option}` of `{name}` of `{owner}`");
                let rule = "no option takes a date; write it as a text, between quotes";
                return Err(refused(what, date, rule).into());
            }
        }
        Ok(ManifestChild { name, options })
    }
}

/// A date in a value.
fn date_in(value: &toml::Value) -> Option<&Datetime> {
    match value {
        toml::Value::Datetime(date) => Some(date),
        toml::Value::Array(items) => items.iter().find_map(date_in),
        toml::Value::Table(table) => table.values().find_map(date_in),
        _ => None,
    }
}
