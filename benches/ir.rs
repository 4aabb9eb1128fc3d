//! The IR inside the host: building, reading, rewriting, copying.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock_benches::{chain, measure, measure_with, module, report};
use passdock_ir::{NewOp, Position, Symbols};

const OPS: usize = 100_000;

fn main() {
    let symbols = Symbols::new();
    report(
        "build a chain, per op",
        measure(OPS, || chain(&symbols, "f", OPS)),
        "(for scale)",
    );
    let f = chain(&symbols, "f", OPS);
    let visit = measure(OPS, || {
        f.ops_in(f.body())
            .map(|op| f.operands(op).len() + f.op(op).name.index())
            .sum::<usize>()
    });
    report("visit all ops, per op", visit, "10 ns");
    let relu = symbols.intern("onnx.Relu");
    let gelu = symbols.intern("onnx.Gelu");
    let rewrite = measure_with(
        OPS,
        || f.clone(),
        |mut f| {
            let ops: Vec<_> = f
                .ops_in(f.body())
                .filter(|&op| f.op(op).name == relu)
                .collect();
            for op in ops {
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
        OPS / 10,
        || f.clone(),
        |mut f| {
            let middle = f
                .ops_in(f.body())
                .nth(OPS / 2)
                .expect("an op in the middle");
            for _ in 0..OPS / 10 {
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
        measure(OPS, || f.clone()),
        "(for scale)",
    );
    let big = module(1000, 10);
    report(
        "snapshot of a module of 1,000 functions, all",
        measure(1, || big.clone()),
        "<= 1 µs",
    );
}
