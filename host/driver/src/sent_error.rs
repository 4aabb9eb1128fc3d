//! Errors between processes.

use passdock_core::{Diagnostic, ErrorKind, Origin, PassError, Provider};
use passdock_crash::Death;
use serde::{Deserialize, Serialize};

/// An error as it goes from a worker to its supervisor: all of it but the underlying error and where to run into it
/// again.
#[derive(Debug, Serialize, Deserialize)]
pub struct SentError {
    kind: ErrorKind,
    is_inner: bool,
    diagnostic: Box<Diagnostic>,
    death: Option<Box<Death>>,
}

impl From<&PassError> for SentError {
    fn from(error: &PassError) -> SentError {
        SentError {
            kind: error.kind,
            is_inner: error.is_inner,
            diagnostic: Box::new(error.to_diagnostic()),
            death: error.death.clone(),
        }
    }
}

impl From<SentError> for PassError {
    fn from(sent: SentError) -> PassError {
        let said = *sent.diagnostic;
        let mut error = PassError::new(sent.kind, said.message);
        error.is_inner = sent.is_inner;
        error.death = sent.death;
        error.plugin = said.plugin.map(|plugin| Provider {
            origin: match said.file {
                Some(file) => Origin::File(file.into()),
                None => Origin::Static(plugin.clone()),
            },
            plugin,
        });
        error.pass = said.pass;
        error.run_by = said.run_by;
        error.definition = said.definition;
        error.function = said.function;
        error.op = said.op;
        error.location = said.location;
        error.help = said.help;
        error.notes = said.notes;
        error.snippet = said.snippet.map(Box::new);
        error.labels = said.labels;
        error
    }
}
