//! A function in a plugin's hands: the view that it reads and the function behind it.
//!
//! The function is copied when it is first edited, not before: a pass that changes nothing costs
//! the view's header and the call. The header stays where it is and is written again after each
//! edit, as the contract promises.

use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{Status, ValueId};
use passdock_ir::{Edit, EditError, Function};
use rustc_hash::FxHashMap;

/// What a `*mut abi::Function` points to.
///
/// Plugins read the view through raw pointers while the host is called, so everything here is
/// behind cells and the host only ever holds a `&FunctionSession`.
pub(in crate::boundary) struct FunctionSession {
    /// The header that plugins read: a slot's, or the session's own.
    view: Cell<*mut abi::FunctionView>,
    own_view: Option<Box<UnsafeCell<abi::FunctionView>>>,
    state: UnsafeCell<State>,
    busy: Cell<bool>,
}

/// A function that passes run on one after the other, with the header of its view: written when the
/// function changes, not for each pass.
pub struct FunctionSlot {
    function: Arc<Function>,
    view: abi::FunctionView,
}

// SAFETY: the view's pointers lead into the function, which is held and isn't changed while it is;
// whoever has the slot for himself may write its header.
unsafe impl Send for FunctionSlot {}
// SAFETY: as above.
unsafe impl Sync for FunctionSlot {}

impl FunctionSlot {
    /// A slot of its own.
    pub fn new(function: Arc<Function>) -> FunctionSlot {
        FunctionSlot {
            view: function.view(),
            function,
        }
    }

    /// The function.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }
}

/// What stands behind the view.
pub(in crate::boundary) struct State {
    shared: Shared,
    /// The copy that is edited.
    own: Option<Box<Function>>,
    access: Access,
    /// What a pass that edits nothing and asks nothing doesn't pay for.
    extras: Option<Box<Extras>>,
}

/// What is kept beside the function.
#[derive(Default)]
pub(in crate::boundary) struct Extras {
    last_error: String,
    /// What is known of the elements of small integer tensors.
    pub(in crate::boundary) dims: FxHashMap<ValueId, Box<[abi::Dim]>>,
}

/// The function as it was handed out.
enum Shared {
    /// None yet.
    Nothing,
    /// A slot's, which outlives the pass.
    Slot(NonNull<Function>),
    Held(Arc<Function>),
}

/// What may be done with a session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::boundary) enum Access {
    /// Reads and edits.
    Edit,
    /// Reads: a snapshot, or a definition's look at an op.
    Read,
    /// Nothing any more: the function is gone, or another pass ran.
    Ended,
    /// Nothing any more: the host failed in the middle of an edit.
    Broken,
}

impl FunctionSession {
    /// A session on no function yet, for a pass that runs on one after the other.
    pub(in crate::boundary) fn vacant() -> FunctionSession {
        FunctionSession {
            view: Cell::new(ptr::null_mut()),
            own_view: None,
            state: UnsafeCell::new(State {
                shared: Shared::Nothing,
                own: None,
                access: Access::Ended,
                extras: None,
            }),
            busy: Cell::new(false),
        }
    }

    /// A session that holds its function.
    pub(in crate::boundary) fn held(function: Arc<Function>, access: Access) -> FunctionSession {
        let mut session = FunctionSession::vacant();
        let view = Box::new(UnsafeCell::new(function.view()));
        session.view.set(view.get());
        session.own_view = Some(view);
        let state = session.state.get_mut();
        state.shared = Shared::Held(function);
        state.access = access;
        session
    }

    /// Makes a vacant session one to edit the slot's function with.
    ///
    /// # Safety
    /// The slot stays where it is, and nobody else uses it, until [`FunctionSession::finish`].
    #[inline]
    pub(in crate::boundary) unsafe fn start(&mut self, slot: &mut FunctionSlot) {
        self.view.set(&mut slot.view);
        let state = self.state.get_mut();
        state.shared = Shared::Slot(NonNull::from(slot.function.as_ref()));
        state.own = None;
        state.access = Access::Edit;
    }

    /// Makes the session vacant, and answers what became of the slot's function: `None` if it is
    /// as it was.
    #[inline]
    pub(in crate::boundary) fn finish(
        &mut self,
        slot: &mut FunctionSlot,
    ) -> Result<Option<Box<Function>>, EditError> {
        let state = self.state.get_mut();
        let access = std::mem::replace(&mut state.access, Access::Ended);
        state.shared = Shared::Nothing;
        if state.extras.is_some() {
            state.extras = None;
        }
        let Some(own) = state.own.take() else {
            return Ok(None);
        };
        // The header speaks of the copy, which goes.
        slot.view = slot.function.view();
        if access == Access::Broken {
            return Err(broken());
        }
        Ok((!own.is_still(&slot.function)).then(|| {
            let mut own = own;
            own.forget_all_stale();
            own
        }))
    }

    /// What a plugin gets. Good while the session stays where it is.
    #[inline]
    pub(in crate::boundary) fn reference(&self) -> abi::FunctionRef {
        abi::FunctionRef {
            handle: std::ptr::from_ref(self).cast_mut().cast(),
            view: self.view.get().cast_const(),
        }
    }

