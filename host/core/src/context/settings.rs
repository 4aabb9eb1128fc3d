//! The settings of a context: plain data, the same where a context is built, kept and written down.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::verify::Verify;

/// The settings of a context. Written, they are the table `[context]` of a pipeline that makes them. Code that reads
/// all of them destructures the struct without `..`, so that a new field doesn't compile until it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextSettings {
    /// The opt level: passes of a higher one aren't run.
    pub opt_level: u32,
    /// The passes that run at any level and that instruments can't veto.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_pass: Vec<String>,
    /// The passes that don't run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_pass: Vec<String>,
    /// The rules of rewriting passes that aren't applied, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_rule: Vec<String>,
    /// The number of rewrites by rules that each call of a pass, with all passes in it, ends at;
    /// `None`: there is no limit. With one, functions are rewritten in their order, on one thread.
    pub rewrite_limit: Option<u64>,
    /// The config options by their keys, with the fields that were given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, toml::Value>,
    /// The part of the IR that is verified after each pass; a reproducer says it beside its pipeline.
    #[serde(skip)]
    pub verify: Verify,
    /// The number of threads that function passes run on; 0: one for each core. Results don't depend on it.
    #[serde(skip)]
    pub jobs: usize,
    /// Whether calls resume where another one failed, so that the passes which the first pass
    /// requires have run. Whoever runs a reproducer says so.
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
            resumes: false,
        }
    }
}
