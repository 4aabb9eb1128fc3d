//! `OpApi` and `DefinitionApi`: queries of passes about ops, and the calls of plugins' op definitions.
//!
//! A definition reads the op's function through a read-only view. Its results are collected in an [`OpCall`], and
//! stored in the function after it returned without an error.

mod check_op;
mod decompose;
mod definitions;
mod evaluate;
mod layout;
mod shape_data;
mod supports;

use definitions::QueriedDefinition;
use layout::Layouts;
use passdock_abi as abi;
use passdock_abi::{
    Dim, ExprKind, OpCall as Handle, OpId, Status, Str, SymbolId, TypeDesc, TypeId, ValueId,
};
use passdock_crash::{CallKind, Callee, LentFor, LentMemory};
use passdock_ir::function::MAX_LIST;
use passdock_ir::{Edit, EditFailure, Function, ReplacedPools};
use passdock_loader::library::LoadedOp;
use shape_data::constant_dims;

use crate::analyses::{is_complete, remember_complete};
use crate::boundary::session::gate::Session;
use crate::boundary::session::lending::{self, LentHandle, Loans};
use crate::boundary::session::{
    Access, ContextSession, FunctionSession, FunctionState, SessionBase, gate, input, lends,
};
use crate::boundary::table::{describe, functions};

/// The maximum number of elements of a tensor whose shape data is stored.
pub(in crate::boundary) const MAX_SHAPE_DATA: usize = 256;

/// The maximum number of expressions that canonicalizing one expression may add.
const MAX_NEW_EXPRS: usize = 1024;

/// The phrase in errors that blame the op, not its definition.
pub const IS_INVALID: &str = " is invalid: ";

/// The query that a definition is called for.
#[derive(Clone, Copy)]
pub(in crate::boundary) enum OpQuery<'c> {
    /// Inference or evaluation: no further data.
    Nothing,
    /// The op's body.
    Body,
    /// The op's body with these layouts of its operands, or with others.
    Layouts(&'c [&'c str]),
    /// Whether this target supports the op.
    Support(&'c str),
}

/// The object that a `*mut abi::OpCall` points to: a call of a definition, with its results.
pub(in crate::boundary) struct OpCall<'c> {
    pub(in crate::boundary) session: &'c FunctionSession,
    pub(in crate::boundary) op: OpId,
    /// The number of bytes that an evaluation may still allocate. `None` for other calls.
    pub(in crate::boundary) budget: Option<u64>,
    types: Vec<(u32, TypeId)>,
    dims: Vec<(u32, Box<[Dim]>)>,
    /// The dims returned by `operand_dims`, which live until the call ends.
    operand_dims: Vec<Box<[Dim]>>,
    /// The old buffers of pools that grew when types and expressions were added. The definition may hold slices of
    /// them.
    replaced_pools: Vec<ReplacedPools>,
    pub(in crate::boundary) results: Vec<(u32, TypeId, Box<[u8]>)>,
    /// The query, which determines which of the results below are allowed.
    pub(in crate::boundary) query: OpQuery<'c>,
    pub(in crate::boundary) body: Option<String>,
    pub(in crate::boundary) layouts: Layouts,
    pub(in crate::boundary) rejection: Option<String>,
    base: SessionBase,
    /// The memory that is lent to the definition until the call ends, if the process lends.
    lent: Loans,
    /// The memory of `results` that is lent, with their indices.
    lent_results: Vec<(usize, LentMemory)>,
}

