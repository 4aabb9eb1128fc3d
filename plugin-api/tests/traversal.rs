//! Visitors and mutators on deep and on long functions.

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::{dump, mock::scratch};

/// `depth` levels of `if`, one in the other, with a `Relu` innermost.
fn nest(f: &mut Function, depth: usize) -> Result<(), EditError> {
    let mut at = Position::end_of(f.body());
    for _ in 0..depth {
        let op = f.create_op(OpBuilder::new("if").region("then_branch"), at)?;
        at = Position::end_of(f.regions(op)[0]);
    }
    f.create_op(OpBuilder::new("onnx.Relu"), at)?;
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
        self.route(f, op)
    }

    fn visit_if(&mut self, _f: &Function, _op: OpId) -> Visit {
        self.now += 1;
        self.most = self.most.max(self.now);
        Visit::Into
    }

    fn leave_op(&mut self, _f: &Function, _op: OpId) {
        self.now -= 1;
    }
}

#[test]
fn ten_thousand_levels_need_no_stack() {
    // A thread with less stack than a recursion would need.
    let run = || {
        scratch(|f, _| {
            nest(f, 10_000).unwrap();
            let mut depth = Depth {
                now: 0,
                most: 0,
                ops: 0,
            };
            assert!(depth.visit(f));
            assert_eq!((depth.most, depth.now, depth.ops), (10_000, 0, 10_001));
            assert_eq!(f.ops().count(), 10_001);
            assert_eq!(dump(f).lines().count(), 20_002);

            struct Same;
            impl Mutator for Same {}
            assert_eq!(Same.mutate(f), Ok(false));
            let outermost = f.first_op(f.body()).unwrap();
            f.erase_op(outermost).unwrap();
            assert_eq!(f.op_count(), 0);
        })
    };
    let thread = std::thread::Builder::new()
        .stack_size(256 * 1024)
        .spawn(run);
    thread.unwrap().join().unwrap();
}

#[test]
fn over_skips_regions_and_stop_ends_the_visit() {
    struct Calls(Vec<String>, Visit);
    impl Visitor for Calls {
        fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
            self.0.push(f.name(op).to_owned());
            self.1
        }
    }
    scratch(|f, _| {
        nest(f, 1).unwrap();
        let end = Position::end_of(f.body());
        f.create_op(OpBuilder::new("onnx.Neg"), end).unwrap();
        for (visit, names) in [
            (Visit::Into, &["if", "onnx.Relu", "onnx.Neg"][..]),
            (Visit::Over, &["if", "onnx.Neg"]),
            (Visit::Stop, &["if"]),
        ] {
            let mut calls = Calls(Vec::new(), visit);
            assert_eq!(calls.visit(f), visit != Visit::Stop);
            assert_eq!(calls.0, names);
        }
    });
}

#[test]
fn a_mutator_remembers_what_values_became() {
    /// `Neg(Neg(x))` is `x`.
    struct NegNeg {
        seen: Vec<ValueId>,
    }
    impl Mutator for NegNeg {
        fn mutate_other(&mut self, m: &mut Mutation, op: OpId) -> MutateResult {
            self.seen.extend(m.results(op));
            let inner = m.operand(op, 0).and_then(|value| m.defining_op(value));
            match inner.filter(|inner| m.name(*inner) == "onnx.Neg") {
                Some(inner) => Ok(Mutated::Values(m.operands(inner).collect())),
                None => Ok(Mutated::Same),
            }
        }

        fn mutate_terminator(&mut self, m: &mut Mutation, op: OpId) -> MutateResult {
            let became: Vec<ValueId> = self.seen.iter().map(|value| m.mutated(*value)).collect();
            // v1 = Neg(v0), v2 = Neg(v1) is v0, v3 = Neg(v0), v4 = Neg(v3) is v0.
            assert_eq!(became, [ValueId(1), ValueId(0), ValueId(3), ValueId(0)]);
            assert_eq!(m.operand(op, 0), Some(ValueId(0)));
            Ok(Mutated::Same)
        }
    }
    scratch(|f, _| {
        let mut b = FunctionBuilder::new(f);
        let mut value = b.param("x", TypeId::NONE).unwrap();
        for _ in 0..4 {
            value = b.value("onnx.Neg", [value]).unwrap();
        }
        b.finish(&[value]).unwrap();
        assert_eq!(NegNeg { seen: Vec::new() }.mutate(f), Ok(true));
        assert_eq!(
            dump(f),
            "@main(v0)\n  v1 = onnx.Neg(v0)\n  v3 = onnx.Neg(v0)\n  return(v0)\n"
        );
    });
}
