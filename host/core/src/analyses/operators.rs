//! The operators of a module: op definitions, and the operator names that its functions also have.

use std::hash::BuildHasher;
use std::sync::Arc;

use passdock_abi::SymbolId;
use passdock_ir::Module;
use passdock_loader::OpDefs;
use rustc_hash::FxBuildHasher;

/// The op definitions, from the perspective of a module: an operator is ambiguous if a function of the module has its
/// name.
pub struct Operators<'a> {
    defs: &'a OpDefs,
    shared: SharedNames,
}

/// The names that functions of a module share with defined operators. Modules rarely have any.
#[derive(Clone)]
pub(crate) struct SharedNames {
    /// The sorted names, or `None` if there are none.
    names: Option<Arc<[SymbolId]>>,
    /// The id of the op definitions.
    of: u64,
    stamp: u64,
}

impl<'a> Operators<'a> {
    /// Returns the operators of a module.
    pub fn new(defs: &'a OpDefs, module: &Module) -> Operators<'a> {
        Operators::with(defs, SharedNames::new(defs, module))
    }

    /// Returns the operators of a module whose shared names were computed before.
    pub(crate) fn with(defs: &'a OpDefs, shared: SharedNames) -> Operators<'a> {
        Operators { defs, shared }
    }

    /// Returns the op definitions.
    pub fn defs(&self) -> &'a OpDefs {
        self.defs
    }

    /// Whether a function of the module has the name of this defined operator.
    pub fn is_ambiguous(&self, name: SymbolId) -> bool {
        let names = self.shared.names.as_ref();
        names.is_some_and(|names| names.binary_search(&name).is_ok())
    }

    /// Returns a number that identifies everything that results may depend on. It changes with the definitions and with
    /// the set of ambiguous operators.
    pub fn stamp(&self) -> u64 {
        self.shared.stamp
    }
}

impl SharedNames {
    /// Computes the names that a module's functions share with defined operators. Iterates over the functions or the
    /// operators, whichever are fewer.
    pub(crate) fn new(defs: &OpDefs, module: &Module) -> SharedNames {
        let symbols = module.symbols();
        let mut names: Vec<SymbolId> = match module.len() <= defs.len() {
            true => {
                let is_defined =
                    |name: &SymbolId| defs.first_version(symbols.text(*name)).is_some();
                module.names().filter(is_defined).collect()
            }
            false => {
                let of_module = defs.names().filter_map(|name| symbols.find(name));
                let is_function = |name: &SymbolId| module.function(*name).is_some();
                of_module.filter(is_function).collect()
            }
        };
        if names.is_empty() {
            return SharedNames::none(defs);
        }
        names.sort_unstable();
        SharedNames {
            of: defs.id(),
            stamp: FxBuildHasher.hash_one((defs.id(), &names)),
            names: Some(names.into()),
        }
    }

    /// Returns the shared names of a module without functions.
    pub(crate) fn none(defs: &OpDefs) -> SharedNames {
        SharedNames {
            names: None,
            of: defs.id(),
            stamp: defs.id(),
        }
    }

    /// Whether these are the shared names for `defs`.
    pub(crate) fn is_for(&self, defs: &OpDefs) -> bool {
        self.of == defs.id()
    }

    /// Returns [`Operators::stamp`].
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }
}
