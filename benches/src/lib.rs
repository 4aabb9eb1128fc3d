//! Passdock's benchmarks.
//!
//! `cargo bench -p passdock-benches` runs all of them, `--bench NAME` those of one file. Each prints the
//! median of several runs and its target. Where possible the target is a ratio to a reference that is
//! measured in the same run, because absolute times differ between machines. No benchmark fails a build.
//!
//! As a test (`cargo test -p passdock-benches --benches`) each benchmark runs once on small inputs and
//! prints no times. Tests thus show that all benchmarks still work.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

pub mod clock;
pub mod shapes;

use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use passdock::sdk::StaticPlugin;
use passdock::{PassContext, Registry, Verify};
use passdock_abi::{FunctionKind, OpId};
use passdock_ir::{Function, Module, NewOp, NewPort, Position, Symbols, TypeData};

/// The approximate duration of each measurement.
const BUDGET: Duration = Duration::from_millis(600);

/// Whether this is a test run without measurements. `cargo bench` passes `--bench`; `cargo test` doesn't.
pub fn is_quick() -> bool {
    static QUICK: OnceLock<bool> = OnceLock::new();
    *QUICK.get_or_init(|| std::env::args().all(|argument| argument != "--bench"))
}

/// Returns `count`, or a small number in a quick run.
pub fn sized(count: usize) -> usize {
    match is_quick() {
        true => count.min(50),
        false => count,
    }
}

/// A measured time, per item.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Nanoseconds per item, the median of the runs.
    pub nanos: f64,
}

/// Measures `run` on new inputs from `setup`. Neither `setup` nor dropping the result is included.
pub fn measure_with<S, T>(
    items: usize,
    mut setup: impl FnMut() -> S,
    mut run: impl FnMut(S) -> T,
) -> Figure {
    let mut times = Vec::new();
    let started = Instant::now();
    let enough = if is_quick() { 1 } else { 5 };
    while times.len() < enough || (!is_quick() && started.elapsed() < BUDGET && times.len() < 1001)
    {
        let input = setup();
        let start = Instant::now();
        let result = black_box(run(black_box(input)));
        times.push(start.elapsed());
        drop(result);
    }
    times.sort_unstable();
    Figure {
        nanos: times[times.len() / 2].as_nanos() as f64 / items as f64,
    }
}

/// Measures `run`.
pub fn measure<T>(items: usize, mut run: impl FnMut() -> T) -> Figure {
    measure_with(items, || (), |()| run())
}

/// Prints a figure and its target.
pub fn report(what: &str, figure: Figure, to_reach: &str) {
    if is_quick() {
        return println!("{what:<58} ran, on something small");
    }
    println!("{what:<58} {:>12}   target: {to_reach}", time(figure.nanos));
}

/// Prints a figure as a ratio to `reference`, which is measured in the same run.
pub fn report_ratio(what: &str, figure: Figure, reference: Figure, to_reach: &str) {
    if is_quick() {
        return println!("{what:<58} ran, on something small");
    }
    let ratio = figure.nanos / reference.nanos;
    let both = format!("{ratio:.2} x");
    println!(
        "{what:<58} {both:>12}   target: {to_reach}   ({} / {})",
        time(figure.nanos),
        time(reference.nanos)
    );
}

fn time(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.2} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}

/// Returns a function `@name` with a chain of `len` ops. Every tenth op is a Relu of the previous value, the others
/// are an Add of the previous two.
pub fn chain(symbols: &Arc<Symbols>, name: &str, len: usize) -> Function {
    let mut f = Function::new(symbols.clone(), FunctionKind::GRAPH, symbols.intern(name));
    let dims = [passdock_abi::Dim::constant(4)];
    let ty = f.add_type(TypeData::Tensor(passdock_abi::DType::F32, Some(&dims)));
    let body = f.body();
    let [add, relu] = ["onnx.Add", "onnx.Relu"].map(|name| symbols.intern(name));
    let x = f
        .add_arg(body, &NewPort { name: "x", ty })
        .expect("a new argument");
    let (mut last, mut before) = (x, x);
    for i in 0..len {
        let operands = [last, before];
        let (name, operands) = if i % 10 == 9 {
            (relu, &operands[..1])
        } else {
            (add, &operands[..])
        };
        let new = NewOp {
            operands,
            result_types: &[ty],
            ..NewOp::new(name)
        };
        let op: OpId = f.create_op(&new, Position::end(body)).expect("a new op");
        before = last;
        last = f.result(op, 0).expect("its result");
    }
    f.set_results(body, &[last], &[NewPort { name: "y", ty }])
        .expect("a result");
    f
}

/// Returns a chain as the main function of an ONNX model.
pub fn named_main(module: &Module, len: usize) -> Function {
    let mut main = chain(module.symbols(), "main", len);
    main.set_opset(passdock_abi::symbol::EMPTY, 17);
    main
}

/// Returns a module with one function.
pub fn one_function(make: impl FnOnce(&Module) -> Function) -> Module {
    let mut module = Module::new();
    let function = make(&module);
    module.insert(function).expect("a new name");
    module
}

/// Returns a module with `functions` chains of `len` ops.
pub fn module(functions: usize, len: usize) -> Module {
    let mut module = Module::new();
    for i in 0..functions {
        let function = chain(&module.symbols().clone(), &format!("f{i}"), len);
        module.insert(function).expect("a new name");
    }
    module
}

/// Returns a registry with the ONNX operators, the graph passes and the plugins `more`.
pub fn registry(more: &[StaticPlugin]) -> Registry {
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ]
    .iter()
    .chain(more)
    {
        registry
            .load_static(*plugin)
            .expect("a plugin that is well made");
    }
    registry
}

/// Returns a context without verification.
pub fn context(registry: &Registry, jobs: usize) -> PassContext {
    let context = PassContext::builder()
        .registry(registry)
        .verify(Verify::Off)
        .jobs(jobs);
    context
        .on_diagnostic(|_| ())
        .build()
        .expect("a plain context")
}
