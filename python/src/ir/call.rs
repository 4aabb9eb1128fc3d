//! Calls on modules: what a pass returns unchanged is the same object.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::ir::module::Module;

thread_local! {
    /// The objects of modules of the calls that are under way on this thread: those that passes were called on, and
    /// that they returned.
    static AT_HAND: RefCell<Vec<Py<Module>>> = const { RefCell::new(Vec::new()) };
}

/// A call on a module that is under way, as long as it isn't dropped: where the objects that are known of it begin.
pub(crate) struct Call(usize);

impl Call {
    pub(crate) fn on(module: &Bound<'_, Module>) -> Call {
        AT_HAND.with_borrow_mut(|known| {
            known.push(module.clone().unbind());
            Call(known.len() - 1)
        })
    }

    /// The object of the module that the call makes: the one that came in, or that a pass returned, if it is that.
    pub(crate) fn object(self, py: Python<'_>, made: passdock::Module) -> PyResult<Py<Module>> {
        let known = AT_HAND.with_borrow_mut(|known| known.split_off(self.0));
        let is_it = |known: &&Py<Module>| known.get().now().is_ok_and(|now| now.is_same(&made));
        match known.iter().rev().find(is_it) {
            Some(known) => Ok(known.clone_ref(py)),
            None => Py::new(py, Module::own(made)),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // An object that goes may run code of Python: no borrow is held then.
        let over = AT_HAND.with_borrow_mut(|known| known.split_off(self.0.min(known.len())));
        drop(over);
    }
}

/// Remembers the object of a module as one that a pass returned.
pub(crate) fn returned(module: &Bound<'_, Module>) {
    AT_HAND.with_borrow_mut(|known| {
        if !known.is_empty() {
            known.push(module.clone().unbind());
        }
    });
}
