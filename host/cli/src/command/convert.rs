//! `passdock convert`: converts between `.onnx` and `.ir`.

use std::path::Path;

use passdock::model_file::{self, Format, Output};
use passdock::{ErrorKind, PassError, pipeline};

use crate::args::model::ConvertArgs;
use crate::{plugins, request, show};

pub(crate) fn convert(args: ConvertArgs) -> Result<u8, PassError> {
    let to = args.output();
    if args.brief {
        check_is_text(to)?;
    }
    // Opened first, so that an unwritable path is reported before any work.
    let output = Output::new(to)?;
    let mut module = model_file::read_with(&args.input, args.data.reading())?;
    output.check_source(&module)?;
    let mut options = args.data.writing();
    options.brief = args.brief;
    if args.data.value_info {
        let plugins = request::from_plugin_args(args.plugins);
        module = pipeline::infer_types(&plugins::registry(), &plugins, &module)?;
    }
    show::write_model(output, &module, options)?;
    Ok(0)
}

fn check_is_text(to: &Path) -> Result<(), PassError> {
    if Format::from_path(to)? == Format::Text {
        return Ok(());
    }
    let to = to.display();
    let message = format!("`--brief` writes IR text, but `{to}` is an ONNX file");
    let error = PassError::new(ErrorKind::Usage, message);
    Err(error.help("write to a file with the extension .ir, or omit OUT to print the text"))
}
