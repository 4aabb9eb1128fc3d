//! The Sequentials of a manifest: passes in order under a name, with nothing in the plugin's table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::declaration::{PassDeclaration, PassInfo};
use super::each;
use super::raw::{any_pass_name, level, required, sequential_name, text};
use crate::error::PluginErrorKind as Kind;

/// A Sequential as the manifest describes it. Nothing else of the plugin says anything about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SequentialSpec {
    /// The declaration, which every pass has: of a Sequential its info alone.
    #[serde(flatten, serialize_with = "info_of")]
    pub declaration: PassDeclaration,
    /// The children, in order.
    pub passes: Vec<ChildSpec>,
    /// The summary of what the Sequential is for, in a sentence or two.
    pub summary: String,
}

/// A child of a Sequential: a pass of any plugin, or another Sequential.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChildSpec {
    /// The registered name of the pass.
    pub name: String,
    /// The options that the Sequential gives to it; they are checked when it is resolved.
    pub options: BTreeMap<String, toml::Value>,
}

impl SequentialSpec {
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
    name: String,
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
    Table(RawChildTable),
}

#[derive(Deserialize)]
pub(crate) struct RawChildTable {
    name: String,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
}

impl RawSequential {
    pub(crate) fn check(self) -> Result<SequentialSpec, Kind> {
        let name = sequential_name("a Sequential's name", self.name)?;
        Ok(SequentialSpec {
            summary: text(&format!("the summary of `{name}`"), self.summary)?,
            passes: each(self.passes, |child| child.check(&name))?,
            declaration: PassDeclaration::from(PassInfo {
                opt_level: level(&name, self.opt_level)?,
                required: required(&name, self.required)?,
                name,
            }),
        })
    }
}

impl RawChild {
    fn check(self, owner: &str) -> Result<ChildSpec, Kind> {
        let (name, options) = match self {
            RawChild::Name(name) => (name, BTreeMap::new()),
            RawChild::Table(table) => (table.name, table.options),
        };
        let what = format!("a name in `passes` of `{owner}`");
        Ok(ChildSpec {
            name: any_pass_name(&what, name)?,
            options,
        })
    }
}
