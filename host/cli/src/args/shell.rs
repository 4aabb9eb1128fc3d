//! What `completions` and `man` are told.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/completions.txt").trim_end())]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/man.txt").trim_end())]
pub(crate) struct ManArgs {
    /// The command; without it the page is about all of them.
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub(crate) command: Vec<String>,
}
