//! The options of `batch`.

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
    /// The models, and directories of them: each .onnx at any depth.
    #[arg(value_name = "MODEL|DIR", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Write results below this directory, which is made. A model of a directory has the path there that it has in its
    /// own.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output_dir: PathBuf,
    /// The pipeline: a .toml file, one of rules, or the name of a built-in one. Without it and --passes it is
    /// `default`.
    #[arg(short, long, value_name = "PIPELINE")]
    pub(crate) pipeline: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    /// Give a dim symbol of each model a size, or a parameter a value, before the first pass. Repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) bind: Vec<String>,
    /// Run each model and its result in ONNX Runtime: a model whose result computes something else has failed.
    #[arg(long)]
    pub(crate) verify_outputs: bool,
    /// Let passes make models larger where that makes them faster or simpler: sets every config option `allow_growth`.
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run N models at once; by default as many as there are cores.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Do all models, also those that were done before.
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten, next_help_heading = FAILURES)]
    pub(crate) process: ProcessArgs,
    /// Keep the outcomes in FILE, not in DIR/outcomes.jsonl.
    #[arg(long, help_heading = REPORT, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,
    /// Print failures only.
    #[arg(short, long, help_heading = REPORT)]
    pub(crate) quiet: bool,
    /// Print one JSON object a model on standard output, as soon as it is done.
    #[arg(long, help_heading = REPORT)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Data")]
    pub(crate) data: DataArgs,
}
