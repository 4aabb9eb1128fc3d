//! The positions of ops in the whole function.
//!
//! Each op has an interval of positions in program order, for itself and its nested ops. "Runs before" and "is nested
//! in" are therefore comparisons of numbers, whatever the distance of two ops.

use passdock_abi::{self as abi, OpId};
use passdock_ir::Function;

use super::{FunctionAnalysis, Operators};

/// The position of each op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderAnalysis(pub(super) Vec<abi::OpOrder>);

impl OrderAnalysis {
    /// Returns the position of an op, or `None` if the op is dead or doesn't exist.
    pub fn of(&self, op: OpId) -> Option<abi::OpOrder> {
        let order = self.0.get(op.index()).copied();
        order.filter(|order| order.position != u32::MAX)
    }
}

impl FunctionAnalysis for OrderAnalysis {
    const NAME: &'static str = abi::ANALYSIS_ORDER;

    fn compute(f: &Function, _: &Operators<'_>) -> OrderAnalysis {
        let erased = abi::OpOrder {
            position: u32::MAX,
            end: u32::MAX,
            depth: 0,
        };
        let mut order = vec![erased; f.op_ids()];
        let mut around: Vec<OpId> = Vec::new();
        let mut position = 0;
        let depths = f.depths();
        for op in f.walk(f.body()) {
            let depth = depths[f.op(op).parent.index()];
            for done in around.drain(depth as usize..) {
                order[done.index()].end = position;
            }
            around.push(op);
            order[op.index()].position = position;
            order[op.index()].depth = depth;
            position += 1;
        }
        for done in around {
            order[done.index()].end = position;
        }
        OrderAnalysis(order)
    }
}
