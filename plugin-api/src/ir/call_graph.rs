//! [`CallGraph`]: which functions of a module call which.

use std::collections::HashMap;

use passdock_abi::{FunctionEntry, NameUse, SymbolId};

use super::module::Module;
use crate::data::EditError;

impl Module<'_> {
    /// The call graph of the module as it is now. It is put together from the names that
    /// each function uses ([`crate::Function::names`]), so of functions that didn't change nothing
    /// is looked at twice. Best asked before functions are edited: looking at one that is being
    /// edited makes its next edit copy it.
    ///
    /// # Errors
    /// If the host has no analyses.
    pub fn call_graph(&self) -> Result<CallGraph, EditError> {
        let entries: Vec<FunctionEntry> = self.functions().collect();
        let places = entries.iter().enumerate();
        let places: HashMap<SymbolId, usize> = places.map(|(at, one)| (one.name, at)).collect();
        let mut functions = Vec::with_capacity(entries.len());
        for entry in entries {
            functions.push(CalledFunction {
                entry,
                names: self.snapshot(entry.name)?.names()?.iter().collect(),
                callees: Vec::new(),
                callers: Vec::new(),
            });
        }
        for caller in 0..functions.len() {
            let names = functions[caller].names.iter();
            let mut callees: Vec<usize> = names
                .filter_map(|used| places.get(&used.name).copied())
                .collect();
            // A function may be called in both ways.
            callees.sort_unstable();
            callees.dedup();
            for &callee in &callees {
                functions[callee].callers.push(caller);
            }
            functions[caller].callees = callees;
        }
        Ok(CallGraph { functions, places })
    }
}

/// The call graph of a module: calls by ops of a function's name, or by a `callee` attribute.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Removes functions that nobody calls, but for `main`.
/// fn remove_uncalled(m: &mut Module, _cx: &PassContext) -> PassResult {
///     let calls = m.call_graph()?;
///     for function in calls.functions() {
///         if m.text(function.name) != "main" && calls.callers(function.name).next().is_none() {
///             m.remove(function.name)?;
///         }
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct CallGraph {
    functions: Vec<CalledFunction>,
    places: HashMap<SymbolId, usize>,
}

#[derive(Clone, Debug)]
struct CalledFunction {
    entry: FunctionEntry,
    names: Vec<NameUse>,
    callees: Vec<usize>,
    callers: Vec<usize>,
}

impl CallGraph {
    /// The functions, in the module's order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionEntry> + '_ {
        self.functions.iter().map(|one| one.entry)
    }

    /// A function of a name, if the module has it.
    pub fn function(&self, name: SymbolId) -> Option<FunctionEntry> {
        let at = self.places.get(&name)?;
        Some(self.functions[*at].entry)
    }

    /// The functions that one calls, each once, in the module's order.
    pub fn callees(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callees[..])
    }

    /// The functions that call one, each once, in the module's order.
    pub fn callers(&self, function: SymbolId) -> impl Iterator<Item = SymbolId> + '_ {
        self.listed(function, |one| &one.callers[..])
    }

    /// The names that a function uses: of its ops, and those in their `callee` attributes.
    pub fn names(&self, function: SymbolId) -> &[NameUse] {
        match self.places.get(&function) {
            Some(at) => &self.functions[*at].names,
            None => &[],
        }
    }

    fn listed<'g>(
        &'g self,
        function: SymbolId,
        list: impl Fn(&'g CalledFunction) -> &'g [usize] + 'g,
    ) -> impl Iterator<Item = SymbolId> + 'g {
        let at = self.places.get(&function);
        let places = at.map_or(&[][..], |at| list(&self.functions[*at]));
        places.iter().map(move |at| self.functions[*at].entry.name)
    }
}