impl<'c> OpCall<'c> {
    pub(in crate::boundary) fn new(session: &'c FunctionSession, op: OpId) -> OpCall<'c> {
        OpCall {
            session,
            op,
            budget: None,
            types: Vec::new(),
            dims: Vec::new(),
            operand_dims: Vec::new(),
            replaced_pools: Vec::new(),
            results: Vec::new(),
            query: OpQuery::Nothing,
            body: None,
            layouts: Layouts::default(),
            rejection: None,
            base: SessionBase::new(),
            lent: Loans::default(),
            lent_results: Vec::new(),
        }
    }

    /// Calls a definition. The function is read-only during the call.
    pub(in crate::boundary) fn run(
        &mut self,
        function: abi::OpFn,
        definition: &LoadedOp,
    ) -> Edit<Status> {
        let before = self
            .session
            .with(|state| Ok(state.set_access(Access::Read)))?;
        let _outer = lends().then(lending::put_aside);
        self.session.begin_loan(true);
        let reference = self.session.reference();
        let lent = lends().then(|| LentHandle::new(self));
        let handle = std::ptr::from_mut(self).cast::<Handle>();
        let handle = lent.as_ref().map_or(handle, LentHandle::as_ptr);
        let name = self.session.op_name(self.op).unwrap_or_default();
        let plugin = definition.plugin.origin.path();
        let callee = Callee::new(CallKind::Definition, name, plugin);
        let entered = callee
            .on_function(self.session.function_name().unwrap_or_default())
            .enter();
        // SAFETY: the function and its state come from the table of a plugin, which is never unloaded. The call and the
        // reference live until it returns.
        let status = unsafe {
            let (host, state) = (definition.plugin.host, definition.entry.state);
            function(host, state, handle, &reference, self.op)
        };
        entered.leave();
        if let Some(lent) = lent {
            self.end_loans(lent);
        }
        self.session.with(|state| {
            // A definition can't have edited. If the host panicked, the session stays broken.
            if state.set_access(before) == Access::Broken {
                state.break_off();
            }
            Ok(())
        })?;
        match lending::take_message() {
            None => Ok(status),
            Some(violation) => Err(EditFailure::rejected(format!(
                "the definition of `{name}` {violation}"
            ))),
        }
    }

    /// Takes back what was lent to the definition.
    #[cold]
    fn end_loans(&mut self, handle: LentHandle) {
        drop(handle);
        self.session.end_loan();
        self.lent.expire();
        for (at, memory) in self.lent_results.drain(..) {
            self.results[at].2.copy_from_slice(memory.current());
        }
    }

    /// Returns a string for the definition, which is valid until the call ends.
    fn lent_text(&mut self, text: &str) -> Str {
        let text = Str::new(text);
        match lends() {
            false => text,
            // SAFETY: the text is borrowed.
            true => unsafe { self.lent.text(text) },
        }
    }

    /// Returns the call that a handle points to.
    ///
    /// # Safety
    /// The handle is null or that of a call that hasn't returned, and no other code uses the call.
    unsafe fn from_handle(handle: *mut Handle) -> Edit<&'c mut OpCall<'c>> {
        let call = gate::address::<OpCall<'c>, _>(handle);
        // SAFETY: the caller's promise. On a foreign thread only the field `thread` is read, which never changes.
        match call.filter(|call| unsafe { (**call).base.is_of_this_thread() }) {
            // SAFETY: as above.
            Some(call) => Ok(unsafe { &mut *call }),
            None => Err(EditFailure::invalid(gate::NO_SESSION)),
        }
    }

    /// Rejects an index that isn't less than the number of operands or results.
    fn check_index(&self, index: u32, what: &str, count: fn(&abi::Op) -> u32) -> Edit {
        let record = |state: &mut FunctionState| Ok(count(state.function().op(self.op)));
        match self.session.with(record)? {
            count if index < count => Ok(()),
            count => Err(EditFailure::invalid(format!(
                "{what} index {index} is out of range: the op has {count}"
            ))),
        }
    }

    fn check_result(&self, index: u32) -> Edit {
        self.check_index(index, "result", |record| record.results.len)
    }

    /// Rejects adding to the function during `supports`: its caller has a const view of the function, whose slices stay
    /// valid.
    fn may_add(&self) -> Edit {
        match self.query {
            OpQuery::Support(_) => Err(EditFailure::rejected(
                "`supports` of a definition cannot edit the function",
            )),
            _ => Ok(()),
        }
    }

    /// Interns a described type in the function.
    ///
    /// # Safety
    /// See [`describe::add_type`].
    unsafe fn intern(&mut self, desc: &TypeDesc) -> Edit<TypeId> {
        self.may_add()?;
        let parts = [desc.dim_count, desc.layout_count, desc.item_count];
        let ty = self.session.with(|state| {
            let function = state.own();
            let parts = parts.iter().fold(0, |sum, &n| n.saturating_add(sum));
            self.replaced_pools
                .extend(function.reserve_type(parts.min(MAX_LIST)));
            // SAFETY: the caller's promise.
            unsafe { describe::add_type(function, desc) }
        });
        self.session.refresh();
        ty
    }
}

/// A query about an op of the function that a pass works on.
pub(in crate::boundary) struct OpQueries<'a> {
    pub(in crate::boundary) context: &'a ContextSession<'a>,
    pub(in crate::boundary) session: &'a FunctionSession,
}

/// Runs a query that may change the function, and updates its view.
///
/// # Safety
/// The handles are valid by the plugin ABI.
pub(in crate::boundary) unsafe fn query(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    body: impl FnOnce(&OpQueries<'_>) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        gate::change(f, |session| {
            let context = ContextSession::from_handle(cx)?;
            body(&OpQueries { context, session })
        })
    }
}

/// Runs a query that only reads the function.
///
/// # Safety
/// The handles are valid by the plugin ABI.
pub(in crate::boundary) unsafe fn query_read(
    cx: *mut abi::Context,
    f: *const abi::Function,
    body: impl FnOnce(&OpQueries<'_>) -> Edit,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        gate::call(FunctionSession::from_handle(f), |session| {
            let context = ContextSession::from_handle(cx)?;
            body(&OpQueries { context, session })
        })
    }
}

