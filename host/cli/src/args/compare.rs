//! Options of `compare`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/compare.txt").trim_end())]
pub(crate) struct CompareArgs {
    /// Model before: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Model after: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Set an unknown dim of the inputs to a size: `batch=4`. Repeatable.
    #[arg(long, value_name = "NAME=SIZE", value_parser = dim)]
    pub(crate) dim: Vec<(String, i64)>,
    /// Seed for randomly generated inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u32,
    /// Generate N sets of inputs for each size
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) runs: u32,
    /// Try N sizes for unknown dims
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) sizes: u32,
    /// Read the inputs from PATH instead of generating them
    ///
    /// PATH is a directory with `input_0.pb`, `input_0.npy`, `NAME.npy`, …, or a .npz file with the inputs' names. It
    /// may also be a directory of such directories or .npz files, or a single file for a model with one input.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["seed", "runs", "sizes", "dim"])]
    pub(crate) inputs: Option<PathBuf>,
    /// Allow this relative error per element instead of the default for its type
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) rtol: Option<f64>,
    /// Allow this absolute error per element instead of the default for its type and the largest element
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) atol: Option<f64>,
    /// Print nothing if the models agree, and one line if not
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Allow data outside the models' directories: absolute paths, `..`, links
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses `NAME=SIZE`.
fn dim(text: &str) -> Result<(String, i64), &'static str> {
    let (name, size) = text.rsplit_once('=').ok_or("expected NAME=SIZE")?;
    match (name.trim(), size.trim().parse()) {
        ("", _) => Err("expected NAME=SIZE"),
        (name, Ok(size @ 0..)) => Ok((name.to_owned(), size)),
        _ => Err("the size must be a non-negative integer"),
    }
}

fn tolerance(text: &str) -> Result<f64, &'static str> {
    match text.parse() {
        Ok(number @ 0.0..) if f64::is_finite(number) => Ok(number),
        _ => Err("expected a non-negative number"),
    }
}
