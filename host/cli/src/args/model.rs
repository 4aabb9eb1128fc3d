//! The options of `convert`, `extract` and `blame`: what one does with one model.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use crate::args::data::DataArgs;
use crate::args::process::ProcessArgs;
use crate::args::{PassArgs, PluginArgs, trimmed};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  passdock convert model.onnx model.ir          read it, edit it
  passdock convert model.ir model.onnx          equal field by field; weights stay in the file they are in
  passdock convert model.onnx small.onnx --external-data all
  passdock convert model.onnx typed.onnx --value-info    all shapes that can be inferred
  cat model.ir | passdock convert - model.onnx
  passdock convert --brief model.onnx | less -S      to read, not to read back

--brief numbers the values (parameters keep short names), cuts long data, and leaves out names of nodes, \
documentation and metadata of ops, so that the lines of a real model fit a terminal.")]
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  passdock extract model.onnx --inputs hidden,mask --outputs attention -o part.onnx
  passdock extract model.onnx --outputs attention -o front.onnx     from the model's inputs on
  passdock extract model.onnx --inputs attention -o back.onnx       up to the model's outputs
  passdock convert model.onnx - | less -S                           the names of the values

Values go by their names in the model's main graph, not in the graphs of an If or a Loop. The part keeps their \
names, the weights and functions that it needs, and the types that can be inferred. Parameters of the model come first \
among its inputs. An output that depends on more than the inputs is refused, and what is missing is named.

Exit status: 0 the part was written; 1 the model can't be read or the part can't be written; 2 it can't be cut \
out like this.")]
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
    after_help = "\
Examples:
  passdock blame model.onnx logits                     the default pipeline
  passdock blame pipeline.toml model.onnx /fc/MatMul
  passdock blame model.onnx %57 --json
  passdock run model.onnx -o out.ir && passdock convert --brief out.ir      shows the numbers

OP is the name of a result, an output or a node, or the number that the brief text of what the pipeline makes has \
for it. \
An op that isn't in the result any more is looked for in the model: then it says which pass removed it. Of an \
output it says, too, which pass had another op make it.

Nothing is written. Each pass that made or changed the op is shown with the \
ops from before and after it (- and +), and so is what was done to the ops that it came from. Ops are followed \
as `passdock diff` pairs them. Types and names are no changes. Of long lines the beginning, what changed and the \
end are shown; --json has all of them.

Exit status: 0 the op was found; otherwise as of run."
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
