//! The number of runs that reduction to the miscompiled ops takes.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::fmt::Write;

use passdock::oracle::Verdict;
use passdock::pipeline::{Trial, Trials};
use passdock::{Module, PassError, model_file};
use passdock_tools::reduce::{self, ReduceOptions, Reduction};

/// Builds blocks with a bypass each, whose shape is computed, and one `Selu` in the middle.
fn blocks(count: usize) -> Module {
    let mut text =
        String::from("module {\n  fn @main(%x0: f32[8,8]) -> (%y: f32[8,8]) opset(\"\" = 17) {\n");
    for at in 0..count {
        let next = at + 1;
        let op = if at == count / 2 { "Selu" } else { "Tanh" };
        // Writing to a string doesn't fail.
        _ = write!(
            text,
            "    %w{at} = const f32[8,8] splat(0.5)
    %m{at} = onnx.MatMul(%x{at}, %w{at}) : f32[8,8]
    %s{at} = onnx.Shape(%m{at}) : i64[2]
    %r{at} = onnx.Reshape(%m{at}, %s{at}) : f32[8,8]
    %t{at} = onnx.{op}(%r{at}) : f32[8,8]
    %x{next} = onnx.Add(%x{at}, %t{at}) : f32[8,8]\n"
        );
    }
    _ = write!(
        text,
        "    %y = onnx.Identity(%x{count}) : f32[8,8]\n    return %y\n  }}\n}}\n"
    );
    model_file::parse_text("m.ir", &text).expect("IR text")
}

/// A pipeline that replaces each `Selu` with another op, and counts its runs.
struct Miscompiler(usize);

impl Trials for Miscompiler {
    fn run(&mut self, module: &Module, _: bool) -> Result<Trial, PassError> {
        self.0 += 1;
        let text = passdock::ir::print_with(module, &passdock::ir::PrintOptions::default());
        let miscompiled = text.replace("onnx.Selu", "onnx.Elu");
        Ok(Trial::Succeeded(match miscompiled == text {
            true => module.clone(),
            false => model_file::parse_text("m.ir", &miscompiled)?,
        }))
    }

    fn typed(&mut self, _: &Module) -> Option<Module> {
        None
    }
}

/// Reduces with a limit on runs. Like a runtime, the check is inconclusive for a model with generated shapes, and
/// only compares results.
fn shrink(module: &Module, max_runs: usize) -> Reduction {
    let check = |before: &Module, after: &Module| {
        let f = before.functions().next().expect("a function");
        let mut params = f.args(f.body()).map(|param| f.describe(param));
        let is_generated = params.any(|param| param.starts_with("%s"));
        Ok(match (is_generated, before.is_same(after)) {
            (true, _) => Verdict::Unknown,
            (false, true) => Verdict::Good,
            (false, false) => Verdict::Bad,
        })
    };
    let options = ReduceOptions {
        max_runs,
        ..ReduceOptions::default()
    };
    let mut miscompiler = Miscompiler(0);
    reduce::reduce(
        &mut miscompiler,
        module,
        Some(Box::new(check)),
        options,
        &mut |_| (),
    )
    .expect("a failure")
}

#[test]
fn reduce_leaves_few_ops_after_60_runs() {
    for count in [1, 3, 60, 1000] {
        let module = blocks(count);
        let reduction = shrink(&module, 60);
        assert!(
            reduction.ops_after <= 20 && reduction.runs <= 60,
            "{count}: {} ops after {} runs; {:#?}",
            reduction.ops_after,
            reduction.runs,
            reduction.steps
        );
    }
}

#[test]
fn reduce_is_deterministic() {
    let module = blocks(20);
    let [one, other] = [shrink(&module, 40), shrink(&module, 40)];
    assert_eq!(one.steps, other.steps);
}
