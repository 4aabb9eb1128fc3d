//! The names that completions offer: passes and built-in pipelines that exist when the script is generated.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use passdock::pipeline::{self, BUILT_IN};

use crate::names::ShortNames;
use crate::{plugins, request};

/// The options that take pass names.
const OF_PASSES: [&str; 5] = [
    "passes",
    "required_pass",
    "disabled_pass",
    "print_before",
    "print_after",
];
/// The arguments that take a pipeline or other files.
const OF_PIPELINES: [(&str, &str); 6] = [
    ("run", "inputs"),
    ("bisect", "inputs"),
    ("reduce", "inputs"),
    ("blame", "inputs"),
    ("check", "pipeline"),
    ("explain", "pipeline"),
];

/// Adds names to a command's arguments for completion. Only use the result to generate a script: as a parser it would
/// reject other values.
pub(super) fn offered(command: Command, shell: Shell) -> Command {
    let passes = passes();
    let pipelines: Vec<&'static str> = BUILT_IN.iter().map(|pipeline| pipeline.name).collect();
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            // Other shells would offer only these names and no files.
            let is_pipeline = shell == Shell::Bash && OF_PIPELINES.contains(&(&name, id));
            match OF_PASSES.contains(&id) {
                true => values(arg, &passes),
                false if is_pipeline => values(arg, &pipelines),
                false => arg,
            }
        })
    })
}

/// Returns what is appended to the generated script: pipeline names, for shells that can offer them in addition to
/// files.
pub(super) fn name_completions(shell: Shell) -> String {
    if shell != Shell::Fish {
        return String::new();
    }
    let pipelines: Vec<&str> = BUILT_IN.iter().map(|pipeline| pipeline.name).collect();
    let line = |(command, _): &(&str, &str)| {
        let names = pipelines.join(" ");
        format!(
            "complete -c passdock -n \"__fish_passdock_using_subcommand {command}\" -a \"{names}\"\n"
        )
    };
    OF_PIPELINES.iter().map(line).collect()
}

fn values(arg: Arg, names: &[&'static str]) -> Arg {
    arg.value_parser(PossibleValuesParser::new(names.iter().copied()))
}

/// Returns the passes of all plugins in the search directories, by the shortest names that pipelines accept.
///
/// clap requires `'static` names, so they are leaked. The program exits after it has written the script.
fn passes() -> Vec<&'static str> {
    let registry = plugins::registry();
    // Without plugins, the script has no pass names.
    let _ = pipeline::load_plugins(&registry, &request::from_plugin_args(Default::default()));
    let all = registry.pass_names();
    let short = ShortNames::new(all.iter().map(String::as_str));
    all.iter()
        .map(|name| &*short.accepted(name).leak())
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// Returns a command and its subcommands at any depth.
    fn all(command: &Command) -> Vec<&Command> {
        let inner = command.get_subcommands().flat_map(all);
        std::iter::once(command).chain(inner).collect()
    }

    #[test]
    fn ids_are_those_of_arguments() {
        let cli = Cli::command();
        let has = |command: &Command, id: &str| {
            let mut args = command.get_arguments();
            args.any(|arg| arg.get_id().as_str() == id)
        };
        for id in OF_PASSES {
            let known = all(&cli).into_iter().any(|command| has(command, id));
            assert!(known, "{id}");
        }
        for (name, id) in OF_PIPELINES {
            let mut commands = all(&cli).into_iter();
            let known = commands.any(|command| command.get_name() == name && has(command, id));
            assert!(known, "{name} {id}");
        }
    }
}
