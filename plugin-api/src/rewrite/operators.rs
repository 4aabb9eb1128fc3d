//! The operators that the ops of a function are of, looked up once a name.

use std::collections::HashMap;
use std::sync::Arc;

use passdock_abi::OpId;

use super::rules::CompiledSet;
use crate::ir::Function;

/// An operator, as far as rules ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Operator {
    /// The name; empty for what rules leave alone: a name that a function of the module has, too.
    pub(super) name: String,
    pub(super) is_commutative: bool,
    /// The rules whose pattern has this operator at its root, by index among all sets'.
    pub(super) rules: Vec<usize>,
}

/// Operators by the symbols of their names.
#[derive(Default)]
pub(super) struct Operators {
    /// The rules.
    sets: Vec<Arc<CompiledSet>>,
    all: Vec<Operator>,
    /// Where each symbol's operator is in `all`, plus 1: of the first symbols, which most ops are of.
    by_symbol: Vec<u32>,
    /// The same of the others: a module has as many as it has functions, and each of these is gone through on its own.
    later: HashMap<usize, u32>,
}

/// The number of symbols that have a place of their own.
const FIRST: usize = 1 << 10;

impl Operators {
    pub(super) fn new(sets: &[Arc<CompiledSet>]) -> Operators {
        Operators {
            sets: sets.to_vec(),
            all: Vec::new(),
            by_symbol: Vec::new(),
            later: HashMap::new(),
        }
    }

    pub(super) fn of(&mut self, f: &Function, op: OpId) -> &Operator {
        let symbol = f.symbol(op);
        let at = symbol.0 as usize;
        let known = match at < FIRST {
            true => self.by_symbol.get(at),
            false => self.later.get(&at),
        };
        let known = match known {
            Some(known) if *known > 0 => *known,
            _ => {
                let found = self.look_up(f, op);
                self.all.push(found);
                self.keep(at, self.all.len() as u32)
            }
        };
        &self.all[known as usize - 1]
    }

    #[cold]
    fn keep(&mut self, at: usize, place: u32) -> u32 {
        if at >= FIRST {
            self.later.insert(at, place);
            return place;
        }
        if at >= self.by_symbol.len() {
            self.by_symbol.resize(at + 1, 0);
        }
        self.by_symbol[at] = place;
        place
    }

    #[cold]
    fn look_up(&self, f: &Function, op: OpId) -> Operator {
        let traits = f.traits(op);
        if traits.is_ambiguous() {
            return Operator::default();
        }
        let name = f.name(op).to_owned();
        let (mut rules, mut before) = (Vec::new(), 0);
        for set in &self.sets {
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
