//! The options of `blame`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PassArgs;

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock blame [OPTIONS] [PIPELINE] MODEL OP",
    after_help = "\
Examples:
  passdock blame model.onnx logits                     the default pipeline
  passdock blame pipeline.toml model.onnx /fc/MatMul
  passdock blame model.onnx %57 --json
  passdock run model.onnx -o out.ir && passdock convert --brief out.ir      shows the numbers

OP is the name of a result, an output or a node, or the number that the brief text of what the pipeline makes has
for it.
An op that isn't in the result any more is looked for in the model: then it says which pass removed it.

The pipeline runs in this process, nothing is written. Each pass that made or changed the op is shown with the
ops from before and after it (- and +), and so is what was done to the ops that it came from. Ops are followed
as `passdock diff` pairs them. Types and names are no changes.

Exit status: 0 the op was found; otherwise as of run."
)]
pub(crate) struct BlameArgs {
    /// The pipeline, if one is named, then the model, then the op.
    #[arg(value_name = "FILE", num_args = 2..=3, required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
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
