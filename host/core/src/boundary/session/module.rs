//! `ModuleApi`: reading and editing a module.
//!
//! A module pass works on a copy of the module's list of functions. A function is copied at its first edit. Handles
//! that have ended stay allocated until the pass returns, so that a plugin that uses one gets an error.

use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{
    FunctionDesc, FunctionEntry, FunctionKind, FunctionRef, Opset, RunDesc, Status, SymbolId,
};
use passdock_ir::{Edit, EditFailure, Function, Module, column, name};
use passdock_loader::OpDefs;
use rustc_hash::FxHashMap;

use super::fixed::Fixed;
use super::gate::Session;
use super::loan::ModuleLoan;
use super::outline::Naming;
use super::{
    Access, ContextSession, FunctionSession, Held, ModuleSession, ModuleState, SessionBase,
    entries, entry, input,
};
use crate::analyses::SharedNames;

/// The rarely used state of a module session.
#[derive(Default)]
pub(super) struct ModuleExtras {
    /// The functions of the edited module. The entry of a removed function has no name.
    entries: Vec<FunctionEntry>,
    /// The indices of entries by name, and the number of entries without a name. Built when the first function is
    /// removed.
    positions: Option<(FxHashMap<SymbolId, u32>, usize)>,
    /// The valid handles for editing, by function.
    edits: FxHashMap<SymbolId, Fixed<FunctionSession>>,
    /// The snapshots that haven't been released.
    snapshots: FxHashMap<*mut abi::Function, Fixed<FunctionSession>>,
    /// The handles that have ended.
    retired: Vec<Fixed<FunctionSession>>,
    naming: Naming,
    /// The loan of the module, if the process lends.
    loan: Option<ModuleLoan>,
}

impl<'a> ModuleSession<'a> {
    /// Creates a session for editing a copy of a module.
    pub(in crate::boundary) fn editing(module: &Module) -> ModuleSession<'static> {
        let session = ModuleSession::new(Held::Edit(module.clone()), &[]);
        session.refresh(0);
        session
    }

    /// Calls `body` with a function in its current state.
    pub(in crate::boundary) fn with_function<T>(
        &self,
        name: SymbolId,
        body: impl FnOnce(&Function) -> T,
    ) -> Option<T> {
        let result = self.with(|state| match state.edited(name) {
            Some(session) => session.with(|state| Ok(Some(body(state.function())))),
            None => Ok(state.module.get().function(name).map(|f| body(f))),
        });
        result.ok().flatten()
    }

    /// Returns the names shared by operators and functions of the module in its current state.
    pub(super) fn shared_names(&self, defs: &OpDefs) -> SharedNames {
        let mut cached = self.shared_names.borrow_mut();
        match &*cached {
            Some(cached) if cached.is_for(defs) => cached.clone(),
            _ => match self.with(|state| Ok(SharedNames::new(defs, state.module()))) {
                Ok(names) => cached.insert(names).clone(),
                // No definitions are looked up while the host changes the module.
                Err(_) => SharedNames::none(defs),
            },
        }
    }

    /// Whether the module, in its current state, has a function of this name.
    pub(super) fn names(&self, name: SymbolId) -> bool {
        let result = self.with(|state| Ok(state.module().function(name).is_some()));
        result.unwrap_or(false)
    }

    /// Returns the edited module, or `None` if it is unchanged.
    pub(in crate::boundary) fn finish(self, input: &Module) -> Edit<Option<Module>> {
        self.with(|state| state.flush())?;
        match self.state.into_inner().module {
            Held::Edit(module) if !module.is_same(input) => Ok(Some(module)),
            _ => Ok(None),
        }
    }

    /// Returns the module in its current state, edits included.
    pub(in crate::boundary) fn now(&self) -> Edit<Module> {
        self.with(ModuleState::now_all)
    }

    /// Replaces the edited module. Handles of its functions end.
    pub(in crate::boundary) fn replace(&self, module: Module) -> Edit {
        self.with(|state| {
            let names = state.edited_names();
            names.into_iter().for_each(|name| state.retire(name));
            *state.editable()? = module;
            Ok(())
        })?;
        self.refresh(1);
        Ok(())
    }

    pub(super) fn with<T>(&self, body: impl FnOnce(&mut ModuleState<'a>) -> Edit<T>) -> Edit<T> {
        let busy = |_| EditFailure::rejected("the module is already being edited");
        body(&mut *self.state.try_borrow_mut().map_err(busy)?)
    }

    /// Lists all functions again, and increments the view's version by `step`.
    fn refresh(&self, step: u64) {
        self.list(step, |state| state.relist());
    }

    /// Changes the list of functions, and updates the plugin's view of it.
    pub(super) fn list(&self, step: u64, change: impl FnOnce(&mut ModuleState<'_>)) {
        self.shared_names.take();
        let listed = self.with(|state| {
            change(state);
            Ok(column(&state.extras().entries))
        });
        if let Ok(functions) = listed {
            // SAFETY: only this thread uses the session, and plugins read the header between calls.
            unsafe {
                let view = &mut *self.view.get();
                view.functions = functions;
                view.version += step;
            }
            self.show();
        }
    }
}

impl ModuleSession<'_> {
    /// Returns the lent reference, if the process lends.
    #[cold]
    pub(super) fn lent(&self) -> Option<abi::ModuleRef> {
        // SAFETY: only this thread uses the session, and plugins read the header between calls.
        let view = unsafe { &*self.view.get() };
        let lent = self.with(|state| {
            let loan = &mut state.extras().loan;
            let loan = loan.get_or_insert_with(|| ModuleLoan::new(self, view));
            Ok(loan.reference())
        });
        lent.ok()
    }

    /// Shows the changed module to the plugin, if the process lends.
    fn show(&self) {
        // SAFETY: as above.
        let view = unsafe { &*self.view.get() };
        let _ = self.with(|state| {
            if let Some(loan) = &mut state.extras().loan {
                loan.show(view);
            }
            Ok(())
        });
    }
}

