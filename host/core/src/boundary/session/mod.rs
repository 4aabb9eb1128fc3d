//! Sessions: the objects that the handles point to which plugins hold while the host calls them.
//!
//! Here is what each call of a pass goes through: a context, a module and a function are made, started and stopped.
//! What a pass asks of them is in [`context`], [`module`] and [`function`]; its calls come in through [`gate`].

pub(super) mod context;
pub(super) mod ending;
pub(super) mod fixed;
pub(super) mod frame;
pub(super) mod function;
pub(super) mod gate;
pub(super) mod input;
pub(super) mod laid_out;
pub(super) mod module;
mod outline;
pub(super) mod rewrites;

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

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

/// The part that all sessions have: the thread that the session was created on, which alone may use its handle, and
/// the message of the last error.
pub(in crate::boundary) struct SessionBase {
    /// The address of a thread-local of the thread.
    thread: usize,
    pub(super) last_error: RefCell<String>,
}

impl SessionBase {
    /// Returns the base of a session of this thread.
    #[inline]
    pub(in crate::boundary) fn new() -> SessionBase {
        SessionBase {
            thread: this_thread(),
            last_error: RefCell::default(),
        }
    }

    /// Whether the session was created on this thread.
    #[inline]
    pub(super) fn is_of_this_thread(&self) -> bool {
        self.thread == this_thread()
    }
}

#[inline]
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| ptr::from_ref(own).addr())
}

/// The object behind a `*mut abi::Context`.
pub(in crate::boundary) struct ContextSession<'a> {
    frame: &'a dyn Frame,
    /// The options of the pass or the instrument, all layers applied.
    options: &'a ConfigValue,
    /// The function that the pass works on, or null.
    function: Cell<*const FunctionSession>,
    /// The module of the pass.
    module: Cell<*const ModuleSession<'static>>,
    /// Whether anything was asked about op definitions.
    asked_ops: Cell<bool>,
    /// Rarely used state, allocated when it is first needed.
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
            asked_ops: Cell::new(false),
            extras: OnceCell::new(),
            base: SessionBase::new(),
        }
    }

    pub(in crate::boundary) fn handle(&self) -> *mut abi::Context {
        ptr::from_ref(self).cast_mut().cast()
    }

    pub(in crate::boundary) fn frame(&self) -> &'a dyn Frame {
        self.frame
    }

    /// Makes this the context of the thread, and `function` in `module` the ones that its messages
    /// are about, until the returned guard is dropped.
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
            outer: CURRENT.replace(self.handle()),
        }
    }

    /// Whether there are neither diagnostics nor a failure to take.
    #[inline]
    pub(in crate::boundary) fn is_silent(&self) -> bool {
        self.extras.get().is_none()
    }
}

thread_local! {
    /// The context of the pass that runs on this thread: what plugins get from `current`.
    static CURRENT: Cell<*mut abi::Context> = const { Cell::new(ptr::null_mut()) };
}

/// Calls `then` with the context of the pass that runs on this thread; `None` if none runs.
#[inline]
pub(in crate::boundary) fn with_current<T>(
    then: impl FnOnce(&ContextSession<'_>) -> T,
) -> Option<T> {
    // SAFETY: what stands here is a session whose pass hasn't returned.
    let session = unsafe { ContextSession::of(CURRENT.get()) }.ok()?;
    Some(then(session))
}

/// A guard for a pass that runs on this thread, until it is dropped.
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

/// What a `*mut abi::Module` points to.
pub(in crate::boundary) struct ModuleSession<'a> {
    view: UnsafeCell<abi::ModuleView>,
    state: RefCell<ModuleState<'a>>,
    /// The names that are shared with operators, as long as the list of functions is what it was.
    shared_names: RefCell<Option<SharedNames>>,
    base: SessionBase,
}

/// The module behind the view.
struct ModuleState<'a> {
    module: Held<'a>,
    /// Rarely used state, allocated when it is first needed.
    extras: Option<Box<ModuleExtras>>,
}

/// The module as it was handed out.
enum Held<'a> {
    /// The input of a function pass, or the module that an instrument reads.
    Read(&'a Module),
    /// The copy that a module pass edits.
    Edit(Module),
}

impl<'a> ModuleSession<'a> {
    /// A session on a module that is read only: the functions are listed in `entries`, and `version` is the list's.
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

