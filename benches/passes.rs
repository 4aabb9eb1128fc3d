//! The standard passes at scale, on one core and two.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock_benches::{
    context, measure, measure_with, module, named_main, one_function, registry, report,
    report_ratio, sized,
};
use passdock_ir::{Function, Module, NewPort};

fn main() {
    let (million, ops) = (sized(1_000_000), sized(100_000));
    let registry = registry(&[passdock_test_plugins::bench::PLUGIN]);
    let run = |pass: &str, module: &Module, jobs: usize| {
        let pass = registry.get_pass(pass).expect("a pass");
        let context = context(&registry, jobs);
        let run = |module| pass.call_in(module, &context).expect("it runs");
        // An edited copy has no cached analyses from earlier runs.
        measure_with(1, || edited(module), run)
    };

    let all_dead = one_function(|module| dead(named_main(module, million)));
    let dce = "relax.transform.DeadCodeElimination";
    report(
        "DeadCodeElimination of 1,000,000 dead ops",
        run(dce, &all_dead, 1),
        "<= 1 s",
    );
    let alive = one_function(|module| named_main(module, million));
    let canonicalize = "relax.transform.CanonicalizeBindings";
    report(
        "CanonicalizeBindings of 1,000,000 ops",
        run(canonicalize, &alive, 1),
        "<= 1 s",
    );
    let small = one_function(|module| named_main(module, ops));
    let fold = "relax.transform.FoldConstant";
    report(
        "FoldConstant of 100,000 ops, nothing to fold",
        run(fold, &small, 1),
        "<= 0.1 s",
    );

    let find = registry.get_pass(fold).expect("a pass");
    let context = context(&registry, 1);
    report(
        "FoldConstant of the same module again",
        measure(1, || {
            find.call_in(small.clone(), &context).expect("it runs")
        }),
        "<= 1 µs",
    );

    let many = module(sized(1000), sized(1000));
    let one = run("bench.transform.Rewrite", &many, 1);
    let two = run("bench.transform.Rewrite", &many, 2);
    report_ratio("1,000 functions, one core over two", one, two, ">= 1.8 x");
}

/// Returns the module with an edit in each function.
fn edited(module: &Module) -> Module {
    let mut module = module.clone();
    let names: Vec<_> = module.names().collect();
    for name in names {
        let function = module.function_mut(name).expect("it was just listed");
        let domain = function.symbols().intern("bench");
        function.set_opset(domain, 1);
    }
    module
}

/// Replaces the function's result with one that uses none of its ops, which makes all of them dead.
fn dead(mut f: Function) -> Function {
    let body = f.body();
    let x = f.args(body).next().expect("its parameter");
    let ty = f.value(x).ty;
    f.set_results(body, &[x], &[NewPort { name: "y", ty }])
        .expect("another result");
    f
}
