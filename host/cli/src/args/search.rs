//! The options of what runs a pipeline again and again: `bisect` and `reduce`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PassArgs;
use crate::args::process::{ProcessArgs, seconds, time_limit};

/// How models are judged.
#[derive(Debug, Args)]
pub(crate) struct CheckCommandArgs {
    /// What judges a model: `numerics`, or a shell command, in which `{}` stands for the model's path and `{in}`
    /// for that of the model before the pipeline.
    ///
    /// `numerics` compares what the two compute, as `passdock compare` does: it needs ONNX Runtime and nothing else. A
    /// command says by its status. 0: the model is good. 125: there is no telling. 126 and 127: the command can't be
    /// run, which ends everything. Else, and by a signal: it is bad. The file has the extension of MODEL.
    #[arg(long, value_name = "CHECK")]
    pub(crate) check: Option<String>,
    /// End a check that takes longer; then there is no telling.
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, requires = "check")]
    pub(crate) check_timeout: Option<f64>,
}

/// How a pipeline runs again and again; the same for `bisect` and `reduce`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The pipeline, if one is named, then the model: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    /// Let passes make the model larger, as `run --allow-growth` does.
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run function passes on N threads; by default on all cores.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Read data from outside of the model's directory too: absolute paths, `..`, links.
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock bisect [OPTIONS] --check CHECK\n       [PIPELINE] MODEL",
    after_help = include_str!("../../help/bisect.txt").trim_end()
)]
pub(crate) struct BisectArgs {
    #[command(flatten)]
    pub(crate) check: CheckCommandArgs,
    /// Write the last good and the first bad model and a reproducer of the pass to DIR.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock reduce [OPTIONS] [PIPELINE] MODEL",
    after_help = include_str!("../../help/reduce.txt").trim_end()
)]
pub(crate) struct ReduceArgs {
    #[command(flatten)]
    pub(crate) check: CheckCommandArgs,
    /// Write the smaller model here: .onnx, .ir, or `-` for IR text.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Run the pipeline N times at most.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) max_checks: usize,
    /// Go on for so long at most.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<f64>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}
