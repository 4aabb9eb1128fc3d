//! The last uses of values.
//!
//! ```text
//! %0 = onnx.Relu(%x)           // last use of %x
//! %1 = onnx.If(%c) {           // last use of %c, and of %0, which the region captures
//!   then_branch() {
//!     %2 = onnx.Neg(%0)        // not that one: the region may be run again, or not at all
//!     yield %2
//!   }
//! }
//! return %1
//! ```

use passdock_abi::{self as abi, OpId, ValueId};
use passdock_ir::Function;

use super::{FunctionAnalysis, Operators};

/// The last use of each value, in the value's own region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivenessAnalysis(pub(super) Vec<abi::Liveness>);

impl LivenessAnalysis {
    /// Returns the last user of a value in its own region. The user is an op that has the value as an operand, or
    /// contains an op that does. `None` if the value is unused.
    pub fn last_use(&self, value: ValueId) -> Option<OpId> {
        self.0.get(value.index())?.last_use.option()
    }
}

impl FunctionAnalysis for LivenessAnalysis {
    const NAME: &'static str = abi::ANALYSIS_LIVENESS;

    fn compute(f: &Function, _: &Operators<'_>) -> LivenessAnalysis {
        let unused = abi::Liveness {
            last_use: OpId::NONE,
        };
        let mut liveness = vec![unused; f.value_ids()];
        let depths = f.depths();
        // The current op and the ops around it, indexed by depth.
        let mut around: Vec<OpId> = Vec::new();
        for op in f.walk(f.body()) {
            around.truncate(depths[f.op(op).parent.index()] as usize);
            around.push(op);
            for slot in f.operands(op) {
                if let Some(value) = slot.value.option() {
                    // Later uses overwrite earlier ones.
                    let region = f.region_of(value).option();
                    let depth = region.map_or(0, |region| depths[region.index()]);
                    liveness[value.index()].last_use = around[depth as usize];
                }
            }
        }
        LivenessAnalysis(liveness)
    }
}
