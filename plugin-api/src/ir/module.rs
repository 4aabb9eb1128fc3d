//! [`Module`]: the module of a module pass.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::vec::IntoIter;

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, FunctionKind, OpId, Status, SymbolId};

use super::name::Name;
use crate::data::EditError;
use crate::ffi::descriptions::{FunctionDesc, OutlineDesc};
use crate::ffi::{seen, Alive, Function, FunctionHandle, RawSymbols, Records, Tables};

/// A module: an ordered list of functions.
///
/// Several functions can be read while one is edited: [`Module::snapshot`] returns an owned, read-only copy of a
/// function, [`Module::edit`] borrows a function to edit it in place.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Records the number of ops of each function.
/// fn stamp(m: &mut Module, _cx: &PassContext) -> PassResult {
///     for function in m.functions() {
///         m.edit(function.name)?.set_function_attr("ops", i64::from(function.op_count))?;
///     }
///     Ok(())
/// }
/// ```
pub struct Module<'h> {
    pub(crate) tables: &'static Tables,
    pub(crate) handle: *mut abi::Module,
    view: *const abi::ModuleView,
    /// The functions that are being edited: the last one, or the last two.
    edited: [Option<FunctionHandle>; 2],
    /// The tokens of snapshots' iterators.
    snapshots: RefCell<Vec<Alive>>,
    /// The run of the pass, which snapshots can't outlive.
    run: PhantomData<&'h ()>,
}

impl<'h> Module<'h> {
    /// Creates a handle to a host's module, for hosts that run passes of this SDK.
    ///
    /// # Safety
    /// `module` conforms to the ABI, outlives `'h`, and isn't edited by others while the handle lives.
    #[doc(hidden)]
    pub unsafe fn from_raw(tables: &'static Tables, module: abi::ModuleRef) -> Module<'h> {
        Module {
            tables,
            handle: module.handle,
            view: module.view,
            edited: [None, None],
            snapshots: RefCell::default(),
            run: PhantomData,
        }
    }

    #[doc(hidden)]
    pub fn tables(&self) -> &'static Tables {
        self.tables
    }

