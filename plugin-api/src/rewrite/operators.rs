//! The operators of a function's ops, looked up once for each name.

use std::collections::HashMap;
use std::sync::Arc;

use passdock_abi::{OpId, SymbolId};

use super::rules::CompiledSet;
use crate::ir::Function;

/// The data of an operator that rules need.
#[derive(Clone, Debug, Default)]
pub(super) struct Operator {
    /// The name. Empty for an ambiguous name, which a function of the module has, too: rules don't match it.
    pub(super) name: String,
    pub(super) is_commutative: bool,
    /// The rules whose pattern has this operator at its root, as indices into all sets.
    pub(super) rules: Vec<usize>,
}

/// Operators by the symbols of their names.
pub(super) struct Operators {
    /// The sets of rules.
    sets: Vec<Arc<CompiledSet>>,
    by_symbol: HashMap<SymbolId, Operator>,
}

impl Operators {
    pub(super) fn new(sets: &[Arc<CompiledSet>]) -> Operators {
        Operators {
            sets: sets.to_vec(),
            by_symbol: HashMap::new(),
        }
    }

    pub(super) fn get(&mut self, f: &Function, op: OpId) -> &Operator {
        let operator = self.by_symbol.entry(f.symbol(op));
        operator.or_insert_with(|| Operator::new(&self.sets, f, op))
    }
}

impl Operator {
    #[cold]
    fn new(sets: &[Arc<CompiledSet>], f: &Function, op: OpId) -> Operator {
        let traits = f.traits(op);
        if traits.is_ambiguous() {
            return Operator::default();
        }
        let name = f.name(op).to_owned();
        let (mut rules, mut before) = (Vec::new(), 0);
        for set in sets {
            let own = set.roots.get(&name).into_iter().flatten();
            rules.extend(own.map(|at| before + at));
            before += set.rules.len();
        }
        Operator {
            rules,
            is_commutative: traits.is_commutative(),
            name,
        }
    }
}
