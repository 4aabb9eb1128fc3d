//! Facts about the whole model, one per line.

use passdock_tools::stats::{Amount, OpsetVersion, Parameters, Stats};

use super::Model;
use super::text::{MAX_ROWS, fit, more, name};
use crate::show::{self, Facts, count, counted};

/// Renders the facts, without empty lines.
pub(super) fn render(model: &Model, stats: &Stats) -> String {
    let mut facts = Facts::default();
    header(model, stats, &mut facts);
    facts.add("ops", ops(stats));
    custom_domains(stats, &mut facts);
    let results = &stats.results;
    if results.total > 0 {
        let (total, typed) = (count(results.total), count(results.typed));
        let fixed = count(results.static_shape);
        let fact = format!("{total}: {typed} typed, {fixed} with static shape");
        facts.add("results", fact);
    }
    if stats.subgraphs.regions > 0 {
        facts.add("subgraphs", subgraphs(stats));
    }
    parameters(&stats.parameters, &mut facts);
    if stats.initializer_inputs > 0 {
        let inputs = count(stats.inputs.len() as u64);
        let entries = counted(stats.initializer_inputs as u64, "initializer");
        let fact = format!("{inputs}, and {entries} listed as inputs (IR version below 4)");
        facts.add("inputs", fact);
    }
    if !stats.symbols.is_empty() || stats.unknown_dims > 0 {
        facts.add("dynamic dims", dynamic_dims(stats));
    }
    facts.render()
}

/// Adds the facts in the model's header.
fn header(model: &Model, stats: &Stats, facts: &mut Facts) {
    let mut file = match model.input.as_str() {
        "-" => "standard input".to_owned(),
        path => show::name(path),
    };
    if let Some(bytes) = model.bytes {
        file.push_str(&format!(", {}", show::bytes(bytes)));
    }
    if let Some(version) = stats.ir_version {
        file.push_str(&format!(", ONNX IR version {version}"));
    }
    facts.add("model", file);
    let producer = format!("{} {}", stats.producer_name, stats.producer_version);
    if !producer.trim().is_empty() {
        facts.add("producer", fit(show::safe(producer.trim())));
    }
    if !stats.domain.is_empty() {
        facts.add("domain", name(&stats.domain));
    }
    if let Some(version) = stats.model_version.filter(|&version| version != 0) {
        facts.add("model version", version.to_string());
    }
    for property in stats.metadata.iter().take(MAX_ROWS) {
        let (key, value) = (name(&property.key), fit(show::safe(&property.value)));
        facts.add("metadata", format!("{key} = {value}"));
    }
    if let Some(more) = more(stats.metadata.len()) {
        facts.add("metadata", more);
    }
    if !stats.opsets.is_empty() {
        facts.add("opsets", opsets(&stats.opsets));
    }
    if let Some(entry) = stats.entry.as_ref().filter(|entry| *entry != "main") {
        facts.add("entry", format!("@{}", fit(show::safe(entry))));
    }
}

/// Adds the domains for which a runtime needs custom kernels.
fn custom_domains(stats: &Stats, facts: &mut Facts) {
    for custom in stats.custom_domains.iter().take(MAX_ROWS) {
        let shown = custom.versions.iter().take(MAX_ROWS);
        let mut versions: Vec<String> = shown.map(i64::to_string).collect();
        versions.extend(more(custom.versions.len()));
        let version = match versions.as_slice() {
            [] => "without a declared version".to_owned(),
            versions => format!("version {}", versions.join(", ")),
        };
        let (ops, kinds) = (counted(custom.ops, "op"), counted(custom.operators, "kind"));
        let domain = name(&custom.domain);
        let fact = format!("{domain}, {version}: {ops} of {kinds}");
        facts.add("custom domains", fact);
    }
    if let Some(more) = more(stats.custom_domains.len()) {
        facts.add("custom domains", more);
    }
}

fn ops(stats: &Stats) -> String {
    let ops = &stats.ops;
    let kinds = counted(ops.kinds.len() as u64, "kind");
    let mut text = format!("{} of {kinds}", count(ops.total));
    if ops.nested > 0 {
        text.push_str(&format!(", {} in subgraphs", count(ops.nested)));
    }
    if stats.functions.len() > 1 {
        text += &match ops.inlined {
            Some(inlined) => format!("; {} with all calls inlined", count(inlined)),
            None => "; calls are circular or too many to inline".to_owned(),
        };
    }
    text
}

fn subgraphs(stats: &Stats) -> String {
    let subgraphs = &stats.subgraphs;
    let shown = subgraphs.parents.iter().take(MAX_ROWS);
    let mut parents: Vec<String> = shown
        .map(|holder| {
            let (op, regions) = (fit(show::safe(&holder.op)), count(holder.regions));
            format!("{regions} in {} {op}", count(holder.ops))
        })
        .collect();
    parents.extend(more(subgraphs.parents.len()));
    let levels = counted(subgraphs.depth.into(), "level");
    let (regions, parents) = (count(subgraphs.regions), parents.join(", "));
    format!("{regions}, {levels} deep: {parents}")
}

fn parameters(parameters: &Parameters, facts: &mut Facts) {
    let roles = [
        (parameters.initializers, "initializer"),
        (parameters.defaults, "default"),
        (parameters.constant_nodes, "Constant node"),
    ];
    let roles = roles.iter().filter(|(amount, _)| amount.tensors > 0);
    let roles = roles.map(|(amount, role)| counted(amount.tensors, role));
    let roles: Vec<String> = roles.collect();
    if roles.is_empty() {
        facts.add("parameters", "none");
    } else {
        let elements = counted(parameters.all.elements, "element");
        let (bytes, roles) = (show::bytes(parameters.all.bytes), roles.join(", "));
        facts.add("parameters", format!("{elements}, {bytes}: {roles}"));
    }
    let mut add = |amount: Amount, about, what: &str| {
        if amount.tensors > 0 {
            let tensors = counted(amount.tensors, "tensor");
            let bytes = show::bytes(amount.bytes);
            facts.add(about, format!("{tensors}, {bytes}{what}"));
        }
    };
    add(parameters.unused, "  unused", "");
    add(parameters.shared, "  shared", " not counted again");
    add(parameters.splats, "  splats", " spread out");
    add(parameters.attributes, "attributes", ", not parameters");
    add(parameters.scalars, "scalars", ", not parameters");
    let sparse = parameters.sparse;
    if sparse.tensors > 0 {
        let tensors = counted(sparse.tensors, "tensor");
        let (bytes, elements) = (show::bytes(sparse.bytes), count(sparse.elements));
        let stored = count(sparse.stored);
        let fact = format!("{tensors}, {bytes}, {stored} of {elements} elements stored");
        facts.add("sparse", fact);
    }
}

fn dynamic_dims(stats: &Stats) -> String {
    let shown = stats.symbols.iter().take(MAX_ROWS);
    let mut dims: Vec<String> = shown.map(|symbol| name(symbol)).collect();
    dims.extend(more(stats.symbols.len()));
    if stats.unknown_dims > 0 {
        let unknown = count(stats.unknown_dims as u64);
        dims.push(format!("{unknown} without a name"));
    }
    dims.join(", ")
}

/// Renders opset versions by domain.
pub(super) fn opsets(opsets: &[OpsetVersion]) -> String {
    let shown = opsets.iter().take(MAX_ROWS);
    let mut all: Vec<String> = shown
        .map(|opset| match opset.domain.as_str() {
            "" => format!("ai.onnx {}", opset.version),
            domain => format!("{} {}", name(domain), opset.version),
        })
        .collect();
    all.extend(more(opsets.len()));
    all.join(", ")
}
