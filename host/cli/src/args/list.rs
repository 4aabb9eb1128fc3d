//! What `list` is told.

use clap::{Args, ValueEnum};

use crate::args::PluginArgs;
use crate::args::process::ProcessArgs;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/list.txt").trim_end())]
pub(crate) struct ListArgs {
    /// What to list.
    #[arg(value_enum, default_value = "passes")]
    pub(crate) what: Listing,
    /// Show the one of this name in full: `passdock list passes FoldConstant`. FILE.rules is the pass of those rules.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Passes, with level, kind and plugin.
    Passes,
    /// Pipelines that are built in; with NAME, its text.
    Pipelines,
    /// Plugins, with version and file; also files that can't be used.
    Plugins,
    /// Instruments, with their options.
    Instruments,
    /// Config options, with type, default and meaning.
    Config,
    /// Operators that have a definition, and what is known of them.
    Ops,
    /// What the host works out about functions for passes that ask.
    Analyses,
}
