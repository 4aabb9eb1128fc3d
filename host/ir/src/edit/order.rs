//! Program order: a linked list, and a label per op, so that "before" is a comparison of integers.
//!
//! A new op's label is halfway between its neighbors' labels. If they are adjacent, the smallest surrounding range of
//! labels that is sparse enough is relabeled evenly (the list-labeling of Bender et al., "Two simplified algorithms
//! for maintaining order in a list", 2002). So n insertions cost O(n log n), wherever they happen.

use passdock_abi::{OpId, RegionId};

use crate::function::Function;

/// The distance between the labels of a new last op and the op before it.
const STRIDE: u64 = 1 << 24;
const LABEL_BITS: u32 = 62;

impl Function {
    /// Links an op before `before`, or at the end of the region.
    pub(crate) fn link_op(&mut self, op: OpId, region: RegionId, before: OpId) {
        let next = before;
        let prev = match next.option() {
            Some(next) => self.ops[next.index()].prev,
            None => self.regions[region.index()].last,
        };
        let low = prev.option().map(|prev| self.ops[prev.index()].order);
        let high = next.option().map(|next| self.ops[next.index()].order);
        let order = match (low, high) {
            (None, None) => 1 << (LABEL_BITS - 1),
            (Some(low), None) => low.saturating_add(STRIDE).min((1 << LABEL_BITS) - 1),
            (None, Some(high)) => high.saturating_sub(STRIDE),
            (Some(low), Some(high)) => low + (high - low) / 2,
        };
        let record = &mut self.ops[op.index()];
        (record.parent, record.prev, record.next, record.order) = (region, prev, next, order);
        match prev.option() {
            Some(prev) => self.ops[prev.index()].next = op,
            None => self.regions[region.index()].first = op,
        }
        match next.option() {
            Some(next) => self.ops[next.index()].prev = op,
            None => self.regions[region.index()].last = op,
        }
        if low.is_some_and(|low| low >= order) || high.is_some_and(|high| high <= order) {
            self.spread_labels(op);
        }
    }

    /// Unlinks an op from its region's list.
    pub(crate) fn unlink_op(&mut self, op: OpId) {
        let record = self.ops[op.index()];
        match record.prev.option() {
            Some(prev) => self.ops[prev.index()].next = record.next,
            None => self.regions[record.parent.index()].first = record.next,
        }
        match record.next.option() {
            Some(next) => self.ops[next.index()].prev = record.prev,
            None => self.regions[record.parent.index()].last = record.prev,
        }
    }

    /// Spreads the labels around an op whose label equals a neighbor's.
    fn spread_labels(&mut self, op: OpId) {
        let label = self.ops[op.index()].order;
        let (mut first, mut last, mut count) = (op, op, 1_u64);
        let mut capacity = 1.0_f64;
        for bits in 1..=LABEL_BITS {
            let low = label >> bits << bits;
            let high = low + ((1 << bits) - 1);
            while let Some(prev) = self.ops[first.index()].prev.option()
                && self.ops[prev.index()].order >= low
            {
                (first, count) = (prev, count + 1);
            }
            while let Some(next) = self.ops[last.index()].next.option()
                && self.ops[next.index()].order <= high
            {
                (last, count) = (next, count + 1);
            }
            // A fuller range would be relabeled again too soon.
            capacity *= 1.5;
            let step = (1_u64 << bits) / (count + 1);
            if (count as f64) <= capacity && step >= 2 {
                let (mut at, mut order) = (first, low);
                loop {
                    order += step;
                    self.ops[at.index()].order = order;
                    if at == last {
                        return;
                    }
                    at = self.ops[at.index()].next;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use passdock_abi::{FunctionKind, OpId, SymbolId};

    use crate::{Function, NewOp, Position, Symbols};

    /// Inserts 20,000 ops at positions chosen by `place`, and checks that labels follow the list.
    fn check(position: impl Fn(&[OpId]) -> OpId) {
        let symbols = Symbols::new();
        let name = symbols.intern("t.x");
        let mut f = Function::new(symbols.clone(), FunctionKind::GRAPH, SymbolId(0));
        let mut ops = Vec::new();
        for _ in 0..20_000 {
            let before = position(&ops);
            let at = Position {
                region: f.body(),
                before,
            };
            ops.push(f.create_op(&NewOp::new(name), at).unwrap());
        }
        let orders: Vec<u64> = f.ops_in(f.body()).map(|op| f.op(op).order).collect();
        assert_eq!(orders.len(), ops.len());
        assert!(orders.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn labels_follow_the_op_order() {
        check(|_| OpId::NONE);
        check(|ops| ops.last().copied().unwrap_or(OpId::NONE));
        check(|ops| ops.first().copied().unwrap_or(OpId::NONE));
        check(|ops| ops.get(ops.len() / 2).copied().unwrap_or(OpId::NONE));
        check(|ops| {
            ops.get(ops.len() * 7919 % 10_007)
                .copied()
                .unwrap_or(OpId::NONE)
        });
    }
}
