//! Function sessions: the state of function handles.
//!
//! A function is copied at the first edit. A pass that changes nothing costs only the view's header and the call. The
//! header has a stable address, and is updated after each edit, as the plugin ABI requires.

use std::ptr;
use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{OpId, ValueId};
use passdock_ir::{Edit, EditFailure, Function, Module, Premises, Symbols};
use rustc_hash::FxHashMap;

use super::fixed::Fixed;
use super::gate::Session;
use super::laid_out::LaidOutBuffers;
use super::loan::FunctionLoan;
use super::metadata::MetadataBuffer;
use super::{Access, FunctionSession, FunctionSlot, FunctionState, SessionBase, Shared};

/// The rarely used state of a function session.
#[derive(Default)]
pub(in crate::boundary) struct FunctionExtras {
    /// The known elements of small integer tensors, as dims. The keys are the tensors' values.
    pub(in crate::boundary) dims: FxHashMap<ValueId, Box<[abi::Dim]>>,
    /// The last result of a layout query. Plugins hold pointers into it.
    pub(in crate::boundary) laid_out: Option<LaidOutBuffers>,
    /// The last result of a query for metadata. Plugins hold pointers into it.
    pub(super) metadata: MetadataBuffer,
    /// The module of a held function. It takes precedence over the module of the running pass.
    pub(in crate::boundary) module: Option<Module>,
    /// Functions that are added to the module after the pass.
    added_functions: Vec<Arc<Function>>,
    /// The last loan of the function.
    pub(super) loan: Option<Box<FunctionLoan>>,
}

impl FunctionSession {
    /// Creates a session that owns a reference to its function.
    pub(in crate::boundary) fn held(function: Arc<Function>, access: Access) -> FunctionSession {
        let mut session = FunctionSession::vacant();
        let view = Fixed::new(function.view());
        session.view.set(view.as_ptr());
        session.own_view = Some(view);
        let state = session.state.get_mut();
        state.shared = Shared::Held(function);
        state.access = access;
        session
    }

    /// Creates a read-only session that owns references to a function and to its module.
    pub(in crate::boundary) fn held_in(function: Arc<Function>, module: Module) -> FunctionSession {
        let mut session = FunctionSession::held(function, Access::Read);
        session.state.get_mut().extras().module = Some(module);
        session
    }

    /// Finishes a stopped session. Returns the slot's new function, or `None` if it is unchanged, and the functions
    /// that the pass adds to the module.
    #[cold]
    pub(in crate::boundary) fn finish(
        &self,
        slot: &mut FunctionSlot,
    ) -> (Edit<Option<Arc<Function>>>, Vec<Arc<Function>>) {
        let mut added_functions = Vec::new();
        let result = self.with(|state| {
            let access = std::mem::replace(&mut state.access, Access::Ended);
            added_functions = state.extras.take().unwrap_or_default().added_functions;
            let Some(mut own) = state.own.take() else {
                return Ok(None);
            };
            // The header describes the copy, which is dropped or moved.
            slot.view = slot.function.view();
            if access == Access::Broken {
                return Err(broken());
            }
            Ok((!own.is_unchanged(&slot.function)).then(|| {
                own.clear_stale_cache();
                Arc::new(*own)
            }))
        });
        (result, added_functions)
    }

    /// Whether this session contains `state`.
    pub(in crate::boundary) fn holds(&self, state: &FunctionState) -> bool {
        ptr::eq(self.state.as_ptr(), state)
    }

    /// Updates the view after the function changed.
    pub(in crate::boundary) fn refresh(&self) {
        self.change(|state| {
            let view = state.function().view();
            match state.loan() {
                Some(loan) => loan.show(view),
                // SAFETY: sessions are confined to one thread, and plugins read the header only between calls. The
                // header belongs to a live slot or to the session.
                None => unsafe { *self.view.get() = view },
            }
        });
    }

    /// Ends the session for the plugin. The address of the view stays valid.
    pub(in crate::boundary) fn end(&self) {
        self.change(|state| state.access = Access::Ended);
        self.end_loan();
    }

    /// Removes the analyses that the pass, which has ended, didn't preserve.
    pub(in crate::boundary) fn forget_stale(&self) {
        self.change(|state| {
            if let Some(own) = &mut state.own {
                own.clear_stale_cache();
            }
        });
    }

    /// Returns the current function. Later edits copy it again. The view stays valid, since the arenas don't move.
    pub(in crate::boundary) fn freeze(&self) -> Edit<Arc<Function>> {
        self.with(|state| {
            if let Some(own) = state.own.take() {
                state.shared = Shared::Held(Arc::new(*own));
            }
            if state.access == Access::Broken {
                return Err(broken());
            }
            Ok(match &state.shared {
                Shared::Held(function) => function.clone(),
                other => Arc::new(other.function().clone()),
            })
        })
    }
}

impl FunctionSession {
    /// Returns the name of an op, for a [`Callee`](passdock_crash::Callee). Reads only the view, without borrowing the
    /// state.
    pub(in crate::boundary) fn op_name(&self, op: OpId) -> Option<&str> {
        let (view, symbols) = self.header()?;
        let ops = view.ops;
        let at = op.index();
        if at >= ops.len as usize {
            return None;
        }
        // SAFETY: the column has so many records.
        let op = unsafe { ops.base.cast::<abi::Op>().add(at).as_ref() }?;
        symbols.get(op.name)
    }

