//! A suggested next command, which locates a failure that another command found.

use clap::CommandFactory;
use clap::parser::ValueSource;
use passdock::Diagnostic;
use passdock::reproducer::{shell_path, shell_quoted};

use crate::args::{Cli, RunArgs};

/// Options that have different meanings in `run` and `bisect`.
const DIFFERENT: [&str; 2] = ["output", "json"];

/// Returns the `bisect` command that finds the pass which changed the outputs of a run.
pub(crate) fn bisect(args: &RunArgs) -> String {
    let mut arguments: Vec<String> = args.inputs.iter().map(|path| shell_path(path)).collect();
    let mut before = String::new();
    if let (Some(model), false) = (arguments.last_mut(), args.bind.is_empty()) {
        // `bisect` has no `--bind`.
        let bindings = args.bind.iter();
        let bindings = bindings.map(|binding| format!(" --bind {}", shell_quoted(binding)));
        let bindings: String = bindings.collect();
        before =
            format!("`passdock run {model}{bindings} --passes InferType -o bound.onnx`, then ");
        "bound.onnx".clone_into(model);
    }
    arguments.extend(common_options().into_iter().flatten());
    let arguments = arguments.join(" ");
    format!("{before}`passdock bisect {arguments} --test numerics` finds the pass")
}

/// Returns the options on this process's command line that `bisect` accepts, too.
fn common_options() -> Option<Vec<String>> {
    let cli = Cli::command();
    let matches = cli.clone().try_get_matches().ok()?;
    let (_, run) = matches.subcommand()?;
    let mut arguments = Vec::new();
    for option in cli.find_subcommand("bisect")?.get_arguments() {
        let id = option.get_id().as_str();
        let flag = match (option.get_long(), option.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => continue,
        };
        let is_known = run.try_contains_id(id).is_ok() && !DIFFERENT.contains(&id);
        if !is_known || run.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if !option.get_action().takes_values() {
            arguments.push(flag);
            continue;
        }
        let values = run.get_raw(id).into_iter().flatten();
        let values = values.map(shell_quoted);
        arguments.extend(values.map(|value| format!("{flag} {value}")));
    }
    Some(arguments)
}

/// Adds the command to the diagnostic about different outputs.
pub(crate) fn add_help(diagnostics: &mut [Diagnostic], command: &str) {
    let about = diagnostics
        .iter_mut()
        .find(|diagnostic| diagnostic.code == "numerics");
    if let Some(difference) = about {
        difference.help.get_or_insert_with(|| command.to_owned());
    }
}