impl OpQueries<'_> {
    /// Returns the name of a live op.
    fn name(&self, op: OpId) -> Edit<SymbolId> {
        self.session
            .with(|state| Ok(state.read()?.live_op(op)?.name))
    }

    fn queried<'q>(&'q self, op: OpId, definition: &'q LoadedOp) -> QueriedDefinition<'q> {
        QueriedDefinition {
            queries: self,
            op,
            definition,
        }
    }

    pub(in crate::boundary) fn infer(&self, op: OpId) -> Edit {
        let OpQueries { context, session } = *self;
        let name = session.with(|state| {
            let name = state.read()?.live_op(op)?.name;
            // The op may have changed since the elements of its results were inferred.
            if state.has_extras() {
                let results: Vec<ValueId> = state.function().results(op).collect();
                let dims = &mut state.extras().dims;
                results.iter().for_each(|result| _ = dims.remove(result));
            }
            Ok(name)
        });
        let Some(definition) = self.definition(name?) else {
            return Ok(());
        };
        let Some(function) = definition.entry.infer else {
            return Ok(());
        };
        let defs = context.op_defs();
        let is_complete = session.with(|state| {
            let premises = state.premises(op);
            Ok(premises.is_some_and(|premises| is_complete(defs, state.function(), &premises)))
        })?;
        if is_complete {
            return Ok(());
        }
        let queried = self.queried(op, &definition);
        let mut call = OpCall::new(session, op);
        let status = call.run(function, &definition)?;
        match (status, call.rejection.take()) {
            (Status::OK, None) => {
                // Elements are stored per pass, so the definition has to infer them again for the next one.
                let may_settle = call.dims.is_empty();
                keep_inferred(call).map_err(|error| queried.blame(error))?;
                session.with(|state| {
                    if may_settle && let Some(premises) = state.premises(op) {
                        remember_complete(defs, state.function(), premises);
                    }
                    Ok(())
                })
            }
            (Status::NOT_FOUND, _) => Ok(()),
            // The types inferred before the rejection are valid. Contradictions are reported.
            (Status::REJECTED, Some(why)) => {
                let _ = keep_inferred(call);
                Err(queried.failure(status, Some(why)))
            }
            (status, reason) => Err(queried.failure(status, reason)),
        }
    }
}

/// Returns the error for a definition that gave neither a result nor a reason.
fn no_result() -> EditFailure {
    EditFailure::not_found("its definition has no result")
}

/// Stores the inferred types and dims in the function.
fn keep_inferred(call: OpCall<'_>) -> Edit {
    let (op, types, dims) = (call.op, call.types, call.dims);
    call.session.with(|state| {
        let results: Vec<ValueId> = state.read()?.results(op).collect();
        let mut rejected = None;
        for (index, ty) in types {
            let Some(&value) = results.get(index as usize) else {
                continue;
            };
            // After a type that contradicts the known one, the others are still set.
            if let Err(error) = state.edit()?.infer_type(value, ty) {
                rejected.get_or_insert(error);
            }
        }
        for (index, dims) in dims {
            if let Some(&value) = results.get(index as usize) {
                state.extras().dims.insert(value, dims);
            }
        }
        rejected.map_or(Ok(()), Err)
    })
}

// SAFETY for all `unsafe` below: all pointers in arguments are valid during the call, by the plugin ABI.