    /// The session of a handle.
    ///
    /// # Safety
    /// The handle is null or came from [`FunctionSession::reference`] and its session lives.
    pub(in crate::boundary) unsafe fn of<'s>(
        handle: *const abi::Function,
    ) -> Edit<&'s FunctionSession> {
        let session = handle.cast::<FunctionSession>();
        if session.is_null() || !session.is_aligned() {
            return Err(EditError::invalid("The function's handle is null."));
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { &*session })
    }

    /// Runs `body` on what stands behind the view. A second borrow inside the first, which only a
    /// plugin that hands a definition's handle around could ask for, is refused.
    pub(in crate::boundary) fn with<T>(&self, body: impl FnOnce(&mut State) -> Edit<T>) -> Edit<T> {
        if self.busy.replace(true) {
            return Err(EditError::refused("The function is being edited already."));
        }
        let _guard = Busy(&self.busy);
        // SAFETY: `busy` makes this the only borrow of the state, and it ends here.
        body(unsafe { &mut *self.state.get() })
    }

    /// Writes the view again after the function changed.
    pub(in crate::boundary) fn refresh(&self) {
        let _ = self.with(|state| {
            // SAFETY: only this thread uses the session, and plugins read the header between calls.
            // The header is a live slot's or the session's own.
            state.function().fill_view(unsafe { &mut *self.view.get() });
            Ok(())
        });
    }

    /// Keeps an error's sentence for `last_error`.
    pub(in crate::boundary) fn fail(&self, error: EditError) -> Status {
        let status = error.status;
        let _ = self.with(|state| {
            state.extras().last_error = error.message;
            Ok(())
        });
        status
    }

    /// The sentence of the last error; alive until the next call.
    pub(in crate::boundary) fn last_error(&self) -> abi::Str {
        self.with(|state| Ok(abi::Str::new(&state.extras().last_error)))
            .unwrap_or(abi::Str::EMPTY)
    }

    /// Ends the session for the plugin; its view still lies where it lay.
    pub(in crate::boundary) fn end(&self) {
        let _ = self.with(|state| {
            state.access = Access::Ended;
            Ok(())
        });
    }

    /// The pass is over: what it didn't preserve of the analyses goes.
    pub(in crate::boundary) fn forget_stale(&self) {
        let _ = self.with(|state| {
            if let Some(own) = &mut state.own {
                own.forget_all_stale();
            }
            Ok(())
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

impl State {
    /// The function, to read.
    pub(in crate::boundary) fn function(&self) -> &Function {
        match &self.own {
            Some(own) => own,
            None => self.shared.function(),
        }
    }

    /// The function, to read, if the session is still good for it.
    pub(in crate::boundary) fn read(&self) -> Edit<&Function> {
        match self.access {
            Access::Ended => Err(ended()),
            Access::Broken => Err(broken()),
            Access::Read | Access::Edit => Ok(self.function()),
        }
    }

    /// The function, to edit: copied when this is first asked for.
    pub(in crate::boundary) fn edit(&mut self) -> Edit<&mut Function> {
        match self.access {
            Access::Edit => {}
            Access::Read => {
                let message = "The function is a snapshot: it can be read, not edited.";
                return Err(EditError::refused(message));
            }
            Access::Ended => return Err(ended()),
            Access::Broken => return Err(broken()),
        }
        Ok(self.own())
    }

    /// The copy that is edited, made now if it isn't there yet; whatever may be done with it.
    pub(in crate::boundary) fn own(&mut self) -> &mut Function {
        self.own.get_or_insert_with(|| {
            let mut own = Box::new(self.shared.function().clone());
            // What an earlier pass didn't preserve isn't this one's to preserve.
            own.forget_all_stale();
            own
        })
    }

    /// The copy that is edited, if there is one.
    pub(in crate::boundary) fn edited(&mut self) -> Option<&mut Function> {
        self.own.as_deref_mut()
    }

    /// Whether anything is kept beside the function.
    pub(in crate::boundary) fn has_extras(&self) -> bool {
        self.extras.is_some()
    }

    /// What is kept beside the function.
    pub(in crate::boundary) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// What is known of the elements of a small tensor.
    pub(in crate::boundary) fn known_dims(&self, value: ValueId) -> Option<&[abi::Dim]> {
        let dims = self.extras.as_ref()?.dims.get(&value)?;
        Some(dims)
    }

    /// Forgets what is known of the elements of small tensors.
    pub(in crate::boundary) fn forget_known_dims(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.dims.clear();
        }
    }

    /// Says that the host itself failed inside an edit: the copy can't be trusted any more.
    pub(in crate::boundary) fn break_off(&mut self) {
        self.access = Access::Broken;
    }

    /// Sets what may be done, and answers what could be done before.
    pub(in crate::boundary) fn set_access(&mut self, access: Access) -> Access {
        std::mem::replace(&mut self.access, access)
    }
}

impl Shared {
    #[inline]
    fn function(&self) -> &Function {
        match self {
            // SAFETY: `start` was promised that the slot, which holds the function, stays.
            Shared::Slot(function) => unsafe { function.as_ref() },
            Shared::Held(function) => function,
            Shared::Nothing => unreachable!("a vacant session has no handle"),
        }
    }
}

/// Ends a borrow of the state, on a panic too.
struct Busy<'c>(&'c Cell<bool>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

fn ended() -> EditError {
    EditError::stale(
        "The function's handle has ended: the function was removed or replaced, or another pass \
         ran; ask the module for a new one.",
    )
}

fn broken() -> EditError {
    EditError::refused(
        "The host failed inside an earlier edit of this function, which is a mistake in passdock; \
         the pass can't go on.",
    )
}
