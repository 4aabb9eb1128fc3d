//! The names that a function uses: those of its ops, and those of its callees.
//!
//! Even a long function uses few names. With them, a pass checks whether an op occurs, which functions are called, or
//! whether there are effects, without a walk over all ops.

use passdock_abi::{self as abi, NameUse, OpEntry, OpId, SymbolId, symbol};
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
        let mut names = NameCounts::default();
        for op in f.walk(f.body()) {
            let record = f.op(op);
            names.count(record.name, 0, op, |name| traits(f, operators, name));
            if record.attrs.len > 0
                && let Some(callee) = f.callee_name(op)
                && let Some(callee) = f.symbols().find(callee)
            {
                names.count(callee, NameUse::CALLEE, op, |_| 0);
            }
        }
        NameAnalysis(names.uses)
    }
}

/// The used names, with their indices by name and flags.
#[derive(Default)]
struct NameCounts {
    uses: Vec<NameUse>,
    indices: FxHashMap<(SymbolId, u32), usize>,
}

impl NameCounts {
    /// Counts a use of a name by an op.
    #[inline(always)]
    fn count(&mut self, name: SymbolId, flags: u32, op: OpId, traits: impl Fn(SymbolId) -> u64) {
        let index = *self.indices.entry((name, flags)).or_insert_with(|| {
            self.uses.push(NameUse {
                name,
                count: 0,
                first: op,
                flags,
                traits: traits(name),
            });
            self.uses.len() - 1
        });
        self.uses[index].count += 1;
    }
}

/// Returns the traits of an op name, by its definition or by the IR itself.
fn traits(f: &Function, operators: &Operators<'_>, name: SymbolId) -> u64 {
    match name {
        symbol::RETURN | symbol::YIELD | symbol::TUPLE | symbol::TUPLE_GET => OpEntry::PURE,
        name => definition_traits(operators.defs(), f, name, &|| operators.is_ambiguous(name)),
    }
}