impl ModuleState<'_> {
    fn extras(&mut self) -> &mut ModuleExtras {
        self.extras.get_or_insert_default()
    }

    /// Returns the module without edits that are in progress.
    pub(super) fn module(&self) -> &Module {
        self.module.get()
    }

    /// Returns the state for naming outlined functions.
    pub(super) fn naming(&mut self) -> &mut Naming {
        &mut self.extras().naming
    }

    /// Lists all functions of the edited module again.
    fn relist(&mut self) {
        if let Held::Edit(module) = &self.module {
            let entries = entries(module);
            let extras = self.extras();
            (extras.entries, extras.positions) = (entries, None);
        }
    }

    /// Appends a new function to the list.
    pub(super) fn list_new(&mut self, name: SymbolId) {
        let Some(new) = self.module.get().function(name).map(entry) else {
            return;
        };
        let extras = self.extras();
        let position = extras.entries.len() as u32;
        extras.entries.push(new);
        if let Some((positions, _)) = &mut extras.positions {
            positions.insert(name, position);
        }
    }

    /// Removes a function from the list. Its entry stays as a gap, so removing n functions doesn't take n² steps.
    fn unlist(&mut self, name: SymbolId) {
        let extras = self.extras();
        let (positions, gaps) = extras.positions.get_or_insert_with(|| {
            let each = extras.entries.iter().zip(0..);
            (each.map(|(entry, at)| (entry.name, at)).collect(), 0)
        });
        if let Some(position) = positions.remove(&name) {
            extras.entries[position as usize].name = SymbolId::NONE;
            *gaps += 1;
        }
        if *gaps > positions.len() {
            self.relist();
        }
    }

    /// Returns the session of a function that has a handle for editing.
    fn edited(&self, name: SymbolId) -> Option<&FunctionSession> {
        let extras = self.extras.as_ref()?;
        extras.edits.get(&name).map(|session| &**session)
    }

    fn edited_names(&self) -> Vec<SymbolId> {
        let edits = self.extras.iter().flat_map(|extras| extras.edits.keys());
        edits.copied().collect()
    }

    pub(super) fn editable(&mut self) -> Edit<&mut Module> {
        match &mut self.module {
            Held::Edit(module) => Ok(module),
            Held::Read(_) => Err(EditFailure::rejected(
                "only a module pass can edit the module",
            )),
        }
    }

    /// Returns the function in its current state, edits included.
    fn now(&self, name: SymbolId) -> Edit<Arc<Function>> {
        if let Some(session) = self.edited(name) {
            return session.freeze();
        }
        let module = self.module.get();
        module
            .function(name)
            .cloned()
            .ok_or_else(|| missing(module, name))
    }

    /// Returns the opsets of a function, without copying a function that is being edited.
    fn opsets_of(&self, name: SymbolId) -> Edit<Vec<Opset>> {
        if let Some(session) = self.edited(name) {
            return session.with(|state| Ok(state.read()?.opsets().to_vec()));
        }
        Ok(self.now(name)?.opsets().to_vec())
    }

    /// Returns the module with all edits.
    fn now_all(&mut self) -> Edit<Module> {
        self.flush()?;
        Ok(self.module().clone())
    }

    /// Stores the edited functions in the module.
    fn flush(&mut self) -> Edit {
        for name in self.edited_names() {
            if let Some(session) = self.edited(name) {
                session.forget_stale();
            }
            let function = self.now(name)?;
            let module = self.editable()?;
            let before = module.function(name);
            let is_same = before.is_some_and(|f| function.is_unchanged(f));
            if !is_same {
                module.replace(function)?;
            }
        }
        Ok(())
    }

    /// Ends the handle for editing a function.
    fn retire(&mut self, name: SymbolId) {
        let extras = self.extras();
        if let Some(session) = extras.edits.remove(&name) {
            session.end();
            extras.retired.push(session);
        }
    }

    /// Returns the handle for editing a function.
    pub(super) fn open(&mut self, name: SymbolId) -> Edit<FunctionRef> {
        if let Some(session) = self.edited(name) {
            return Ok(session.reference());
        }
        let module = self.editable()?;
        let Some(function) = module.function(name) else {
            return Err(missing(module, name));
        };
        let session = Fixed::new(FunctionSession::held(function.clone(), Access::Edit));
        let reference = session.reference();
        self.extras().edits.insert(name, session);
        Ok(reference)
    }
}

