//! Modules: ordered lists of functions, each in an `Arc`.
//!
//! Cloning a module clones pointers, so a snapshot before a pass is cheap. The first edit of a function copies its
//! arenas and shares the rest.

mod count;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashlink::LinkedHashMap;
use passdock_abi::SymbolId;
use rustc_hash::FxBuildHasher;

use crate::error::{Edit, EditFailure, reject};
use crate::function::Function;
use crate::function::origin::{Extras, ModuleSource};
use crate::source::TextSource;
use crate::symbols::Symbols;

/// Functions by name, in order.
type Functions = LinkedHashMap<SymbolId, Arc<Function>, FxBuildHasher>;

/// A module: its functions in order, the symbols that they share, and metadata. A clone shares all of it; editing a
/// function in one of the two copies that function.
///
/// # Examples
/// ```
/// use passdock_ir::text::parse;
///
/// let module = parse("module { fn @main(%x: f32[2]) -> (%y) { %0 = onnx.Relu(%x) return %0 } }")?;
/// let main = module.function_named("main").expect("a function of the module");
/// let names: Vec<&str> = main.ops().map(|(_, op)| main.text(op.name)).collect();
/// assert_eq!(names, ["onnx.Relu"]);
///
/// let mut copy = module.clone();
/// copy.remove(main.name())?;
/// assert_eq!((module.len(), copy.len()), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Module {
    symbols: Arc<Symbols>,
    functions: Arc<Functions>,
    /// A value that is cached for the current state of the functions.
    cached: Arc<Mutex<Option<Box<dyn Any + Send>>>>,
    metadata: Arc<Vec<(String, String)>>,
    extras: Arc<Extras>,
    source: Option<Arc<dyn ModuleSource>>,
    text: Option<Arc<TextSource>>,
}

impl Module {
    /// Creates a module without functions.
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

    /// Returns the interned strings.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// Returns the functions in order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &Arc<Function>> + Clone + '_ {
        self.functions.values()
    }

    /// Returns the functions that differ from those of `before`, in order: the name, the function, and the function of
    /// that name in `before`.
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

    /// Returns the names of the functions in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = SymbolId> + '_ {
        self.functions.keys().copied()
    }

    /// Returns the number of functions.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether the module has no functions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a function by its symbol.
    pub fn function(&self, name: SymbolId) -> Option<&Arc<Function>> {
        self.functions.get(&name)
    }

    /// Returns a function by its canonical name.
    pub fn function_named(&self, name: &str) -> Option<&Arc<Function>> {
        self.function(self.symbols.find(name)?)
    }

    /// Returns a function for editing; copies it first if it is shared.
    pub fn function_mut(&mut self, name: SymbolId) -> Option<&mut Function> {
        self.functions_mut().get_mut(&name).map(Arc::make_mut)
    }

    /// Appends a function.
    ///
    /// # Errors
    /// If the module has a function of that name, or the function uses another symbol table.
    pub fn insert(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        if self.function(name).is_some() {
            let name = self.symbols.text(name);
            reject!("the module already has a function `@{name}`");
        }
        self.symbols.name_function(name);
        self.functions_mut().insert(name, function);
        Ok(())
    }

    /// Replaces the function of the same name.
    ///
    /// # Errors
    /// If the module has no function of that name, or the function uses another symbol table.
    pub fn replace(&mut self, function: impl Into<Arc<Function>>) -> Edit {
        let function = function.into();
        self.check_symbols(&function)?;
        let name = function.name();
        match self.functions_mut().get_mut(&name) {
            Some(entry) => {
                *entry = function;
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
            .remove(&name)
            .ok_or_else(|| self.missing(name))
    }

    /// Retains the functions that satisfy a predicate, which is called in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&Function) -> bool) {
        self.functions_mut()
            .retain_with_order(|_, function| keep(function));
    }

    /// Caches a value for the current state of the functions: a pass's result that the next pass will need. The first
    /// change drops it.
    pub fn cache(&self, value: Box<dyn Any + Send>) {
        *self.lock_cached() = Some(value);
    }

    /// Takes the value that is cached for the current state of the functions.
    pub fn take_cached(&self) -> Option<Box<dyn Any + Send>> {
        self.lock_cached().take()
    }

    fn lock_cached(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the functions for a change; starts a new state without a cached value.
    fn functions_mut(&mut self) -> &mut Functions {
        self.cached = Arc::default();
        Arc::make_mut(&mut self.functions)
    }

    /// Drops cached values of functions that aren't shared.
    pub fn clear_cache(&mut self) {
        if let Some(functions) = Arc::get_mut(&mut self.functions) {
            // The cached value holds functions.
            self.cached = Arc::default();
            let own = functions.values_mut().filter_map(Arc::get_mut);
            own.for_each(Function::clear_cache);
        }
    }

    /// Returns the files from which the module was imported.
    pub fn source(&self) -> Option<&Arc<dyn ModuleSource>> {
        self.source.as_ref()
    }

    /// Sets the files from which the module was imported.
    pub fn set_source(&mut self, source: Option<Arc<dyn ModuleSource>>) {
        self.source = source;
    }

    /// Returns the text from which the module was parsed.
    pub fn text_source(&self) -> Option<&Arc<TextSource>> {
        self.text.as_ref()
    }

    /// Sets the text from which the module was parsed.
    pub fn set_text_source(&mut self, text: Option<Arc<TextSource>>) {
        self.text = text;
    }

    /// Returns the module's metadata in order.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Sets the module's metadata.
    pub fn set_metadata(&mut self, metadata: Vec<(String, String)>) {
        self.metadata = Arc::new(metadata);
    }

    /// Returns the documentation, metadata and importer's data of the module.
    pub fn extras(&self) -> &Extras {
        &self.extras
    }

    /// Sets the extras of the module.
    pub fn set_extras(&mut self, extras: Extras) {
        self.extras = Arc::new(extras);
    }

    /// Whether both modules are equal: they have the same functions (by pointer) in the same order, equal metadata and
    /// extras, and the same source file. The text from which a module was parsed isn't compared.
    pub fn is_same(&self, other: &Module) -> bool {
        self.has_same_functions(other)
            && is_equal(&self.metadata, &other.metadata)
            && is_equal(&self.extras, &other.extras)
            && match (&self.source, &other.source) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                (a, b) => a.is_none() && b.is_none(),
            }
    }

    /// Returns the size in bytes of the functions' arenas: [`Function::arena_bytes`].
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
        Err(EditFailure::rejected(
            "the function uses the symbol table of another module",
        ))
    }

    fn missing(&self, name: SymbolId) -> EditFailure {
        let name = self.symbols.text(name);
        EditFailure::stale(format!("the module has no function `@{name}`"))
    }
}

/// Whether two values are equal; cheap if clones of a module share them.
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
