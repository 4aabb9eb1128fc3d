//! `[context]`: the settings that a file makes.

use passdock_core::ContextSettings;
use serde::Deserialize;
use toml::Spanned;

use super::{Options, table_of, values};

/// `[context]`, with the spans of what may be wrong in it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextTable {
    /// The level, if the file sets one.
    pub(crate) opt_level: Option<u32>,
    /// Passes that run whatever their level.
    pub(crate) required_pass: Vec<Spanned<String>>,
    /// Passes that don't run.
    pub(crate) disabled_pass: Vec<Spanned<String>>,
    /// Rules that aren't applied.
    pub(crate) disabled_rule: Vec<Spanned<String>>,
    /// The number of rewrites after which rules stop.
    pub(crate) rewrite_limit: Option<u64>,
    /// Config options.
    pub(crate) config: Options,
}

impl ContextTable {
    /// The settings that the file makes; the others are at their defaults.
    pub(crate) fn settings(&self) -> ContextSettings {
        let default = ContextSettings::default();
        ContextSettings {
            opt_level: self.opt_level.unwrap_or(default.opt_level),
            required_pass: values(&self.required_pass),
            disabled_pass: values(&self.disabled_pass),
            disabled_rule: values(&self.disabled_rule),
            rewrite_limit: self.rewrite_limit,
            config: table_of(&self.config).into_iter().collect(),
            // A file doesn't set these.
            verify: default.verify,
            jobs: default.jobs,
            resumes: default.resumes,
        }
    }
}
