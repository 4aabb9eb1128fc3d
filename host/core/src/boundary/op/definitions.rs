//! The definitions of ops in the function that a pass works on.

use passdock_abi::{Status, SymbolId};
use passdock_ir::{Edit, EditFailure};
use passdock_loader::LoadedOp;

use crate::analyses::{all_definitions, definition, definition_traits};
use crate::boundary::session::context::{self, ContextSession};
use crate::boundary::session::function::FunctionSession;

/// The reason why an op has no answer that nobody defines.
const UNDEFINED: &str = "no plugin defines it";

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
    found.ok_or_else(|| EditFailure::not_found(UNDEFINED))
}

/// The first answer of what is said of an op: `ask` asks one definition, and answers `NOT_FOUND` with the reason if it
/// has nothing to say. Without one, the reason of the last, or that `none` of them speaks of it.
pub(in crate::boundary) fn first_answer<T>(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    name: SymbolId,
    none: &str,
    mut ask: impl FnMut(&LoadedOp) -> Option<Edit<T>>,
) -> Edit<T> {
    let all = session.with(|state| {
        let (defs, function) = (context.op_defs(), state.function());
        let names_function = || context.names_function(function.symbols(), name);
        Ok(all_definitions(defs, function, name, names_function))
    })?;
    let mut refusal = EditFailure::not_found(match find(context, session, name) {
        Some(_) => none,
        None => UNDEFINED,
    });
    for definition in &all {
        match ask(definition) {
            None => {}
            Some(Err(error)) if error.status == Status::NOT_FOUND => refusal = error,
            Some(answer) => return answer,
        }
    }
    Err(refusal)
}
