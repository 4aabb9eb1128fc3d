//! The verifier: checks the invariants of functions that the host relies on.
//!
//! It is linear, doesn't recurse, and trusts nothing: a function may have been received from another process, so every
//! id and range is checked before it is followed. The [`Invariant`]s, in the order in which they are checked:
//!
//! tables
//! - `columns`: the columns next to the records are as long as the records.
//! - `function`: its kind is known, its name is a symbol, its opset domains are distinct symbols, and there are at most
//!   [`MAX_OPSETS`](crate::MAX_OPSETS).
//! - `types`: kinds are known; lists are within their pools; a type contains only earlier ones, at most
//!   [`MAX_TYPE_DEPTH`](crate::function::types::MAX_TYPE_DEPTH) deep; type 0 is the unknown type; a buffer has a stride
//!   for each dim and an offset, or neither.
//! - `dims`: kinds are known, symbols are symbols, expressions contain only earlier ones and at most
//!   [`MAX_DIM_TERMS`](crate::MAX_DIM_TERMS) terms.
//! - `locations`: kinds are known, names are symbols, fused locations aren't nested.
//!
//! structure
//! - `body`: the body is alive and isn't nested in an op, so it captures nothing.
//! - `order`: the ops of a region form a doubly linked list; each is alive, has this region as its parent, is in one
//!   list only, and has a larger label than the op before it.
//! - `regions`: a region's parent is the only op that lists it; regions nest at most
//!   [`MAX_DEPTH`](crate::function::MAX_DEPTH) levels deep.
//! - `terminators`: a region ends with `return` (the body) or `yield`, which occur nowhere else. They have no results,
//!   regions and attributes, and as many operands as the region has ports.
//! - `reachable`: entities that aren't reachable from the body are dead; the count of live ops is correct.
//! - `limits`: no list of an op is longer than [`MAX_LIST`](crate::function::MAX_LIST).
//! - `ops`: an op's name is a symbol, its location is one of the function's, its lists are within their pools.
//!
//! values
//! - `definitions`: a value's record has the op, region or constant that defines it and the index there, and this
//!   definition lists the value.
//! - `values`: types and names are the function's, flags are known.
//! - `names`: the values of a region have distinct names, and no value has the name of another one that is visible at
//!   its definition.
//! - `absent`: an omitted result has no uses.
//! - `visible`: an operand is alive and visible: defined before, in this region or one around it.
//! - `uses`: the slots of live ops and the use lists and use counts of values agree.
//! - `ports`: names are symbols, types are the function's.
//!
//! attributes and constants
//! - `attributes`: names are distinct symbols, kinds are known, values are within their pools and refer to live
//!   entities; a region is one of the op's; only functions have parameters.
//! - `constants`: the type is a scalar or a tensor of known shape and the data has its size; the storage is the data's;
//!   the region is alive; a constant and its value or parameter refer to each other.
//!
//! of a module
//! - `module`: functions use the module's symbol table and are stored under their names.

mod attrs;
mod constants;
pub mod interface;
mod structure;
mod tables;
#[cfg(test)]
mod tests;
mod uses;

use std::fmt;
use std::sync::Arc;

use passdock_abi::{OpId, SymbolId};

use crate::function::Function;
use crate::module::Module;

/// The maximum number of reported violations of a function.
pub const MAX_VIOLATIONS: usize = 100;

macro_rules! invariants {
    ($($name:ident $text:literal)*) => {
        /// An invariant; the module's documentation explains each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the list above says it")]
        pub enum Invariant { $($name,)* }

        impl Invariant {
            /// All invariants.
            pub const ALL: &'static [Invariant] = &[$(Invariant::$name,)*];

            /// Returns the name of the invariant.
            pub fn name(self) -> &'static str {
                match self { $(Invariant::$name => $text,)* }
            }
        }
    };
}

invariants! {
    Columns "columns"
    Function "function"
    Types "types"
    Dims "dims"
    Locations "locations"
    Body "body"
    Order "order"
    Regions "regions"
    Terminators "terminators"
    Reachable "reachable"
    Limits "limits"
    Ops "ops"
    Definitions "definitions"
    Values "values"
    Names "names"
    Absent "absent"
    Visible "visible"
    Uses "uses"
    Ports "ports"
    Attributes "attributes"
    Constants "constants"
    Module "module"
}

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// The name of the function.
    pub function: String,
    /// The op with the violation, or NONE.
    pub op: OpId,
    /// The error message.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, function) = (self.invariant.name(), &self.function);
        write!(f, "@{function}: {} [{name}]", self.message)
    }
}

/// Checks a function.
///
/// # Errors
/// The violations, at most [`MAX_VIOLATIONS`].
pub fn verify(function: &Function) -> Result<(), Vec<Violation>> {
    let mut checker = Checker::new(function);
    checker.tables();
    // Entities that refer to invalid tables can't be checked.
    if checker.violations.is_empty() {
        checker.structure();
        checker.attributes();
        checker.constants();
        checker.uses();
    }
    checker.finish()
}

/// Checks all functions of a module, and the references between them.
///
/// # Errors
/// The violations, at most [`MAX_VIOLATIONS`] of each function.
pub fn verify_module(module: &Module) -> Result<(), Vec<Violation>> {
    let mut all = Vec::new();
    for (name, function) in module.names().zip(module.functions()) {
        if let Err(mut violations) = verify_in(module, name, function) {
            all.append(&mut violations);
        }
    }
    if all.is_empty() { Ok(()) } else { Err(all) }
}

/// Checks a function of a module, and its references to others. For use after a function pass.
///
/// # Errors
/// The violations, at most [`MAX_VIOLATIONS`].
pub fn verify_in(
    module: &Module,
    name: SymbolId,
    function: &Function,
) -> Result<(), Vec<Violation>> {
    verify(function)?;
    let mut checker = Checker::new(function);
    if !Arc::ptr_eq(function.symbols(), module.symbols()) || function.name() != name {
        let message =
            "the module has this function under another name or with another symbol table";
        checker.report(Invariant::Module, OpId::NONE, message.to_owned());
    }
    checker.finish()
}

/// A check in progress.
struct Checker<'f> {
    f: &'f Function,
    violations: Vec<Violation>,
    /// Whether the walk visited each op, region and value.
    ops: Vec<bool>,
    regions: Vec<bool>,
    values: Vec<bool>,
    /// Whether each operand slot belongs to a live op.
    slots: Vec<bool>,
}

impl<'f> Checker<'f> {
    fn new(f: &'f Function) -> Checker<'f> {
        Checker {
            f,
            violations: Vec::new(),
            ops: Vec::new(),
            regions: Vec::new(),
            values: Vec::new(),
            slots: Vec::new(),
        }
    }

    fn report(&mut self, invariant: Invariant, op: OpId, message: String) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation {
                invariant,
                function: self.f.text(self.f.name()).to_owned(),
                op,
                message,
            });
        }
    }

    fn finish(self) -> Result<(), Vec<Violation>> {
        if self.violations.is_empty() {
            Ok(())
        } else {
            Err(self.violations)
        }
    }

    fn is_symbol(&self, id: SymbolId) -> bool {
        self.f.symbols().get(id).is_some()
    }

    fn is_symbol_or_none(&self, id: SymbolId) -> bool {
        id.is_none() || self.is_symbol(id)
    }
}
