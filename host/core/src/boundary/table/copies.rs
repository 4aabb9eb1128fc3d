//! Copies of regions, ops and types, within a function or from another function.

use passdock_abi as abi;
use passdock_abi::{Capture, CloneDesc, OpId, Opset, RegionId, SymbolId, TypeId, ValueId};
use passdock_ir::{CloneOps, CloneRegion, Edit, EditFailure, Function};
use rustc_hash::FxHashMap;

use super::describe;
use crate::boundary::session::gate::Session;
use crate::boundary::session::{FunctionSession, FunctionState, input, with_current};

impl FunctionState {
    pub(in crate::boundary) unsafe fn clone_ops(&mut self, desc: &CloneDesc) -> Edit {
        // SAFETY: all pointers in the description are valid during the call, by the plugin ABI.
        unsafe {
            let ops = input::list(desc.ops, desc.op_count, "ops to copy")?;
            let captures = input::list(desc.captures, desc.capture_count, "captures")?;
            let room = (desc.results, desc.result_count);
            copy_to(self, desc.source.handle, room, |state, source| {
                match desc.region.option() {
                    Some(_) if !ops.is_empty() => {
                        let message = "a region and a list of ops to copy exclude each other";
                        Err(EditFailure::invalid(message))
                    }
                    Some(region) => copy_region(state, source, region, desc, captures),
                    None => copy_ops(state, source, ops, desc, captures),
                }
            })
        }
    }

    pub(in crate::boundary) unsafe fn replace_body(
        &mut self,
        source: *const abi::Function,
    ) -> Edit {
        // SAFETY: the source is a valid handle by the plugin ABI.
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
        // SAFETY: the source is a valid handle by the plugin ABI.
        unsafe {
            with_source(self, source, |state, source| match source {
                Some(source) => state.edit()?.type_from(source, ty),
                None => state.read()?.live_type(ty).map(|_| ty),
            })
        }
    }
}

/// Copies the ops of a region. Returns the imports that the copies need, and the copies of the terminator's operands.
fn copy_region(
    state: &mut FunctionState,
    source: Option<&Function>,
    region: RegionId,
    desc: &CloneDesc,
    captures: &[Capture],
) -> Edit<(Vec<Opset>, Vec<ValueId>)> {
    let holder = source.map_or_else(|| state.read(), Ok)?;
    holder.live_region(region)?;
    let terminator = holder.terminator(region);
    let count = terminator.map_or(0, |op| holder.operands(op).len());
    check_capacity("the region to copy yields", count, desc.result_count)?;
    let replacements = captures.iter();
    let replacements = replacements.map(|capture| (capture.value, capture.replacement));
    let replacements: FxHashMap<ValueId, ValueId> = replacements.collect();
    let replacement = |arg: ValueId| {
        replacements.get(&arg).copied().ok_or_else(|| {
            let message = format!("argument {arg} of {region} has no replacement in `captures`");
            EditFailure::invalid(message)
        })
    };
    let args: Vec<ValueId> = holder.args(region).map(replacement).collect::<Edit<_>>()?;
    let needed = imports(state, source, holder.walk(region))?;
    let copies = state.edit()?.clone_region(&CloneRegion {
        region,
        source,
        at: describe::position(&desc.at),
        args: &args,
        captures,
    })?;
    Ok((needed, copies))
}

/// Copies ops. Returns the imports that the copies need, and the copies of the results.
fn copy_ops(
    state: &mut FunctionState,
    source: Option<&Function>,
    ops: &[OpId],
    desc: &CloneDesc,
    captures: &[Capture],
) -> Edit<(Vec<Opset>, Vec<ValueId>)> {
    let holder = source.map_or_else(|| state.read(), Ok)?;
    let counts = ops
        .iter()
        .map(|&op| Ok(holder.live_op(op)?.results.len as usize));
    let count = counts.sum::<Edit<usize>>()?;
    check_capacity("the ops to copy have", count, desc.result_count)?;
    let needed = imports(state, source, holder.with_nested(ops))?;
    let copies = state.edit()?.clone_ops(&CloneOps {
        ops,
        source,
        at: describe::position(&desc.at),
        captures,
    })?;
    Ok((needed, copies))
}

/// Returns the opsets that a function has to import before it can copy ops from another one. Rejects ops whose meaning
/// would change.
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

/// Returns the callback for [`Function::imports_of`], which uses the op definitions of the running pass.
fn since(source: &Function) -> impl Fn(SymbolId, i64) -> Option<i64> {
    let symbols = source.symbols();
    move |name, version| with_current(|cx| cx.since(symbols, name, version)).flatten()
}

/// Calls `copy` with the state of a function and the source function. The source is `None` if it is null or the same
/// function.
///
/// # Safety
/// The source meets the conditions of [`Session::from_handle`].
unsafe fn with_source<T>(
    state: &mut FunctionState,
    source: *const abi::Function,
    copy: impl FnOnce(&mut FunctionState, Option<&Function>) -> Edit<T>,
) -> Edit<T> {
    if source.is_null() {
        return copy(state, None);
    }
    // SAFETY: the caller's promise.
    let source = unsafe { FunctionSession::from_handle(source) }?;
    if source.holds(state) {
        return copy(state, None);
    }
    source.with(|other| {
        let other = other.read()?;
        if !std::ptr::eq(other.symbols().as_ref(), state.read()?.symbols().as_ref()) {
            let message = "cannot copy from another module";
            return Err(EditFailure::rejected(message));
        }
        copy(state, Some(other))
    })
}

/// Writes the values that `copy` returns to the plugin's array, and adds the imports that the copies need.
///
/// # Safety
/// The source meets the conditions of [`Session::from_handle`]. The array has as many elements as `copy` returns.
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

/// Rejects an array whose length isn't the number of results.
fn check_capacity(what: &str, count: usize, room: usize) -> Edit {
    if count == room {
        return Ok(());
    }
    Err(EditFailure::invalid(format!(
        "{what} {count} values, expected {room}"
    )))
}
