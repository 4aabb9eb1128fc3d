//! The IR inside the host: building, reading, rewriting and copying.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock_benches::{chain, measure, measure_with, module, report, sized};
use passdock_ir::{NewOp, Position, Symbols};

fn ops() -> usize {
    sized(100_000)
}

fn main() {
    let symbols = Symbols::new();
    report(
        "build a chain, per op",
        measure(ops(), || chain(&symbols, "f", ops())),
        "(for scale)",
    );
    let f = chain(&symbols, "f", ops());
    let visit = measure(ops(), || {
        f.ops_in(f.body())
            .map(|op| f.operands(op).len() + f.op(op).name.index())
            .sum::<usize>()
    });
    report("visit all ops, per op", visit, "10 ns");
    let relu = symbols.intern("onnx.Relu");
    let gelu = symbols.intern("onnx.Gelu");
    let rewrite = measure_with(
        ops(),
        || f.clone(),
        |mut f| {
            let relus: Vec<_> = f
                .ops_in(f.body())
                .filter(|&op| f.op(op).name == relu)
                .collect();
            for op in relus {
                let operands = [f.operand(op, 0)];
                let new = NewOp {
                    operands: &operands,
                    result_types: &[passdock_abi::TypeId::NONE],
                    ..NewOp::new(gelu)
                };
                f.replace_op(op, &new).expect("a Gelu for a Relu");
            }
            f
        },
    );
    report(
        "rewrite 10 % of the ops, per op",
        rewrite,
        "(the reference of the boundary's)",
    );
    let insert = measure_with(
        ops() / 10,
        || f.clone(),
        |mut f| {
            let middle = f
                .ops_in(f.body())
                .nth(ops() / 2)
                .expect("an op in the middle");
            for _ in 0..ops() / 10 {
                f.create_op(&NewOp::new(relu), Position::before(middle))
                    .expect("a new op");
            }
            f
        },
    );
    report(
        "insert before one op, per insertion",
        insert,
        "no more than elsewhere",
    );
    report(
        "copy of a function, per op",
        measure(ops(), || f.clone()),
        "(for scale)",
    );
    let big = module(sized(1000), 10);
    report(
        "snapshot of a module of 1,000 functions, all",
        measure(1, || big.clone()),
        "<= 1 µs",
    );
}
