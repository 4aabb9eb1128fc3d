//! The verifier: checks that a function keeps the invariants that the host relies on.
//!
//! It is linear, doesn't recurse, and trusts nothing: a function may be an image that another
//! process sent, so every id and range is looked up before it is followed. What each
//! [`Invariant`] says, and the order in which they are checked:
//!
//! tables
//! - `columns`: the columns that are kept beside the records are as long as the records.
//! - `function`: its kind is known, its name is a symbol, its opset domains are symbols and differ, and are
//!   at most [`MAX_OPSETS`](crate::MAX_OPSETS).
//! - `types`: kinds are known; lists lie in their pools; a type is made of earlier ones, at most
//!   [`MAX_TYPE_DEPTH`](crate::function::types::MAX_TYPE_DEPTH) deep; type 0 is "unknown"; a buffer has a
//!   stride for each dim and an offset, or neither.
//! - `dims`: kinds are known, symbols are symbols, expressions are made of earlier ones and of at
//!   most [`MAX_DIM_TERMS`](crate::MAX_DIM_TERMS) terms.
//! - `locations`: kinds are known, names are symbols, a fused one is made of ones that aren't.
//!
//! structure
//! - `body`: the body is alive and has no op around it: so nothing is captured.
//! - `order`: the ops of a region are a list that is linked both ways, each with this parent,
//!   alive, in one list only, and labels that rise.
//! - `regions`: a region's op is the one that lists it, and only one does; none is nested deeper than
//!   [`MAX_DEPTH`](crate::function::MAX_DEPTH).
//! - `terminators`: a region ends with `return` (the body) or `yield`, which stand nowhere else,
//!   have no results, regions and attributes, and as many operands as the region has ports.
//! - `reachable`: what isn't reached from the body is dead; live ops are counted right.
//! - `limits`: no list of an op is longer than [`MAX_LIST`](crate::function::MAX_LIST).
//! - `ops`: an op's name is a symbol, its location is one of the function's, its lists lie in
//!   their pools.
//!
//! values
//! - `definitions`: a value's record says which op, region or constant defines it and at which
//!   place, and that one lists it.
//! - `values`: types and names are the function's, flags are known.
//! - `names`: no two values of a region share a name, and none has the name of a value that is
//!   visible where it is defined.
//! - `absent`: a result that its op leaves out has no uses.
//! - `visible`: an operand is alive and visible: defined before, in this region or one around it.
//! - `uses`: the slots of live ops and the use lists of values say the same, also how many.
//! - `ports`: names are symbols, types are the function's.
//!
//! attributes and constants
//! - `attributes`: names are symbols and differ, kinds are known, values lie in their pools and name
//!   live entities; a region is one of the op's; only functions have parameters.
//! - `constants`: the type is a tensor of known shape and the data has its size, the storage is
//!   the data's, the region is alive, and a value or parameter that it names names it back.
//!
//! of a module
//! - `module`: functions share the module's symbols and stand under their own names.
//! - `calls`: the callee of a `call` is a function of the module.

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

use passdock_abi::{Op, OpId, SymbolId, symbol};

use crate::function::Function;
use crate::module::Module;

/// The largest number of violations of a function that are reported.
pub const MAX_VIOLATIONS: usize = 100;

macro_rules! invariants {
    ($($name:ident $text:literal)*) => {
        /// What has to hold; the module's documentation says what each means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the list above says it")]
        pub enum Invariant { $($name,)* }

        impl Invariant {
            /// All of them.
            pub const ALL: &'static [Invariant] = &[$(Invariant::$name,)*];

            /// Its name.
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
    Calls "calls"
}

/// An invariant that doesn't hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// The function, by its name.
    pub function: String,
    /// The op it is about, or NONE.
    pub op: OpId,
    /// A whole sentence.
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
    // With broken tables nothing that names them can be told apart.
    if checker.violations.is_empty() {
        checker.structure();
        checker.attributes();
        checker.constants();
        checker.uses();
    }
    checker.finish()
}

/// Checks all functions of a module, and what they say of each other.
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

/// Checks a function of a module, and what it says of the others: what one does after a function
/// pass.
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
        let message = "The module keeps this function under another name or with other symbols.";
        checker.report(Invariant::Module, OpId::NONE, message.to_owned());
    } else {
        checker.calls(module);
    }
    checker.finish()
}

/// A check under way.
struct Checker<'f> {
    f: &'f Function,
    violations: Vec<Violation>,
    /// Per op, region, value: whether the walk met it.
    ops: Vec<bool>,
    regions: Vec<bool>,
    values: Vec<bool>,
    /// Per operand slot: whether a live op has it.
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

    /// The callees of `call`s, once everything else holds.
    fn calls(&mut self, module: &Module) {
        let f = self.f;
        for (at, record) in f.ops.iter().enumerate() {
            if record.name != symbol::CALL || record.flags & Op::DEAD != 0 {
                continue;
            }
            let op = OpId(at as u32);
            let message = match f.callee_name(op) {
                None => format!(
                    "{} needs an attribute `callee`, the name of a function.",
                    f.describe_op(op)
                ),
                Some(name) if module.function_named(name).is_none() => format!(
                    "{} calls @{name}, and the module has no such function.",
                    f.describe_op(op)
                ),
                Some(_) => continue,
            };
            self.report(Invariant::Calls, op, message);
        }
    }
}
