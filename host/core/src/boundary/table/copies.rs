//! Copies: of regions, of ops and of types, within a function and from one to another.

use passdock_abi as abi;
use passdock_abi::{CloneDesc, CloneOpsDesc, FunctionRef, OpId, Opset, Status, SymbolId, TypeId};
use passdock_ir::{CloneOps, CloneRegion, Edit, EditError, Function};

use super::describe;
use crate::boundary::session::function::{FunctionSession, FunctionState};
use crate::boundary::session::{context, gate, input};

// SAFETY of all calls below is the contract's: handles are those that the host handed out and that
// haven't ended, and what a description points to is there as long as the call.

pub(super) unsafe extern "C" fn clone_region(
    f: *mut abi::Function,
    desc: *const CloneDesc,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let desc = input::described(desc)?;
            let args = input::list(desc.args, desc.arg_count, "arguments")?;
            let captures = input::list(desc.captures, desc.capture_count, "captures")?;
            if desc.result_count > 0 {
                input::check_out(desc.results)?;
            }
            let made = with_source(f, state, desc.source, |state, source| {
                let holder = source.map_or_else(|| state.read(), Ok)?;
                holder.live_region(desc.region)?;
                let terminator = holder.terminator(desc.region);
                let count = terminator.map_or(0, |op| holder.operands(op).len());
                check_room("The region to copy gives", count, desc.result_count)?;
                let ops = holder.walk(desc.region);
                let needed = imports(state, source, ops)?;
                let made = state.edit()?.clone_region(&CloneRegion {
                    region: desc.region,
                    source,
                    at: describe::place(&desc.at),
                    args,
                    captures,
                })?;
                state.edit()?.add_imports(&needed);
                Ok(made)
            })?;
            input::answer_all(desc.results, made);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn clone_ops(
    f: *mut abi::Function,
    desc: *const CloneOpsDesc,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let desc = input::described(desc)?;
            let ops = input::list(desc.ops, desc.op_count, "ops to copy")?;
            let captures = input::list(desc.captures, desc.capture_count, "captures")?;
            if desc.result_count > 0 {
                input::check_out(desc.results)?;
            }
            let made = with_source(f, state, desc.source, |state, source| {
                let holder = source.map_or_else(|| state.read(), Ok)?;
                let mut count = 0;
                for &op in ops {
                    count += holder.live_op(op)?.results.len as usize;
                }
                check_room("The ops to copy have", count, desc.result_count)?;
                let needed = imports(state, source, holder.with_nested(ops))?;
                let made = state.edit()?.clone_ops(&CloneOps {
                    ops,
                    source,
                    at: describe::place(&desc.at),
                    captures,
                })?;
                state.edit()?.add_imports(&needed);
                Ok(made)
            })?;
            input::answer_all(desc.results, made);
            Ok(())
        })
    }
}

pub(super) unsafe extern "C" fn replace_body(
    f: *mut abi::Function,
    source: *const abi::Function,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            with_source(f, state, bare(source), |state, source| {
                let Some(source) = source else { return Ok(()) };
                state.edit()?.replace_body(source, since(source))
            })
        })
    }
}

pub(super) unsafe extern "C" fn type_from(
    f: *mut abi::Function,
    source: *const abi::Function,
    ty: TypeId,
    out: *mut TypeId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            with_source(f, state, bare(source), |state, source| match source {
                Some(source) => state.edit()?.type_from(source, ty),
                None => state.read()?.live_type(ty).map(|_| ty),
            })
        })
    }
}

/// The domains that a function doesn't import and that ops to copy from another one are of; refuses ops that would
/// mean something else.
fn imports(
    state: &FunctionState,
    source: Option<&Function>,
    ops: impl Iterator<Item = OpId>,
) -> Edit<Vec<Opset>> {
    let Some(source) = source else {
        return Ok(Vec::new());
    };
    state.read()?.imports_of(source, ops, since(source))
}

/// What [`Function::imports_of`] asks, by the definitions of the pass that runs.
fn since(source: &Function) -> impl Fn(SymbolId, i64) -> Option<i64> {
    let symbols = source.symbols();
    move |name, version| context::with_current(|cx| cx.since(symbols, name, version)).flatten()
}

/// A reference without a view.
fn bare(source: *const abi::Function) -> FunctionRef {
    FunctionRef {
        handle: source.cast_mut(),
        view: std::ptr::null(),
    }
}

/// Calls `copy` with the state of a function and the function that something is copied from; `None` if that is
/// the same.
///
/// # Safety
/// As [`FunctionSession::of`], for the source.
unsafe fn with_source<T>(
    f: *mut abi::Function,
    state: &mut FunctionState,
    source: FunctionRef,
    copy: impl FnOnce(&mut FunctionState, Option<&Function>) -> Edit<T>,
) -> Edit<T> {
    if source.handle.is_null() || source.handle == f {
        return copy(state, None);
    }
    // SAFETY: the caller's promise.
    unsafe { FunctionSession::of(source.handle) }?.with(|other| {
        let other = other.read()?;
        if !std::ptr::eq(other.symbols().as_ref(), state.read()?.symbols().as_ref()) {
            let message = "What is to be copied is of another module.";
            return Err(EditError::refused(message));
        }
        copy(state, Some(other))
    })
}

/// Refuses an array for the results that hasn't exactly their number of elements.
fn check_room(what: &str, count: usize, room: usize) -> Edit {
    if count == room {
        return Ok(());
    }
    Err(EditError::invalid(format!(
        "{what} {count} values, and there is room for {room}."
    )))
}
