//! Options of `batch`.

use std::path::PathBuf;

use clap::Args;

use crate::args::data::DataArgs;
use crate::args::process::ProcessArgs;
use crate::args::{FAILURES, PassArgs, REPORT};

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock batch [OPTIONS] -o DIR <MODEL|DIR>...",
    after_help = include_str!("../../help/batch.txt").trim_end()
)]
pub(crate) struct BatchArgs {
    /// Models, and directories that are searched recursively for .onnx files
    #[arg(value_name = "MODEL|DIR", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Write results to DIR, which is created if necessary. A model that was found in a directory keeps its path
    /// relative to that directory.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// Pipeline: a .toml file, a .rules file, or the name of a built-in pipeline. Defaults to `default` unless --passes
    /// is given.
    #[arg(short, long, value_name = "PIPELINE")]
    pub(crate) pipeline: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    /// Set a dim symbol of each model to a size, or a parameter to a value, before the first pass. Repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) bind: Vec<String>,
    /// Run each model and its result in ONNX Runtime, and fail a model if the outputs differ
    #[arg(long)]
    pub(crate) verify_outputs: bool,
    /// Let passes enlarge models to make them faster or simpler: sets each config option `allow_growth`
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run N models at once. Defaults to the number of cores
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Process all models, including those that an earlier batch completed
    #[arg(long)]
    pub(crate) no_resume: bool,
    #[command(flatten, next_help_heading = FAILURES)]
    pub(crate) process: ProcessArgs,
    /// Write results to FILE instead of DIR/results.jsonl
    #[arg(long, help_heading = REPORT, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Print only failures
    #[arg(short, long, help_heading = REPORT)]
    pub(crate) quiet: bool,
    /// Print one JSON object per model on standard output as soon as the model is done
    #[arg(long, help_heading = REPORT)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Data")]
    pub(crate) data: DataArgs,
}
