//! `[context]`: the settings that a file makes, read and written. A key that only one of the two
//! knows doesn't compile.

use passdock_core::{ContextSettings, PassError};

use super::table::Table;
use super::{Entry, Located, table_of};

/// The keys of the table.
pub(super) const KEYS: [&str; 6] = [
    "opt_level",
    "required_pass",
    "disabled_pass",
    "disabled_rule",
    "rewrite_limit",
    "config",
];

/// `[context]`, with the place of what may be wrong in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextTable {
    /// The level, if the file sets one.
    pub(crate) opt_level: Option<u32>,
    /// Passes that run whatever their level.
    pub(crate) required_pass: Vec<Located<String>>,
    /// Passes that don't run.
    pub(crate) disabled_pass: Vec<Located<String>>,
    pub(crate) disabled_rule: Vec<Located<String>>,
    /// The number of rewrites after which rules stop.
    pub(crate) rewrite_limit: Option<u64>,
    /// Config options.
    pub(crate) config: Vec<Entry>,
}

impl ContextTable {
    pub(super) fn read(mut table: Table<'_, '_>) -> Result<ContextTable, PassError> {
        let context = ContextTable {
            opt_level: table.unsigned("opt_level")?,
            required_pass: table.strings("required_pass")?,
            disabled_pass: table.strings("disabled_pass")?,
            disabled_rule: table.strings("disabled_rule")?,
            rewrite_limit: table.unsigned("rewrite_limit")?,
            config: table.entries_of("config", "`[context.config]`")?,
        };
        table.finish()?;
        Ok(context)
    }

    /// The settings that the file makes; the others are at their defaults.
    pub(crate) fn settings(&self) -> ContextSettings {
        let default = ContextSettings::default();
        ContextSettings {
            opt_level: self.opt_level.unwrap_or(default.opt_level),
            required_pass: Located::values(&self.required_pass),
            disabled_pass: Located::values(&self.disabled_pass),
            disabled_rule: Located::values(&self.disabled_rule),
            rewrite_limit: self.rewrite_limit,
            config: table_of(&self.config).into_iter().collect(),
            // A file doesn't set these.
            verify: default.verify,
            jobs: default.jobs,
            resumes: default.resumes,
        }
    }
}
