//! Options of `bisect` and `reduce`, which run a pipeline repeatedly.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::process::{ProcessArgs, seconds, time_limit};
use crate::args::{PassArgs, threads};

/// Options that select the oracle for models.
#[derive(Debug, Args)]
pub(crate) struct TestCommandArgs {
    /// Test command for models: `numerics`, or a shell command. In the command, `{}` is replaced by the path of the
    /// model, and `{in}` by the path of the model before the pipeline.
    ///
    /// `numerics` compares the outputs of the two models like `passdock compare`, in ONNX Runtime. The exit
    /// status of a command is its verdict. 0: the model is good. 125: inconclusive. 126 and 127: the command can't be
    /// run, which ends the search. Any other status, or termination by a signal: the model is bad. The file has the
    /// extension of MODEL.
    #[arg(long, value_name = "TEST")]
    pub(crate) test: Option<String>,
    /// Stop a test command after this time, with the verdict inconclusive
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, requires = "test")]
    pub(crate) test_timeout: Option<Duration>,
}

/// Options of the pipeline runs, shared by `bisect` and `reduce`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Optional pipeline, then the model: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    /// Let passes enlarge the model, as `run --allow-growth` does
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run function passes on N threads. Defaults to the number of cores
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    /// Allow data outside the model's directory: absolute paths, `..`, links
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock bisect [OPTIONS] --test TEST\n       [PIPELINE] MODEL",
    after_help = include_str!("../../help/bisect.txt").trim_end()
)]
pub(crate) struct BisectArgs {
    #[command(flatten)]
    pub(crate) test: TestCommandArgs,
    /// Write the last good model, the first bad model and a reproducer of the pass to DIR
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
    pub(crate) test: TestCommandArgs,
    /// Write the reduced model to OUT: .onnx, .ir, or `-` for IR text
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Run the pipeline at most N times
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) max_runs: usize,
    /// Stop the reduction after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) max_time: Option<Duration>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}
