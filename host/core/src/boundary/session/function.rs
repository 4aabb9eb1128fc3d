//! Function sessions: what is done with the function behind a handle.
//!
//! The function is copied when it is first edited, not before: a pass that changes nothing costs
//! the view's header and the call. The header stays where it is and is written again after each
//! edit, as the contract promises.

use std::ptr;
use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{OpId, ValueId};
use passdock_ir::{Edit, EditFailure, Function, Module, Premises, Symbols};
use rustc_hash::FxHashMap;

use super::fixed::Fixed;
use super::gate::Session;
use super::laid_out::LaidOutBuffers;
use super::{Access, FunctionSession, FunctionSlot, FunctionState, SessionBase, Shared};

/// The rarely used state of a function session.
#[derive(Default)]
pub(in crate::boundary) struct FunctionExtras {
    /// The known elements of small integer tensors, as dims.
    pub(in crate::boundary) dims: FxHashMap<ValueId, Box<[abi::Dim]>>,
    /// The last answer of a definition about layouts, which was handed out.
    pub(in crate::boundary) laid_out: Option<LaidOutBuffers>,
    /// The module that a held function is of, whatever pass runs.
    pub(in crate::boundary) module: Option<Module>,
    /// Functions that the module gets once the pass has run.
    brought: Vec<Arc<Function>>,
}

impl FunctionSession {
    /// A session that holds its function.
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

    /// A session to read a function that it holds, and the module around it.
    pub(in crate::boundary) fn held_in(function: Arc<Function>, module: Module) -> FunctionSession {
        let mut session = FunctionSession::held(function, Access::Read);
        session.state.get_mut().extras().module = Some(module);
        session
    }

    /// Returns the slot's function after a session that was stopped, `None` if it is as it was; and the functions that
    /// the pass brings to the module.
    #[cold]
    pub(in crate::boundary) fn finish(
        &self,
        slot: &mut FunctionSlot,
    ) -> (Edit<Option<Arc<Function>>>, Vec<Arc<Function>>) {
        let mut brought = Vec::new();
        let result = self.with(|state| {
            let access = std::mem::replace(&mut state.access, Access::Ended);
            brought = state.extras.take().unwrap_or_default().brought;
            let Some(mut own) = state.own.take() else {
                return Ok(None);
            };
            // The header speaks of the copy, which goes.
            slot.view = slot.function.view();
            if access == Access::Broken {
                return Err(broken());
            }
            Ok((!own.is_unchanged(&slot.function)).then(|| {
                own.clear_stale_cache();
                Arc::new(*own)
            }))
        });
        (result, brought)
    }

    /// Whether this is the session of a state.
    pub(in crate::boundary) fn holds(&self, state: &FunctionState) -> bool {
        ptr::eq(self.state.as_ptr(), state)
    }

    /// Writes the view again after the function changed.
    pub(in crate::boundary) fn refresh(&self) {
        // SAFETY: only this thread uses the session, and plugins read the header between calls.
        // The header is a live slot's or the session's own.
        self.change(|state| unsafe { *self.view.get() = state.function().view() });
    }

    /// Ends the session for the plugin. The view stays where it is.
    pub(in crate::boundary) fn end(&self) {
        self.change(|state| state.access = Access::Ended);
    }

    /// Removes the analyses that the pass, which has ended, didn't preserve.
    pub(in crate::boundary) fn forget_stale(&self) {
        self.change(|state| {
            if let Some(own) = &mut state.own {
                own.clear_stale_cache();
            }
        });
    }

    /// The function as it is now, to be kept. Later edits copy again; the view stays right, since
    /// the arenas don't move.
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
    /// The name of an op, as a [`Subject`] says it.
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

    /// The function's name.
    pub(in crate::boundary) fn function_name(&self) -> Option<&str> {
        let (view, symbols) = self.header()?;
        symbols.get(view.name)
    }

