//! Scaling of every step of a run, over models that have 10^3 to 10^5 of one kind of entity. No pass may be quadratic
//! on any shape.
//!
//! The table has a block for each shape, with a line for each pass of the standard plugins, for reading and writing
//! text and ONNX, and for the verifier. The last column is the ratio of the times at the two largest sizes. A ratio
//! above 30 x is marked and listed again at the end. The time is that of the fastest of a few runs, as processor time
//! where the system reports it, so that other load on the machine matters less.
//!
//! `cargo bench -p passdock-benches --bench scale -- 10000` limits the size to 10,000, `-- 1000000` raises the limit.
//! `-- calls FoldConstant` shows only the lines whose shape and pass names contain these words.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::path::Path;
use std::time::Duration;

use passdock::plugin::PassKind;
use passdock::{PassContext, PassRef, Registry};
use passdock_benches::clock::Clock;
use passdock_benches::shapes::{Shape, shapes};
use passdock_benches::{context, is_quick, registry};
use passdock_ir::{Module, text, verify};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// The default limit of the size.
const LARGEST: usize = 100_000;
/// The size in a quick run.
const QUICK: usize = 20;
/// The number of runs, unless one takes longer than [`LONG`].
const RUNS: usize = 3;
const LONG: Duration = Duration::from_millis(300);
/// The highest ratio that isn't marked. A linear step has 10, plus the effect of caches; a quadratic one has 100.
const LINEAR: f64 = 30.0;
/// Shorter times aren't marked, because they are noise.
const NOISE: Duration = Duration::from_millis(5);
/// A step isn't run if it would take longer than this, assuming it is quadratic.
const TOO_LONG: Duration = Duration::from_secs(60);

/// A step that is measured on a model.
enum Step {
    Parse,
    Verify,
    Print,
    Write,
    Read,
    Pass(Box<PassRef>),
}

/// A model in each form that a step takes as its input.
struct Model {
    text: String,
    module: Module,
    onnx: Option<Vec<u8>>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.iter().find_map(|argument| argument.parse().ok());
    let limit: usize = limit.unwrap_or(LARGEST);
    let words: Vec<&String> = arguments
        .iter()
        .filter(|word| !word.starts_with('-') && word.parse::<usize>().is_err())
        .collect();
    let sizes: Vec<usize> = match is_quick() {
        true => vec![QUICK],
        false => SIZES.into_iter().filter(|&size| size <= limit).collect(),
    };
    let registry = registry(&[passdock_plugins_tir::PLUGIN]);
    let context = context(&registry, 1);
    let mut marked = Vec::new();
    for shape in shapes() {
        let mut steps = steps(&registry, &shape, &sizes);
        steps.retain(|(name, _)| {
            let title = format!("{}: {name}", shape.name);
            words.iter().all(|word| title.contains(word.as_str()))
        });
        if steps.is_empty() {
            continue;
        }
        let all: Vec<Model> = sizes.iter().map(|&size| Model::new(&shape, size)).collect();
        println!("{}", shape.name);
        for (name, steps) in steps {
            let line = measure(&name, &steps, &all, &context);
            println!("  {line}");
            if line.ends_with('!') {
                marked.push(format!("{}: {line}", shape.name));
            }
        }
    }
    println!("\nmore than {LINEAR} x, or too long to try:");
    marked.iter().for_each(|line| println!("  {line}"));
}

