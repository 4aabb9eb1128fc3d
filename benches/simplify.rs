//! SimplifyExpr on chains of 1,000 to 1,000,000 ops: the time per op, for each size and kind.
//!
//! Every op has a place in the source, as those of a file have. The fastest of a few runs counts, in time of the
//! processor where the system tells it. Words on the command line show only the lines with these words, a number is the
//! largest size: `cargo bench -p passdock-benches --bench simplify -- inverse 100000`.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::time::Duration;

use passdock::{PassContext, PassRef, Registry, Verify};
use passdock_benches::clock::Clock;
use passdock_benches::is_quick;
use passdock_ir::{Module, text};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Where nothing is measured.
const QUICK: usize = 40;
const RUNS: usize = 3;
/// What took that long isn't run again.
const LONG: Duration = Duration::from_secs(2);
/// More times as long per op is marked: caches that get too small take their part.
const LINEAR: f64 = 2.5;

/// A chain: its name, the constants before it, and what each op is, by its number and the value before.
struct Chain {
    name: &'static str,
    before: &'static str,
    op: fn(usize, &str) -> String,
}

const fn chain(name: &'static str, before: &'static str, op: fn(usize, &str) -> String) -> Chain {
    Chain { name, before, op }
}

const CHAINS: &[Chain] = &[
    chain("nothing to do", "", |at, x| match at % 2 {
        0 => format!("onnx.Sin({x}) : f32[2,2,2]"),
        _ => format!("onnx.Neg({x}) : f32[2,2,2]"),
    }),
    chain("neutral", "%one = const f32[] 1.0", |at, x| match at % 2 {
        0 => format!("onnx.Mul(%one, {x}) : f32[2,2,2]"),
        _ => format!("onnx.Div({x}, %one) : f32[2,2,2]"),
    }),
    chain(
        "neutral, between others",
        "%one = const f32[] 1.0",
        |at, x| match at % 2 {
            0 => format!("onnx.Mul({x}, %one) : f32[2,2,2]"),
            _ => format!("onnx.Sin({x}) : f32[2,2,2]"),
        },
    ),
    chain(
        "neutral, all on one value",
        "%one = const f32[] 1.0",
        |at, x| match at % 2 {
            0 => "onnx.Mul(%x, %one) : f32[2,2,2]".to_owned(),
            _ => format!("onnx.Add({x}, %v0) : f32[2,2,2]"),
        },
    ),
    chain("inverse", "", |_, x| format!("onnx.Neg({x}) : f32[2,2,2]")),
    chain("inverse, in one another", "", |at, x| match at % 2 {
        0 => format!("onnx.Transpose({x}) {{perm = [1, 2, 0]}} : f32[2,2,2]"),
        _ => format!("onnx.Transpose({x}) {{perm = [2, 0, 1]}} : f32[2,2,2]"),
    }),
    chain("inverse, around others", "", |at, x| match at % 4 {
        0 => format!("onnx.Transpose({x}) {{perm = [1, 2, 0]}} : f32[2,2,2]"),
        1 => format!("onnx.Sin({x}) : f32[2,2,2]"),
        2 => format!("onnx.Exp({x}) : f32[2,2,2]"),
        _ => format!("onnx.Transpose({x}) {{perm = [2, 0, 1]}} : f32[2,2,2]"),
    }),
    chain("foldable", "%two = const i64[] 2", |_, x| {
        format!("onnx.Add({x}, %two) : f32[2,2,2]").replace("f32", "i64")
    }),
    chain("foldable, floats", "%two = const f32[] 1.0001", |_, x| {
        format!("onnx.Add({x}, %two) : f32[2,2,2]")
    }),
    chain("idempotent", "", |_, x| {
        format!("onnx.Relu({x}) : f32[2,2,2]")
    }),
    chain(
        "bounds",
        "%low = const f32[] -3.0\n%high = const f32[] 3.5",
        |at, x| match at % 2 {
            0 => format!("onnx.Clip({x}, %low, %high) : f32[2,2,2]"),
            _ => format!("onnx.Relu({x}) : f32[2,2,2]"),
        },
    ),
    chain(
        "views",
        "%flat = const i64[1] [8]\n%cube = const i64[3] [2, 2, 2]",
        |at, x| match at % 2 {
            0 => format!("onnx.Reshape({x}, %flat) : f32[8]"),
            _ => format!("onnx.Reshape({x}, %cube) : f32[2,2,2]"),
        },
    ),
];

impl Chain {
    /// A function of so many ops.
    fn module(&self, ops: usize) -> Module {
        let dtype = if self.before.contains("i64[] ") {
            "i64"
        } else {
            "f32"
        };
        let mut lines = format!("{}\n", self.before);
        let mut last = "%x".to_owned();
        for at in 0..ops {
            lines += &format!("%v{at} = {} loc(\"at{at}\")\n", (self.op)(at, &last));
            last = format!("%v{at}");
        }
        let ty = format!("{dtype}[2,2,2]");
        let source = format!(
            "module {{\nfn @main(%x: {ty}) -> (%y: {ty}) opset(\"\" = 17) {{\n{lines}return {last}\n}}\n}}\n"
        );
        text::parse(&source).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.iter().find_map(|argument| argument.parse().ok());
    let limit: usize = limit.unwrap_or(usize::MAX);
    let words = arguments.iter().filter(|word| !word.starts_with('-'));
    let words: Vec<&String> = words
        .filter(|word| word.parse::<usize>().is_err())
        .collect();
    let sizes: Vec<usize> = match is_quick() {
        true => vec![QUICK],
        false => SIZES.into_iter().filter(|&size| size <= limit).collect(),
    };
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ] {
        registry
            .load_static(plugin)
            .expect("a plugin that is well made");
    }
    let pass = registry.get_pass("relax.transform.SimplifyExpr");
    let pass = pass.expect("the pass");
    let context = PassContext::builder()
        .registry(&registry)
        .verify(Verify::Off)
        .jobs(1)
        // What it requires isn't what is measured.
        .disabled_pass(["relax.transform.InferType"])
        .build();
    let context = context.expect("a plain context");
    println!("per op, ops left; to reach: the same time for each size, which is linear");
    for chain in CHAINS {
        if words.iter().any(|word| !chain.name.contains(word.as_str())) {
            continue;
        }
        let mut line = format!("{:<28}", chain.name);
        let mut before: Option<f64> = None;
        for &size in &sizes {
            let (time, left) = measure(&pass, &context, &chain.module(size));
            let nanos = time.as_nanos() as f64 / size as f64;
            let mark = match before {
                Some(before) if nanos > before * LINEAR => " !",
                _ => "",
            };
            line += &format!("{:>11} ({left}){mark}", format!("{nanos:.0} ns"));
            before = Some(nanos);
        }
        match is_quick() {
            true => println!("{:<28} ran, on something small", chain.name),
            false => println!("{line}"),
        }
    }
}

/// The time of the fastest run, and the ops that are left.
fn measure(pass: &PassRef, context: &PassContext, module: &Module) -> (Duration, u32) {
    let mut fastest = Duration::MAX;
    let mut left = 0;
    for _ in 0..RUNS {
        let module = module.clone();
        let clock = Clock::start();
        let done = pass.call_in(module, context).expect("it runs");
        let time = clock.elapsed();
        left = done.functions().map(|f| f.live_op_count()).sum();
        fastest = fastest.min(time);
        if time > LONG {
            break;
        }
    }
    (fastest, left)
}
