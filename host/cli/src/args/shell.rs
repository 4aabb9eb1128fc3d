//! Options of `completions` and `man`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/completions.txt").trim_end())]
pub(crate) struct CompletionsArgs {
    /// Shell to write the script for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/man.txt").trim_end())]
pub(crate) struct ManArgs {
    /// Command to document; defaults to passdock itself
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub(crate) command: Vec<String>,
}
