//! The options of `extract`.

use std::path::PathBuf;

use clap::Args;

use crate::args::data::DataArgs;
use crate::args::{PluginArgs, trimmed};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  passdock extract model.onnx --inputs hidden,mask --outputs attention -o part.onnx
  passdock extract model.onnx --outputs attention -o front.onnx     from the model's inputs on
  passdock extract model.onnx --inputs attention -o back.onnx       up to the model's outputs
  passdock convert model.onnx - | less -S                           the names of the values

Values go by their names in the model's main graph, not in the graphs of an If or a Loop. The part keeps their
names, the weights and functions that it needs, and the types that can be inferred. Parameters of the model come first
among its inputs. An output that depends on more than the inputs is refused, and what is missing is named.

Exit status: 0 the part was written; 1 the model can't be read or the part can't be written; 2 it can't be cut
out like this.")]
pub(crate) struct ExtractArgs {
    /// The model: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The values that the part takes. Without them, those of the model's inputs that its outputs need.
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = trimmed, required_unless_present = "outputs")]
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
}