    pub(in crate::boundary) fn function_name(&self) -> Option<&str> {
        let (view, symbols) = self.header()?;
        symbols.get(view.name)
    }

    /// Returns the header of the view, and the symbols of its function.
    fn header(&self) -> Option<(&abi::FunctionView, &Symbols)> {
        // SAFETY: the header lives as long as the session refers to it, and sessions are confined to one thread.
        let view = unsafe { self.view.get().as_ref() }?;
        // SAFETY: the function that the view describes owns a reference to its symbols.
        let symbols = unsafe { view.symbols.cast::<Symbols>().as_ref() }?;
        Some((view, symbols))
    }
}

impl Session for FunctionSession {
    type Handle = abi::Function;

    fn base(&self) -> &SessionBase {
        &self.base
    }

    fn break_off(&self) {
        self.change(FunctionState::break_off);
    }
}

impl FunctionState {
    /// Returns the function for reading, whatever the access.
    #[inline]
    pub(in crate::boundary) fn function(&self) -> &Function {
        match &self.own {
            Some(own) => own,
            None => self.shared.function(),
        }
    }

    /// Returns the function for reading, if the access allows it.
    #[inline]
    pub(in crate::boundary) fn read(&self) -> Edit<&Function> {
        match self.access {
            Access::Ended => Err(ended()),
            Access::Broken => Err(broken()),
            Access::Read | Access::Edit => Ok(self.function()),
        }
    }

    /// Returns the function for editing. The first call copies it.
    pub(in crate::boundary) fn edit(&mut self) -> Edit<&mut Function> {
        match self.access {
            Access::Edit => {}
            Access::Read => {
                let message = "cannot edit a snapshot of a function";
                return Err(EditFailure::rejected(message));
            }
            Access::Ended => return Err(ended()),
            Access::Broken => return Err(broken()),
        }
        Ok(self.own())
    }

    /// Returns the edited copy, which is created if there is none, whatever the access.
    pub(in crate::boundary) fn own(&mut self) -> &mut Function {
        self.own.get_or_insert_with(|| {
            let mut own = Box::new(self.shared.function().clone());
            // This pass can't preserve analyses that an earlier pass didn't preserve.
            own.clear_stale_cache();
            own
        })
    }

    /// Returns the edited copy, if any.
    pub(in crate::boundary) fn edited(&mut self) -> Option<&mut Function> {
        self.own.as_deref_mut()
    }

    /// Whether the rarely used state is allocated.
    pub(in crate::boundary) fn has_extras(&self) -> bool {
        self.extras.is_some()
    }

    /// Returns the rarely used state, which is allocated if there is none.
    pub(in crate::boundary) fn extras(&mut self) -> &mut FunctionExtras {
        self.extras.get_or_insert_default()
    }

    /// Returns the module that the session holds together with the function.
    pub(in crate::boundary) fn own_module(&self) -> Option<&Module> {
        self.extras.as_ref()?.module.as_ref()
    }

    /// Returns the known elements of a small tensor, as dims.
    pub(in crate::boundary) fn dims_of(&self, value: ValueId) -> Option<&[abi::Dim]> {
        let dims = self.extras.as_ref()?.dims.get(&value)?;
        Some(dims)
    }

    /// Returns everything that the result types of an op depend on.
    pub(in crate::boundary) fn premises(&self, op: OpId) -> Option<Premises> {
        self.function().premises(op, |value| self.dims_of(value))
    }

    /// Adds a function to the module after the current function pass.
    pub(in crate::boundary) fn add_callee(&mut self, function: Function) -> Edit {
        self.edit()?;
        if !matches!(self.shared, Shared::Slot(_)) {
            return Err(EditFailure::rejected(
                "only a function pass can import functions",
            ));
        }
        self.extras().added_functions.push(Arc::new(function));
        Ok(())
    }

    /// Removes the known elements of small tensors.
    pub(in crate::boundary) fn forget_known_dims(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.dims.clear();
        }
    }

    /// Marks the copy as unusable, since the host panicked during an edit.
    pub(in crate::boundary) fn break_off(&mut self) {
        self.access = Access::Broken;
    }

    /// Sets the access, and returns the previous one.
    pub(in crate::boundary) fn set_access(&mut self, access: Access) -> Access {
        std::mem::replace(&mut self.access, access)
    }
}

impl Shared {
    #[inline]
    fn function(&self) -> &Function {
        match self {
            // SAFETY: the caller of `start` guarantees that the slot outlives the session. Its function isn't replaced
            // meanwhile, and no reference covers its header, which plugins read.
            Shared::Slot(slot) => unsafe { &*ptr::addr_of!((*slot.as_ptr()).function) },
            Shared::Held(function) => function,
            Shared::Nothing => unreachable!("a vacant session has no handle"),
        }
    }
}

#[cold]
fn ended() -> EditFailure {
    EditFailure::stale(
        "the function's handle has expired: the function was removed or replaced, or another pass \
         ran; get a new one from the module",
    )
}

#[cold]
fn broken() -> EditFailure {
    EditFailure::rejected(
        "the host failed in an earlier edit of this function; this is a bug in passdock, please \
         report it",
    )
}