impl OpCall<'_> {
    pub(in crate::boundary) unsafe fn set_result_type(
        &mut self,
        index: u32,
        desc: &TypeDesc,
    ) -> Edit {
        self.check_result(index)?;
        // SAFETY: see above.
        let ty = unsafe { self.intern(desc)? };
        self.types.retain(|(at, _)| *at != index);
        self.types.push((index, ty));
        Ok(())
    }

    pub(in crate::boundary) fn set_result_dims(&mut self, index: u32, dims: &[Dim]) -> Edit {
        self.check_result(index)?;
        self.session
            .with(|state| describe::check_dims(state.function(), dims))?;
        if dims.len() <= MAX_SHAPE_DATA {
            self.dims.retain(|(at, _)| *at != index);
            self.dims.push((index, dims.into()));
        }
        Ok(())
    }

    pub(in crate::boundary) fn operand_dims(&mut self, index: u32) -> Edit<&[Dim]> {
        let op = self.op;
        self.check_index(index, "operand", |record| record.operands.len)?;
        let dims = self.session.with(|state| {
            let value = state.function().operand(op, index as usize);
            if value.is_none() {
                return Ok(None);
            }
            if let Some(dims) = state.extras().dims.get(&value) {
                return Ok(Some(dims.clone()));
            }
            Ok(constant_dims(state.function(), value))
        })?;
        let Some(dims) = dims else {
            let message = "the operand's elements are unknown";
            return Err(EditFailure::not_found(message));
        };
        if lends() {
            return Ok(self.lent.list(&dims));
        }
        let at = self.operand_dims.len();
        self.operand_dims.push(dims);
        // Borrowed from the vector: moving a box invalidates pointers to its content.
        Ok(&self.operand_dims[at])
    }

    pub(in crate::boundary) fn add_expr(
        &mut self,
        kind: ExprKind,
        lhs: Dim,
        rhs: Dim,
    ) -> Edit<Dim> {
        self.may_add()?;
        let dim = self.session.with(|state| {
            let function = state.own();
            self.replaced_pools
                .extend(function.reserve_exprs(MAX_NEW_EXPRS));
            functions::checked_expr(function, kind, lhs, rhs)
        });
        self.session.refresh();
        dim
    }

    pub(in crate::boundary) unsafe fn add_type(&mut self, desc: &TypeDesc) -> Edit<TypeId> {
        // SAFETY: see above.
        unsafe { self.intern(desc) }
    }

    pub(in crate::boundary) unsafe fn allocate_result(
        &mut self,
        index: u32,
        desc: &TypeDesc,
        len: usize,
    ) -> Edit<*mut u8> {
        let Some(budget) = self.budget else {
            let message = "only an evaluation has results to fill";
            return Err(EditFailure::rejected(message));
        };
        self.check_result(index)?;
        let Some(remaining) = budget.checked_sub(len as u64) else {
            self.rejection = Some("its results are larger than the limit".to_owned());
            return Err(EditFailure::not_found(""));
        };
        if self.results.iter().any(|(at, ..)| *at == index) {
            return Err(EditFailure::rejected("the result is already allocated"));
        }
        // SAFETY: see above.
        let ty = unsafe { self.intern(desc)? };
        self.session
            .with(|state| check_len(state.function(), ty, len))?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(len).is_err() {
            self.rejection = Some(format!("out of memory for a result of {len} bytes"));
            return Err(EditFailure::not_found(""));
        }
        bytes.resize(len, 0_u8);
        self.budget = Some(remaining);
        let at = self.results.len();
        self.results.push((index, ty, bytes.into_boxed_slice()));
        if lends() {
            let memory = LentMemory::new(LentFor::Callback, vec![0; len].into());
            let address = memory.as_ptr();
            self.lent_results.push((at, memory));
            return Ok(address);
        }
        // Borrowed from the vector, as in `operand_dims`.
        Ok(self.results[at].2.as_mut_ptr())
    }

    pub(in crate::boundary) unsafe fn reject(&mut self, reason: Str) -> Edit {
        // SAFETY: see above.
        let reason = unsafe { input::lossy_text(reason, "reason", input::MAX_MESSAGE_BYTES)? };
        self.rejection = Some(match reason.trim_end_matches('.') {
            "" => "its definition reported no reason".to_owned(),
            reason => reason.to_owned(),
        });
        Ok(())
    }
}

/// Rejects a length that differs from the size of the type in bytes.
fn check_len(f: &Function, ty: TypeId, len: usize) -> Edit {
    let dtype = f.ty(ty).dtype;
    let Some(elements) = f.constant_elements(ty)? else {
        return Err(EditFailure::invalid("the result's shape is not constant"));
    };
    let needed = dtype.byte_len(elements);
    if dtype != abi::DType::STRING && needed != Some(len as u64) {
        let message = format!("a result of {len} bytes does not match its type");
        return Err(EditFailure::invalid(message));
    }
    Ok(())
}

/// `DefinitionApi::last_error`.
pub(in crate::boundary) unsafe extern "C" fn last_error(call: *const Handle) -> Str {
    // SAFETY: by the plugin ABI, the handle is that of a call that hasn't returned.
    unsafe { OpCall::from_handle(call.cast_mut()) }.map_or(Str::new(gate::NO_SESSION), |call| {
        lending::result_text(&call.base.last_error.borrow())
    })
}

/// Runs a call from a definition: checks the handle, catches panics and stores the error's message.
pub(in crate::boundary) fn with_call(
    handle: *mut Handle,
    body: impl FnOnce(&mut OpCall<'_>) -> Edit,
) -> Status {
    // SAFETY: by the plugin ABI, the handle is that of a call that hasn't returned.
    let call = match unsafe { OpCall::from_handle(handle) } {
        Ok(call) => call,
        Err(error) => return error.status,
    };
    let done = gate::guarded(|| body(call));
    match done {
        Ok(()) => Status::OK,
        Err(error) => {
            call.base.last_error.replace(error.message);
            error.status
        }
    }
}
