//! `passdock extract`: the part of a model between some of its values.

use std::path::PathBuf;

use passdock::model_file::{self, Output, is_standard};
use passdock::{Diagnostic, PassError, Severity, pipeline};
use passdock_tools::extract::{self, Bounds, ModelPart};
use serde::Serialize;

use crate::args::model::ExtractArgs;
use crate::{plugins, request, show};

/// What was written.
#[derive(Serialize)]
struct Summary {
    output: PathBuf,
    ops_before: usize,
    ops_after: usize,
    /// Inputs that no output depends on.
    idle: Vec<String>,
    /// Inputs and outputs of unknown shape.
    unshaped: Vec<String>,
}

pub(crate) fn extract(args: ExtractArgs) -> Result<u8, PassError> {
    request::check_output(Some(&args.output), args.json)?;
    // First, so that a place which takes no file is reported before any work.
    let output = Output::new(&args.output)?;
    let module = model_file::read_with(&args.model, args.data.reading())?;
    output.check_source(&module)?;
    let plugins = request::of_plugins(args.plugins);
    let typed = pipeline::infer_types(&plugins::registry(), &plugins, &module);
    let module = typed.unwrap_or_else(|mut error| {
        // What is left to do is done without types.
        error.help = error.help.take().filter(|_| error.termination.is_none());
        show::warn(error);
        module
    });
    let bounds = Bounds {
        inputs: args.inputs,
        outputs: args.outputs,
    };
    let part = extract::extract(&module, &bounds)?;
    warn(&part);
    show::write_model(output, &part.module, args.data.writing())?;
    let summary = Summary {
        output: args.output,
        ops_before: part.ops_before,
        ops_after: part.ops_after,
        idle: part.idle,
        unshaped: part.unshaped,
    };
    show::answer(&summary, args.json, |part| {
        let text = format!(
            "{} of {}, {}\n",
            part.ops_after,
            show::count_of(part.ops_before as u64, "op"),
            show::written_to(Some(&part.output.display().to_string())),
        );
        show::print_beside(&text, is_standard(&part.output));
    });
    Ok(0)
}

fn warn(part: &ModelPart) {
    let warning = |message: String| Diagnostic::new(Severity::Warning, "extract", message);
    for name in &part.idle {
        let message = format!("No output depends on the input `{name}`.");
        show::diagnostic(&warning(message));
    }
    let help = "ONNX Runtime takes such a model, and onnx's checker doesn't.";
    for name in &part.unshaped {
        let message = format!("The shape of `{name}` isn't known.");
        show::diagnostic(&warning(message).help(help));
    }
}
