//! The operators of a module: the op definitions, and which of their names its functions have, too.

use std::hash::BuildHasher;
use std::sync::Arc;

use passdock_abi::SymbolId;
use passdock_ir::Module;
use passdock_loader::OpDefs;
use rustc_hash::FxBuildHasher;

/// The op definitions, as they hold in a module: an operator is ambiguous where one of the module's
/// functions has its name.
pub struct Operators<'a> {
    defs: &'a OpDefs,
    shared: SharedNames,
}

/// The names that functions of a module share with operators that are defined. Hardly any module has
/// one.
#[derive(Clone)]
pub(crate) struct SharedNames {
    /// The names in order; `None` if there are none.
    names: Option<Arc<[SymbolId]>>,
    /// The number of the op definitions.
    of: u64,
    stamp: u64,
}

impl<'a> Operators<'a> {
    /// The operators of a module.
    pub fn new(defs: &'a OpDefs, module: &Module) -> Operators<'a> {
        Operators::with(defs, SharedNames::new(defs, module))
    }

    /// The operators of a module whose names were compared before.
    pub(crate) fn with(defs: &'a OpDefs, shared: SharedNames) -> Operators<'a> {
        Operators { defs, shared }
    }

    /// The op definitions.
    pub fn defs(&self) -> &'a OpDefs {
        self.defs
    }

    /// Whether a function of the module has the name of this operator, which is defined.
    pub fn is_ambiguous(&self, name: SymbolId) -> bool {
        let names = self.shared.names.as_ref();
        names.is_some_and(|names| names.binary_search(&name).is_ok())
    }

    /// A number for all that results may depend on: others for other definitions, and where other
    /// operators are ambiguous.
    pub fn stamp(&self) -> u64 {
        self.shared.stamp
    }
}

impl SharedNames {
    /// The names that a module's functions share with defined operators: a look at the functions or at
    /// the operators, whichever are fewer.
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

    /// Those of no functions.
    pub(crate) fn none(defs: &OpDefs) -> SharedNames {
        SharedNames {
            names: None,
            of: defs.id(),
            stamp: defs.id(),
        }
    }

    /// Whether these are the names by these definitions.
    pub(crate) fn is_of(&self, defs: &OpDefs) -> bool {
        self.of == defs.id()
    }

    /// [`Operators::stamp`].
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }
}
