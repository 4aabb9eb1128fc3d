//! Visitors and mutators on deep and on long functions.

use crate::dump::dump;
use passdock_plugin_api::prelude::*;

/// Adds `depth` nested levels of `if` at the start of the body, with a `Relu` innermost.
fn nest(f: &mut Function, depth: usize) -> Result<(), PassError> {
    let x = f.params()[0];
    let first = f.first_op(f.body()).ok_or("no op")?;
    let mut at = Position::before(first);
    for _ in 0..depth {
        let op = f.create_op(OpBuilder::new("if").operand(x).region("then_branch"), at)?;
        at = Position::end_of(f.regions(op)[0]);
    }
    f.create_op(OpBuilder::new("onnx.Relu").operand(x), at)?;
    Ok(())
}

struct Depth {
    now: usize,
    most: usize,
    ops: usize,
}

impl Visitor for Depth {
    fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
        self.ops += 1;
        if f.op_kind(op) == OpKind::If {
            self.now += 1;
            self.most = self.most.max(self.now);
        }
        Visit::Into
    }

    fn leave_op(&mut self, _f: &Function, _op: OpId) {
        self.now -= 1;
    }
}

/// Ten thousand levels don't overflow the stack.
pub fn deep(f: &mut Function, _cx: &PassContext) -> PassResult {
    let (before, lines) = (f.op_count(), dump(f).lines().count());
    nest(f, 10_000)?;
    let mut depth = Depth {
        now: 0,
        most: 0,
        ops: 0,
    };
    assert!(depth.visit(f));
    assert_eq!(
        (depth.most, depth.now, depth.ops),
        (10_000, 0, before + 10_001)
    );
    assert_eq!(f.ops().count(), before + 10_001);
    assert_eq!(dump(f).lines().count(), lines + 20_001);

    struct Same;
    impl Mutator for Same {
        fn mutate_op(&mut self, _m: &mut Mutation, _op: OpId) -> MutateResult {
            Ok(Mutated::Same)
        }
    }
    assert_eq!(Same.mutate(f), Ok(false));
    let outermost = f.first_op(f.body()).ok_or("no op")?;
    f.erase_op(outermost)?;
    assert_eq!(f.op_count(), before);
    Ok(())
}

/// `Over` skips regions and `Stop` ends the visit.
pub fn visits(f: &mut Function, _cx: &PassContext) -> PassResult {
    struct Calls(Vec<String>, Visit);
    impl Visitor for Calls {
        fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
            self.0.push(f.name(op).to_owned());
            self.1
        }
    }
    nest(f, 1)?;
    for (visit, names) in [
        (Visit::Into, &["if", "onnx.Relu", "onnx.Relu"][..]),
        (Visit::Over, &["if", "onnx.Relu", "onnx.Relu"]),
        (Visit::Stop, &["if"]),
    ] {
        let mut calls = Calls(Vec::new(), visit);
        assert_eq!(calls.visit(f), visit != Visit::Stop);
        let nested = usize::from(visit == Visit::Into);
        if visit != Visit::Stop {
            // The chain's three ops and `return` come after the `if`.
            assert_eq!(calls.0.len(), 5 + nested);
        }
        assert_eq!(calls.0[..names.len()], *names);
    }
    let outermost = f.first_op(f.body()).ok_or("no op")?;
    f.erase_op(outermost)?;
    Ok(())
}

/// A mutator records the replacements of values: `Relu(Relu(x))` is replaced with `Neg(x)`.
pub fn mutates(f: &mut Function, _cx: &PassContext) -> PassResult {
    struct Pairs {
        seen: Vec<ValueId>,
    }
    impl Mutator for Pairs {
        fn mutate_op(&mut self, m: &mut Mutation, op: OpId) -> MutateResult {
            if m.op_kind(op) == OpKind::Terminator {
                self.check(m, op);
                return Ok(Mutated::Same);
            }
            self.seen.extend(m.results(op));
            let inner = m.operand(op, 0).and_then(|value| m.defining_op(value));
            match inner.filter(|inner| m.name(*inner) == m.name(op)) {
                Some(inner) => Ok(Mutated::Values(m.operands(inner).collect())),
                None => Ok(Mutated::Same),
            }
        }
    }
    impl Pairs {
        fn check(&self, m: &mut Mutation, op: OpId) {
            let became: Vec<ValueId> = self.seen.iter().map(|value| m.mutated(*value)).collect();
            let x = m.params()[0];
            // The second Relu was replaced with x, and everything else was kept.
            assert_eq!(became, [self.seen[0], x, self.seen[2]]);
            assert_eq!(m.operand(op, 0), Some(self.seen[2]));
        }
    }
    assert_eq!(Pairs { seen: Vec::new() }.mutate(f), Ok(true));
    Ok(())
}

/// The maximum number of ops on a path to a value.
struct Height {
    visited: usize,
}

impl Functor for Height {
    type Output = usize;

    fn visit_param(&mut self, _f: &Function, _value: ValueId) -> usize {
        0
    }

    fn visit_constant(&mut self, _f: &Function, _value: ValueId) -> usize {
        0
    }

    fn visit_op(&mut self, f: &Function, op: OpId, known: &Results<usize>) -> usize {
        self.visited += 1;
        let needed = self.needs(f, op);
        let heights = needed.iter().filter_map(|value| known.get(f, *value));
        1 + heights.max().copied().unwrap_or(0)
    }
}

/// A functor visits each transitive operand once, for long chains and deep nesting.
pub fn works_out(f: &mut Function, _cx: &PassContext) -> PassResult {
    let end = f.terminator(f.body()).ok_or("no end")?;
    let sum = f.operand(end, 0).ok_or("no result")?;
    let (mut height, mut known) = (Height { visited: 0 }, Results::default());
    // The chain's Relu, Relu, Add.
    assert_eq!(height.visit(f, sum, &mut known)?, Some(&3));
    assert_eq!(height.visit(f, sum, &mut known)?, Some(&3));
    assert_eq!(height.visited, 3);
    let x = f.params()[0];
    assert_eq!(known.get(f, x), Some(&0));
    assert_eq!(known.of_op(end), None);

    let (ty, before) = (f.type_id(x), Position::before(end));
    let mut created = Vec::new();
    let mut last = x;
    for _ in 0..100_000 {
        let relu = OpBuilder::new("onnx.Relu").operand(last).result(ty);
        created.push(f.create_op(relu, before)?);
        last = f.results(created[created.len() - 1])[0];
    }
    let mut at = before;
    for _ in 0..2_000 {
        let nested = OpBuilder::new("if").operand(x).result(ty);
        let op = f.create_op(nested.region("then_branch"), at)?;
        let region = f.regions(op)[0];
        at = Position::end_of(region);
        created.push(op);
    }
    let mut inner = last;
    for op in created[100_000..].iter().rev() {
        let region = f.regions(*op)[0];
        f.set_results(region, &[inner])?;
        inner = f.results(*op)[0];
    }
    let mut known = Results::default();
    assert_eq!(height.visit(f, inner, &mut known)?, Some(&102_000));
    assert_eq!(height.visited, 3 + 102_000);
    for op in created[100_000..100_001]
        .iter()
        .chain(created[..100_000].iter().rev())
    {
        f.erase_op(*op)?;
    }
    Ok(())
}
