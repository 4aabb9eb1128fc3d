//! Prints the patterns of rules, and runs rules on models, for a checker that builds models from patterns.
//!
//! `passdock-rules patterns FILE…` prints the patterns of the rules of the standard passes and of these files, as JSON.
//! The pass of a file has the name that `passdock run` gives it. `passdock-rules run FILE…` reads a JSON object per
//! line, `{"model", "out", "passes", "keep_negative_zero"}`, and prints a line for each: the number of rewrites by pass
//! and rule, the number of ops before and after, and errors. `default` in `passes` means the passes of that pipeline.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::{env, fs, io};

use passdock::pipeline::{BuiltInPipeline, DEFAULT};
use passdock::{
    Module, PassContext, Recorder, Registry, RulesFile, Sequential, Verify, model_file, toml,
};
use passdock_plugin_api::Rules;
use passdock_plugin_api::rewrite::{AttrTerm, Literal, Node, NodeAttr, Operand, Rule};
use passdock_plugins_relax::rules::{fold_explicit_padding, simplify_expr};
use passdock_tests::standard_registry;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, String>;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, files)) if command == "patterns" => patterns(files),
        Some((command, files)) if command == "run" => run(files),
        _ => Err("usage: passdock-rules patterns|run FILE…".into()),
    }
}

fn whole(error: impl ToString) -> String {
    error.to_string()
}

fn read(file: &str) -> Result<RulesFile> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    RulesFile::parse(file, &text).map_err(whole)
}

// --- patterns ----------------------------------------------------------------------

fn patterns(files: &[String]) -> Result<()> {
    let mut all = Vec::new();
    let simplify = simplify_expr::RULES.map(|rules| ("relax.transform.SimplifyExpr", rules));
    let padding = (
        "relax.transform.FoldExplicitPadding",
        &fold_explicit_padding::NOTHING,
    );
    for (pass, rules) in simplify.into_iter().chain([padding]) {
        all.extend(of_rules(pass, rules)?);
    }
    for file in files {
        let file = read(file)?;
        let rules = Rules::parse(file.text()).map_err(whole)?;
        all.extend(of_rules(&file.pass_name(), &rules)?);
    }
    let text = serde_json::to_string_pretty(&all).map_err(whole)?;
    writeln!(io::stdout(), "{text}").map_err(whole)
}

fn of_rules(pass: &str, rules: &Rules) -> Result<Vec<Value>> {
    let patterns = rules.describe().map_err(whole)?;
    let shown = |pattern: &Rule| {
        let nodes = pattern.nodes.iter();
        let values = pattern.values.iter().map(|value| {
            let alternatives = value.alternatives.iter();
            alternatives.map(|one| shown_operand(pattern, &one.value))
        });
        json!({
            "pass": pass,
            "rule": pattern.name,
            "nodes": nodes.map(|node| shown_node(pattern, node)).collect::<Vec<_>>(),
            "alternatives": values.map(Vec::from_iter).collect::<Vec<_>>(),
            "root": shown_operand(pattern, &pattern.root),
        })
    };
    Ok(patterns.iter().map(shown).collect())
}

fn shown_node(pattern: &Rule, node: &Node) -> Value {
    let operands = node.operands.iter();
    let attr = |NodeAttr { name, value, .. }: &NodeAttr| match &value.value {
        AttrTerm::Bound(at) => json!([name.value, "bound", pattern.attrs[*at]]),
        term => json!([name.value, "is", shown_term(pattern, term)]),
    };
    let operators = node.operators.iter().map(|operator| &operator.value);
    json!({
        "operators": operators.collect::<Vec<_>>(),
        "results": node.results,
        "operands": operands.map(|one| shown_operand(pattern, &one.value)).collect::<Vec<_>>(),
        "attrs": node.attrs.iter().map(attr).collect::<Vec<_>>(),
    })
}

fn shown_operand(pattern: &Rule, operand: &Operand) -> Value {
    match operand {
        Operand::Value(at) if !pattern.values[*at].alternatives.is_empty() => json!(["choice", at]),
        Operand::Value(at) => json!(["value", pattern.values[*at].name]),
        Operand::Optional(at) => json!(["optional", pattern.values[*at].name]),
        Operand::List(at) => json!(["list", pattern.lists[*at]]),
        Operand::Any => json!(["any"]),
        Operand::Absent => json!(["absent"]),
        Operand::Result { node, index } => json!(["result", node, index]),
        Operand::Number(number) => json!(["number", number.value]),
        Operand::Splat(at) => json!(["splat", pattern.attrs[*at]]),
        Operand::Elements(AttrTerm::Bound(at)) => json!(["elements", pattern.attrs[*at]]),
        Operand::Elements(term) => json!(["ints", shown_term(pattern, term)]),
        Operand::Created { .. } => unreachable!("a pattern creates nothing"),
    }
}

