//! The project's development commands, `cargo xtask …`.
//!
//! Most are rows of `.ci/steps.toml`: the steps of `cargo xtask test`, the slower steps of `cargo xtask deep`, and
//! single commands. Each is a line of bash or a script in `.ci/steps`. Only `install` writes outside of cargo's target
//! directory.
#![allow(clippy::print_stdout, reason = "it is a command-line program")]

mod abi;
mod docs;
mod licenses;
mod project;
mod shell;
mod steps;
mod tidy;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use project::Project;
use steps::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether all steps passed.
fn run(arguments: &[String]) -> Result<bool> {
    let project = Project::find()?;
    let table = Table::read(&project)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["test"] => table.test(&project, false, ""),
        ["test", "--all"] => table.test(&project, true, ""),
        ["test", word] if !word.starts_with('-') => table.test(&project, false, word),
        ["deep"] => table.deep(&project),
        ["generate"] => abi::generate(&project).map(|()| true),
        ["tidy"] => tidy::tidy(&project).map(|()| true),
        ["docs", directory] => docs::write(&project, Path::new(directory)).map(|()| true),
        ["licenses", file, ref packages @ ..] if !packages.is_empty() => {
            licenses::write(&project, Path::new(file), packages).map(|()| true)
        }
        [] | ["help" | "--help" | "-h"] => {
            println!("{}", table.usage());
            Ok(true)
        }
        [name, ref rest @ ..] => match table.command(name, rest) {
            Some((step, arguments)) => step.run_alone(&project, arguments),
            None => bail!(
                "unknown command `{}`; `cargo xtask help` lists all commands",
                arguments.join(" ")
            ),
        },
    }
}
