//! `passdock extract`: the part of a model between some of its values.

use passdock::model_file::{self, Output, is_standard};
use passdock::{Diagnostic, PassError, Severity, pipeline};
use passdock_tools::extract::{self, Bounds, ModelPart};

use crate::args::model::ExtractArgs;
use crate::command::worker::{self, Files};
use crate::{plugins, request, show};

pub(crate) fn extract(args: ExtractArgs) -> Result<u8, PassError> {
    let process = args.process.clone();
    let (model, output) = (args.model.clone(), args.output.clone());
    let files = Files {
        model: Some(&model),
        output: Some(&output),
    };
    worker::whole(&process, false, files, || extract_here(args))
}

fn extract_here(args: ExtractArgs) -> Result<u8, PassError> {
    // First, so that a place which takes no file is told of before any work.
    let output = Output::new(&args.output)?;
    let module = model_file::read_with(&args.model, args.data.reading())?;
    output.check_source(&module)?;
    let plugins = request::of_plugins(args.plugins);
    let typed = pipeline::infer_types(&plugins::registry(), &plugins, &module);
    let module = typed.unwrap_or_else(|error| {
        let mut warning = error.to_diagnostic();
        warning.severity = Severity::Warning;
        show::diagnostic(&warning);
        module
    });
    let bounds = Bounds {
        inputs: args.inputs,
        outputs: args.outputs,
    };
    let part = extract::extract(&module, &bounds)?;
    warn(&part);
    output.write(&part.module, args.data.writing(), &mut |said| {
        show::diagnostic(&said)
    })?;
    let text = format!(
        "{} of {}, {}\n",
        part.ops_after,
        show::count_of(part.ops_before as u64, "op"),
        show::written_to(Some(&args.output.display().to_string())),
    );
    show::print_beside(&text, is_standard(&args.output));
    Ok(0)
}

fn warn(part: &ModelPart) {
    for name in &part.idle {
        let message = format!("No output depends on the input `{name}`.");
        show::diagnostic(&warning(message));
    }
    for name in &part.unshaped {
        let message = format!("The shape of `{name}` isn't known.");
        let mut warning = warning(message);
        warning.help =
            Some("ONNX Runtime takes such a model, and onnx's checker doesn't.".to_owned());
        show::diagnostic(&warning);
    }
}

fn warning(message: String) -> Diagnostic {
    Diagnostic::new(Severity::Warning, "extract", message)
}
