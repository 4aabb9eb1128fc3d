//! `passdock convert`: between `.onnx` and `.ir`.

use std::path::{Path, PathBuf};

use passdock::model_file::{self, Format, Output};
use passdock::{ErrorKind, PassError, pipeline};

use super::worker::{self, Files};
use crate::args::model::ConvertArgs;
use crate::{plugins, request, show};

pub(crate) fn convert(args: ConvertArgs) -> Result<u8, PassError> {
    // Only --brief needs no name.
    let to = args.output.clone();
    let to = to.unwrap_or_else(|| PathBuf::from("-"));
    // Nothing else is done by plugins.
    if !args.data.value_info {
        return convert_here(args, &to);
    }
    let (process, model) = (args.process.clone(), args.input.clone());
    let files = Files {
        model: Some(&model),
        output: Some(&to),
    };
    worker::whole(&process, false, files, || convert_here(args, &to))
}

fn convert_here(args: ConvertArgs, to: &Path) -> Result<u8, PassError> {
    if args.brief {
        check_is_text(to)?;
    }
    // First, so that a place which takes no file is told of before any work.
    let output = Output::new(to)?;
    let mut module = model_file::read_with(&args.input, args.data.reading())?;
    output.check_source(&module)?;
    if args.data.value_info {
        let plugins = request::of_plugins(args.plugins);
        module = pipeline::infer_types(&plugins::registry(), &plugins, &module)?;
    }
    let mut options = args.data.writing();
    options.brief = args.brief;
    let staging = worker::staging();
    let output = output.stage(&module, options, staging, &mut |said| {
        show::diagnostic(&said)
    })?;
    show::place(Some(output));
    Ok(0)
}

fn check_is_text(to: &Path) -> Result<(), PassError> {
    if Format::of(to)? == Format::Text {
        return Ok(());
    }
    let to = to.display();
    let message = format!("`--brief` is for texts, and `{to}` is an ONNX file.");
    let error = PassError::new(ErrorKind::Usage, message);
    Err(error.help("Write to a file that ends in .ir, or leave OUT out to print the text."))
}
