//! The command line of `passdock plugin`, as `--help` teaches it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::PluginArgs;
use crate::args::process::time_limit;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin.txt").trim_end())]
pub(crate) struct PluginCommandArgs {
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Start a plugin of one's own: a pass, its test, a pipeline, all in a new directory.
    New(NewArgs),
    /// Try a plugin: what it says of itself, and what it does to modules.
    Check(PluginCheckArgs),
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin_new.txt").trim_end())]
pub(crate) struct NewArgs {
    /// The directory to make.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// The name of the crate and the plugin, instead of the directory's.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A plugin in C11, built by make and the C compiler.
    #[arg(long, conflicts_with = "cpp")]
    pub(crate) c: bool,
    /// A plugin in C++17, built by make and the C++ compiler.
    #[arg(long)]
    pub(crate) cpp: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin_check.txt").trim_end())]
pub(crate) struct PluginCheckArgs {
    /// The plugins' library files.
    #[arg(value_name = "FILE", required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,
    /// Show the checks and what they are about; nothing runs.
    #[arg(long)]
    pub(crate) list: bool,
    /// Run this check only. Repeatable.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Run passes on this model, too: .onnx or .ir. Repeatable.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<PathBuf>,
    /// End a check that takes longer; it counts as crashed.
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, default_value = "120")]
    pub(crate) timeout: f64,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Run the one check of --only here and write its answer into this directory.
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) answer: Option<PathBuf>,
    /// Don't run this pass there.
    #[arg(long, value_name = "PASS", hide = true)]
    pub(crate) without: Vec<String>,
}
