//! Cost of a pass call, and the overhead that instruments add.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use std::sync::Arc;

use passdock::instruments::PassTimingInstrument;
use passdock::{
    ContextBuilder, InstrumentRef, InstrumentSetup, LoadOptions, PassContext, PassInfo,
    PassInstrument, Registry, create_host_pass,
};
use passdock_benches::{Figure, measure_with, module, report};
use passdock_tests::library;

/// Calls within one measurement. Each measurement enters a new context, so that no state accumulates.
const CALLS: usize = 1000;

/// An instrument whose callbacks are all empty.
struct Idle;

impl PassInstrument for Idle {
    fn name(&self) -> &str {
        "idle"
    }
}

fn main() {
    let plain = cost(|context| context);
    report("one call of a pass that does nothing", plain, "-");
    let timed = cost(|context| {
        let timing: InstrumentRef = Arc::new(PassTimingInstrument::new());
        context.shared_instrument(timing)
    });
    report("timing, on top", minus(timed, plain), "<= 100 ns");
    let watched = cost(|context| (0..5).fold(context, |context, _| context.instrument(Idle)));
    report("5 instruments, on top", minus(watched, plain), "<= 150 ns");
    let registry = Registry::new();
    registry
        .load_plugin(&library("passdock_bench"), &LoadOptions::default())
        .expect("the benchmarks' plugin");
    let loaded = cost(|context| {
        let (options, setup) = (Default::default(), InstrumentSetup::new(&registry));
        let idle = registry.get_instrument("bench.idle", &options, &setup);
        context.shared_instrument(idle.expect("an instrument of the plugin"))
    });
    // Three empty callbacks: `should_run`, `run_before_pass` and `run_after_pass`.
    let callback = Figure {
        nanos: minus(loaded, plain).nanos / 3.0,
    };
    report("a callback of a plugin's instrument", callback, "<= 20 ns");
}

fn cost(add: impl Fn(ContextBuilder) -> ContextBuilder) -> Figure {
    let registry = Registry::new();
    let pass = create_host_pass(PassInfo::new("bench.transform.Nothing"), |module, _| {
        Ok(module.clone())
    });
    let module = module(1, 4);
    let context = PassContext::builder().registry(&registry);
    let context = add(context).build().expect("a plain context");
    measure_with(
        CALLS,
        || context.enter().expect("nothing fails"),
        |entered| {
            for _ in 0..CALLS {
                pass.call_in(module.clone(), &context)
                    .expect("nothing fails");
            }
            entered
        },
    )
}

fn minus(a: Figure, b: Figure) -> Figure {
    Figure {
        nanos: a.nanos - b.nanos,
    }
}