/// Returns a literal, or a list whose items may be names of attributes.
fn shown_term(pattern: &Rule, term: &AttrTerm) -> Value {
    match term {
        AttrTerm::Bound(at) => json!(pattern.attrs[*at]),
        AttrTerm::Literal(literal) => shown_literal(literal),
        AttrTerm::List(items) => items.iter().map(|item| shown_term(pattern, item)).collect(),
        AttrTerm::Compose(..) => unreachable!("a pattern composes nothing"),
    }
}

fn shown_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Int(int) => json!(int),
        Literal::Float(float) => json!(float),
        Literal::String(text) | Literal::Ident(text) => json!(text),
        Literal::Ints(ints) => json!(ints),
        Literal::Floats(floats) => json!(floats),
    }
}

// --- runs --------------------------------------------------------------------------

fn run(files: &[String]) -> Result<()> {
    let registry = standard_registry();
    for file in files {
        let pass = read(file)?.into_pass(None);
        registry.register(pass).map_err(whole)?;
    }
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.map_err(whole)?).map_err(whole)?;
        let model = request["model"].as_str().unwrap_or_default();
        // A panic is an error.
        let response = catch_unwind(AssertUnwindSafe(|| one(&registry, &request)));
        let mut response = match response.unwrap_or_else(|_| Err("a panic".into())) {
            Ok(response) => response,
            Err(why) => json!({ "error": why }),
        };
        response["model"] = model.into();
        writeln!(out, "{response}").map_err(whole)?;
        out.flush().map_err(whole)?;
    }
    Ok(())
}

fn one(registry: &Registry, request: &Value) -> Result<Value> {
    let text = |name: &str| request[name].as_str().ok_or(format!("no `{name}`"));
    let module = model_file::read(Path::new(text("model")?)).map_err(whole)?;
    let recorder = Arc::new(Recorder::default());
    let mut context = PassContext::builder()
        .registry(registry)
        .opt_level(2)
        .verify(Verify::All)
        .jobs(1)
        .recorder(recorder.clone())
        .on_diagnostic(|_| ());
    if request["keep_negative_zero"] == true {
        let options = toml::toml! { keep_negative_zero = true };
        context = context.config("relax.SimplifyExpr", options);
    }
    let context = context.build().map_err(whole)?;
    let mut passes = Vec::new();
    for name in request["passes"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        match name {
            "default" => {
                let names = default_passes()?;
                for name in names {
                    passes.push(registry.get_pass(&name).map_err(whole)?);
                }
            }
            name => passes.push(registry.get_pass(name).map_err(whole)?),
        }
    }
    let before = module.op_count();
    let pass = Sequential::new(passes).into_pass();
    let after: Module = pass.call_in(module, &context).map_err(whole)?;
    let options = model_file::WriteOptions {
        temporary: true,
        ..Default::default()
    };
    model_file::write(&after, Path::new(text("out")?), options).map_err(whole)?;
    let mut rewrites: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut ops = Vec::new();
    for record in recorder.take() {
        let of_pass = rewrites.entry(record.name.clone()).or_default();
        for (rule, times) in record.rewrites.iter() {
            *of_pass.entry(rule.to_owned()).or_default() += times;
        }
        ops.push(json!([record.name, record.ops_before, record.ops_after]));
    }
    Ok(json!({"rewrites": rewrites, "ops": ops, "before": before, "after": after.op_count()}))
}

/// Returns the names of the passes of the pipeline `default`.
fn default_passes() -> Result<Vec<String>> {
    let pipeline = BuiltInPipeline::named(DEFAULT).map_err(whole)?;
    let table: toml::Table = pipeline.text.parse().map_err(whole)?;
    let passes = table["passes"].as_array().into_iter().flatten();
    let names = passes.filter_map(|pass| Some(pass.get("name")?.as_str()?.to_owned()));
    Ok(names.collect())
}
