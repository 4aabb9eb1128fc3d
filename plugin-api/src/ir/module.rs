//! [`Module`]: what a module pass sees and edits.
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

/// A module: functions in order.
///
/// Several functions can be looked at while one is edited: [`Module::snapshot`] gives an owned,
/// read-only function as it is now, [`Module::edit`] one to edit in place, borrowed.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Notes how many ops each function has.
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
    /// The watches of snapshots' iterators.
    snapshots: RefCell<Vec<Alive>>,
    /// The pass's run, which no snapshot outlives.
    run: PhantomData<&'h ()>,
}

impl<'h> Module<'h> {
    /// A handle of a host's module, for hosts that hand their own to passes written with this SDK.
    ///
    /// # Safety
    /// `module` is as the contract says, nobody else edits it while the answer lives, and it
    /// outlives `'h`.
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

    /// The reference that the handle was made from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::ModuleRef {
        abi::ModuleRef {
            handle: self.handle,
            view: self.view,
        }
    }

    /// Grows when the list of functions changes; [`Function::version`] grows with its edits. That of the module that
    /// a function pass may read is of this call of the pass alone: what the pass computes of the module it keeps
    /// under this number.
    pub fn version(&self) -> u64 {
        seen!(self.version)
    }

    /// The functions, in order: of each its symbol (whose text is [`Module::text`]), kind and size. A
    /// snapshot: functions may be added and removed meanwhile.
    pub fn functions(&self) -> IntoIter<FunctionEntry> {
        self.entries().collect::<Vec<_>>().into_iter()
    }

    fn entries(&self) -> impl Iterator<Item = FunctionEntry> + '_ {
        let column = seen!(self.functions);
        // SAFETY: the view's column of functions, which holds `FunctionEntry`s.
        let entries: Records<'_, FunctionEntry> = unsafe { Records::all(column) };
        entries.filter(|entry| entry.name.is_some())
    }

    /// A function of a name, if there is one.
    pub fn function<'n>(&self, name: impl Into<Name<'n>>) -> Option<FunctionEntry> {
        let name = match name.into() {
            Name::Text(text) => self.symbols().find(text)?,
            Name::Symbol(symbol) => symbol,
        };
        self.entries().find(|entry| entry.name == name)
    }

    fn symbols(&self) -> RawSymbols<'_> {
        let symbols = seen!(self.symbols);
        // SAFETY: the table is that of the module's view, whose symbols live as long.
        unsafe { RawSymbols::new(self.tables, symbols) }
    }

    /// The text of a symbol: `m.text(entry.name)`.
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.symbols().text(symbol)
    }

    /// A function as it is now, to read; it stays so while the module changes.
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

    /// A function, to edit in place, until the module is used otherwise.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn edit<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<&mut Function, EditError> {
        let name = self.symbol(name.into())?;
        self.end_editing();
        let reference = self.raw_edit(name)?;
        Ok(self.edited[0].insert(self.function_handle(reference)))
    }

    /// Two functions, to edit in place: for what goes from one to the other.
    ///
    /// # Errors
    /// As [`Module::edit`]; also if both are one function.
    pub fn edit_both<'n, 'o>(
        &mut self,
        one: impl Into<Name<'n>>,
        other: impl Into<Name<'o>>,
    ) -> Result<(&mut Function, &mut Function), EditError> {
        let (one, other) = (self.symbol(one.into())?, self.symbol(other.into())?);
        if one == other {
            let message = format!("`{}` is one function, not two to edit", self.text(one));
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

    /// Makes a function with an empty body: add parameters and ops, then end the body with
    /// [`Function::set_results`]. It has the opset versions of `like`, if that is given. It is called by an op of
    /// its name, which [`Function::create_call`] makes; give it a name with a domain (`acme.Block`), without which no
    /// ONNX file can have it.
    ///
    /// # Errors
    /// If the name is taken, or the module is there to be read only.
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

    /// Removes a function that nobody calls.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn remove<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        let name = self.symbol(name.into())?;
        self.end_editing();
        self.raw_remove_function(name)
    }

    /// Makes a graph function of ops of one region, and puts a call of it in their place, behind what they use; ops
    /// between them that use what they make go behind the call.
    ///
    /// The parameters are the values that the ops use and don't make, in the order in which they use them; the
    /// results are those of the ops that others use. Types, names, attributes, locations, regions and the opsets are
    /// those of the ops; constants that nobody else uses move along. The function stands at the module's end. Its name,
    /// which needs a domain to be one of an ONNX file, gets a number if it is taken.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Makes functions of ops that the model's author marked: those with an attribute `block`.
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
    /// If the ops aren't of one region, one of them ends it, a value leaves them and comes back through
    /// others, nobody uses what they make, one of them refers to an attribute parameter, or the name is one of ONNX's
    /// own domain.
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
        // SAFETY: the host just handed it out; the handle ends before the module does, or is edited otherwise.
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
    /// Ends the iterators of snapshots that were forgotten.
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

/// Ops that [`Module::outline`] made a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outlined {
    /// The new function's name.
    pub function: SymbolId,
    /// The op in their place, which calls it.
    pub call: OpId,
}

/// A function as it was when this was made; dropping it gives it back to the host.
pub struct Snapshot<'h> {
    function: FunctionHandle,
    module: *const abi::Module,
    run: PhantomData<&'h ()>,
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(release) = self.function.tables().modules.release {
            // SAFETY: the module lives as long as the run, and nothing reads the function after this.
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
