//! A comparison as people read it.

use std::collections::BTreeMap;

use passdock_core::table::Table;

use super::outputs::{Largest, OutputComparison};
use super::pair::Comparison;
use super::sizes::SampleSize;

/// What the models ran with, what differs between their interfaces, and a table of the outputs.
pub(super) fn text(comparison: &Comparison) -> String {
    let runtime = &comparison.onnxruntime.version;
    let mut text = match comparison.seed {
        Some(seed) => format!("ONNX Runtime {runtime}, inputs from seed {seed}:\n"),
        None => format!("ONNX Runtime {runtime}, inputs from files:\n"),
    };
    for size in &comparison.sizes {
        text += &format!("  {}\n", sized(size));
    }
    for found in &comparison.interface {
        let note = if found.breaks {
            ""
        } else {
            " (as ONNX Runtime infers it, no contradiction)"
        };
        text += &format!("interface: {found}{note}\n");
    }
    if let Some(dtype) = comparison.computed_in {
        text += &format!("held to what {dtype} allows, which the model after computes in\n");
    }
    if !comparison.outputs.is_empty() {
        text += &table(&comparison.outputs);
    }
    for apart in &comparison.apart {
        let (symbol, inputs) = (&apart.symbol, typed(&apart.inputs));
        text += &format!(
            "differs only where `{symbol}`, which the model declares to be one size, is several: {inputs} ({})\n",
            apart.difference
        );
    }
    text
}

fn sized(size: &SampleSize) -> String {
    let inputs = typed(&size.inputs);
    match (&size.refused, size.runs) {
        (Some(reason), _) => {
            // What stands before that is where in ONNX Runtime it was said.
            let reason = reason.rsplit("Status Message: ").next().unwrap_or(reason);
            format!("skipped, the model before doesn't take it: {inputs} ({reason})")
        }
        (None, 1) => format!("1 run: {inputs}"),
        (None, runs) => format!("{runs} runs: {inputs}"),
    }
}

fn typed(inputs: &BTreeMap<String, String>) -> String {
    let inputs = inputs.iter().map(|(name, ty)| format!("{name}: {ty}"));
    let inputs: Vec<String> = inputs.collect();
    match inputs.is_empty() {
        true => "no inputs".to_owned(),
        false => inputs.join(", "),
    }
}

fn table(outputs: &[OutputComparison]) -> String {
    let columns = [
        "output",
        "result",
        ">largest difference",
        "at",
        "",
        ">relative",
        "at",
        "",
    ];
    let rows = outputs.iter().map(|output| {
        let result = if output.same { "same" } else { "DIFFERENT" };
        let (name, result) = (output.name.clone(), result.to_owned());
        if let Some(what) = &output.what {
            let none = String::new;
            return [
                name,
                result,
                none(),
                none(),
                what.clone(),
                none(),
                none(),
                none(),
            ];
        }
        let [absolute, at, values] = largest(output.absolute.as_ref());
        let [relative, there, others] = largest(output.relative.as_ref());
        match (&output.absolute, &output.worst) {
            // Of strings and bools there is no distance.
            (None, Some(worst)) => [
                name,
                result,
                String::new(),
                worst.place(),
                worst.values(),
                relative,
                there,
                others,
            ],
            _ => [name, result, absolute, at, values, relative, there, others],
        }
    });
    Table::of(columns, rows).render()
}

fn largest(largest: Option<&Largest>) -> [String; 3] {
    match largest {
        None => ["0".to_owned(), String::new(), String::new()],
        Some(largest) => [
            format!("{:.2e}", largest.value),
            largest.place(),
            largest.values(),
        ],
    }
}
