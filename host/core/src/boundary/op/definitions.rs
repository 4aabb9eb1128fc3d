//! The definitions of ops in the function that a pass works on.

use passdock_abi::{OpId, SymbolId};
use passdock_diagnostic::BlamedDefinition;
use passdock_ir::{Edit, EditError, OpName};
use passdock_loader::{LoadedOp, Plugin};

use crate::analyses::{definition, definition_traits};
use crate::boundary::session::context::{self, ContextSession};
use crate::boundary::session::function::FunctionSession;

/// The traits of an op in a function; 0 if no plugin defines it.
pub(in crate::boundary) fn traits(session: &FunctionSession, name: SymbolId) -> u64 {
    context::with_current(|context| {
        let traits = session.with(|state| {
            let (defs, function) = (context.op_defs(), state.function());
            let names_function = || context.names_function(function.symbols(), name);
            Ok(definition_traits(defs, function, name, names_function))
        });
        traits.unwrap_or(0)
    })
    .unwrap_or(0)
}

/// The definition of an op in a function.
pub(in crate::boundary) fn find(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    name: SymbolId,
) -> Option<LoadedOp> {
    let found = session.with(|state| {
        let (defs, function) = (context.op_defs(), state.function());
        let names_function = || context.names_function(function.symbols(), name);
        Ok(definition(defs, function, name, names_function))
    });
    found.ok().flatten()
}

/// The definition of an op in a function, which has to be there.
pub(in crate::boundary) fn get(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    name: SymbolId,
) -> Edit<LoadedOp> {
    let found = find(context, session, name);
    found.ok_or_else(|| EditError::not_found("no plugin defines it"))
}

/// The definition of an op as messages name it: with its plugin, which isn't the pass's.
pub(in crate::boundary) fn describe(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    op: OpId,
) -> String {
    match asked(context, session, op) {
        Ok((shown, _, Some(plugin))) => {
            format!("The definition of {shown}, of plugin {},", plugin.origin())
        }
        Ok((shown, ..)) => format!("The definition of {shown}"),
        Err(_) => format!("The definition of {op}"),
    }
}

/// Remembers that an error comes from an op's definition, for what the pass will say of it; returns
/// the error.
pub(in crate::boundary) fn blame(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    op: OpId,
    error: EditError,
) -> EditError {
    if let Ok((shown, name, Some(plugin))) = asked(context, session, op) {
        let file = plugin.origin().path();
        let definition = BlamedDefinition {
            op: name,
            plugin: plugin.name().to_owned(),
            file: file.map(|file| file.display().to_string()),
        };
        context.blame(shown, error.message.clone(), definition);
    }
    error
}

/// An op as messages show it, its name, and the plugin that defines it.
fn asked<'a>(
    context: &ContextSession<'a>,
    session: &FunctionSession,
    op: OpId,
) -> Edit<(String, String, Option<&'a Plugin>)> {
    session.with(|state| {
        let function = state.function();
        let text = function.text(function.live_op(op)?.name);
        let domain = OpName::parse(text).and_then(|name| name.domain);
        let domain = domain.and_then(|domain| function.symbols().find(&domain));
        let version = function.opset(domain.unwrap_or(SymbolId::NONE));
        let plugin = context.op_defs().provider(text, version);
        Ok((function.describe_op(op), text.to_owned(), plugin))
    })
}
