//! Options of `passdock plugin`.

use std::path::PathBuf;
use std::time::Duration;

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
    /// Create a plugin in a new directory, with a pass, a test and a pipeline
    New(NewArgs),
    /// Check the manifest of a plugin and the behavior of its passes
    Check(PluginCheckArgs),
    /// Install plugins for the current user
    Install(InstallArgs),
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin_new.txt").trim_end())]
pub(crate) struct NewArgs {
    /// Directory to create
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Name of the crate and the plugin; defaults to the name of the directory
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Create a plugin in C11, built with make and the C compiler
    #[arg(long, conflicts_with = "cpp")]
    pub(crate) c: bool,
    /// Create a plugin in C++17, built with make and the C++ compiler
    #[arg(long)]
    pub(crate) cpp: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin_check.txt").trim_end())]
pub(crate) struct PluginCheckArgs {
    /// Plugin libraries
    #[arg(value_name = "FILE", required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,
    /// List the checks with their descriptions, without running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Run only this check. Repeatable.
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Run passes on this model, too: .onnx or .ir. Repeatable.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<PathBuf>,
    /// Check passes and op definitions with random modules and calls, from this seed on
    #[arg(long, value_name = "SEED", conflicts_with = "model")]
    pub(crate) fuzz: Option<u64>,
    /// Number of seeds of --fuzz
    #[arg(long, value_name = "N", default_value = "100", requires = "fuzz")]
    pub(crate) runs: u64,
    /// Stop a check after this time and report it as crashed
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, default_value = "120")]
    pub(crate) timeout: Duration,
    /// Run the check of --only in this process, for a debugger
    #[arg(long, conflicts_with = "timeout")]
    pub(crate) in_process: bool,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run the check of --only in this process, and write its result to this directory
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) result_dir: Option<PathBuf>,
    /// Skip this pass
    #[arg(long, value_name = "PASS", hide = true)]
    pub(crate) without: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/plugin_install.txt").trim_end())]
pub(crate) struct InstallArgs {
    /// Plugin library, or a directory with plugins and their data files
    #[arg(value_name = "FILE|DIR")]
    pub(crate) path: PathBuf,
    /// Replace installed plugins of the same name
    #[arg(long)]
    pub(crate) replace: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
