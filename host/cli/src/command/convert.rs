//! `passdock convert`: between `.onnx` and `.ir`.

use passdock::model_file;

use crate::args::ConvertArgs;
use crate::show;

pub(crate) fn convert(args: ConvertArgs) -> u8 {
    let converted = model_file::read_with(&args.input, args.data.reading()).and_then(|module| {
        for warning in model_file::remarks(&module, &args.output) {
            show::diagnostic(&warning);
        }
        model_file::write(&module, &args.output, args.data.writing())
    });
    match converted {
        Ok(()) => 0,
        Err(error) => super::fail(&error),
    }
}
