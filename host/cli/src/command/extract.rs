//! `passdock extract`: extracts the part of a model between given values.

use std::path::PathBuf;

use passdock::model_file::{self, Output, is_standard};
use passdock::{Diagnostic, PassError, Severity, pipeline};
use passdock_tools::extract::{self, Bounds, ModelPart};
use serde::Serialize;

use crate::args::model::ExtractArgs;
use crate::{plugins, request, show};

/// The output of `--json`.
#[derive(Serialize)]
struct ExtractOutput {
    output: PathBuf,
    #[serde(flatten)]
    part: ModelPart,
}

pub(crate) fn extract(args: ExtractArgs) -> Result<u8, PassError> {
    request::check_output(Some(&args.output), args.json)?;
    // Opened first, so that an unwritable path is reported before any work.
    let output = Output::new(&args.output)?;
    let module = model_file::read_with(&args.model, args.data.reading())?;
    output.check_source(&module)?;
    let plugins = request::from_plugin_args(args.plugins);
    let typed = pipeline::infer_types(&plugins::registry(), &plugins, &module);
    let module = typed.unwrap_or_else(|mut error| {
        // Extraction continues without types.
        if error.termination.is_some() {
            error.help = None;
        }
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
    let written = ExtractOutput {
        output: args.output,
        part,
    };
    show::print_result(&written, args.json, |ExtractOutput { output, part }| {
        let text = show::line(&format!(
            "{} of {}, {}",
            part.ops_after,
            show::counted(part.ops_before as u64, "op"),
            show::written_to(Some(&output.display().to_string())),
        ));
        show::print_summary(&text, is_standard(output));
    });
    Ok(0)
}

fn warn(part: &ModelPart) {
    let warning = |message: String| Diagnostic::new(Severity::Warning, "extract", message);
    for name in &part.unused_inputs {
        let message = format!("no output depends on the input `{name}`");
        show::diagnostic(&warning(message));
    }
    let help = "ONNX Runtime accepts such a model, but onnx.checker rejects it";
    for name in &part.unknown_shapes {
        let message = format!("the shape of `{name}` is unknown");
        show::diagnostic(&warning(message).help(help));
    }
}
