//! Sessions: the objects that plugins' handles point to.
//!
//! This file has the parts that each pass call uses: creating, starting and stopping the sessions of a context, a
//! module and a function. [`context`], [`module`] and [`function`] implement the ABI functions, and [`gate`] runs them.

pub(super) mod context;
pub(super) mod ending;
pub(super) mod fixed;
pub(super) mod frame;
pub(super) mod function;
pub(super) mod gate;
pub(super) mod input;
pub(super) mod laid_out;
pub(super) mod lending;
mod loan;
mod metadata;
pub(super) mod module;
mod outline;
pub(super) mod rewrites;

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use passdock_abi as abi;
use passdock_abi::{AttrKind, FunctionEntry, FunctionKind, OpId};
use passdock_ir::{Edit, EditFailure, Function, Module, column};

use self::context::ContextExtras;
use self::fixed::Fixed;
use self::frame::Frame;
use self::function::FunctionExtras;
use self::gate::Session;
use self::module::ModuleExtras;
use crate::analyses::SharedNames;
use crate::config::ConfigValue;

/// Whether plugins get handles and memory that expire (see `lending.rs`).
pub(super) static LENDS: AtomicBool = AtomicBool::new(false);

/// Whether this process lends.
#[inline]
pub(in crate::boundary) fn lends() -> bool {
    LENDS.load(Ordering::Relaxed)
}

/// The part that is common to all sessions: the thread that created the session, and the message of the last error.
/// Only that thread may use the session's handle.
pub(in crate::boundary) struct SessionBase {
    /// The address of a thread-local variable of that thread.
    thread: usize,
    pub(in crate::boundary) last_error: RefCell<String>,
}

impl SessionBase {
    /// Creates the base of a session of the current thread.
    #[inline]
    pub(in crate::boundary) fn new() -> SessionBase {
        SessionBase {
            thread: this_thread(),
            last_error: RefCell::default(),
        }
    }

    /// Whether the current thread created the session.
    #[inline]
    pub(in crate::boundary) fn is_of_this_thread(&self) -> bool {
        self.thread == this_thread()
    }
}

#[inline]
fn this_thread() -> usize {
    thread_local!(static THREAD_MARKER: u8 = const { 0 });
    THREAD_MARKER.with(|own| ptr::from_ref(own).addr())
}

/// The object that a `*mut abi::Context` points to.
pub(in crate::boundary) struct ContextSession<'a> {
    frame: &'a dyn Frame,
    /// The options of the pass or the instrument, merged from all layers.
    options: &'a ConfigValue,
    /// The function that the pass edits, or null.
    function: Cell<*const FunctionSession>,
    /// The module of the pass, or null.
    module: Cell<*const ModuleSession<'static>>,
    /// Whether the session used op definitions.
    queried_ops: Cell<bool>,
    /// Rarely used state, allocated on demand.
    extras: OnceCell<Box<ContextExtras>>,
    base: SessionBase,
}

impl<'a> ContextSession<'a> {
    #[inline]
    pub(in crate::boundary) fn new(
        frame: &'a dyn Frame,
        options: &'a ConfigValue,
    ) -> ContextSession<'a> {
        ContextSession {
            frame,
            options,
            function: Cell::new(ptr::null()),
            module: Cell::new(ptr::null()),
            queried_ops: Cell::new(false),
            extras: OnceCell::new(),
            base: SessionBase::new(),
        }
    }

    /// Returns the handle for a plugin, which is valid until the session is moved.
    #[inline]
    pub(in crate::boundary) fn handle(&self) -> *mut abi::Context {
        match lends() {
            false => self.address(),
            true => self.lent_handle(),
        }
    }

    fn address(&self) -> *mut abi::Context {
        ptr::from_ref(self).cast_mut().cast()
    }

    pub(in crate::boundary) fn frame(&self) -> &'a dyn Frame {
        self.frame
    }

    /// Makes this the thread's current context until the returned guard is dropped. Messages of the pass are about
    /// `function` in `module`.
    #[inline]
    pub(in crate::boundary) fn enter(
        &self,
        function: *const FunctionSession,
        module: *const ModuleSession<'_>,
    ) -> CurrentPass<'_> {
        self.function.set(function);
        self.module.set(module.cast());
        CurrentPass {
            function: &self.function,
            outer: CURRENT.replace(self.address()),
        }
    }

    /// Whether the session has neither diagnostics nor a failure.
    #[inline]
    pub(in crate::boundary) fn is_silent(&self) -> bool {
        self.extras.get().is_none()
    }
}

thread_local! {
    /// The context of the pass that runs on this thread.
    static CURRENT: Cell<*mut abi::Context> = const { Cell::new(ptr::null_mut()) };
}

