//! Causes of a failed output: unreadable data of the model, or passes that created something the format doesn't
//! support.

use passdock_core::{ErrorKind, PassError, Recorder, suggest};
use passdock_ir::Module;
use passdock_onnx::OnnxError;

/// A data file that can't be read: its name as quoted in messages, and the message about it.
pub(super) struct UnreadableData {
    pub(super) file: String,
    pub(super) message: String,
}

/// Returns the error about the model's data, if a pass or the output failed because the data can't be read.
pub(super) fn blame_data(error: PassError, unreadable: &[UnreadableData]) -> PassError {
    let is_named = |data: &&UnreadableData| error.message.contains(&data.file);
    let Some(data) = unreadable.iter().find(is_named) else {
        return error;
    };
    let mut on_model = PassError::new(ErrorKind::Read, data.message.as_str());
    match (&error.pass, &error.source, error.kind) {
        (Some(pass), None, _) => on_model.notes.push(format!("needed by pass `{pass}`")),
        (None, _, ErrorKind::Read) => on_model.notes.push("needed by the output".to_owned()),
        // An exception of a Python pass is returned unchanged.
        _ => return error,
    }
    on_model.notes.extend(error.notes.iter().cloned());
    on_model.help.clone_from(&error.help);
    on_model
}

/// Adds the passes that changed the function that can't be written, or that changed the model if the error has no
/// function. Passes aren't blamed for I/O errors and unreadable data.
pub(super) fn blame_passes(error: PassError, after: &Module, recorder: &Recorder) -> PassError {
    let source = error.source.as_ref();
    if error.kind == ErrorKind::Read || source.is_none_or(|source| source.is::<std::io::Error>()) {
        return error;
    }
    let onnx_error = source.and_then(|source| source.downcast_ref::<OnnxError>());
    if let Some(function) = onnx_error.and_then(|onnx_error| function_of(onnx_error, after)) {
        let passes = recorder.changing_function(function);
        return error.note(match passes.split_last() {
            None => format!("no pass changed @{function}"),
            Some((last, [])) => format!("@{function} was changed by `{last}`"),
            Some((last, before)) => format!(
                "@{function} was last changed by `{last}`; before that by {}",
                suggest::listed(before.iter().map(String::as_str))
            ),
        });
    }
    let passes = recorder.changing();
    if passes.is_empty() {
        return error;
    }
    let names = suggest::listed(passes.iter().map(String::as_str));
    error.note(format!("the model was changed by {names}"))
}

/// Returns the function that can't be written. The error's path starts with the function's name, except for `main`,
/// where it starts with an op or a value.
fn function_of<'m>(error: &OnnxError, module: &'m Module) -> Option<&'m str> {
    let mut names = module.functions().map(|f| f.text(f.name()));
    let Some(path) = error.path.strip_prefix('@') else {
        let mut parts = ["op", "%", "the value "].iter();
        let is_of_part = parts.any(|part| error.path.starts_with(part));
        return names.find(|name| is_of_part && *name == "main");
    };
    let is_within = |name: &&str| {
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    names.filter(is_within).max_by_key(|name| name.len())
}
