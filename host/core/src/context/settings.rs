//! The settings of a context: plain data, the same where a context is built, kept and written down.

use std::collections::BTreeMap;

use crate::verify::Verify;

/// The settings of a context. Code that reads or writes all of them destructures the struct without
/// `..`, so that a new field doesn't compile until it is read and written.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSettings {
    /// The opt level: passes of a higher one aren't run.
    pub opt_level: u32,
    /// The passes that run at any level and that instruments can't veto.
    pub required_pass: Vec<String>,
    /// The passes that don't run.
    pub disabled_pass: Vec<String>,
    /// The rules of rewriting passes that aren't applied, by name.
    pub disabled_rule: Vec<String>,
    /// The number of rewrites by rules that each call of a pass, with all passes in it, ends at;
    /// `None`: there is no limit. With one, functions are rewritten in their order, on one thread.
    pub rewrite_limit: Option<u64>,
    /// The config options by their keys, with the fields that were given.
    pub config: BTreeMap<String, toml::Value>,
    /// The part of the IR that is verified after each pass.
    pub verify: Verify,
    /// The number of threads that function passes run on; 0: one for each core.
    pub jobs: usize,
    /// Whether calls resume where another one failed, so that the passes which the first pass
    /// requires have run.
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
