//! `passdock stats`: shows statistics of a model.

mod summary;
mod table;
mod text;

use std::path::Path;

use passdock::PassError;
use passdock::model_file::{self, Format, ReadOptions, is_standard};
use passdock_tools::stats::Stats;
use serde::Serialize;

use crate::args::StatsArgs;
use crate::progress::Progress;
use crate::show::{self, CommandOutput};

/// The output of `--json`.
#[derive(Serialize)]
struct StatsOutput<'s> {
    model: Model,
    /// `None` if the model couldn't be read.
    #[serde(flatten)]
    stats: Option<&'s Stats>,
}

/// The model's file.
#[derive(Serialize)]
struct Model {
    input: String,
    /// The format: `onnx` or `ir`.
    format: Option<&'static str>,
    /// The file's length, if it is a regular one.
    bytes: Option<u64>,
}

pub(crate) fn stats(args: StatsArgs) -> u8 {
    let progress = Progress::start(&format!("reading {}", args.model.display()));
    let result = collect(&args);
    drop(progress);
    let (stats, error) = (result.as_ref().ok(), result.as_ref().err());
    let status = error.map_or(0, show::fail);
    let model = Model::new(&args.model);
    if args.json {
        let output = StatsOutput { model, stats };
        show::print_json(&CommandOutput::new(status, output, error));
    } else if let Some(stats) = stats {
        let mut sections = vec![summary::render(&model, stats)];
        sections.extend(table::render(&model, stats));
        show::print(&sections.join("\n"));
    }
    status
}

fn collect(args: &StatsArgs) -> Result<Stats, PassError> {
    let options = ReadOptions {
        outside_data: args.allow_outside_data,
    };
    let module = model_file::read_with(&args.model, options)?;
    passdock_tools::stats::stats(&module, args.top)
}

impl Model {
    fn new(input: &Path) -> Model {
        let metadata = std::fs::metadata(input).ok();
        let file = metadata.filter(|metadata| metadata.is_file() && !is_standard(input));
        Model {
            input: input.display().to_string(),
            format: match Format::from_path(input) {
                Ok(Format::Onnx) => Some("onnx"),
                Ok(Format::Text) => Some("ir"),
                Err(_) => None,
            },
            bytes: file.map(|metadata| metadata.len()),
        }
    }
}
