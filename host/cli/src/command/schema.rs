//! `passdock schema`: prints the JSON Schema of a kind of file, or of `--json` output.

use passdock::pipeline;
use passdock::plugin::manifest;

use crate::args::{SchemaArgs, SchemaOf};
use crate::show;

/// The schema of `--json` output, with a definition for each command.
const OUTPUT_SCHEMA: &str = include_str!("../../../../docs/schemas/output.schema.json");

pub(crate) fn schema(args: &SchemaArgs) -> u8 {
    show::print(match args.what {
        SchemaOf::Pipeline => pipeline::SCHEMA,
        SchemaOf::Manifest => manifest::SCHEMA,
        SchemaOf::Output => OUTPUT_SCHEMA,
    });
    0
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::OUTPUT_SCHEMA;
    use crate::args::Cli;

    /// Collects the full names of the commands that take `--json`.
    fn collect_json_commands(command: &Command, path: &str, found: &mut Vec<String>) {
        for inner in command.get_subcommands() {
            let path = format!("{path} {}", inner.get_name());
            if inner
                .get_arguments()
                .any(|one| one.get_long() == Some("json"))
            {
                found.push(path.clone());
            }
            collect_json_commands(inner, &path, found);
        }
    }

    #[test]
    fn every_json_command_has_a_definition() {
        let schema: serde_json::Value = serde_json::from_str(OUTPUT_SCHEMA).expect("JSON");
        let definitions = schema["anyOf"].as_array().expect("a list").iter();
        let descriptions: Vec<&str> = definitions
            .filter_map(|one| one["$ref"].as_str()?.strip_prefix("#/definitions/"))
            .filter_map(|name| schema["definitions"][name]["description"].as_str())
            .collect();
        let mut commands = Vec::new();
        collect_json_commands(&Cli::command(), "passdock", &mut commands);
        assert!(commands.len() > 12, "{commands:?}");
        for command in commands {
            let start = format!("`{command} ");
            let has_definition = descriptions.iter().any(|text| text.starts_with(&start));
            assert!(
                has_definition,
                "no definition describes the output of `{command} --json`"
            );
        }
    }
}
