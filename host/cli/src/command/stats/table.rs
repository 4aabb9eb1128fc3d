//! The stats in tables: what the model takes and gives, ops, parameters, functions, files.

use std::path::{Path, PathBuf};

use passdock_tools::stats::{FunctionStats, OpProvider, Parameters, Port, Stats, Storage};

use super::Model;
use super::summary::opsets;
use super::text::{MOST, fit, more, name};
use crate::show::{self, Table, count};

/// A table each, for those that have rows.
pub(super) fn render(model: &Model, stats: &Stats) -> Vec<String> {
    let tables = [
        inputs(stats),
        outputs(stats),
        kinds(stats),
        dtypes(&stats.parameters),
        largest(model, stats),
        functions(stats),
        external_files(model, stats),
    ];
    let filled = tables.into_iter().filter(|table| !table.is_empty());
    filled.collect()
}

fn inputs(stats: &Stats) -> String {
    let mut table = Table::new(["input", "type", ""]);
    for input in stats.inputs.iter().take(MOST) {
        let [name, ty] = port(&input.port);
        let note = input.overridable.then(|| "has a default".to_owned());
        table.row([name, ty, note.unwrap_or_default()]);
    }
    cut(table.render(), stats.inputs.len())
}

fn outputs(stats: &Stats) -> String {
    let mut table = Table::new(["output", "type"]);
    for output in stats.outputs.iter().take(MOST) {
        table.row(port(output));
    }
    cut(table.render(), stats.outputs.len())
}

fn port(port: &Port) -> [String; 2] {
    [
        optional_name(port.name.as_deref()),
        fit(show::safe(&port.ty)),
    ]
}

fn optional_name(known: Option<&str>) -> String {
    known.map_or_else(|| "(no name)".to_owned(), name)
}

fn kinds(stats: &Stats) -> String {
    let mut table = Table::new(["op", ">count", ">in subgraphs", ""]);
    for kind in stats.ops.kinds.iter().take(MOST) {
        let nested = match kind.nested {
            0 => String::new(),
            nested => count(nested),
        };
        let note = match kind.provider {
            OpProvider::Onnx | OpProvider::Ir => "",
            OpProvider::Function => "function",
            OpProvider::Custom => "custom",
        };
        table.row([
            fit(show::safe(&kind.op)),
            count(kind.count),
            nested,
            note.to_owned(),
        ]);
    }
    cut(table.render_filled(), stats.ops.kinds.len())
}

fn dtypes(parameters: &Parameters) -> String {
    let mut table = Table::new(["dtype", ">tensors", ">elements", ">bytes", ">share"]);
    for dtype in parameters.by_dtype.iter().take(MOST) {
        let amount = dtype.amount;
        table.row([
            dtype.dtype.clone(),
            count(amount.tensors),
            count(amount.elements),
            show::bytes(amount.bytes),
            share(amount.bytes, parameters.all.bytes),
        ]);
    }
    cut(table.render(), parameters.by_dtype.len())
}

fn largest(model: &Model, stats: &Stats) -> String {
    let mut table = Table::new(["largest constants", "type", ">bytes", ">share", ""]);
    let directory = directory(model);
    for constant in &stats.parameters.largest {
        let mut name = optional_name(constant.name.as_deref());
        if stats.entry.as_ref() != Some(&constant.function) {
            name.push_str(&format!(" in @{}", fit(show::safe(&constant.function))));
        }
        let place = match (constant.storage, &constant.file) {
            (Storage::Splat, _) => "splat".to_owned(),
            (_, Some(file)) => beside(file, directory.as_deref()),
            _ => String::new(),
        };
        table.row([
            name,
            fit(show::safe(&constant.ty)),
            show::bytes(constant.bytes),
            share(constant.bytes, stats.parameters.all.bytes),
            place,
        ]);
    }
    table.render_filled()
}

fn functions(stats: &Stats) -> String {
    if stats.functions.len() < 2 {
        return String::new();
    }
    let mut table = Table::new(["function", ">ops", ">calls", ">inlined", "opsets"]);
    for function in stats.functions.iter().take(MOST) {
        table.row(function_row(function));
    }
    cut(table.render(), stats.functions.len())
}

fn function_row(function: &FunctionStats) -> [String; 5] {
    let inlined = match function.copies {
        Some(copies) => format!("× {}", count(copies)),
        None => String::new(),
    };
    [
        format!("@{}", fit(show::safe(&function.name))),
        count(function.ops),
        count(function.calls),
        inlined,
        opsets(&function.opsets),
    ]
}

fn external_files(model: &Model, stats: &Stats) -> String {
    let mut table = Table::new(["external file", ">tensors", ">used", ">size", ""]);
    let directory = directory(model);
    for file in stats.external_files.iter().take(MOST) {
        table.row([
            beside(&file.path, directory.as_deref()),
            count(file.tensors),
            show::bytes(file.bytes_used),
            file.bytes.map_or_else(String::new, show::bytes),
            show::safe(file.problem.as_deref().unwrap_or("")),
        ]);
    }
    cut(table.render_filled(), stats.external_files.len())
}

/// The model's directory, to name what lies in it.
fn directory(model: &Model) -> Option<PathBuf> {
    let path = std::path::absolute(&model.input).ok()?;
    path.parent().map(Path::to_path_buf)
}

/// A file as it is named from the model's directory, if it lies there.
fn beside(path: &str, directory: Option<&Path>) -> String {
    let below = directory.and_then(|directory| Path::new(path).strip_prefix(directory).ok());
    match below {
        Some(below) => show::name(&below.display().to_string()),
        None => show::name(path),
    }
}

fn share(part: u64, all: u64) -> String {
    match all {
        0 => String::new(),
        all => format!("{:.1} %", part as f64 / all as f64 * 100.0),
    }
}

/// A table, and how many of its rows aren't shown.
fn cut(table: String, rows: usize) -> String {
    match more(rows) {
        Some(more) => format!("{table}{more}\n"),
        None => table,
    }
}
