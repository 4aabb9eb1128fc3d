//! `passdock completions`: what makes a shell complete the command.

use clap::CommandFactory;
use passdock::PassError;

use crate::args::{Cli, CompletionsArgs};
use crate::show;

pub(crate) fn completions(args: &CompletionsArgs) -> Result<u8, PassError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "passdock", &mut script);
    show::print(&String::from_utf8_lossy(&script));
    Ok(0)
}
