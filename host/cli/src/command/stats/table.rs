//! Statistics as tables: inputs, outputs, ops, parameters, functions, files.

use std::path::{Path, PathBuf};

use passdock_tools::stats::{
    ConstantsFile, DTypeAmount, FunctionStats, Input, OpKindStats, OpProvider, Parameters, Port,
    Stats, Storage,
};

use super::Model;
use super::summary::opsets;
use super::text::{MAX_ROWS, fit, more, name};
use crate::show::{self, TextTable, count};

/// Renders the tables that have rows.
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

/// Renders a table of the first items, and the number of hidden items.
fn listed<T, const N: usize>(
    columns: [&'static str; N],
    items: &[T],
    row: impl Fn(&T) -> [String; N],
) -> String {
    let table =
        TextTable::from_rows(columns, items.iter().take(MAX_ROWS).map(row)).within(show::columns());
    let more = more(items.len()).map(|more| more + "\n");
    table.render() + &more.unwrap_or_default()
}

fn inputs(stats: &Stats) -> String {
    let row = |input: &Input| {
        let [name, ty] = port(&input.port);
        let note = input.overridable.then_some("has a default");
        [name, ty, note.unwrap_or_default().to_owned()]
    };
    listed(["input", "type", ""], &stats.inputs, row)
}

fn outputs(stats: &Stats) -> String {
    listed(["output", "type"], &stats.outputs, port)
}

fn port(port: &Port) -> [String; 2] {
    let name = optional_name(port.name.as_deref());
    [name, fit(show::safe(&port.ty))]
}

fn optional_name(known: Option<&str>) -> String {
    known.map_or_else(|| "(no name)".to_owned(), name)
}

fn kinds(stats: &Stats) -> String {
    let row = |kind: &OpKindStats| {
        let nested = match kind.nested {
            0 => String::new(),
            nested => count(nested),
        };
        let note = match kind.provider {
            OpProvider::Onnx | OpProvider::Ir => "",
            OpProvider::Function => "function",
            OpProvider::Custom => "custom",
        };
        let op = fit(show::safe(&kind.op));
        [op, count(kind.count), nested, note.to_owned()]
    };
    let columns = ["op", ">count", ">in subgraphs", ""];
    listed(columns, &stats.ops.kinds, row)
}

fn dtypes(parameters: &Parameters) -> String {
    let row = |DTypeAmount { dtype, amount }: &DTypeAmount| {
        [
            dtype.clone(),
            count(amount.tensors),
            count(amount.elements),
            show::bytes(amount.bytes),
            share(amount.bytes, parameters.all.bytes),
        ]
    };
    let columns = ["dtype", ">tensors", ">elements", ">bytes", ">share"];
    listed(columns, &parameters.by_dtype, row)
}

fn largest(model: &Model, stats: &Stats) -> String {
    let mut table = TextTable::new(["largest constants", "type", ">bytes", ">share", ""]);
    let directory = directory(model);
    for constant in &stats.parameters.largest {
        let mut name = optional_name(constant.name.as_deref());
        if stats.entry.as_ref() != Some(&constant.function) {
            name.push_str(&format!(" in @{}", fit(show::safe(&constant.function))));
        }
        let location = match (constant.storage, &constant.file) {
            (Storage::Splat, _) => "splat".to_owned(),
            (_, Some(file)) => relative_to(file, directory.as_deref()),
            _ => String::new(),
        };
        table.row([
            name,
            fit(show::safe(&constant.ty)),
            show::bytes(constant.bytes),
            share(constant.bytes, stats.parameters.all.bytes),
            location,
        ]);
    }
    // Long names aren't wrapped: they are hard to compare across lines.
    table.render()
}

fn functions(stats: &Stats) -> String {
    if stats.functions.len() < 2 {
        return String::new();
    }
    let row = |function: &FunctionStats| {
        let copies = function.inlined_copies;
        [
            format!("@{}", fit(show::safe(&function.name))),
            count(function.ops),
            count(function.calls),
            copies.map_or_else(String::new, |copies| format!("× {}", count(copies))),
            opsets(&function.opsets),
        ]
    };
    let columns = ["function", ">ops", ">calls", ">inlined", "opsets"];
    listed(columns, &stats.functions, row)
}

fn external_files(model: &Model, stats: &Stats) -> String {
    let directory = directory(model);
    let row = |file: &ConstantsFile| {
        [
            relative_to(&file.path, directory.as_deref()),
            count(file.tensors),
            show::bytes(file.bytes_used),
            file.bytes.map_or_else(String::new, show::bytes),
            show::safe(file.problem.as_deref().unwrap_or("")),
        ]
    };
    let columns = ["external file", ">tensors", ">used", ">size", ""];
    let files = &stats.external_files;
    listed(columns, files, row)
}

/// Returns the model's directory, relative to which files are shown.
fn directory(model: &Model) -> Option<PathBuf> {
    let path = std::path::absolute(&model.input).ok()?;
    path.parent().map(Path::to_path_buf)
}

/// Returns the name of a file relative to the model's directory, if it is below it.
fn relative_to(path: &str, directory: Option<&Path>) -> String {
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
