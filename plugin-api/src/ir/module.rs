//! [`Module`]: what a module pass sees and edits.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, FunctionKind, OpId, Status, SymbolId};

use super::function::{Function, FunctionHandle};
use super::iter::Functions;
use super::name::Name;
use crate::data::EditError;
use crate::raw::lent;
use crate::raw::{RawFunction, RawModule, Release, Tables};

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
    /// The functions that are being edited: the last one, or the last two. Nothing until the first:
    /// a module that is only looked at, as most function passes' is, costs as little as it can.
    edited: ManuallyDrop<Option<Box<[Option<FunctionHandle>; 2]>>>,
    pub(crate) raw: RawModule,
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
    #[allow(unsafe_code)]
    pub unsafe fn from_raw(tables: &'static Tables, module: abi::ModuleRef) -> Module<'h> {
        Module {
            // SAFETY: the caller's promise.
            raw: unsafe { RawModule::new(tables, module) },
            edited: ManuallyDrop::new(None),
            run: PhantomData,
        }
    }

    /// The reference that the handle was made from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::ModuleRef {
        self.raw.reference()
    }

    /// Grows when the list of functions changes; [`Function::version`] grows with its edits. That of the module that
    /// a function pass may read is of this call of the pass alone: what the pass computes of the module it keeps
    /// under this number.
    pub fn version(&self) -> u64 {
        self.raw.version()
    }

    /// The functions, in order: of each its symbol (whose text is [`Module::text`]), kind and size. A
    /// snapshot: functions may be added and removed meanwhile.
    pub fn functions(&self) -> Functions {
        Functions(self.raw.functions().collect::<Vec<_>>().into_iter())
    }

    /// A function of a name, if there is one.
    pub fn function<'n>(&self, name: impl Into<Name<'n>>) -> Option<FunctionEntry> {
        let name = match name.into() {
            Name::Text(text) => self.raw.symbols().find(text)?,
            Name::Symbol(symbol) => symbol,
        };
        self.raw.functions().find(|entry| entry.name == name)
    }

    /// The text of a symbol: `m.text(entry.name)`.
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.raw.symbols().text(symbol)
    }

    /// A function as it is now, to read; it stays so while the module changes.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn snapshot<'n>(&self, name: impl Into<Name<'n>>) -> Result<Snapshot<'h>, EditError> {
        let name = self.symbol(name.into())?;
        let (function, release) = self.raw.read_only(name)?;
        Ok(Snapshot {
            function: FunctionHandle::new(function),
            release,
            run: PhantomData,
        })
    }

    /// A function, to edit in place, until the module is used otherwise.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn edit<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<&mut Function, EditError> {
        let name = self.symbol(name.into())?;
        self.raw.end_editing();
        let raw = self.raw.editable(name)?;
        Ok(self.hold(raw))
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
        self.raw.end_editing();
        let one = self.raw.editable(one)?;
        let other = self.raw.editable(other)?;
        let [first, second] = &mut **self.edited.get_or_insert_with(Box::default);
        Ok((
            first.insert(FunctionHandle::new(one)),
            second.insert(FunctionHandle::new(other)),
        ))
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
        self.raw.end_editing();
        let raw = self.raw.create(name, kind, opsets_of)?;
        Ok(self.hold(raw))
    }

    /// Removes a function that nobody calls.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn remove<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        let name = self.symbol(name.into())?;
        self.raw.end_editing();
        self.raw.remove_function(name)
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
        self.raw.end_editing();
        let (function, call) = self.raw.outline(&lent::outline(holder, ops, name))?;
        Ok(Outlined { function, call })
    }

    /// Keeps a function that is handed out to be edited.
    fn hold(&mut self, raw: RawFunction) -> &mut Function {
        let [first, second] = &mut **self.edited.get_or_insert_with(Box::default);
        *second = None;
        first.insert(FunctionHandle::new(raw))
    }

    #[cold]
    fn end_edited(&mut self) {
        drop(self.edited.take());
    }

    fn symbol(&self, name: Name<'_>) -> Result<SymbolId, EditError> {
        match name {
            Name::Symbol(symbol) => Ok(symbol),
            Name::Text(text) => self.raw.symbols().find(text).ok_or_else(|| {
                let message = format!("the module has no function called `{}`", text);
                EditError::new(Status::NOT_FOUND, message, None)
            }),
        }
    }
}

impl Drop for Module<'_> {
    /// Ends the functions that are being edited, before what else was handed out.
    #[inline]
    fn drop(&mut self) {
        if self.edited.is_some() {
            self.end_edited();
        }
    }
}

impl std::fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.raw.functions().map(|entry| self.text(entry.name));
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
    // Dropped after the function, whose iterators end first.
    #[allow(dead_code)]
    release: Release,
    run: PhantomData<&'h ()>,
}

impl Deref for Snapshot<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}
