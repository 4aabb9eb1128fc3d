//! `passdock schema`: the JSON Schema of a kind of file, or of what `--json` prints.

use passdock::plugin::manifest;
use passdock::{PassError, pipeline};

use crate::args::{SchemaArgs, SchemaOf};
use crate::show;

/// The schema of what commands print with `--json`: a definition for each command.
const ANSWERS: &str = include_str!("../../../../docs/schemas/answers.schema.json");

pub(crate) fn schema(args: &SchemaArgs) -> Result<u8, PassError> {
    show::print(match args.what {
        SchemaOf::Pipeline => pipeline::SCHEMA,
        SchemaOf::Manifest => manifest::SCHEMA,
        SchemaOf::Answers => ANSWERS,
    });
    Ok(0)
}