/// Returns the steps for models of a shape: the name, and a step for each size.
fn steps(registry: &Registry, shape: &Shape, sizes: &[usize]) -> Vec<(String, Vec<Step>)> {
    let each = |step: fn() -> Step| sizes.iter().map(|_| step()).collect();
    let mut steps = vec![
        ("parse".to_owned(), each(|| Step::Parse)),
        ("verify".to_owned(), each(|| Step::Verify)),
        ("print".to_owned(), each(|| Step::Print)),
        ("write ONNX".to_owned(), each(|| Step::Write)),
        ("read ONNX".to_owned(), each(|| Step::Read)),
    ];
    let module = text::parse(&shape.text(sizes[0])).expect("a shape that can be read");
    let is_prim = |f: &passdock_ir::Function| f.kind() == passdock_abi::FunctionKind::PRIM;
    let is_prim = module.functions().any(|f| is_prim(f));
    for name in registry.pass_names() {
        let on_prim = registry.pass_kind(&name) == Some(PassKind::PrimFunction);
        if on_prim != is_prim {
            continue;
        }
        let pass = |&size: &usize| {
            let options = shape.options(&name, size);
            let options = options.unwrap_or_else(|| default_options(&name).to_owned());
            let options: passdock::toml::Table = options.parse().expect("options in TOML");
            let pass = registry.get_pass_with_options(&name, &options);
            Step::Pass(Box::new(pass.expect("a pass that takes these options")))
        };
        steps.push((name.clone(), sizes.iter().map(pass).collect()));
    }
    steps
}

/// Returns options with which a pass does more work.
fn default_options(pass: &str) -> &'static str {
    match pass {
        "relax.transform.SimplifyInference" => "batch_norm = true",
        "relax.transform.FoldConstant" => "allow_growth = true",
        "relax.transform.AnnotateTarget" => "target = \"npu\"\ntraits = [\"elementwise\"]",
        "relax.transform.FuseOpsByPattern" => {
            "patterns = [\"npu.two: onnx.Neg(onnx.LeakyRelu(%x))\"]"
        }
        _ => "",
    }
}

impl Model {
    fn new(shape: &Shape, size: usize) -> Model {
        let text = shape.text(size);
        let module = text::parse(&text);
        let module = module.unwrap_or_else(|error| panic!("{}: {error}", shape.name));
        let onnx = passdock_onnx::write(&module, passdock_onnx::EncodeOptions::default());
        let onnx = onnx.ok().map(|output| {
            let mut bytes = Vec::new();
            output.write_to(&mut bytes).expect("a vector takes all");
            bytes
        });
        Model { text, module, onnx }
    }

    /// Returns the duration of a step; `None` if this model doesn't support it.
    fn time(&self, step: &Step, context: &PassContext) -> Option<Duration> {
        let module = self.module.clone();
        let start = Clock::start();
        let result: Box<dyn std::any::Any> = match step {
            Step::Parse => Box::new(text::parse(&self.text)),
            Step::Verify => Box::new(verify::verify_module(&module)),
            Step::Print => Box::new(text::print(&module)),
            Step::Write => {
                let output = passdock_onnx::write(&module, passdock_onnx::EncodeOptions::default());
                output.ok()?.write_to(&mut std::io::sink()).ok()?;
                Box::new(())
            }
            Step::Read => {
                let bytes = self.onnx.clone()?;
                Box::new(passdock_onnx::read_bytes(Path::new("model.onnx"), bytes))
            }
            Step::Pass(pass) => Box::new(pass.call_in(module, context).ok()?),
        };
        let time = start.elapsed();
        drop(result);
        Some(time)
    }
}

/// Returns a line of the table.
fn measure(name: &str, steps: &[Step], models: &[Model], context: &PassContext) -> String {
    let mut line = format!("{name:<40}");
    let mut before: Option<Duration> = None;
    let mut growth = String::new();
    for (step, model) in steps.iter().zip(models) {
        if before.is_some_and(|before| before * 100 > TOO_LONG) {
            line += &format!("{:>11}", "-");
            growth = "too long !".to_owned();
            break;
        }
        let mut fastest: Option<Duration> = None;
        for _ in 0..RUNS {
            let Some(time) = model.time(step, context) else {
                return line + "          - (rejected)";
            };
            fastest = Some(fastest.map_or(time, |fastest| fastest.min(time)));
            if time > LONG {
                break;
            }
        }
        let time = fastest.unwrap_or_default();
        line += &format!("{:>11}", format!("{time:.1?}"));
        if let Some(before) = before {
            let ratio = time.as_secs_f64() / before.as_secs_f64();
            let mark = if ratio > LINEAR && time > NOISE {
                " !"
            } else {
                ""
            };
            growth = format!("{ratio:.1} x{mark}");
        }
        before = Some(time);
    }
    line + &format!("{growth:>12}")
}
