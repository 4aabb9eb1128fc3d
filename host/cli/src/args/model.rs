//! The options of `convert`, `extract` and `blame`: what one does with one model.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use crate::args::data::DataArgs;
use crate::args::process::ProcessArgs;
use crate::args::{PassArgs, PluginArgs, trimmed};

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/convert.txt").trim_end())]
pub(crate) struct ConvertArgs {
    /// The model to read: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The model to write: .onnx, .ir, or `-` for IR text, which is also what --brief writes without OUT.
    #[arg(value_name = "OUT", required_unless_present = "brief")]
    pub(crate) output: Option<PathBuf>,
    /// Write short IR text, to be read by people: numbered values, no long data.
    #[arg(long)]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten, next_help_heading = "Operators, for --value-info")]
    pub(crate) plugins: PluginArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
}

impl ConvertArgs {
    /// The model to write: standard output if only `--brief` names a format.
    pub(crate) fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("-"))
    }
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/extract.txt").trim_end())]
#[command(group(ArgGroup::new("values").args(["inputs", "outputs"]).required(true).multiple(true)))]
#[command(
    override_usage = "passdock extract [OPTIONS] [--inputs A,B]\n       [--outputs C,D] -o OUT MODEL"
)]
pub(crate) struct ExtractArgs {
    /// The model: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The values that the part takes. Without them, those of the model's inputs that its outputs need.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) inputs: Vec<String>,
    /// The values that the part gives out. Without them, the model's outputs.
    #[arg(long, value_name = "C,D", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) outputs: Vec<String>,
    /// Write the part here: .onnx, .ir, or `-` for IR text.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten, next_help_heading = "Operators, to infer types")]
    pub(crate) plugins: PluginArgs,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock blame [OPTIONS] [PIPELINE] MODEL OP",
    after_help = include_str!("../../help/blame.txt").trim_end()
)]
pub(crate) struct BlameArgs {
    /// The pipeline, if one is named, then the model, then the op.
    #[arg(value_name = "FILE", num_args = 2..=3, required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Run function passes on N threads; by default on all cores.
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Read data from outside of the model's directory too: absolute paths, `..`, links.
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}