/// Calls `then` with the context of the pass that runs on this thread, if any.
#[inline]
pub(in crate::boundary) fn with_current<T>(
    then: impl FnOnce(&ContextSession<'_>) -> T,
) -> Option<T> {
    // SAFETY: `CURRENT` is null or points to a session whose pass hasn't returned.
    let session = unsafe { ContextSession::from_handle(CURRENT.get()) }.ok()?;
    Some(then(session))
}

/// A guard that restores the previous context of the thread.
pub(in crate::boundary) struct CurrentPass<'c> {
    function: &'c Cell<*const FunctionSession>,
    outer: *mut abi::Context,
}

impl Drop for CurrentPass<'_> {
    #[inline]
    fn drop(&mut self) {
        self.function.set(ptr::null());
        CURRENT.set(self.outer);
    }
}

/// The object that a `*mut abi::Module` points to.
pub(in crate::boundary) struct ModuleSession<'a> {
    view: UnsafeCell<abi::ModuleView>,
    state: RefCell<ModuleState<'a>>,
    /// The names shared with operators, cached until the list of functions changes.
    shared_names: RefCell<Option<SharedNames>>,
    base: SessionBase,
}

/// The module that the view describes.
struct ModuleState<'a> {
    module: Held<'a>,
    /// Rarely used state, allocated on demand.
    extras: Option<Box<ModuleExtras>>,
}

/// The module of a session, borrowed or copied.
enum Held<'a> {
    /// The input of a function pass or of an instrument.
    Read(&'a Module),
    /// The copy that a module pass edits.
    Edit(Module),
}

impl<'a> ModuleSession<'a> {
    /// Creates a read-only session. `entries` lists the functions, and `version` is the version of the list.
    #[inline]
    pub(in crate::boundary) fn reading(
        module: &'a Module,
        entries: &'a [FunctionEntry],
        version: u64,
    ) -> ModuleSession<'a> {
        let mut session = ModuleSession::new(Held::Read(module), entries);
        session.view.get_mut().version = version;
        session
    }

    #[inline]
    fn new(module: Held<'a>, entries: &[FunctionEntry]) -> ModuleSession<'a> {
        let view = abi::ModuleView {
            symbols: Arc::as_ptr(module.get().symbols()).cast(),
            functions: column(entries),
            ..abi::ModuleView::EMPTY
        };
        ModuleSession {
            view: UnsafeCell::new(view),
            state: RefCell::new(ModuleState {
                module,
                extras: None,
            }),
            shared_names: RefCell::default(),
            base: SessionBase::new(),
        }
    }

    /// Returns the reference for a plugin, which is valid until the session is moved.
    #[inline]
    pub(in crate::boundary) fn reference(&self) -> abi::ModuleRef {
        if lends()
            && let Some(lent) = self.lent()
        {
            return lent;
        }
        abi::ModuleRef {
            handle: std::ptr::from_ref(self).cast_mut().cast(),
            view: self.view.get(),
        }
    }
}

impl Held<'_> {
    fn get(&self) -> &Module {
        match self {
            Held::Read(module) => module,
            Held::Edit(module) => module,
        }
    }
}

/// Lists the functions of a module for its view.
pub(in crate::boundary) fn entries(module: &Module) -> Vec<FunctionEntry> {
    module.functions().map(entry).collect()
}

#[inline]
pub(in crate::boundary) fn entry(f: &Arc<Function>) -> FunctionEntry {
    FunctionEntry {
        name: f.name(),
        kind: f.kind(),
        op_count: f.live_op_count(),
        reserved: 0,
    }
}

/// The object that a `*mut abi::Function` points to.
///
/// Plugins read the view through raw pointers during host calls. All fields are therefore cells, and the host holds no
/// `&mut FunctionSession` after a handle exists.
pub(in crate::boundary) struct FunctionSession {
    /// The header that plugins read. It belongs to a slot or to the session.
    view: Cell<*mut abi::FunctionView>,
    own_view: Option<Fixed<abi::FunctionView>>,
    state: RefCell<FunctionState>,
    base: SessionBase,
}

/// The function that the view describes, and the access to it.
pub(in crate::boundary) struct FunctionState {
    shared: Shared,
    /// The edited copy.
    own: Option<Box<Function>>,
    access: Access,
    /// Rarely used state, allocated on demand.
    extras: Option<Box<FunctionExtras>>,
}

/// The function of a session before edits.
enum Shared {
    /// No function: the session is vacant.
    Nothing,
    /// The function of a slot, which outlives the pass.
    Slot(NonNull<FunctionSlot>),
    Held(Arc<Function>),
}

