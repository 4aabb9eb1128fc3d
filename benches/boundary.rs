//! Overhead of the plugin boundary: passes in a shared library compared with the same passes in the host.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock::{PassRef, Registry};
use passdock_benches::{
    Figure, context, measure, measure_with, module, report, report_ratio, sized,
};
use passdock_ir::{Module, NewOp};
use passdock_tests::library;

fn ops() -> usize {
    sized(100_000)
}

fn main() {
    let registry = Registry::new();
    let loaded = registry.load_plugin(&library("passdock_bench"), &Default::default());
    loaded.expect("the benchmark's plugin");
    let pass = |name: &str| registry.get_pass(name).expect("a pass of the plugin");
    // Verification costs the same wherever the pass is, and has its own benchmark.
    let context = context(&registry, 1);

    let run =
        |pass: &PassRef, module: &Module| pass.call_in(module.clone(), &context).expect("it runs");

    let small = module(sized(1000), 4);
    let empty = pass("bench.transform.Empty");
    report(
        "empty pass over 1,000 functions, per function",
        measure(sized(1000), || run(&empty, &small)),
        "<= 40 ns",
    );

    let big = module(1, ops());
    let visit = pass("bench.transform.Visit");
    report_ratio(
        "visit all ops from a plugin, over the host's own loop",
        measure(ops(), || run(&visit, &big)),
        visit_inside(&big),
        "<= 1.15 x",
    );
    let rewrite = pass("bench.transform.Rewrite");
    report_ratio(
        "rewrite 10 % from a plugin, over the host's own",
        measure(ops(), || run(&rewrite, &big)),
        rewrite_inside(&big),
        "<= 1.4 x",
    );
    let names = "bench.transform.Empty";
    report(
        "registry look-up",
        measure(1, || registry.get_pass(names)),
        "<= 0.2 µs",
    );
}

fn visit_inside(module: &Module) -> Figure {
    let f = module.functions().next().expect("a function");
    measure(ops(), || {
        f.walk(f.body())
            .map(|op| f.operands(op).len() + f.op(op).name.index())
            .sum::<usize>()
    })
}

fn rewrite_inside(module: &Module) -> Figure {
    let name = module.names().next().expect("a function");
    let symbols = module.symbols();
    let (relu, gelu) = (symbols.intern("onnx.Relu"), symbols.intern("onnx.Gelu"));
    measure_with(
        ops(),
        || module.clone(),
        |mut module| {
            let f = module.function_mut(name).expect("the function");
            let relus: Vec<_> = f
                .walk(f.body())
                .filter(|&op| f.op(op).name == relu)
                .collect();
            for op in relus {
                let operands = [f.operand(op, 0)];
                let result_types = &[passdock_abi::TypeId::NONE];
                let new = NewOp {
                    operands: &operands,
                    result_types,
                    ..NewOp::new(gelu)
                };
                f.replace_op(op, &new).expect("a Gelu for a Relu");
            }
            module
        },
    )
}
