//! A module: its list of functions, handles of them, edits.

use std::cell::Cell;

use passdock_abi as abi;
use passdock_abi::{FunctionKind, FunctionRef, OpId, Range, Status, SymbolId};

use super::context::RawContext;
use super::function::{Alive, RawFunction};
use super::read::Records;
use super::tables::{text, there, Tables};
use crate::data::EditError;

/// A module handle, its view, the tables to call.
pub(crate) struct RawModule {
    tables: &'static Tables,
    handle: *mut abi::Module,
    view: *const abi::ModuleView,
    /// A box, or null until a function is handed out: a module that nobody asks, as most function
    /// passes' is, costs nothing to make or drop.
    given: Cell<*mut Given>,
}

/// Functions handed out that an iterator may outlive.
struct Given {
    /// Handles that `edit` or `create` gave out last, which the next edit ends.
    editing: Vec<Alive>,
    /// Snapshots, for those that nobody drops: they end with the module.
    snapshots: Vec<Alive>,
}

impl Drop for RawModule {
    #[inline]
    fn drop(&mut self) {
        if !self.given.get().is_null() {
            end_all(self.given.get());
        }
    }
}

/// Ends what was handed out. `given` is the box of a module that is being dropped.
#[cold]
fn end_all(given: *mut Given) {
    // SAFETY: made by `RawModule::given`, and not used after this.
    let given = unsafe { Box::from_raw(given) };
    for alive in given.editing.iter().chain(&given.snapshots) {
        alive.end();
    }
}

/// A field of the view; of the whole there is never a reference, as of a function's.
macro_rules! seen {
    ($self:ident.$field:ident) => {{
        // SAFETY: the view lives as long as `self`, changes only in calls that take `&mut self`, and
        // has all fields of the oldest host.
        #[allow(unused_unsafe)]
        let seen = unsafe { std::ptr::addr_of!((*$self.view).$field).read() };
        seen
    }};
}

impl RawModule {
    /// # Safety
    /// The reference is as the contract says and lives as long as the answer, and nobody else
    /// edits the module meanwhile.
    pub(crate) unsafe fn new(tables: &'static Tables, module: abi::ModuleRef) -> RawModule {
        RawModule {
            tables,
            handle: module.handle,
            view: module.view,
            given: Cell::new(std::ptr::null_mut()),
        }
    }

    pub(crate) fn reference(&self) -> abi::ModuleRef {
        abi::ModuleRef {
            handle: self.handle,
            view: self.view,
        }
    }

    pub(crate) fn version(&self) -> u64 {
        seen!(self.version)
    }

