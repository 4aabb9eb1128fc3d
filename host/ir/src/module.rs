//! A module: functions in order, each behind an `Arc`.
//!
//! Its clone is a clone of pointers, so a snapshot before a pass costs next to nothing; the first
//! edit of a function copies that function's arenas and shares the rest.

use std::any::Any;
use std::sync::Arc;

use indexmap::IndexMap;
use passdock_abi::SymbolId;
use rustc_hash::FxBuildHasher;

use crate::error::{Edit, EditError};
use crate::function::Function;
use crate::symbols::Symbols;

type Functions = IndexMap<SymbolId, Arc<Function>, FxBuildHasher>;

/// A module.
#[derive(Clone)]
pub struct Module {
    symbols: Arc<Symbols>,
    functions: Arc<Functions>,
    metadata: Arc<Vec<(String, String)>>,
    source: Option<Arc<dyn Any + Send + Sync>>,
}

impl Module {
    /// A module without functions.
    pub fn new() -> Module {
        Module {
            symbols: Symbols::new(),
            functions: Arc::default(),
            metadata: Arc::default(),
            source: None,
        }
    }

    /// Its interned strings.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// Its functions, in order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &Arc<Function>> + Clone + '_ {
        self.functions.values()
    }

    /// The names of its functions, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = SymbolId> + '_ {
        self.functions.keys().copied()
    }

    /// How many functions it has.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether it has no functions.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// A function.
    pub fn function(&self, name: SymbolId) -> Option<&Arc<Function>> {
        self.functions.get(&name)
    }

    /// A function by its canonical name.
    pub fn function_named(&self, name: &str) -> Option<&Arc<Function>> {
        self.function(self.symbols.find(name)?)
    }

    /// A function to edit: copied first if anyone else holds it.
    pub fn function_mut(&mut self, name: SymbolId) -> Option<&mut Function> {
        Arc::make_mut(&mut self.functions)
            .get_mut(&name)
            .map(Arc::make_mut)
    }

    /// Adds a function at the end.
    pub fn insert(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        if self.functions.contains_key(&name) {
            let name = self.symbols.text(name);
            let message = format!("The module has a function @{name} already.");
            return Err(EditError::refused(message));
        }
        Arc::make_mut(&mut self.functions).insert(name, function);
        Ok(())
    }

    /// Puts a function in the place of the one that has its name.
    pub fn replace(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        match Arc::make_mut(&mut self.functions).get_mut(&name) {
            Some(place) => {
                *place = function;
                Ok(())
            }
            None => Err(self.missing(name)),
        }
    }

    /// Removes a function; the others keep their order.
    pub fn remove(&mut self, name: SymbolId) -> Edit<Arc<Function>> {
        Arc::make_mut(&mut self.functions)
            .shift_remove(&name)
            .ok_or_else(|| self.missing(name))
    }

    /// What the importer keeps of the whole file.
    pub fn source(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.source.as_ref()
    }

    /// For importers.
    pub fn set_source(&mut self, source: Option<Arc<dyn Any + Send + Sync>>) {
        self.source = source;
    }

    /// Key-value pairs of the whole module, in order.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Sets the key-value pairs.
    pub fn set_metadata(&mut self, metadata: Vec<(String, String)>) {
        self.metadata = Arc::new(metadata);
    }

    /// Live ops of all functions, without terminators: what reports count.
    pub fn op_count(&self) -> usize {
        self.functions().map(|function| function.op_count()).sum()
    }

    /// Whether both hold the very same functions in the same order.
    pub fn is_same(&self, other: &Module) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
            || self.functions.len() == other.functions.len()
                && self
                    .functions()
                    .zip(other.functions())
                    .all(|(a, b)| Arc::ptr_eq(a, b))
    }

    fn check_symbols(&self, function: &Function) -> Edit {
        if Arc::ptr_eq(function.symbols(), &self.symbols) {
            return Ok(());
        }
        Err(EditError::refused(
            "The function's symbols aren't this module's.",
        ))
    }

    fn missing(&self, name: SymbolId) -> EditError {
        let name = self.symbols.text(name);
        EditError::stale(format!("The module has no function @{name}."))
    }
}

impl Default for Module {
    fn default() -> Module {
        Module::new()
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.functions()).finish()
    }
}
