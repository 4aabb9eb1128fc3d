//! Options of `convert`, `extract` and `blame`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use crate::args::data::DataArgs;
use crate::args::process::ProcessArgs;
use crate::args::{PassArgs, PluginArgs, threads, trimmed};

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/convert.txt").trim_end())]
pub(crate) struct ConvertArgs {
    /// Model to read: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Model to write: .onnx, .ir, or `-` for IR text. Defaults to `-` with --brief.
    #[arg(value_name = "OUT", required_unless_present = "brief")]
    pub(crate) output: Option<PathBuf>,
    /// Write brief IR text: numbered values, long data elided
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
    /// Returns the path of the model to write. It is standard output if only `--brief` is given.
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
    /// Model: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Inputs of the part. Defaults to the model's inputs that the outputs depend on.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) inputs: Vec<String>,
    /// Outputs of the part. Defaults to the model's outputs.
    #[arg(long, value_name = "C,D", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) outputs: Vec<String>,
    /// Write the part to OUT: .onnx, .ir, or `-` for IR text
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten, next_help_heading = "Operators, to infer types")]
    pub(crate) plugins: PluginArgs,
    /// Print one JSON object on standard output, and everything else on standard error
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
    /// Optional pipeline, then the model, then the op
    #[arg(value_name = "FILE", num_args = 2..=3, required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Run function passes on N threads. Defaults to the number of cores
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    /// Allow data outside the model's directory: absolute paths, `..`, links
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}