    /// The header of the view, and the symbols that it speaks of.
    fn header(&self) -> Option<(&abi::FunctionView, &Symbols)> {
        // SAFETY: the header is there while the session has it, and only the session's thread looks.
        let view = unsafe { self.view.get().as_ref() }?;
        // SAFETY: the function behind the view holds its symbols.
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
    /// The function, to read.
    #[inline]
    pub(in crate::boundary) fn function(&self) -> &Function {
        match &self.own {
            Some(own) => own,
            None => self.shared.function(),
        }
    }

    /// The function, to read, if the session allows it.
    #[inline]
    pub(in crate::boundary) fn read(&self) -> Edit<&Function> {
        match self.access {
            Access::Ended => Err(ended()),
            Access::Broken => Err(broken()),
            Access::Read | Access::Edit => Ok(self.function()),
        }
    }

    /// The function, to edit: copied when it is first edited.
    pub(in crate::boundary) fn edit(&mut self) -> Edit<&mut Function> {
        match self.access {
            Access::Edit => {}
            Access::Read => {
                let message = "The function is a snapshot: it can be read, not edited.";
                return Err(EditFailure::refused(message));
            }
            Access::Ended => return Err(ended()),
            Access::Broken => return Err(broken()),
        }
        Ok(self.own())
    }

    /// The copy that is edited, made now if there is none; regardless of the access.
    pub(in crate::boundary) fn own(&mut self) -> &mut Function {
        self.own.get_or_insert_with(|| {
            let mut own = Box::new(self.shared.function().clone());
            // Analyses that an earlier pass didn't preserve can't be preserved by this one.
            own.clear_stale_cache();
            own
        })
    }

    /// The copy that is edited, if there is one.
    pub(in crate::boundary) fn edited(&mut self) -> Option<&mut Function> {
        self.own.as_deref_mut()
    }

    /// Whether the rarely used state exists.
    pub(in crate::boundary) fn has_extras(&self) -> bool {
        self.extras.is_some()
    }

    /// The rarely used state, made now if there is none.
    pub(in crate::boundary) fn extras(&mut self) -> &mut FunctionExtras {
        self.extras.get_or_insert_default()
    }

    /// The module that the function is held with.
    pub(in crate::boundary) fn own_module(&self) -> Option<&Module> {
        self.extras.as_ref()?.module.as_ref()
    }

    /// The known elements of a small tensor, as dims.
    pub(in crate::boundary) fn dims_of(&self, value: ValueId) -> Option<&[abi::Dim]> {
        let dims = self.extras.as_ref()?.dims.get(&value)?;
        Some(dims)
    }

    /// What the types of an op's results follow from.
    pub(in crate::boundary) fn premises(&self, op: OpId) -> Option<Premises> {
        self.function().premises(op, |value| self.dims_of(value))
    }

    /// Lets the module have another function once the function pass that edits this one has run.
    pub(in crate::boundary) fn bring(&mut self, function: Function) -> Edit {
        self.edit()?;
        if !matches!(self.shared, Shared::Slot(_)) {
            return Err(EditFailure::refused(
                "Only a function pass brings functions.",
            ));
        }
        self.extras().brought.push(Arc::new(function));
        Ok(())
    }

    /// Removes the known elements of small tensors.
    pub(in crate::boundary) fn forget_known_dims(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.dims.clear();
        }
    }

    /// Records that the host failed inside an edit: the copy can't be trusted any more.
    pub(in crate::boundary) fn break_off(&mut self) {
        self.access = Access::Broken;
    }

    /// Sets the access, and returns the one before.
    pub(in crate::boundary) fn set_access(&mut self, access: Access) -> Access {
        std::mem::replace(&mut self.access, access)
    }
}

impl Shared {
    #[inline]
    fn function(&self) -> &Function {
        match self {
            // SAFETY: `start` was promised that the slot stays; nobody changes which function it
            // holds, and its header, which plugins read, isn't borrowed.
            Shared::Slot(slot) => unsafe { &*ptr::addr_of!((*slot.as_ptr()).function) },
            Shared::Held(function) => function,
            Shared::Nothing => unreachable!("a vacant session has no handle"),
        }
    }
}

#[cold]
fn ended() -> EditFailure {
    EditFailure::stale(
        "The function's handle has ended: the function was removed or replaced, or another pass \
         ran; ask the module for a new one.",
    )
}

#[cold]
fn broken() -> EditFailure {
    EditFailure::refused(
        "The host failed inside an earlier edit of this function, which is a mistake in passdock; \
         the pass can't go on.",
    )
}
