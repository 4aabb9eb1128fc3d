//! `passdock convert`: between `.onnx` and `.ir`.

use passdock::PassError;
use passdock::model_file::{self, Output};

use crate::args::ConvertArgs;
use crate::show;

pub(crate) fn convert(args: ConvertArgs) -> Result<u8, PassError> {
    // First, so that a place which takes no file is told of before any work.
    let output = Output::new(&args.output)?;
    let module = model_file::read_with(&args.input, args.data.reading())?;
    output.check_source(&module)?;
    let options = args.data.writing();
    output.write(&module, options, &mut |said| show::diagnostic(&said))?;
    Ok(0)
}
