//! [`Module`]: what a module pass sees and edits.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use passdock_abi as abi;
use passdock_abi::{FunctionEntry, FunctionKind, Status, SymbolId};

use super::function::{Function, FunctionHandle};
use super::name::Name;
use crate::data::EditError;
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
            run: PhantomData,
        }
    }

    /// The reference that the handle was made from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> abi::ModuleRef {
        self.raw.reference()
    }

    /// Grows with every edit.
    pub fn version(&self) -> u64 {
        self.raw.version()
    }

    /// The functions, in order: of each its symbol (whose text is [`Module::text`]), kind and size. A
    /// snapshot: functions may be added and removed meanwhile.
    pub fn functions(&self) -> std::vec::IntoIter<FunctionEntry> {
        self.raw.functions().collect::<Vec<_>>().into_iter()
    }

    /// A function of a name, if there is one.
    pub fn function<'n>(&self, name: impl Into<Name<'n>>) -> Option<FunctionEntry> {
        let name = match name.into() {
            Name::Text(text) => self.raw.find(text)?,
            Name::Symbol(symbol) => symbol,
        };
        self.raw.functions().find(|entry| entry.name == name)
    }

    /// The text of a symbol: `m.text(entry.name)`.
    pub fn text(&self, symbol: SymbolId) -> &str {
        self.raw.text(symbol)
    }

    /// A function as it is now, to read; it stays so while the module changes.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn snapshot<'n>(&self, name: impl Into<Name<'n>>) -> Result<Snapshot<'h>, EditError> {
        let name = self.symbol(name.into())?;
        let (function, release) = self.raw.snapshot(name)?.into_parts();
        Ok(Snapshot {
            function: FunctionHandle::new(function),
            release,
            run: PhantomData,
        })
    }

    /// A function, to edit in place.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn edit<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<FunctionMut<'_>, EditError> {
        let name = self.symbol(name.into())?;
        Ok(FunctionMut::new(self.raw.edit(name)?))
    }

    /// Two functions, to edit in place: for what goes from one to the other.
    ///
    /// # Errors
    /// As [`Module::edit`]; also if both are one function.
    pub fn edit_both<'n, 'o>(
        &mut self,
        one: impl Into<Name<'n>>,
        other: impl Into<Name<'o>>,
    ) -> Result<(FunctionMut<'_>, FunctionMut<'_>), EditError> {
        let (one, other) = (self.symbol(one.into())?, self.symbol(other.into())?);
        if one == other {
            let message = format!("`{}` is one function, not two to edit", self.text(one));
            return Err(EditError::new(Status::INVALID, message, None));
        }
        let one = self.raw.edit(one)?;
        let other = self.raw.edit_more(other)?;
        Ok((FunctionMut::new(one), FunctionMut::new(other)))
    }

    /// Makes a function with an empty body: add parameters and ops, then end the body with
    /// [`Function::set_results`]. It has the opset versions of `like`, if that is given.
    ///
    /// # Errors
    /// If the name is taken, or the module is there to be read only.
    pub fn create<'n>(
        &mut self,
        name: &str,
        kind: FunctionKind,
        like: Option<Name<'n>>,
    ) -> Result<FunctionMut<'_>, EditError> {
        let opsets_of = match like {
            Some(like) => self.symbol(like)?,
            None => SymbolId::NONE,
        };
        Ok(FunctionMut::new(self.raw.create(name, kind, opsets_of)?))
    }

    /// Removes a function that nobody calls.
    ///
    /// # Errors
    /// If there is no such function, or the module is there to be read only.
    pub fn remove<'n>(&mut self, name: impl Into<Name<'n>>) -> Result<(), EditError> {
        let name = self.symbol(name.into())?;
        self.raw.remove(name)
    }

    fn symbol(&self, name: Name<'_>) -> Result<SymbolId, EditError> {
        match name {
            Name::Symbol(symbol) => Ok(symbol),
            Name::Text(text) => self.raw.find(text).ok_or_else(|| {
                let message = format!("the module has no function called `{}`", text);
                EditError::new(Status::NOT_FOUND, message, None)
            }),
        }
    }
}

impl std::fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.raw.functions().map(|entry| self.text(entry.name));
        f.debug_list().entries(names).finish()
    }
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

/// A function of a module that is being edited.
pub struct FunctionMut<'m> {
    function: FunctionHandle,
    module: PhantomData<&'m mut ()>,
}

impl FunctionMut<'_> {
    fn new(raw: RawFunction) -> Self {
        FunctionMut {
            function: FunctionHandle::new(raw),
            module: PhantomData,
        }
    }
}

impl Deref for FunctionMut<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}

impl DerefMut for FunctionMut<'_> {
    fn deref_mut(&mut self) -> &mut Function {
        &mut self.function
    }
}
