//! The settings in `[context]`.

use passdock_core::ContextSettings;
use serde::Deserialize;
use toml::Spanned;

use super::{Options, table_of, values};

/// The table `[context]`, with spans for errors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextTable {
    /// The optimization level, if set.
    pub(crate) opt_level: Option<u32>,
    /// Passes that run at any level.
    pub(crate) required_pass: Vec<Spanned<String>>,
    /// Disabled passes.
    pub(crate) disabled_pass: Vec<Spanned<String>>,
    /// Disabled rules.
    pub(crate) disabled_rule: Vec<Spanned<String>>,
    /// The maximum number of rewrites by rules.
    pub(crate) rewrite_limit: Option<u64>,
    /// Config options.
    pub(crate) config: Options,
}

impl ContextTable {
    /// Returns the file's settings, with defaults for the others.
    pub(crate) fn settings(&self) -> ContextSettings {
        let default = ContextSettings::default();
        ContextSettings {
            opt_level: self.opt_level.unwrap_or(default.opt_level),
            required_pass: values(&self.required_pass),
            disabled_pass: values(&self.disabled_pass),
            disabled_rule: values(&self.disabled_rule),
            rewrite_limit: self.rewrite_limit,
            config: table_of(&self.config).into_iter().collect(),
            // A file can't set these.
            verify: default.verify,
            jobs: default.jobs,
            shown: default.shown,
            resumes: default.resumes,
        }
    }
}
