//! A module: its list of functions, handles of them, edits.

use std::cell::Cell;

use passdock_abi as abi;
use passdock_abi::{FunctionKind, FunctionRef, OpId, Range, Status, SymbolId};

use super::function::{Alive, RawFunction};
use super::lent;
use super::read::Records;
use super::tables::{RawSymbols, Tables};
use crate::data::EditError;

/// A module handle, its view, the tables to call.
pub(crate) struct RawModule {
    pub(super) tables: &'static Tables,
    pub(super) handle: *mut abi::Module,
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

    /// The symbols of the module.
    pub(crate) fn symbols(&self) -> RawSymbols<'_> {
        // SAFETY: they live, and stay where they are, as long as the module.
        unsafe { RawSymbols::new(self.tables, seen!(self.symbols)) }
    }

    /// Turns a status into a result with the host's sentence.
    pub(super) fn done(
        &self,
        status: Status,
        call: &str,
        op: Option<OpId>,
    ) -> Result<(), EditError> {
        if status.is_ok() {
            return Ok(());
        }
        Err(EditError::described(status, self.last_error(), call, op))
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

    /// Ends the handles that were given out to edit.
    pub(crate) fn end_editing(&mut self) {
        if self.given.get().is_null() {
            return;
        }
        for alive in self.given(|given| std::mem::take(&mut given.editing)) {
            alive.end();
        }
    }

    /// A read-only handle of a function, and what gives it back.
    pub(crate) fn read_only(&self, name: SymbolId) -> Result<(RawFunction, Release), EditError> {
        let reference = self.snapshot(name)?;
        // SAFETY: a handle of our own, until it is released or the module's ends.
        let function = unsafe { RawFunction::new(self.tables, reference) };
        let alive = function.alive();
        self.given(|given| {
            if given.snapshots.len() == given.snapshots.capacity() {
                // Before the list grows: those that were dropped need no end any more.
                given.snapshots.retain(Alive::is_watched);
            }
            given.snapshots.push(alive);
        });
        let release = Release {
            tables: self.tables,
            module: self.handle,
            function: reference,
        };
        Ok((function, release))
    }

    /// A handle to edit a function, beside those that are being edited.
    pub(crate) fn editable(&mut self, name: SymbolId) -> Result<RawFunction, EditError> {
        let reference = self.edit(name)?;
        Ok(self.hand_out(reference))
    }

    /// A handle to edit a new function.
    pub(crate) fn create(
        &mut self,
        name: &str,
        kind: FunctionKind,
        opsets_of: SymbolId,
    ) -> Result<RawFunction, EditError> {
        let desc = lent::function(name, kind, opsets_of);
        let reference = self.create_function(&desc)?;
        Ok(self.hand_out(reference))
    }

    fn hand_out(&mut self, reference: FunctionRef) -> RawFunction {
        // SAFETY: ours to edit until the next call that takes `&mut self`, which ends what
        // outlived its borrow.
        let function = unsafe { RawFunction::new(self.tables, reference) };
        let alive = function.alive();
        self.given(|given| given.editing.push(alive));
        function
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
