//! `passdock completions` and `passdock man`: prints completion scripts and manual pages.

mod names;

use anyhow::Context;
use clap::{Command, CommandFactory};
use passdock::diagnostic::suggest;
use passdock::{ErrorKind, PassError};

use crate::args::Cli;
use crate::args::shell::{CompletionsArgs, ManArgs};
use crate::{help, show};

pub(crate) fn completions(args: &CompletionsArgs) -> u8 {
    let mut script = Vec::new();
    let mut command = names::offered(Cli::command(), args.shell);
    clap_complete::generate(args.shell, &mut command, "passdock", &mut script);
    show::print(&(String::from_utf8_lossy(&script) + &*names::name_completions(args.shell)));
    0
}

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<u8> {
    let mut command = Cli::command();
    command.build();
    for subcommand_name in &args.command {
        command = subcommand(&command, subcommand_name)?;
    }
    show::print(&help::manual(command).context("could not render the manual page")?);
    Ok(0)
}

/// Returns the subcommand with a given name.
fn subcommand(command: &Command, name: &str) -> Result<Command, PassError> {
    if let Some(found) = command.find_subcommand(name) {
        return Ok(found.clone());
    }
    let names = || {
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
        visible.map(Command::get_name)
    };
    let message = format!("unknown command `{name}` of `{}`", command.get_name());
    let help = suggest::help_or_list(name, names, "commands");
    Err(PassError::new(ErrorKind::Usage, message).help(help))
}
