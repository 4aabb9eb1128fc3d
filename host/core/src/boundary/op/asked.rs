//! Who is to blame for an error about an op: its definition, and the plugin that it is of.

use passdock_abi::{OpId, Status};
use passdock_diagnostic::BlamedDefinition;
use passdock_ir::EditFailure;
use passdock_loader::LoadedOp;

use super::{IS_WRONG, describe_op};
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;

/// A definition that is asked about an op.
pub(super) struct Asked<'a> {
    context: &'a ContextSession<'a>,
    session: &'a FunctionSession,
    op: OpId,
    definition: &'a LoadedOp,
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        context: &'a ContextSession<'_>,
        session: &'a FunctionSession,
        op: OpId,
        definition: &'a LoadedOp,
    ) -> Asked<'a> {
        Asked {
            context,
            session,
            op,
            definition,
        }
    }

    /// The definition as messages name it: with its plugin, which isn't the pass's.
    pub(super) fn describe(&self) -> String {
        let (op, plugin) = (
            describe_op(self.session, self.op),
            &self.definition.plugin.origin,
        );
        format!("The definition of {op}, of plugin {plugin},")
    }

    /// Remembers that an error comes from the definition, for what the pass will say of it; returns the error.
    pub(super) fn blame(&self, error: EditFailure) -> EditFailure {
        let names = self.session.with(|state| {
            let function = state.function();
            let name = function.text(function.live_op(self.op)?.name).to_owned();
            Ok((function.describe_op(self.op), name))
        });
        if let Ok((shown, op)) = names {
            let plugin = self.definition.plugin;
            let file = plugin.origin.path();
            let by = BlamedDefinition {
                op,
                plugin: plugin.name.clone(),
                file: file.map(|file| file.display().to_string()),
            };
            self.context.blame(shown, error.message.clone(), by);
        }
        error
    }

    /// The error about a definition that failed, which is its plugin's mistake, or about an op that the
    /// definition calls invalid.
    pub(super) fn wrong(&self, status: Status, said: Option<String>) -> EditFailure {
        let message = match (status, said) {
            (Status::PANICKED, Some(said)) => format!("{} failed: {said}", self.describe()),
            (_, Some(said)) => format!("{}{IS_WRONG}{said}", describe_op(self.session, self.op)),
            (Status::PANICKED, None) => format!("{} panicked.", self.describe()),
            (Status(code), None) => format!(
                "{} failed with status {code} and didn't say why.",
                self.describe()
            ),
        };
        self.blame(EditFailure::refused(message))
    }
}
