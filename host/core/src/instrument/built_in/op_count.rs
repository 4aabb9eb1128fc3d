//! The `op-count` instrument, which reports the ops that each pass added and removed, by kind.
//!
//! The numbers are differences of counts: replacing three `onnx.Add` with three others changes none. A pass that runs
//! others counts only its own changes, so the sum in the last line counts each change once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use passdock_abi::SymbolId;
use passdock_diagnostic::table::TextTable;
use passdock_ir::Module;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::PassError;
use crate::instrument::{
    Entries, Frame, InstrumentResult, InstrumentSpec, PassCall, PassInstrument, Running,
};
use crate::util;

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Counts the ops that each pass added and removed, by kind.";
    InstrumentSpec::new("op-count", summary, |(), _| Ok(Arc::new(OpCount::new()))).watching()
}

/// An instrument that counts ops around each pass.
#[derive(Default)]
pub struct OpCount {
    passes: Mutex<Vec<Counted>>,
    /// The module before each running pass, or after the last nested pass.
    running: Running<Module>,
    entries: Entries,
}

/// The counts of all runs of a pass.
#[derive(Serialize)]
struct Counted {
    name: String,
    runs: u32,
    ops: Changes,
}

/// The nonzero differences of op counts, by kind.
type Changes = BTreeMap<String, i64>;

impl OpCount {
    /// Creates an instrument without counts.
    pub fn new() -> OpCount {
        OpCount::default()
    }
}

impl PassInstrument for OpCount {
    fn name(&self) -> &str {
        "op-count"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            util::lock(&self.passes).clear();
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.running.push(call.module.clone());
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        let Some(before) = self.running.end(module) else {
            return Ok(());
        };
        let mut passes = util::lock(&self.passes);
        let at = passes.iter().position(|pass| pass.name == info.name);
        let at = at.unwrap_or_else(|| {
            passes.push(Counted {
                name: info.name.clone(),
                runs: 0,
                ops: Changes::new(),
            });
            passes.len() - 1
        });
        passes[at].runs += 1;
        if !before.is_same(module) {
            add(&mut passes[at].ops, &changes(&before, module));
        }
        Ok(())
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.running.pop();
        Ok(())
    }

    fn report(&self) -> Option<String> {
        let passes = util::lock(&self.passes);
        let mut table = TextTable::new(["pass", ">runs", "ops"]);
        let mut all = Changes::new();
        for pass in passes.iter() {
            add(&mut all, &pass.ops);
            table.row([pass.name.clone(), pass.runs.to_string(), listed(&pass.ops)]);
        }
        table.row(["all".to_owned(), String::new(), listed(&all)]);
        (!passes.is_empty()).then(|| table.render())
    }

    fn report_data(&self) -> Option<Value> {
        Some(json!({ "passes": *util::lock(&self.passes) }))
    }
}

/// Returns the differences of op counts in the functions that changed.
fn changes(before: &Module, after: &Module) -> Changes {
    let mut changes = Changes::new();
    for (module, other, sign) in [(before, after, -1), (after, before, 1)] {
        let mut counts: FxHashMap<SymbolId, i64> = FxHashMap::default();
        for (_, function, _) in module.changed_since(other) {
            for (_, op) in function.ops() {
                *counts.entry(op.name).or_default() += sign;
            }
        }
        // By text, since a host pass may return a module with other symbols than the one before.
        let named = |(name, count)| (module.symbols().text(name).to_owned(), count);
        add(&mut changes, &counts.into_iter().map(named).collect());
    }
    changes
}

fn add(to: &mut Changes, more: &Changes) {
    for (name, count) in more {
        *to.entry(name.clone()).or_default() += count;
    }
    to.retain(|_, count| *count != 0);
}

/// Formats the differences as `+3 onnx.Gemm -3 onnx.Add -3 onnx.MatMul`: added ops, then removed ones, the largest
/// counts first.
fn listed(ops: &Changes) -> String {
    let mut ops: Vec<(&String, &i64)> = ops.iter().collect();
    ops.sort_by_key(|(name, count)| (**count < 0, -count.abs(), *name));
    let each = ops.iter().map(|(name, count)| format!("{count:+} {name}"));
    match ops.is_empty() {
        true => "none".to_owned(),
        false => each.collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::instrument::built_in::testing::{
        failing, fuse, module, negate, no_op, run_with, sequential,
    };

    #[test]
    fn counts_changes_of_ops_per_pass() {
        let passes = [
            negate(),
            no_op("same"),
            sequential("inner", [fuse(), fuse()]),
        ];
        let counts = Arc::new(OpCount::new());
        let text = run_with(counts.clone(), &sequential("outer", passes), module());
        expect![[r#"
            pass                   runs  ops
            demo.transform.Negate     1  +2 onnx.Neg -2 onnx.Abs
            same                      1  none
            demo.transform.Fuse       2  -1 onnx.Relu
            inner                     1  none
            outer                     1  none
            all                          +2 onnx.Neg -2 onnx.Abs -1 onnx.Relu
        "#]]
        .assert_eq(&text);
        expect![["{\"passes\":[{\"name\":\"demo.transform.Negate\",\"ops\":{\"onnx.Abs\":-2,\"onnx.Neg\":2},\
            \"runs\":1},{\"name\":\"same\",\"ops\":{},\"runs\":1},{\"name\":\"demo.transform.Fuse\",\
            \"ops\":{\"onnx.Relu\":-1},\"runs\":2},{\"name\":\"inner\",\"ops\":{},\"runs\":1},{\"name\":\"outer\",\
            \"ops\":{},\"runs\":1}]}"]]
    .assert_eq(&counts.report_data().unwrap().to_string());
    }

    #[test]
    fn failed_pass_counts_nothing() {
        let text = run_with(Arc::new(OpCount::new()), &failing("p"), module());
        expect!["Error in pass p: it is broken"].assert_eq(&text);
    }
}
