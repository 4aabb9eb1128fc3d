//! Calls on modules: a module that a pass returns unchanged stays the same object.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::ir::module::Module;

thread_local! {
    /// The objects of modules in active calls on this thread: the arguments of passes, and their results.
    static ACTIVE_MODULES: RefCell<Vec<Py<Module>>> = const { RefCell::new(Vec::new()) };
}

/// An active call on a module, until it is dropped: the index of its first object.
pub(crate) struct Call(usize);

impl Call {
    pub(crate) fn on(module: &Bound<'_, Module>) -> Call {
        ACTIVE_MODULES.with_borrow_mut(|known| {
            known.push(module.clone().unbind());
            Call(known.len() - 1)
        })
    }

    /// Returns the object of the resulting module: the argument or a returned object if it is the same module,
    /// otherwise a new one.
    pub(crate) fn object(self, py: Python<'_>, result: passdock::Module) -> PyResult<Py<Module>> {
        let known = ACTIVE_MODULES.with_borrow_mut(|known| known.split_off(self.0));
        let is_it = |known: &&Py<Module>| known.get().now().is_ok_and(|now| now.is_same(&result));
        match known.iter().rev().find(is_it) {
            Some(known) => Ok(known.clone_ref(py)),
            None => Py::new(py, Module::owned(result)),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Dropping an object may run Python code, so no borrow may be active.
        let over = ACTIVE_MODULES.with_borrow_mut(|known| known.split_off(self.0.min(known.len())));
        drop(over);
    }
}

/// Records the object of a module that a pass returned.
pub(crate) fn returned(module: &Bound<'_, Module>) {
    ACTIVE_MODULES.with_borrow_mut(|known| {
        if !known.is_empty() {
            known.push(module.clone().unbind());
        }
    });
}
