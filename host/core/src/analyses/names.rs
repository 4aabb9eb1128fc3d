//! The names of a function's ops.
//!
//! Even a long function uses few names. With them, a pass checks whether an op occurs, which functions are called, or
//! whether there are effects, without a walk over all ops.

use std::collections::hash_map::Entry;

use passdock_abi::{self as abi, NameUse, OpEntry, SymbolId, symbol};
use passdock_ir::Function;
use rustc_hash::FxHashMap;

use super::{FunctionAnalysis, Operators, definition_traits};

/// The used names, in the order of their first use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameAnalysis(pub(super) Vec<NameUse>);

impl NameAnalysis {
    /// Iterates over the used names, in the order of their first use.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &NameUse> {
        self.0.iter()
    }
}

impl FunctionAnalysis for NameAnalysis {
    const NAME: &'static str = abi::ANALYSIS_NAMES;

    fn compute(f: &Function, operators: &Operators<'_>) -> NameAnalysis {
        let mut uses: Vec<NameUse> = Vec::new();
        let mut indices: FxHashMap<SymbolId, usize> = FxHashMap::default();
        for op in f.walk(f.body()) {
            let name = f.op(op).name;
            match indices.entry(name) {
                Entry::Occupied(index) => uses[*index.get()].count += 1,
                Entry::Vacant(new) => {
                    new.insert(uses.len());
                    uses.push(NameUse {
                        name,
                        count: 1,
                        first: op,
                        reserved: 0,
                        traits: traits(f, operators, name),
                    });
                }
            }
        }
        NameAnalysis(uses)
    }
}

/// Returns the traits of an op name, by its definition or by the IR itself.
fn traits(f: &Function, operators: &Operators<'_>, name: SymbolId) -> u64 {
    match name {
        symbol::RETURN | symbol::YIELD | symbol::TUPLE | symbol::TUPLE_GET => OpEntry::PURE,
        name => definition_traits(operators.defs(), f, name, &|| operators.is_ambiguous(name)),
    }
}
