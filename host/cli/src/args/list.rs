//! Arguments of `list`.

use clap::{Args, ValueEnum};

use crate::args::PluginArgs;
use crate::args::process::ProcessArgs;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/list.txt").trim_end())]
pub(crate) struct ListArgs {
    /// Kind of entries to list
    #[arg(value_enum, default_value = "passes")]
    pub(crate) what: Listing,
    /// Show details of the entry NAME: `passdock list passes FoldConstant`. For `passes`, NAME may be a .rules file.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Passes, with level, kind and plugin
    Passes,
    /// Built-in pipelines; with NAME, the text of that pipeline
    Pipelines,
    /// Plugins, with version and file, and plugin files that can't be used
    Plugins,
    /// Instruments, with their options
    Instruments,
    /// Config options, with type, default and description
    Config,
    /// Operators with a definition, and what the definition provides
    Ops,
    /// Analyses that the host computes for passes
    Analyses,
}