fn missing(module: &Module, name: SymbolId) -> EditFailure {
    let name = module.symbols().text(name);
    if name.is_empty() {
        let message = "the module has no function of the name that was looked up";
        return EditFailure::not_found(message);
    }
    EditFailure::not_found(format!("the module has no function `@{name}`"))
}

impl Session for ModuleSession<'_> {
    type Handle = abi::Module;

    fn base(&self) -> &SessionBase {
        &self.base
    }
}

// SAFETY for all `unsafe` below: all pointers in a description are valid during the call, by the plugin ABI.

impl ModuleSession<'_> {
    pub(in crate::boundary) fn snapshot(&self, name: SymbolId) -> Edit<FunctionRef> {
        self.with(|state| {
            let function = state.now(name)?;
            let snapshot = Fixed::new(FunctionSession::held(function, Access::Read));
            let reference = snapshot.reference();
            state.extras().snapshots.insert(reference.handle, snapshot);
            Ok(reference)
        })
    }

    pub(in crate::boundary) fn release(&self, function: FunctionRef) -> Edit {
        self.with(|state| {
            state.extras().snapshots.remove(&function.handle);
            Ok(())
        })
    }

    pub(in crate::boundary) fn edit(&self, name: SymbolId) -> Edit<FunctionRef> {
        self.with(|state| state.open(name))
    }

    pub(in crate::boundary) unsafe fn create_function(
        &self,
        desc: &FunctionDesc,
    ) -> Edit<FunctionRef> {
        // SAFETY: see above.
        let text = unsafe { input::text(desc.name, "name of the function")? };
        let (name, reference) = self.with(|state| {
            let name = create(state, desc, text)?;
            Ok((name, state.open(name)?))
        })?;
        self.list(1, |state| state.list_new(name));
        Ok(reference)
    }

    pub(in crate::boundary) fn remove_function(&self, name: SymbolId) -> Edit {
        self.with(|state| {
            state.editable()?.remove(name)?;
            state.retire(name);
            Ok(())
        })?;
        self.list(1, |state| state.unlist(name));
        Ok(())
    }

    pub(in crate::boundary) unsafe fn run_pass(
        &self,
        context: &ContextSession<'_>,
        desc: &RunDesc,
    ) -> Edit {
        // SAFETY: see above.
        let name = unsafe { input::text(desc.name, "name of the pass")? };
        let module = self.with(|state| {
            state.editable()?;
            state.now_all()
        })?;
        // Without borrowing the state: the pass may use the session again.
        let frame = context.frame();
        let result = frame.run_pass(&module, name);
        let module = result.map_err(|error| EditFailure {
            status: match frame.pass_kind(name) {
                None => Status::NOT_FOUND,
                Some(_) => Status::FAILED,
            },
            message: context.nested_failed(error),
        })?;
        self.replace(module)
    }
}

fn create(state: &mut ModuleState<'_>, desc: &FunctionDesc, text: &str) -> Edit<SymbolId> {
    if !matches!(desc.kind, FunctionKind::GRAPH | FunctionKind::PRIM) {
        return Err(input::unknown("function", desc.kind.0));
    }
    name::check_canonical(text).map_err(EditFailure::invalid)?;
    let opsets = match desc.opsets_of.option() {
        None | Some(abi::symbol::EMPTY) => Vec::new(),
        Some(other) => state.opsets_of(other)?,
    };
    let module = state.editable()?;
    let name = module.symbols().intern(text);
    let mut function = Function::new(module.symbols().clone(), desc.kind, name);
    for opset in opsets {
        function.set_opset(opset.domain, opset.version);
    }
    module.insert(function)?;
    Ok(name)
}
