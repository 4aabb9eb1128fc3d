//! Cost of analyses: finding a cached one, computing it, and recomputing it after an edit.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock::analyses::{
    self, EffectAnalysis, FunctionAnalysis, LivenessAnalysis, NameAnalysis, Operators,
    OrderAnalysis,
};
use passdock_benches::{Figure, context, measure, module, registry, report, report_ratio, sized};
use passdock_test_plugins::bench::TIMES;
use passdock_tests::library;

fn ops() -> usize {
    sized(100_000)
}

fn main() {
    let registry = registry(&[]);
    let loaded = registry.load_plugin(&library("passdock_bench"), &Default::default());
    loaded.expect("the benchmark's plugin");
    let context = context(&registry, 1);
    let big = module(1, ops());
    let run = |name: &str, items: usize| {
        let pass = registry.get_pass(name).expect("a pass of the plugin");
        measure(items, || {
            pass.call_in(big.clone(), &context).expect("it runs")
        })
    };
    report(
        "a plugin finds what it kept",
        run("bench.transform.Find", TIMES),
        "<= 20 ns",
    );
    report(
        "a plugin finds a column of the host's",
        run("bench.transform.FindColumn", TIMES),
        "<= 20 ns",
    );

    let f = big.functions().next().expect("a function");
    let defs = registry.op_defs();
    let operators = Operators::new(&defs, &big);
    // Each is a ratio to a walk over the ops, which is the lower bound.
    let walk = measure(ops(), || f.walk(f.body()).count());
    let names = compute::<NameAnalysis>(f, &operators);
    for (what, figure) in [
        (
            "liveness of 100,000 ops, per op, over a walk",
            compute::<LivenessAnalysis>(f, &operators),
        ),
        ("order", compute::<OrderAnalysis>(f, &operators)),
        ("names", names),
        (
            "effects, the names known",
            compute::<EffectAnalysis>(f, &operators),
        ),
    ] {
        report_ratio(what, figure, walk, "<= 5 x");
    }
    let edit = run("bench.transform.Edit", ops());
    report_ratio(
        "one edit and liveness again, per op, over the edit",
        run("bench.transform.EditAndAsk", ops()),
        edit,
        "one liveness more",
    );
}

fn compute<A: FunctionAnalysis>(f: &passdock_ir::Function, operators: &Operators<'_>) -> Figure {
    // Caches the analyses that `A` needs; `A::compute` itself isn't cached.
    analyses::get::<A>(f, operators);
    measure(ops(), || A::compute(f, operators))
}
