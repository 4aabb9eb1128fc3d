//! The op definitions for the function that a pass works on, and errors about them.

use passdock_abi::{AttrEntry, OpFn, OpId, Status, SymbolId};
use passdock_diagnostic::BlamedDefinition;
use passdock_ir::{Edit, EditFailure, Function};
use passdock_loader::{LoadedOp, OpDefs};

use super::{IS_INVALID, OpCall, OpQueries, no_result};
use crate::analyses::{all_definitions, definition, definition_traits};
use crate::boundary::session::{FunctionSession, with_current};

/// The reason in errors about an op that no plugin defines.
const UNDEFINED: &str = "no plugin defines it";

impl FunctionSession {
    /// Returns the traits of an op in the function, or 0 if no plugin defines it.
    pub(in crate::boundary) fn traits(&self, name: SymbolId) -> u64 {
        let traits = with_current(|context| {
            let session = self;
            OpQueries { context, session }.look_up(name, definition_traits)
        });
        traits.and_then(Result::ok).unwrap_or(0)
    }
}

impl OpQueries<'_> {
    /// Calls `look` with the op definitions of the run, the function, and the name of an op. The closure that `look`
    /// receives returns whether a function of the module has that name.
    fn look_up<T>(
        &self,
        name: SymbolId,
        find: fn(&OpDefs, &Function, SymbolId, &dyn Fn() -> bool) -> T,
    ) -> Edit<T> {
        let context = self.context;
        self.session.with(|state| {
            let function = state.function();
            let names_function = || context.names_function(function.symbols(), name);
            Ok(find(context.op_defs(), function, name, &names_function))
        })
    }

    /// Returns the definition of an op in the function.
    pub(super) fn definition(&self, name: SymbolId) -> Option<LoadedOp> {
        self.look_up(name, definition).ok().flatten()
    }

    /// Returns the definition of an op in the function, or an error if there is none.
    pub(super) fn required_definition(&self, name: SymbolId) -> Edit<LoadedOp> {
        let definition = self.definition(name);
        definition.ok_or_else(|| EditFailure::not_found(UNDEFINED))
    }

    /// Returns the first result of an op's definitions. `ask` calls one of them, and returns a `NOT_FOUND` error with
    /// the reason if it has no result. If none has one, returns the last such error, or `none` as the reason.
    pub(super) fn first_result<T>(
        &self,
        name: SymbolId,
        none: &str,
        mut try_definition: impl FnMut(&LoadedOp) -> Option<Edit<T>>,
    ) -> Edit<T> {
        let mut rejection = EditFailure::not_found(match self.definition(name) {
            Some(_) => none,
            None => UNDEFINED,
        });
        for definition in &self.look_up(name, all_definitions)? {
            match try_definition(definition) {
                None => {}
                Some(Err(error)) if error.status == Status::NOT_FOUND => rejection = error,
                Some(result) => return result,
            }
        }
        Err(rejection)
    }

    /// Returns the attributes that an op's definition lists: the entries, their number and stride. The table of a
    /// definition is valid forever, since libraries aren't unloaded.
    pub(in crate::boundary) fn attributes(&self, op: OpId) -> Edit<(*const AttrEntry, u32, u32)> {
        let entry = self.required_definition(self.name(op)?)?.entry;
        if entry.attrs.is_null() {
            return Err(EditFailure::not_found("the definition lists no attributes"));
        }
        Ok((entry.attrs, entry.attr_count, entry.attr_stride))
    }

    /// Describes an op for a message.
    fn describe(&self, op: OpId) -> String {
        let described = self
            .session
            .with(|state| Ok(state.function().describe_op(op)));
        described.unwrap_or_else(|_| op.to_string())
    }

    /// Returns the error about an op that lacks `what`. The message of a `NOT_FOUND` error becomes its reason.
    pub(super) fn missing_error(&self, op: OpId, what: &str, error: EditFailure) -> EditFailure {
        match error.status {
            Status::NOT_FOUND => {
                let op = self.describe(op);
                EditFailure::not_found(format!("{op} {what}: {}", error.message))
            }
            _ => error,
        }
    }
}

/// A definition that is called for an op, and blamed for errors.
pub(super) struct QueriedDefinition<'q> {
    pub(super) queries: &'q OpQueries<'q>,
    pub(super) op: OpId,
    pub(super) definition: &'q LoadedOp,
}

impl QueriedDefinition<'_> {
    /// Describes the definition for a message, with its plugin, which may differ from the pass's.
    pub(super) fn describe(&self) -> String {
        let (op, plugin) = (self.queries.describe(self.op), self.definition.plugin);
        format!("the definition of {op} of plugin {}", plugin.origin)
    }

    /// Records that an error comes from the definition, for errors of the pass. Returns the error.
    pub(super) fn blame(&self, error: EditFailure) -> EditFailure {
        let names = self.queries.session.with(|state| {
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
            let context = self.queries.context;
            context.blame(shown, error.message.clone(), by);
        }
        error
    }

    /// Returns the error about a definition that failed, which is a bug of its plugin, or about an op that the
    /// definition rejected as invalid.
    pub(super) fn failure(&self, status: Status, reason: Option<String>) -> EditFailure {
        let message = match (status, reason) {
            (Status::PANICKED, Some(reason)) => format!("{} failed: {reason}", self.describe()),
            (_, Some(reason)) => format!("{}{IS_INVALID}{reason}", self.queries.describe(self.op)),
            (Status::PANICKED, None) => format!("{} panicked", self.describe()),
            (Status(code), None) => format!(
                "{} failed with status {code} without a message",
                self.describe()
            ),
        };
        self.blame(EditFailure::rejected(message))
    }

    /// Calls the definition, and returns the call with its results. The message of a `NOT_FOUND` error is the
    /// reason why there are none.
    pub(super) fn make_call<'c>(&self, mut call: OpCall<'c>, function: OpFn) -> Edit<OpCall<'c>> {
        let status = call.run(function, self.definition)?;
        match (status, call.rejection.take()) {
            (Status::OK, None) => Ok(call),
            (status, Some(why)) if status != Status::PANICKED => Err(EditFailure::not_found(why)),
            (Status::NOT_FOUND | Status::REJECTED, None) => Err(no_result()),
            (status, reason) => Err(self.failure(status, reason)),
        }
    }
}
