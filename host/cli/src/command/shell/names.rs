//! The names that completions offer: passes and built-in pipelines, as they are when the script is made.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use passdock::pipeline::{self, BUILT_IN};

use crate::names::ShortNames;
use crate::{plugins, request};

/// The options that take names of passes.
const OF_PASSES: [&str; 5] = [
    "passes",
    "require",
    "disable",
    "print_before",
    "print_after",
];
/// The arguments that take a pipeline, among files.
const OF_PIPELINES: [(&str, &str); 6] = [
    ("run", "inputs"),
    ("bisect", "inputs"),
    ("reduce", "inputs"),
    ("blame", "inputs"),
    ("check", "pipeline"),
    ("explain", "pipeline"),
];

/// A command whose completions have names. What they offer restricts nothing: it is for a script alone.
pub(super) fn offered(command: Command, shell: Shell) -> Command {
    let passes = passes();
    let pipelines: Vec<&'static str> = BUILT_IN.iter().map(|pipeline| pipeline.name).collect();
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| {
            let id = arg.get_id().as_str();
            // Other shells would offer these names and no files any more.
            let is_pipeline = shell == Shell::Bash && OF_PIPELINES.contains(&(&name, id));
            match OF_PASSES.contains(&id) {
                true => values(arg, &passes),
                false if is_pipeline => values(arg, &pipelines),
                false => arg,
            }
        })
    })
}

/// What a script has beside what is generated: pipelines for shells that offer them beside files.
pub(super) fn beside(shell: Shell) -> String {
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

/// The passes of the plugins that are found without being named, by the shortest names that pipelines take.
///
/// clap wants names that stay: they do until the program ends, which is when the script is written.
fn passes() -> Vec<&'static str> {
    let registry = plugins::registry();
    // Without plugins there is a script, too.
    let _ = pipeline::load_plugins(&registry, &request::of_plugins(Default::default()));
    let all = registry.pass_names();
    let short = ShortNames::new(all.iter().map(String::as_str));
    all.iter().map(|name| &*short.taken(name).leak()).collect()
}
