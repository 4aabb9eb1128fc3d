//! Functions that call themselves: the IR may have them, ONNX may not, and so that is said before anything runs.

use passdock_core::{Diagnostic, Severity};
use passdock_ir::Module;

use crate::model_file::Format;
use crate::prepare::Request;

/// Says which functions call each other in a circle, if the model is an ONNX file or is to be one.
pub(in crate::pipeline) fn warning(request: &Request, module: &Module) -> Option<Diagnostic> {
    let paths = [Some(&request.model), request.output.as_ref()];
    let mut paths = paths.into_iter().flatten();
    if !paths.any(|path| matches!(Format::of(path), Ok(Format::Onnx))) {
        return None;
    }
    let circle = passdock_onnx::recursion(module)?;
    let message = format!("The model's functions are recursive: {circle}.");
    let mut diagnostic = Diagnostic::new(Severity::Warning, "recursive-functions", message);
    diagnostic.help = Some(
        "ONNX forbids it: its checker and runtimes refuse such a model, and it is written as ONNX only as \
         far as nothing in these functions changes. Take one of the calls out."
            .to_owned(),
    );
    Some(diagnostic)
}
