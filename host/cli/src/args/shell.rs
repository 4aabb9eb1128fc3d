//! What `completions` and `man` are told.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  passdock completions bash > ~/.local/share/bash-completion/completions/passdock
  passdock completions zsh > ~/.zfunc/_passdock
  passdock completions fish > ~/.config/fish/completions/passdock.fish

The script offers the passes of the plugins that are found when it is made, and in bash and fish the built-in \
pipelines: make it again for those of other plugins.")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  passdock man run | man -l -
  passdock man > ~/.local/share/man/man1/passdock.1")]
pub(crate) struct ManArgs {
    /// The command; without it the page is about all of them.
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub(crate) command: Vec<String>,
}
