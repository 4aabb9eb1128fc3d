//! The side effects of ops.

use passdock_abi::{self as abi, OpEffects, OpEntry, OpId};
use passdock_ir::Function;
use rustc_hash::FxHashMap;

use super::{FunctionAnalysis, NameAnalysis, Operators, get};

/// The effects that an op inherits from ops nested in it.
const ANY: u64 =
    OpEntry::RANDOM | OpEntry::STATEFUL | OpEntry::READS | OpEntry::WRITES | OpEntry::ALLOCATES;

/// The traits and effects of each op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectAnalysis(pub(super) Vec<OpEffects>);

impl EffectAnalysis {
    /// Returns the traits and effects of an op, or `None` if the function never had it.
    pub fn of(&self, op: OpId) -> Option<OpEffects> {
        self.0.get(op.index()).copied()
    }
}

impl FunctionAnalysis for EffectAnalysis {
    const NAME: &'static str = abi::ANALYSIS_EFFECTS;

    fn compute(f: &Function, operators: &Operators<'_>) -> EffectAnalysis {
        let names = get::<NameAnalysis>(f, operators).iter();
        let by_name: FxHashMap<_, _> = names.map(|used| (used.name, used.traits)).collect();
        let nothing = OpEffects {
            traits: 0,
            effects: 0,
        };
        let mut all = vec![nothing; f.op_ids()];
        let mut nested: Vec<OpId> = Vec::new();
        for op in f.walk(f.body()) {
            let record = f.op(op);
            let traits = by_name.get(&record.name).copied().unwrap_or(0);
            all[op.index()] = OpEffects {
                traits,
                effects: traits & (OpEntry::PURE | ANY),
            };
            if record.parent != f.body() {
                nested.push(op);
            }
        }
        // In reverse order, since nested ops come after the op that contains them.
        for op in nested.into_iter().rev() {
            let inner = all[op.index()].effects;
            let holder = f.region(f.op(op).parent).parent;
            let outer = &mut all[holder.index()].effects;
            *outer = (*outer & inner & OpEntry::PURE) | ((*outer | inner) & ANY);
        }
        EffectAnalysis(all)
    }
}
