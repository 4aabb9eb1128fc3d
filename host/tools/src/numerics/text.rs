//! The text rendering of a comparison.

use std::collections::BTreeMap;

use passdock_core::table::TextTable;
use passdock_core::terminal::line;

use super::compare::Comparison;
use super::outputs::OutputComparison;
use super::sizes::SampleSize;
use super::tolerance::ElementDifference;

/// Renders the samples, the differences of the interfaces and a table of the outputs.
pub(super) fn text(comparison: &Comparison) -> String {
    let runtime = &comparison.onnxruntime.version;
    let mut text = match comparison.seed {
        Some(seed) => format!("ONNX Runtime {runtime}, inputs from seed {seed}:\n"),
        None => format!("ONNX Runtime {runtime}, inputs from files:\n"),
    };
    for size in &comparison.sizes {
        text += &line(&format!("  {}", sized(size)));
    }
    for difference in &comparison.interface {
        let note = match difference.breaking {
            true => "",
            false => " (compatible, as ONNX Runtime infers it)",
        };
        text += &line(&format!("interface: {difference}{note}"));
    }
    if let Some(dtype) = comparison.compute_dtype {
        text += &format!("tolerance of {dtype}, which only the model after computes in\n");
    }
    if !comparison.outputs.is_empty() {
        text += &table(&comparison.outputs);
    }
    for inconsistent in &comparison.inconsistent_symbols {
        let (symbol, inputs) = (&inconsistent.symbol, typed(&inconsistent.inputs));
        text += &line(&format!(
            "differs only with several sizes of `{symbol}`, which the model declares as one size: {inputs} ({})",
            inconsistent.difference
        ));
    }
    text
}

fn sized(size: &SampleSize) -> String {
    let inputs = typed(&size.inputs);
    match (&size.rejected, size.runs, &size.inconsistent_symbol) {
        (Some(reason), ..) => {
            // The part before that is a position in ONNX Runtime's source.
            let reason = reason.rsplit("Status Message: ").next().unwrap_or(reason);
            format!("skipped, rejected by the model before: {inputs} ({reason})")
        }
        (None, 1, Some(symbol)) => format!("1 run with several sizes of `{symbol}`: {inputs}"),
        (None, 1, None) => format!("1 run: {inputs}"),
        (None, runs, _) => format!("{runs} runs: {inputs}"),
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
    let cells = |largest: Option<&ElementDifference>| match largest {
        None => ["0".to_owned(), String::new(), String::new()],
        Some(largest) => [
            match largest.value.is_nan() {
                true => String::new(),
                false => format!("{:.2e}", largest.value),
            },
            format!("{:?}", largest.index),
            format!("{} → {}", largest.before, largest.after),
        ],
    };
    let rows = outputs.iter().map(|output| {
        let name = output.name.clone();
        let result = if output.same { "same" } else { "DIFFERENT" }.to_owned();
        if let Some(reason) = &output.reason {
            let mut row = [(); 8].map(|()| String::new());
            (row[0], row[1], row[4]) = (name, result, reason.clone());
            return row;
        }
        // Strings and bools have no distance.
        let absolute = output.max_abs.as_ref().or(output.worst_mismatch.as_ref());
        let ([a, b, c], [d, e, f]) = (cells(absolute), cells(output.max_rel.as_ref()));
        [name, result, a, b, c, d, e, f]
    });
    TextTable::from_rows(columns, rows).render()
}
