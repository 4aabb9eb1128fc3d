//! A module: functions in order, each behind an `Arc`.
//!
//! Its clone is a clone of pointers, so a snapshot before a pass costs next to nothing; the first
//! edit of a function copies that function's arenas and shares the rest.

mod count;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use passdock_abi::SymbolId;
use rustc_hash::FxBuildHasher;

use crate::error::{Edit, EditFailure, refuse};
use crate::function::Function;
use crate::origin::Extras;
use crate::source::TextSource;
use crate::symbols::Symbols;

/// Functions by name, in order.
type Functions = IndexMap<SymbolId, Arc<Function>, FxBuildHasher>;

/// A module: functions in order, each under its name, the symbols that they share, and metadata. A
/// clone shares all of it, and copies a function when one of the two edits it.
#[derive(Clone)]
pub struct Module {
    symbols: Arc<Symbols>,
    functions: Arc<Functions>,
    /// A value that is cached for this very state of the functions.
    cached: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
    metadata: Arc<Vec<(String, String)>>,
    extras: Arc<Extras>,
    source: Option<Arc<dyn Any + Send + Sync>>,
    text: Option<Arc<TextSource>>,
}

impl Module {
    /// A module without functions.
    pub fn new() -> Module {
        Module {
            symbols: Symbols::new(),
            functions: Arc::default(),
            cached: Arc::default(),
            metadata: Arc::default(),
            extras: Arc::default(),
            source: None,
            text: None,
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

    /// The functions that aren't those of `before`, in order: the name, the function, and the one that had the name.
    pub fn changed_since<'m>(
        &'m self,
        before: &'m Module,
    ) -> impl Iterator<Item = (SymbolId, &'m Arc<Function>, Option<&'m Arc<Function>>)> {
        let named = self.functions.iter().map(|(name, function)| {
            let known = before.function(*name);
            (*name, function, known)
        });
        named.filter(|(_, function, known)| known.is_none_or(|known| !Arc::ptr_eq(known, function)))
    }

    /// The names of its functions, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = SymbolId> + '_ {
        self.functions.keys().copied()
    }

    /// The number of its functions.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether it has no functions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        self.functions_mut().get_mut(&name).map(Arc::make_mut)
    }

    /// Adds a function at the end.
    ///
    /// # Errors
    /// If the module has a function of that name, or the function's symbols aren't this module's.
    pub fn insert(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        if self.function(name).is_some() {
            let name = self.symbols.text(name);
            refuse!("The module has a function @{name} already.");
        }
        self.symbols.name_function(name);
        self.functions_mut().insert(name, function);
        Ok(())
    }

    /// Replaces the function that has the same name.
    ///
    /// # Errors
    /// If the module has no function of that name, or the function's symbols aren't this module's.
    pub fn replace(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        match self.functions_mut().get_mut(&name) {
            Some(place) => {
                *place = function;
                Ok(())
            }
            None => Err(self.missing(name)),
        }
    }

    /// Removes a function; the others keep their order.
    ///
    /// # Errors
    /// If the module has no such function.
    pub fn remove(&mut self, name: SymbolId) -> Edit<Arc<Function>> {
        self.functions_mut()
            .shift_remove(&name)
            .ok_or_else(|| self.missing(name))
    }

    /// Keeps the functions that satisfy a predicate, which is asked in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Function) -> bool) {
        self.functions_mut().retain(|_, function| keep(function));
    }

    /// Caches a value for this very state of the functions: a pass's result that the next pass will need again. The
    /// first change drops it.
    pub fn cache(&self, value: Box<dyn Any + Send>) {
        *self.lock_cached() = Some(value);
    }

    /// Takes the value that is cached for this state of the functions.
    pub fn take_cached(&self) -> Option<Box<dyn Any + Send>> {
        self.lock_cached().take()
    }

    fn lock_cached(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The functions, to change: a state of its own, for which nothing is cached.
    fn functions_mut(&mut self) -> &mut Functions {
        self.cached = Arc::default();
        Arc::make_mut(&mut self.functions)
    }

    /// Drops what is cached for functions that nobody else holds.
    pub fn clear_cache(&mut self) {
        if let Some(functions) = Arc::get_mut(&mut self.functions) {
            // It holds functions.
            self.cached = Arc::default();
            let own = functions.values_mut().filter_map(Arc::get_mut);
            own.for_each(Function::clear_cache);
        }
    }

    /// The importer's record of the whole file.
    pub fn source(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.source.as_ref()
    }

    /// Sets the importer's record of the whole file.
    pub fn set_source(&mut self, source: Option<Arc<dyn Any + Send + Sync>>) {
        self.source = source;
    }

    /// The text that it was read from, to show its lines.
    pub fn text_source(&self) -> Option<&Arc<TextSource>> {
        self.text.as_ref()
    }

    /// Keeps the text that it was read from.
    pub fn set_text_source(&mut self, text: Option<Arc<TextSource>>) {
        self.text = text;
    }

    /// Key-value pairs of the whole module, in order.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Sets the key-value pairs.
    pub fn set_metadata(&mut self, metadata: Vec<(String, String)>) {
        self.metadata = Arc::new(metadata);
    }

    /// The documentation, metadata and importer's data of the module.
    pub fn extras(&self) -> &Extras {
        &self.extras
    }

    /// Sets the extras of the module.
    pub fn set_extras(&mut self, extras: Extras) {
        self.extras = Arc::new(extras);
    }

    /// Whether both modules are equal: they hold the very same functions in the same order, equal
    /// metadata and extras, and came from the same file. The text that one was read from doesn't
    /// count: it only shows where things stood.
    pub fn is_same(&self, other: &Module) -> bool {
        self.has_same_functions(other)
            && is_equal(&self.metadata, &other.metadata)
            && is_equal(&self.extras, &other.extras)
            && match (&self.source, &other.source) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
    }

    /// The bytes of its functions' arenas: [`Function::arena_bytes`].
    pub fn arena_bytes(&self) -> u64 {
        self.functions()
            .map(|function| function.arena_bytes())
            .sum()
    }

    fn has_same_functions(&self, other: &Module) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
            || self.len() == other.len()
                && self
                    .functions()
                    .zip(other.functions())
                    .all(|(a, b)| Arc::ptr_eq(a, b))
    }

    fn check_symbols(&self, function: &Function) -> Edit {
        if Arc::ptr_eq(function.symbols(), &self.symbols) {
            return Ok(());
        }
        Err(EditFailure::refused(
            "The function's symbols aren't this module's.",
        ))
    }

    fn missing(&self, name: SymbolId) -> EditFailure {
        let name = self.symbols.text(name);
        EditFailure::stale(format!("The module has no function @{name}."))
    }
}

/// Whether two values are equal, in little time where clones of a module share them.
fn is_equal<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b) || a == b
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
