//! The number of runs in which a model shrinks to the ops on which a pass breaks it.
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
struct Spoiler(usize);

impl Trials for Spoiler {
    fn run(&mut self, module: &Module, _: bool) -> Result<Trial, PassError> {
        self.0 += 1;
        let text = passdock::ir::print_with(module, &passdock::ir::PrintOptions::default());
        let spoilt = text.replace("onnx.Selu", "onnx.Elu");
        Ok(Trial::Succeeded(match spoilt == text {
            true => module.clone(),
            false => model_file::parse_text("m.ir", &spoilt)?,
        }))
    }

    fn typed(&mut self, _: &Module) -> Option<Module> {
        None
    }
}

/// Reduces with a limit on runs. Like a runtime, the check is inconclusive for a model with invented shapes, and it
/// only compares results.
fn shrink(module: &Module, max_runs: usize) -> Reduction {
    let judge = |before: &Module, after: &Module| {
        let f = before.functions().next().expect("a function");
        let mut params = f.args(f.body()).map(|param| f.describe(param));
        let is_made_up = params.any(|param| param.starts_with("%s"));
        Ok(match (is_made_up, before.is_same(after)) {
            (true, _) => Verdict::Unknown,
            (false, true) => Verdict::Good,
            (false, false) => Verdict::Bad,
        })
    };
    let options = ReduceOptions {
        max_runs,
        ..ReduceOptions::default()
    };
    let mut spoiler = Spoiler(0);
    reduce::reduce(
        &mut spoiler,
        module,
        Some(Box::new(judge)),
        options,
        &mut |_| (),
    )
    .expect("it goes wrong")
}

#[test]
fn of_thousands_of_ops_few_are_left_after_60_runs() {
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
fn the_same_model_gives_the_same_answer() {
    let module = blocks(20);
    let [one, other] = [shrink(&module, 40), shrink(&module, 40)];
    assert_eq!(one.steps, other.steps);
}
