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

use passdock_abi::{self as abi, OpId, Value, ValueId};
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
        // The current op and the ops around it, indexed by depth.
        let mut around: Vec<OpId> = Vec::new();
        for op in f.walk(f.body()) {
            around.truncate(f.depth(f.op(op).parent) as usize);
            around.push(op);
            for slot in f.operands(op) {
                if let Some(value) = slot.value.option() {
                    // Later uses overwrite earlier ones.
                    liveness[value.index()].last_use = around[definition_depth(f, value)];
                }
            }
        }
        LivenessAnalysis(liveness)
    }
}

/// Returns the depth of the region that defines a value.
fn definition_depth(f: &Function, value: ValueId) -> usize {
    let record = f.value(value);
    let region = match record.flags & Value::KIND {
        Value::RESULT => f.op(OpId(record.def)).parent,
        Value::ARG => abi::RegionId(record.def),
        _ => f.constant(record.constant).region,
    };
    region.option().map_or(0, |region| f.depth(region) as usize)
}
