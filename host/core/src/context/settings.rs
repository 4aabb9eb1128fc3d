//! The settings of a context: plain data, which is the same in builders, contexts and files.

use std::collections::BTreeMap;

use passdock_diagnostic::Severity;
use serde::Serialize;

use crate::verify::Verify;

/// The settings of a context. They serialize to the table `[context]` of an equivalent pipeline. Code that reads all of
/// them destructures the struct without `..`, so that a new field can't be forgotten.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextSettings {
    /// The opt level: passes of a higher level don't run.
    pub opt_level: u32,
    /// The passes that run at any level and that instruments can't veto.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_pass: Vec<String>,
    /// The passes that don't run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_pass: Vec<String>,
    /// The names of rewrite rules that aren't applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_rule: Vec<String>,
    /// The maximum number of rewrites by rules in a call of a pass, nested passes included. `None` for no limit. With a
    /// limit, functions are rewritten in module order, on one thread.
    pub rewrite_limit: Option<u64>,
    /// The config options by their keys, with the fields that are set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, toml::Value>,
    /// Which functions are verified after each pass. A reproducer stores it outside of its pipeline.
    #[serde(skip)]
    pub verify: Verify,
    /// The number of threads that function passes run on; 0 for one per core. Results don't depend on it.
    #[serde(skip)]
    pub jobs: usize,
    /// The mildest severity of diagnostics that are shown.
    #[serde(skip)]
    pub shown: Severity,
    /// Whether calls resume a failed run, as replaying a reproducer does. Then the passes that the first pass requires
    /// count as done.
    #[serde(skip)]
    pub resumes: bool,
}

impl Default for ContextSettings {
    fn default() -> ContextSettings {
        ContextSettings {
            opt_level: 2,
            required_pass: Vec::new(),
            disabled_pass: Vec::new(),
            disabled_rule: Vec::new(),
            rewrite_limit: None,
            config: BTreeMap::new(),
            verify: Verify::default(),
            jobs: 0,
            shown: Severity::Help,
            resumes: false,
        }
    }
}