    /// Returns the reference that the handle was created from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::ModuleRef {
        abi::ModuleRef {
            handle: self.handle,
            view: self.view,
        }
    }

    /// Returns the version, which increases when the list of functions changes. Edits of a function increase
    /// [`Function::version`].
    ///
    /// For the read-only module of a function pass, the version is unique to this call of the pass. The pass may cache
    /// results about the module under it.
    pub fn version(&self) -> u64 {
        seen!(self.version)
    }

    /// Returns the functions in order: the symbol of the name (for [`Module::text`]), kind and size. A snapshot:
    /// functions may be added and removed during the iteration.
    pub fn functions(&self) -> IntoIter<FunctionEntry> {
        self.entries().collect::<Vec<_>>().into_iter()
    }

    /// Iterates over the functions in order, without a snapshot.
    pub(crate) fn entries(&self) -> impl Iterator<Item = FunctionEntry> + '_ {
        let column = seen!(self.functions);
        // SAFETY: the column of functions of a live view has `FunctionEntry` records.
        let entries: Records<'_, FunctionEntry> = unsafe { Records::all(column) };
        entries.filter(|entry| entry.name.is_some())
    }

    /// Returns the entry of the function with this name.
    pub fn function<'n>(&self, name: impl Into<Name<'n>>) -> Option<FunctionEntry> {
        let name = self.symbol(name.into()).ok()?;
        self.entries().find(|entry| entry.name == name)
    }

    fn symbols(&self) -> RawSymbols<'_> {
        let symbols = seen!(self.symbols);
        // SAFETY: the symbols belong to the module of the view and live as long.
        unsafe { RawSymbols::new(self.tables, symbols) }
    }

    /// Returns the string of a symbol: `m.text(entry.name)`.
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.symbols().text(symbol)
    }

    /// Returns a read-only copy of the current state of a function. Later changes to the module don't affect it.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn snapshot<'n>(&self, name: impl Into<Name<'n>>) -> Result<Snapshot<'h>, EditError> {
        let name = self.symbol(name.into())?;
        let function = self.function_handle(self.raw_snapshot(name)?);
        let mut snapshots = self.snapshots.borrow_mut();
        if snapshots.len() == snapshots.capacity() {
            snapshots.retain(Alive::is_watched);
        }
        snapshots.push(function.raw.alive());
        Ok(Snapshot {
            function,
            module: self.handle,
            run: PhantomData,
        })
    }

    /// Returns a function to edit in place, until the next use of the module.
    ///
    /// # Errors
    /// If there is no such function, or the module is read-only.
    pub fn edit<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<&mut Function, EditError> {
        let name = self.symbol(name.into())?;
        self.end_editing();
        let reference = self.raw_edit(name)?;
        Ok(self.edited[0].insert(self.function_handle(reference)))
    }

    /// Returns two functions to edit in place.
    ///
    /// # Errors
    /// See [`Module::edit`]; also if both are the same function.
    pub fn edit_both<'n, 'o>(
        &mut self,
        one: impl Into<Name<'n>>,
        other: impl Into<Name<'o>>,
    ) -> Result<(&mut Function, &mut Function), EditError> {
        let (one, other) = (self.symbol(one.into())?, self.symbol(other.into())?);
        if one == other {
            let message = format!("cannot edit function `{}` twice at once", self.text(one));
            return Err(EditError::new(Status::INVALID, message, None));
        }
        self.end_editing();
        let one = self.raw_edit(one)?;
        let one = self.function_handle(one);
        let other = self.raw_edit(other)?;
        let other = self.function_handle(other);
        let [first, second] = &mut self.edited;
        Ok((first.insert(one), second.insert(other)))
    }

    /// Creates a function with an empty body. Add parameters and ops, then complete the body with
    /// [`Function::set_results`].
    ///
    /// The function imports the opsets of `like`, if given. [`Function::create_call`] creates a call, an op with the
    /// function's name. Give the function a name with a domain (`acme.Block`): ONNX files can't represent one without.
    ///
    /// # Errors
    /// If the name is in use, or the module is read-only.
    pub fn create<'n>(
        &mut self,
        name: &str,
        kind: FunctionKind,
        like: Option<Name<'n>>,
    ) -> Result<&mut Function, EditError> {
        let opsets_of = match like {
            Some(like) => self.symbol(like)?,
            None => SymbolId::NONE,
        };
        self.end_editing();
        let reference = self.raw_create_function(FunctionDesc {
            flags: 0,
            kind,
            opsets_of,
            name,
        })?;
        Ok(self.edited[0].insert(self.function_handle(reference)))
    }

    /// Removes a function, which must have no calls.
    ///
    /// # Errors
    /// If there is no such function, or the module is read-only.
    pub fn remove<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        let name = self.symbol(name.into())?;
        self.end_editing();
        self.raw_remove_function(name)
    }

    /// Moves ops of one region into a new graph function, and replaces them with a call.
    ///
    /// The call is placed after the definitions of its operands. Ops between the outlined ops that use their results
    /// move after the call. The parameters of the function are the values that the ops use but don't define, in the
    /// order of their use. Its results are the values that other ops use. Types, names, attributes, locations, regions
    /// and opsets are kept; constants without other users move along. The function is added at the module's end. If the
    /// name is in use, it gets a number; without a domain, ONNX files can't represent it.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Outlines the ops that the model's author marked with an attribute `block`.
    /// fn outline_marked(m: &mut Module, _cx: &PassContext) -> PassResult {
    ///     let main = m.snapshot("main")?;
    ///     let marked: Vec<OpId> = main.ops_in(main.body()).filter(|op| main.attr(*op, "block").is_some()).collect();
    ///     if !marked.is_empty() {
    ///         let block = m.outline("main", &marked, "acme.Block")?;
    ///         let loc = m.edit("main")?.name_loc("block")?;
    ///         m.edit("main")?.set_loc(block.call, loc)?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the ops aren't in one region, one of them is a terminator or refers to an attribute parameter, a result
    /// reaches one of the ops through other ops, no result has a user, or the name belongs to ONNX's own domain.
    pub fn outline<'n>(
        &mut self,
        function: impl Into<Name<'n>>,
        ops: &[OpId],
        name: &str,
    ) -> Result<Outlined, EditError> {
        let holder = self.symbol(function.into())?;
        self.end_editing();
        let (function, call) = self.raw_outline(OutlineDesc {
            flags: 0,
            function: holder,
            ops,
            name,
        })?;
        Ok(Outlined { function, call })
    }

    fn function_handle(&self, reference: abi::FunctionRef) -> FunctionHandle {
        // SAFETY: the reference is from the host, and the handle ends before the module ends or the host ends the
        // function's handle.
        unsafe { Function::from_raw(self.tables, reference) }
    }

    /// Ends the functions that are being edited, whose handles end with the next call.
    pub(crate) fn end_editing(&mut self) {
        self.edited = [None, None];
    }

    fn symbol(&self, name: Name<'_>) -> Result<SymbolId, EditError> {
        match name {
            Name::Symbol(symbol) => Ok(symbol),
            Name::Text(text) => self.symbols().find(text).ok_or_else(|| {
                let message = format!("the module has no function called `{}`", text);
                EditError::new(Status::NOT_FOUND, message, None)
            }),
        }
    }
}

impl Drop for Module<'_> {
    /// Ends the iterators of leaked snapshots.
    #[inline]
    fn drop(&mut self) {
        self.snapshots.get_mut().iter().for_each(Alive::end);
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.entries().map(|entry| self.text(entry.name));
        f.debug_list().entries(names).finish()
    }
}

/// The result of [`Module::outline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outlined {
    /// The name of the new function.
    pub function: SymbolId,
    /// The call that replaces the ops.
    pub call: OpId,
}

/// A read-only copy of a function. Dropping it releases it in the host.
pub struct Snapshot<'h> {
    function: FunctionHandle,
    module: *const abi::Module,
    run: PhantomData<&'h ()>,
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(release) = self.function.tables().modules.release {
            // SAFETY: the module lives as long as the run, and the function isn't read after this.
            unsafe { release(self.module, self.function.as_raw()) }
        }
    }
}

impl Deref for Snapshot<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}
