//! The passes from 10^3 to 10^6 ops: what one op takes, and how much longer ten times as many do.
//!
//! The fastest of a few runs counts. Twelve times as long is linear with caches that get too small:
//! that far it goes on a quiet machine. `cargo bench -p passdock-benches
//! --bench scale -- 100000` stops there.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::time::{Duration, Instant};

use passdock::{PassContext, Registry, Verify};
use passdock_abi::{DType, Dim, FunctionKind, TypeId, ValueId};
use passdock_benches::{is_quick, one_function};
use passdock_ir::{ConstantData, Function, Module, NewOp, NewPort, Position, TypeSpec};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const RUNS: usize = 5;
const LINEAR: f64 = 12.0;

/// What the ops are like.
type Shape = fn(&mut Graph, usize) -> ValueId;

const SERIES: [(&str, &str, Shape); 12] = [
    ("InferType", "a chain without types", untyped_chain),
    ("InferType", "equal ops on one value", equal),
    ("FoldConstant", "a chain, nothing to fold", chain),
    ("FoldConstant", "a chain of constants", foldable),
    ("CanonicalizeBindings", "a chain", chain),
    ("CanonicalizeBindings", "a chain of copies", copies),
    ("DeadCodeElimination", "a chain", chain),
    ("DeadCodeElimination", "a dead chain", dead),
    ("DeadCodeElimination", "dead ops on one value", dead_equal),
    ("EliminateCommonSubexpr", "a chain", chain),
    ("EliminateCommonSubexpr", "equal ops on one value", equal),
    ("EliminateCommonSubexpr", "two equal chains", twins),
];

fn main() {
    let limit = std::env::args().find_map(|argument| argument.parse().ok());
    let all = if is_quick() { SIZES[0] } else { usize::MAX };
    let limit: usize = limit.unwrap_or(all);
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ] {
        registry
            .load_static(plugin)
            .expect("a plugin that is well made");
    }
    for (pass, what, shape) in SERIES {
        let mut before: Option<Duration> = None;
        for ops in SIZES.into_iter().filter(|&ops| ops <= limit) {
            let time = fastest(&registry, pass, || graph(shape, ops));
            let ratio = before.map(|before| time.as_secs_f64() / before.as_secs_f64());
            let verdict = match ratio {
                None => String::new(),
                Some(ratio) if ratio <= LINEAR => format!("{ratio:6.1} x"),
                Some(ratio) => format!("{ratio:6.1} x, more than {LINEAR} x"),
            };
            let nanos = time.as_nanos() as f64 / ops as f64;
            let what = format!("{pass}, {what}");
            println!("{what:<46} {ops:>9} ops {time:>12.2?} {nanos:>8.1} ns an op {verdict}");
            before = Some(time);
        }
    }
}

fn fastest(registry: &Registry, pass: &str, mut make: impl FnMut() -> Module) -> Duration {
    let pass = registry
        .get_pass(&format!("relax.transform.{pass}"))
        .expect("a pass");
    let context = PassContext::builder()
        .registry(registry)
        .verify(Verify::Off)
        .jobs(1)
        .build()
        .expect("a plain context");
    let times = (0..RUNS).map(|_| {
        let module = make();
        let start = Instant::now();
        let after = pass.call_in(module, &context).expect("it runs");
        let time = start.elapsed();
        drop(after);
        time
    });
    times.min().unwrap_or_default()
}

/// `@main` of one parameter, as an ONNX model has it.
struct Graph {
    f: Function,
    ty: TypeId,
    x: ValueId,
}

fn graph(shape: Shape, ops: usize) -> Module {
    one_function(|module| {
        let symbols = module.symbols();
        let name = symbols.intern("main");
        let mut f = Function::new(symbols.clone(), FunctionKind::GRAPH, name);
        f.set_opset(passdock_abi::symbol::EMPTY, 17);
        let ty = f.add_type(TypeSpec::Tensor(DType::F32, Some(&[Dim::constant(4)])));
        let body = f.body();
        let port = |name| NewPort { name, ty };
        let x = f.add_arg(body, &port("x")).expect("a new argument");
        let mut graph = Graph { f, ty, x };
        let y = shape(&mut graph, ops);
        graph
            .f
            .set_results(body, &[y], &[port("y")])
            .expect("a result");
        graph.f
    })
}

impl Graph {
    fn op(&mut self, name: &str, operands: &[ValueId], ty: TypeId) -> ValueId {
        let new = NewOp {
            operands,
            result_types: &[ty],
            ..NewOp::new(self.f.symbols().intern(name))
        };
        let at = Position::end(self.f.body());
        let op = self.f.create_op(&new, at).expect("a new op");
        self.f.result(op, 0).expect("its result")
    }

    fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.op("onnx.Add", &[a, b], self.ty)
    }
}

fn chain_of(graph: &mut Graph, ops: usize, ty: TypeId) -> ValueId {
    let (mut last, mut before) = (graph.x, graph.x);
    for _ in 0..ops {
        let next = graph.op("onnx.Add", &[last, before], ty);
        (before, last) = (last, next);
    }
    last
}

fn chain(graph: &mut Graph, ops: usize) -> ValueId {
    chain_of(graph, ops, graph.ty)
}

fn untyped_chain(graph: &mut Graph, ops: usize) -> ValueId {
    chain_of(graph, ops, TypeId::NONE)
}

fn dead(graph: &mut Graph, ops: usize) -> ValueId {
    chain(graph, ops);
    graph.x
}

fn dead_equal(graph: &mut Graph, ops: usize) -> ValueId {
    for _ in 0..ops {
        graph.op("onnx.Relu", &[graph.x], graph.ty);
    }
    graph.x
}

fn equal(graph: &mut Graph, ops: usize) -> ValueId {
    let all: Vec<ValueId> = (0..ops)
        .map(|_| graph.op("onnx.Relu", &[graph.x], graph.ty))
        .collect();
    graph.op("onnx.Sum", &all, graph.ty)
}

fn copies(graph: &mut Graph, ops: usize) -> ValueId {
    let copied = (0..ops).fold(graph.x, |x, _| graph.op("onnx.Identity", &[x], graph.ty));
    graph.add(copied, graph.x)
}

fn foldable(graph: &mut Graph, ops: usize) -> ValueId {
    let data = ConstantData::inline([0; 16]);
    let body = graph.f.body();
    let constant = graph
        .f
        .add_constant(graph.ty, data, body, "c")
        .expect("a constant");
    let folded = (0..ops).fold(constant, |x, _| graph.add(x, constant));
    graph.add(folded, graph.x)
}

fn twins(graph: &mut Graph, ops: usize) -> ValueId {
    let (mut a, mut b) = (graph.x, graph.x);
    for _ in 0..ops / 2 {
        a = graph.add(a, graph.x);
        b = graph.add(graph.x, b);
    }
    graph.add(a, b)
}
