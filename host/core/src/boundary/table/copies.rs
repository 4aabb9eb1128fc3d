//! Copies: of regions, of ops and of types, within a function and from one to another.

use passdock_abi as abi;
use passdock_abi::{CloneDesc, CloneOpsDesc, OpId, Opset, SymbolId, TypeId, ValueId};
use passdock_ir::{CloneOps, CloneRegion, Edit, EditFailure, Function};

use super::describe;
use crate::boundary::session::gate::Session;
use crate::boundary::session::{FunctionSession, FunctionState, input, with_current};

impl FunctionState {
    pub(in crate::boundary) unsafe fn clone_region(&mut self, desc: &CloneDesc) -> Edit {
        // SAFETY: the contract: what the description points to is there as long as the call.
        unsafe {
            let args = input::list(desc.args, desc.arg_count, "arguments")?;
            let captures = input::list(desc.captures, desc.capture_count, "captures")?;
            let room = (desc.results, desc.result_count);
            copy_to(self, desc.source.handle, room, |state, source| {
                let holder = source.map_or_else(|| state.read(), Ok)?;
                holder.live_region(desc.region)?;
                let terminator = holder.terminator(desc.region);
                let count = terminator.map_or(0, |op| holder.operands(op).len());
                check_room("The region to copy gives", count, desc.result_count)?;
                let needed = imports(state, source, holder.walk(desc.region))?;
                let copies = state.edit()?.clone_region(&CloneRegion {
                    region: desc.region,
                    source,
                    at: describe::place(&desc.at),
                    args,
                    captures,
                })?;
                Ok((needed, copies))
            })
        }
    }

    pub(in crate::boundary) unsafe fn clone_ops(&mut self, desc: &CloneOpsDesc) -> Edit {
        // SAFETY: as above.
        unsafe {
            let ops = input::list(desc.ops, desc.op_count, "ops to copy")?;
            let captures = input::list(desc.captures, desc.capture_count, "captures")?;
            let room = (desc.results, desc.result_count);
            copy_to(self, desc.source.handle, room, |state, source| {
                let holder = source.map_or_else(|| state.read(), Ok)?;
                let counts = ops
                    .iter()
                    .map(|&op| Ok(holder.live_op(op)?.results.len as usize));
                let count = counts.sum::<Edit<usize>>()?;
                check_room("The ops to copy have", count, desc.result_count)?;
                let needed = imports(state, source, holder.with_nested(ops))?;
                let copies = state.edit()?.clone_ops(&CloneOps {
                    ops,
                    source,
                    at: describe::place(&desc.at),
                    captures,
                })?;
                Ok((needed, copies))
            })
        }
    }

    pub(in crate::boundary) unsafe fn replace_body(
        &mut self,
        source: *const abi::Function,
    ) -> Edit {
        // SAFETY: the contract.
        unsafe {
            with_source(self, source, |state, source| {
                let function = state.edit()?;
                source.map_or(Ok(()), |source| {
                    function.replace_body(source, since(source))
                })
            })
        }
    }

    pub(in crate::boundary) unsafe fn type_from(
        &mut self,
        source: *const abi::Function,
        ty: TypeId,
    ) -> Edit<TypeId> {
        // SAFETY: the contract.
        unsafe {
            with_source(self, source, |state, source| match source {
                Some(source) => state.edit()?.type_from(source, ty),
                None => state.read()?.live_type(ty).map(|_| ty),
            })
        }
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
    move |name, version| with_current(|cx| cx.since(symbols, name, version)).flatten()
}

/// Calls `copy` with the state of a function and the function that something is copied from; `None` if that is
/// the same, or null.
///
/// # Safety
/// As [`Session::of`], for the source.
unsafe fn with_source<T>(
    state: &mut FunctionState,
    source: *const abi::Function,
    copy: impl FnOnce(&mut FunctionState, Option<&Function>) -> Edit<T>,
) -> Edit<T> {
    if source.is_null() {
        return copy(state, None);
    }
    // SAFETY: the caller's promise.
    let source = unsafe { FunctionSession::of(source) }?;
    if source.holds(state) {
        return copy(state, None);
    }
    source.with(|other| {
        let other = other.read()?;
        if !std::ptr::eq(other.symbols().as_ref(), state.read()?.symbols().as_ref()) {
            let message = "What is to be copied is of another module.";
            return Err(EditFailure::refused(message));
        }
        copy(state, Some(other))
    })
}

/// Writes the values that `copy` returns to the plugin's array, and adds the imports that the copies need.
///
/// # Safety
/// As [`Session::of`], for the source; the array has as many elements.
unsafe fn copy_to(
    state: &mut FunctionState,
    source: *const abi::Function,
    (results, count): (*mut ValueId, usize),
    copy: impl FnOnce(&mut FunctionState, Option<&Function>) -> Edit<(Vec<Opset>, Vec<ValueId>)>,
) -> Edit {
    if count > 0 {
        input::check_out(results)?;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let (needed, copies) = with_source(state, source, copy)?;
        state.edit()?.add_imports(&needed);
        input::write_all(results, copies);
    }
    Ok(())
}

/// Refuses an array for the results that hasn't exactly their number of elements.
fn check_room(what: &str, count: usize, room: usize) -> Edit {
    if count == room {
        return Ok(());
    }
    Err(EditFailure::invalid(format!(
        "{what} {count} values, and there is room for {room}."
    )))
}
