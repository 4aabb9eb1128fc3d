//! Options for external data of models.

use clap::Args;
use passdock::model_file::{ExternalData, ReadOptions, WriteOptions};

use crate::args::choice_parser;

/// Options that restrict where a model's data is read and choose where it is written.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Where to store the data of an ONNX model's initializers
    #[arg(long, hide_short_help = true, value_name = "WHERE", default_value = "keep", value_parser = choice_parser([
        (
            "keep",
            "Where it is; new data goes to OUT.data if the model has data files or exceeds 2 GiB",
            ExternalData::Keep,
        ),
        ("all", "Into one file OUT.data, without unused data; small data stays in the model", ExternalData::All),
        ("none", "Into the model file", ExternalData::None),
    ]))]
    pub(crate) external_data: ExternalData,
    /// Write inferred types of all values to the graph's `value_info`
    #[arg(long)]
    pub(crate) value_info: bool,
    /// Allow data outside the model's directory: absolute paths, `..`, links
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_outside_data: bool,
    /// Re-encode the whole file instead of copying unchanged parts
    #[arg(long, hide = true)]
    pub(crate) drop_spans: bool,
}

impl DataArgs {
    pub(crate) fn reading(&self) -> ReadOptions {
        ReadOptions {
            outside_data: self.allow_outside_data,
        }
    }

    pub(crate) fn writing(&self) -> WriteOptions {
        WriteOptions {
            drop_spans: self.drop_spans,
            external_data: self.external_data,
            value_info: self.value_info,
            ..WriteOptions::default()
        }
    }
}
