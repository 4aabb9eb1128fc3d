//! InferType on models of 1,000 to 1,000,000 ops: the time, and how it grows each tenfold.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use passdock::{PassContext, Registry, Verify};
use passdock_benches::is_quick;
use passdock_ir::{Module, text};

/// Makes the text of a model of about so many ops.
type Source = fn(usize) -> String;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
    ] {
        registry
            .load_static(plugin)
            .expect("a plugin that is well made");
    }
    let sizes = if is_quick() { 1 } else { SIZES.len() };
    println!("to reach: 10 x a tenfold, which is linear");
    let sources: [(&str, Source); 6] = [
        ("a chain", chain),
        ("equal ops on one value", equal),
        ("computed shapes", shapes),
        ("loops in loops, up to 1,000 deep", loops),
        ("functions, each called once", functions),
        ("one function, called with one type", calls),
    ];
    for (what, source) in sources {
        let mut line = format!("{what:<36}");
        let mut before: Option<Duration> = None;
        for size in SIZES.into_iter().take(sizes) {
            let module = text::parse(&source(size)).expect("it is a module");
            let time = infer(&registry, &module);
            let _ = write!(line, "{:>10.1?}", time);
            if let Some(before) = before {
                let _ = write!(
                    line,
                    " ({:>4.1} x)",
                    time.as_secs_f64() / before.as_secs_f64()
                );
            }
            before = Some(time);
        }
        println!("{line}");
    }
}

/// The best of three runs.
fn infer(registry: &Registry, module: &Module) -> Duration {
    let pass = registry
        .get_pass("relax.transform.InferType")
        .expect("the pass");
    let context = PassContext::builder()
        .registry(registry)
        .verify(Verify::Off)
        .build();
    let context = context.expect("a plain context");
    let run = |_| {
        let start = Instant::now();
        drop(pass.call_in(module.clone(), &context).expect("it runs"));
        start.elapsed()
    };
    (0..3).map(run).min().expect("three runs")
}

fn main_of(body: &str, result: &str) -> String {
    format!(
        "module {{ fn @main(%x: f32[n,4]) -> (%y) opset(\"\" = 17) {{\n{body}return {result} }} }}"
    )
}

fn chain(ops: usize) -> String {
    let mut body = String::from("%0 = onnx.Relu(%x)\n");
    for op in 1..ops {
        let _ = writeln!(body, "%{op} = onnx.Neg(%{})", op - 1);
    }
    main_of(&body, &format!("%{}", ops - 1))
}

fn equal(ops: usize) -> String {
    let mut body = String::new();
    for op in 0..ops {
        let _ = writeln!(body, "%{op} = onnx.Relu(%x)");
    }
    main_of(&body, "%0")
}

fn shapes(ops: usize) -> String {
    let mut body = String::from(
        "%i = const i64[] 0\n%axes = const i64[1] [0]\n%rest = const i64[1] [4]\n%v4 = onnx.Relu(%x)\n",
    );
    let mut value = 4;
    for _ in 0..ops / 5 {
        let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|step| value + step);
        let _ = writeln!(
            body,
            "%v{a} = onnx.Shape(%v{value})\n%v{b} = onnx.Gather(%v{a}, %i) {{axis = 0}}\n\
             %v{c} = onnx.Unsqueeze(%v{b}, %axes)\n%v{d} = onnx.Concat(%v{c}, %rest) {{axis = 0}}\n\
             %v{e} = onnx.Reshape(%v{value}, %v{d})"
        );
        value = e;
    }
    main_of(&body, &format!("%v{value}"))
}

fn loops(ops: usize) -> String {
    let (deep, mut body) = (
        1_000.min(ops / 2),
        String::from("%go = const bool[] true\n%count = const i64[] 3\n"),
    );
    for nest in 0..ops / (2 * deep) {
        for level in 0..deep {
            let from = if level == 0 {
                "x".to_owned()
            } else {
                format!("c{nest}_{}", level - 1)
            };
            let _ = writeln!(
                body,
                "%l{nest}_{level} = onnx.Loop(%count, %go, %{from}) {{body = region}} region body \
                 (%i{nest}_{level}: i64[], %g{nest}_{level}: bool[], %c{nest}_{level}: ?) {{\n\
                 %r{nest}_{level} = onnx.Relu(%c{nest}_{level})"
            );
        }
        for level in (0..deep).rev() {
            let gives = if level + 1 == deep {
                format!("r{nest}_{level}")
            } else {
                format!("l{nest}_{}", level + 1)
            };
            let _ = writeln!(body, "yield %g{nest}_{level}, %{gives} }}");
        }
    }
    main_of(&body, "%l0_0")
}

fn functions(ops: usize) -> String {
    let (mut body, mut others) = (String::new(), String::new());
    for op in 0..ops / 2 {
        let _ = writeln!(body, "%{op} = acme.F{op}(%x)");
        let _ = writeln!(
            others,
            "fn @acme.F{op}(%v: ?) -> (%w) opset(\"\" = 17) {{ %0 = onnx.Relu(%v) return %0 }}"
        );
    }
    let main = main_of(&body, "%0");
    format!("{}{others}}}", main.strip_suffix('}').expect("its end"))
}

fn calls(ops: usize) -> String {
    let mut body = String::from("%0 = acme.F(%x)\n");
    for op in 1..ops {
        let _ = writeln!(body, "%{op} = acme.F(%{})", op - 1);
    }
    let main = main_of(&body, &format!("%{}", ops - 1));
    let function = "fn @acme.F(%v: ?) -> (%w) opset(\"\" = 17) { %0 = onnx.Relu(%v) return %0 }";
    format!("{}{function}}}", main.strip_suffix('}').expect("its end"))
}
