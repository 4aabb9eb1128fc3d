//! The definitions of ops in the function that a pass works on.

use passdock_abi::{OpId, SymbolId};
use passdock_ir::{Edit, EditError, OpName};
use passdock_loader::LoadedOp;

use crate::analyses::{definition, definition_traits};
use crate::boundary::session::context::{self, ContextSession};
use crate::boundary::session::function::FunctionSession;

/// The traits of an op in a function; 0 if no plugin defines it.
pub(in crate::boundary) fn traits(session: &FunctionSession, name: SymbolId) -> u64 {
    context::with_op_defs(|defs| {
        let found = session.with(|state| Ok(definition_traits(defs, state.function(), name)));
        found.unwrap_or(0)
    })
    .unwrap_or(0)
}

/// The definition of an op in a function.
pub(in crate::boundary) fn find(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    name: SymbolId,
) -> Option<LoadedOp> {
    let defs = context.op_defs();
    let found = session.with(|state| Ok(definition(defs, state.function(), name)));
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
    let described = session.with(|state| {
        let function = state.function();
        let text = function.text(function.live_op(op)?.name);
        let domain = OpName::parse(text).and_then(|name| name.domain);
        let domain = domain.and_then(|domain| function.symbols().find(&domain));
        let version = function.opset(domain.unwrap_or(SymbolId::NONE));
        let shown = function.describe_op(op);
        Ok(match context.op_defs().provider(text, version) {
            Some(origin) => format!("The definition of {shown}, of plugin {origin},"),
            None => format!("The definition of {shown}"),
        })
    });
    described.unwrap_or_else(|_| format!("The definition of {op}"))
}
