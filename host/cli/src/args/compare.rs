//! The options of `compare`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/compare.txt").trim_end())]
pub(crate) struct CompareArgs {
    /// The model before: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// The model after: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Give an open dim of the inputs this size: `batch=4`. Repeatable.
    #[arg(long, value_name = "NAME=SIZE", value_parser = dim)]
    pub(crate) dim: Vec<(String, i64)>,
    /// Make up other inputs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u32,
    /// Make up N inputs of each size.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) runs: u32,
    /// Try N sizes of the dims that are open.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) sizes: u32,
    /// Take the inputs from here, instead of making them up.
    ///
    /// A directory with `input_0.pb` or `input_0.npy`, `NAME.npy`, …, a .npz file with the inputs' names, a directory
    /// of such directories or .npz files, or one file for a model of one input.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["seed", "runs", "sizes", "dim"])]
    pub(crate) inputs: Option<PathBuf>,
    /// Let an element be off by this part of it, instead of what its type allows.
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) rtol: Option<f64>,
    /// Let every element be off by this, instead of what its type and the largest element allow.
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) atol: Option<f64>,
    /// Say nothing if they are the same, and one sentence if not.
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Read data from outside of the models' directories too: absolute paths, `..`, links.
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `NAME=SIZE`.
fn dim(text: &str) -> Result<(String, i64), &'static str> {
    let (name, size) = text.rsplit_once('=').ok_or("write NAME=SIZE")?;
    match (name.trim(), size.trim().parse()) {
        ("", _) => Err("write NAME=SIZE"),
        (name, Ok(size @ 0..)) => Ok((name.to_owned(), size)),
        _ => Err("a size is a whole number from 0 on"),
    }
}

fn tolerance(text: &str) -> Result<f64, &'static str> {
    match text.parse() {
        Ok(number @ 0.0..) if f64::is_finite(number) => Ok(number),
        _ => Err("this isn't a number from 0 on"),
    }
}