    /// The reference that a plugin gets. Valid while the session isn't moved.
    #[inline]
    pub(in crate::boundary) fn reference(&self) -> abi::ModuleRef {
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

/// The object behind a `*mut abi::Function`.
///
/// Plugins read the view through raw pointers while the host is called, so everything here is
/// behind cells and the host only ever holds a `&FunctionSession`.
pub(in crate::boundary) struct FunctionSession {
    /// The header that plugins read: a slot's, or the session's own.
    view: Cell<*mut abi::FunctionView>,
    own_view: Option<Fixed<abi::FunctionView>>,
    state: RefCell<FunctionState>,
    base: SessionBase,
}

/// The function behind the view, and the access to it.
pub(in crate::boundary) struct FunctionState {
    shared: Shared,
    /// The copy that is edited.
    own: Option<Box<Function>>,
    access: Access,
    /// Rarely used state, allocated when it is first needed.
    extras: Option<Box<FunctionExtras>>,
}

/// The function as it was handed out.
enum Shared {
    /// No function yet.
    Nothing,
    /// A slot's, which outlives the pass.
    Slot(NonNull<FunctionSlot>),
    Held(Arc<Function>),
}

/// The access that a session allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::boundary) enum Access {
    /// Reading and editing.
    Edit,
    /// Reading only: a snapshot, or a definition's look at an op.
    Read,
    /// No access: the function is gone, or another pass ran.
    Ended,
    /// No access: the host failed in the middle of an edit.
    Broken,
}

impl FunctionSession {
    /// A session on no function yet, for a pass that runs on one after the other.
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

    /// Makes a vacant session one to edit the slot's function with; returns its view.
    ///
    /// # Safety
    /// The slot stays where it is, and nobody else uses it, until [`FunctionSession::stop`]; its function stays as long
    /// as the session.
    #[inline]
    pub(in crate::boundary) unsafe fn start(
        &self,
        slot: &mut FunctionSlot,
    ) -> *const abi::FunctionView {
        let slot = NonNull::from(slot);
        // SAFETY: the slot is there; its header isn't borrowed.
        let view = unsafe { ptr::addr_of_mut!((*slot.as_ptr()).view) };
        self.view.set(view);
        self.change(|state| {
            // The slot itself isn't looked at: most passes need no more of it than its address.
            state.shared = Shared::Slot(slot);
            state.access = Access::Edit;
        });
        view
    }

    /// Ends the session for the plugin. Returns `true` if the slot's function is as it was and nothing was kept beside
    /// it: then [`FunctionSession::finish`] has nothing to do.
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

    /// What a plugin gets. Good while the session stays where it is.
    #[inline]
    pub(in crate::boundary) fn reference(&self) -> abi::FunctionRef {
        abi::FunctionRef {
            handle: std::ptr::from_ref(self).cast_mut().cast(),
            view: self.view.get().cast_const(),
        }
    }

    /// Runs `body` on the state behind the view. Refuses a second borrow inside the first, which
    /// only a plugin that passes on a definition's handle could ask for.
    #[inline]
    pub(in crate::boundary) fn with<T>(
        &self,
        body: impl FnOnce(&mut FunctionState) -> Edit<T>,
    ) -> Edit<T> {
        body(&mut *self.state.try_borrow_mut().map_err(|_| busy())?)
    }

    /// Runs `body` on the state behind the view, unless the state is borrowed.
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
    EditFailure::refused("The function is being edited already.")
}

/// A function that several passes run on, with the header of its view, which is written when the
/// function changes, not for each pass.
pub struct FunctionSlot {
    function: Arc<Function>,
    /// Whether an attribute of the function keeps function passes out of it.
    is_excluded: bool,
    view: abi::FunctionView,
}

// SAFETY: the view's pointers lead into the function, which is held and isn't changed while it is;
// whoever has the slot for himself may write its header.
unsafe impl Send for FunctionSlot {}
// SAFETY: as above.
unsafe impl Sync for FunctionSlot {}

impl FunctionSlot {
    /// A slot with a function.
    pub fn new(function: Arc<Function>) -> FunctionSlot {
        let view = function.view();
        FunctionSlot {
            view,
            is_excluded: view.function_attrs.len > 0 && is_excluded(&function),
            function,
        }
    }

    /// The function in the slot.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// The number of ids of ops that the function has, those of dead ops included.
    pub fn op_ids(&self) -> usize {
        self.view.ops.len as usize
    }

    /// Whether passes on functions of a kind run on the function.
    pub fn is_for(&self, kind: FunctionKind) -> bool {
        self.view.kind == kind && !self.is_excluded
    }
}

/// Whether an attribute keeps function passes out of a function: one of these, unless it is 0.
fn is_excluded(function: &Function) -> bool {
    let mut attrs = function.attrs(OpId::NONE).iter();
    attrs.any(|attr| {
        let name = function.text(attr.name);
        matches!(name, "SkipOptimization" | "Compiler" | "Extern")
            && (attr.kind != AttrKind::INT || attr.bits != 0)
    })
}
