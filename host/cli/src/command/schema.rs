//! `passdock schema`: the JSON Schema of a kind of file.

use passdock::plugin::manifest;
use passdock::{PassError, pipeline};

use crate::args::{SchemaArgs, SchemaOf};
use crate::show;

pub(crate) fn schema(args: &SchemaArgs) -> Result<u8, PassError> {
    show::print(match args.what {
        SchemaOf::Pipeline => pipeline::SCHEMA,
        SchemaOf::Manifest => manifest::SCHEMA,
    });
    Ok(0)
}