    pub(crate) fn functions(&self) -> impl Iterator<Item = abi::FunctionEntry> + '_ {
        let column = seen!(self.functions);
        let all = Range {
            start: 0,
            len: column.len,
        };
        // SAFETY: the column holds `FunctionEntry`s and changes only under `&mut self`.
        let entries: Records<'_, abi::FunctionEntry> = unsafe { Records::new(column, all) };
        // What was removed leaves an entry without a name.
        entries.filter(|entry| entry.name.is_some())
    }

    pub(crate) fn text(&self, symbol: SymbolId) -> &str {
        match self.tables.symbols.text {
            // SAFETY: the symbols live, and stay where they are, as long as the module.
            Some(function) => unsafe { text(function(seen!(self.symbols), symbol)) },
            None => "",
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<SymbolId> {
        let find = self.tables.symbols.find?;
        // SAFETY: `name` lives until the call returns.
        unsafe { find(seen!(self.symbols), abi::Str::new(name)) }.option()
    }

    fn done(&self, status: Status, call: &str) -> Result<(), EditError> {
        if status.is_ok() {
            return Ok(());
        }
        let said = match self.tables.modules.last_error {
            // SAFETY: the handle lives; the text does until the next call on it, and is copied.
            Some(function) => unsafe { text(function(self.handle)) },
            None => "",
        };
        Err(EditError::described(status, said, call, None))
    }

    /// The handles given out, to note more. `then` doesn't call this again.
    fn given<R>(&self, then: impl FnOnce(&mut Given) -> R) -> R {
        let mut given = self.given.get();
        if given.is_null() {
            given = Box::into_raw(Box::new(Given {
                editing: Vec::new(),
                snapshots: Vec::new(),
            }));
            self.given.set(given);
        }
        // SAFETY: a box of ours; the closures in this file don't come here again.
        then(unsafe { &mut *given })
    }

    fn end_editing(&mut self) {
        if self.given.get().is_null() {
            return;
        }
        for alive in self.given(|given| std::mem::take(&mut given.editing)) {
            alive.end();
        }
    }

    /// A read-only handle, which ends with `release`.
    pub(crate) fn snapshot(&self, name: SymbolId) -> Result<RawSnapshot, EditError> {
        let function = there(self.tables.modules.snapshot, "snapshot", None)?;
        let mut out = nobody();
        // SAFETY: the handle lives as long as `self`.
        let status = unsafe { function(self.handle, name, &mut out) };
        self.done(status, "snapshot")?;
        // SAFETY: a handle of our own, until it is released or the module's ends.
        let function = unsafe { RawFunction::new(self.tables, out) };
        let alive = function.alive();
        self.given(|given| {
            if given.snapshots.len() == given.snapshots.capacity() {
                // Before the list grows: those that were dropped need no end any more.
                given.snapshots.retain(Alive::is_watched);
            }
            given.snapshots.push(alive);
        });
        Ok(RawSnapshot {
            function,
            module: self.handle,
        })
    }

    /// A handle to edit, until the next call that takes `&mut self`.
    pub(crate) fn edit(&mut self, name: SymbolId) -> Result<RawFunction, EditError> {
        self.end_editing();
        self.edit_more(name)
    }

    /// Another one beside those that are being edited: not one of them.
    pub(crate) fn edit_more(&mut self, name: SymbolId) -> Result<RawFunction, EditError> {
        let function = there(self.tables.modules.edit, "edit", None)?;
        let mut out = nobody();
        // SAFETY: the handle lives as long as `self`.
        let status = unsafe { function(self.handle, name, &mut out) };
        self.done(status, "edit")?;
        Ok(self.hand_out(out))
    }

    pub(crate) fn create(
        &mut self,
        name: &str,
        kind: FunctionKind,
        opsets_of: SymbolId,
    ) -> Result<RawFunction, EditError> {
        self.end_editing();
        let function = there(self.tables.modules.create_function, "create_function", None)?;
        let desc = abi::FunctionDesc {
            kind,
            name: abi::Str::new(name),
            opsets_of,
            ..abi::FunctionDesc::EMPTY
        };
        let mut out = nobody();
        // SAFETY: the handle lives as long as `self`; the host copies the description.
        let status = unsafe { function(self.handle, &desc, &mut out) };
        self.done(status, "create_function")?;
        Ok(self.hand_out(out))
    }

    fn hand_out(&mut self, reference: FunctionRef) -> RawFunction {
        // SAFETY: ours to edit until the next call that takes `&mut self`, which ends what
        // outlived its borrow.
        let function = unsafe { RawFunction::new(self.tables, reference) };
        let alive = function.alive();
        self.given(|given| given.editing.push(alive));
        function
    }

    pub(crate) fn remove(&mut self, name: SymbolId) -> Result<(), EditError> {
        self.end_editing();
        let function = there(self.tables.modules.remove_function, "remove_function", None)?;
        // SAFETY: the handle lives as long as `self`.
        let status = unsafe { function(self.handle, name) };
        self.done(status, "remove_function")
    }

    pub(crate) fn outline(
        &mut self,
        function: SymbolId,
        ops: &[OpId],
        name: &str,
    ) -> Result<(SymbolId, OpId), EditError> {
        self.end_editing();
        let outline = there(self.tables.modules.outline, "outline", None)?;
        let desc = abi::OutlineDesc {
            function,
            ops: ops.as_ptr(),
            op_count: ops.len(),
            name: abi::Str::new(name),
            ..abi::OutlineDesc::EMPTY
        };
        let (mut made, mut call) = (SymbolId::NONE, OpId::NONE);
        // SAFETY: the handle lives as long as `self`; the host copies the description.
        let status = unsafe { outline(self.handle, &desc, &mut made, &mut call) };
        self.done(status, "outline")?;
        Ok((made, call))
    }

    pub(crate) fn run_pass(&mut self, context: &RawContext, name: &str) -> Result<(), EditError> {
        self.tables.expect(context.tables, "the context")?;
        self.end_editing();
        let function = there(self.tables.modules.run_pass, "run_pass", None)?;
        let desc = abi::RunDesc {
            name: abi::Str::new(name),
            ..abi::RunDesc::EMPTY
        };
        // SAFETY: both handles live; the name does until the call returns.
        let status = unsafe { function(self.handle, context.handle, &desc) };
        self.done(status, "run_pass")
    }
}

fn nobody() -> FunctionRef {
    FunctionRef {
        handle: std::ptr::null_mut(),
        view: std::ptr::null(),
    }
}

/// An owned, read-only function handle.
pub(crate) struct RawSnapshot {
    pub(crate) function: RawFunction,
    module: *const abi::Module,
}

impl RawSnapshot {
    /// Splits off the function; `release` is to be called when it is gone.
    pub(crate) fn into_parts(self) -> (RawFunction, Release) {
        let release = Release {
            tables: self.function.tables,
            module: self.module,
            function: self.function.reference(),
        };
        (self.function, release)
    }
}

/// Gives a snapshot back when it is dropped.
pub(crate) struct Release {
    tables: &'static Tables,
    module: *const abi::Module,
    function: FunctionRef,
}

impl Drop for Release {
    fn drop(&mut self) {
        if let Some(function) = self.tables.modules.release {
            // SAFETY: the module outlives its snapshots (`Snapshot`'s lifetime); the handle isn't
            // used any more.
            unsafe { function(self.module, self.function) }
        }
    }
}