/// The access that a session allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::boundary) enum Access {
    /// Reading and editing.
    Edit,
    /// Reading only, for snapshots and op definitions.
    Read,
    /// No access: the function was removed or replaced, or another pass ran.
    Ended,
    /// No access: the host panicked during an edit.
    Broken,
}

impl FunctionSession {
    /// Creates a session without a function, for a pass that runs on one function after the other.
    pub(in crate::boundary) fn vacant() -> FunctionSession {
        FunctionSession {
            view: Cell::new(ptr::null_mut()),
            own_view: None,
            state: RefCell::new(FunctionState {
                shared: Shared::Nothing,
                own: None,
                access: Access::Ended,
                extras: None,
            }),
            base: SessionBase::new(),
        }
    }

    /// Starts a vacant session for editing the slot's function.
    ///
    /// # Safety
    /// Until [`FunctionSession::stop`], the slot doesn't move, and no other code uses it. Its function lives as long as
    /// the session.
    #[inline]
    pub(in crate::boundary) unsafe fn start(&self, slot: &mut FunctionSlot) {
        let slot = NonNull::from(slot);
        // SAFETY: `slot` is valid, and no reference covers its header.
        let view = unsafe { ptr::addr_of_mut!((*slot.as_ptr()).view) };
        self.view.set(view);
        self.change(|state| {
            // The slot's fields aren't read: most passes need only its address.
            state.shared = Shared::Slot(slot);
            state.access = Access::Edit;
        });
    }

    /// Ends the session for the plugin. Returns `true` if the slot's function is unchanged and there is no other state,
    /// so that [`FunctionSession::finish`] isn't necessary.
    #[inline]
    pub(in crate::boundary) fn stop(&self) -> bool {
        let is_same = self.with(|state| {
            let is_broken = state.access == Access::Broken;
            if !is_broken {
                state.access = Access::Ended;
            }
            Ok(!is_broken && state.own.is_none() && state.extras.is_none())
        });
        is_same.unwrap_or(false)
    }

    /// Returns the reference for a plugin, which is valid until the session is moved.
    #[inline]
    pub(in crate::boundary) fn reference(&self) -> abi::FunctionRef {
        let lent = lends().then(|| self.lent_handle()).flatten();
        abi::FunctionRef {
            handle: lent.unwrap_or(std::ptr::from_ref(self).cast_mut().cast()),
            view: self.view.get().cast_const(),
        }
    }

    /// Runs `body` on the state. Nested calls are rejected: they happen only if a plugin leaks a definition's handle.
    #[inline]
    pub(in crate::boundary) fn with<T>(
        &self,
        body: impl FnOnce(&mut FunctionState) -> Edit<T>,
    ) -> Edit<T> {
        body(&mut *self.state.try_borrow_mut().map_err(|_| busy())?)
    }

    /// Runs `body` on the state, unless the state is borrowed.
    #[inline]
    fn change(&self, body: impl FnOnce(&mut FunctionState)) {
        let _ = self.with(|state| {
            body(state);
            Ok(())
        });
    }
}

#[cold]
fn busy() -> EditFailure {
    EditFailure::rejected("the function is already being edited")
}

/// A function that several passes run on, with the header of its view. The header is written when the function changes,
/// not for each pass.
pub struct FunctionSlot {
    function: Arc<Function>,
    /// Whether an attribute excludes the function from function passes.
    is_excluded: bool,
    view: abi::FunctionView,
}

// SAFETY: the view's pointers lead into the function, which the slot owns a reference to and which doesn't change while
// shared. Only an exclusive owner of the slot writes its header.
unsafe impl Send for FunctionSlot {}
// SAFETY: as above.
unsafe impl Sync for FunctionSlot {}

impl FunctionSlot {
    /// Creates a slot for a function.
    pub fn new(function: Arc<Function>) -> FunctionSlot {
        let view = function.view();
        FunctionSlot {
            view,
            is_excluded: view.function_attrs.len > 0 && is_excluded(&function),
            function,
        }
    }

    /// Returns the function in the slot.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Returns the number of op ids in the function, including those of dead ops.
    pub fn op_ids(&self) -> usize {
        self.view.ops.len as usize
    }

    /// Whether passes on functions of this kind run on the function.
    pub fn is_for(&self, kind: FunctionKind) -> bool {
        self.view.kind == kind && !self.is_excluded
    }
}

/// Whether a nonzero attribute with one of these names excludes a function from function passes.
fn is_excluded(function: &Function) -> bool {
    let mut attrs = function.attrs(OpId::NONE).iter();
    attrs.any(|attr| {
        let name = function.text(attr.name);
        matches!(name, "SkipOptimization" | "Compiler" | "Extern")
            && (attr.kind != AttrKind::INT || attr.bits != 0)
    })
}
