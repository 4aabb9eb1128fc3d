//! Errors about the command line, with the equivalents of other tools' options.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use passdock::{ErrorKind, PassError, terminal};

use crate::show::{self, CommandOutput};

/// The exit status of invalid command lines.
const STATUS: u8 = 2;

/// Options of onnxsim and onnxslim, with their equivalents.
const OTHER_TOOLS: [(&[&str], &str); 3] = [
    (
        &["--overwrite-input-shape", "--input-shape", "--input-shapes"],
        "to set the size of a dim, use `--bind NAME=SIZE`; `passdock stats MODEL` shows the names",
    ),
    (
        &["--skip-optimization", "--skip-fusion-patterns"],
        "to skip a pass, use `--disabled-pass PASS`; to skip a rewrite rule, `--disabled-rule RULE`",
    ),
    (
        &["--model-check"],
        "to compare the outputs of both models in ONNX Runtime, use `--verify-outputs`",
    ),
];

/// Escapes the arguments in the message, which may be arbitrary file names, so that each is on one line.
fn escape_arguments(error: &mut clap::Error) {
    let escaped = error.context().filter_map(|(kind, value)| match value {
        ContextValue::String(text) => Some((kind, ContextValue::String(show::safe(text)))),
        ContextValue::StyledStrs(tips) => {
            // Its style is lost, too: it consists of control characters.
            let plain = |tip: &StyledStr| StyledStr::from(show::safe(&tip.to_string()));
            let is_hostile = tips
                .iter()
                .any(|tip| plain(tip).to_string() != tip.to_string());
            is_hostile.then(|| {
                (
                    kind,
                    ContextValue::StyledStrs(tips.iter().map(plain).collect()),
                )
            })
        }
        _ => None,
    });
    for (kind, value) in escaped.collect::<Vec<_>>() {
        error.insert(kind, value);
    }
}

/// Prints the error, and as JSON if the command line has `--json`. Returns the exit status.
pub(crate) fn report(mut error: clap::Error) -> u8 {
    if let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) {
        let known = |(names, _): &&(&[&str], &str)| names.contains(&option.as_str());
        if let Some((_, tip)) = OTHER_TOOLS.iter().find(known) {
            let tips = ContextValue::StyledStrs(vec![StyledStr::from(*tip)]);
            error.insert(ContextKind::Suggested, tips);
            error.remove(ContextKind::SuggestedArg);
        }
    }
    escape_arguments(&mut error);
    let text = error.render().to_string();
    // The errors of values contain arguments, too.
    match terminal::safe(&text) == text {
        true => show::written(error.print()),
        false => show::print_error(&text),
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let message = text.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let error = PassError::new(ErrorKind::Usage, message);
        show::write_out(&show::json(&CommandOutput::failed(&error)));
    }
    STATUS
}
