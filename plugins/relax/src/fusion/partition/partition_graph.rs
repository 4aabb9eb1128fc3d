//! `relax.transform.PartitionGraph`: converts annotated regions to partitions for code generation.
//!
//! ```ir
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
//!   %b = acme.region(%x) : f32[4]
//!   %z = onnx.Softmax(%b) : f32[4]
//!   return %z
//! }
//! fn @acme.region(%x: f32[4]) -> (%b: f32[4]) opset("" = 17, "acme" = 1) attributes {Target = "npu"} {
//!   %a = onnx.Exp(%x) : f32[4]
//!   %b = onnx.Neg(%a) : f32[4]
//!   return %b
//! }
//! →
//! fn @main(%x: f32[4]) -> (%z: f32[4]) opset("" = 17, "acme" = 1) {
//!   %b = acme.npu_main_0(%x) : f32[4]
//!   %z = onnx.Softmax(%b) : f32[4]
//!   return %z
//! }
//! fn @acme.npu_main_0(%x: f32[4]) -> (%b: f32[4]) opset("" = 17, "acme" = 1)
//!     attributes {Codegen = "npu", global_symbol = "npu_main_0"} {
//!   %a = onnx.Exp(%x) : f32[4]
//!   %b = onnx.Neg(%a) : f32[4]
//!   return %b
//! }
//! ```
//!
//! Each call of a function with the attribute `Target` becomes a partition: a separate function in the same domain. The
//! attribute `Codegen` is the target's name. `global_symbol` consists of the target, the enclosing function and a
//! number, and is unique among all partitions, including those of earlier runs. The function's types are those of the
//! operands at the call. It contains ONNX ops, so the model still runs. With `bind_constants`, constants of any size
//! move into the partition; otherwise, constants of more than 64 elements are operands.
//!
//! A note reports the number of ops of each target, and of the remaining ops, by operator.
//!
//! Source: TVM `src/relay/transforms/partition_graph.cc`.

use std::collections::{BTreeMap, HashMap, HashSet};

use passdock_plugin_api::prelude::*;

use super::{domain_of, regroup, targets};
use crate::fusion::group::Group;
use crate::fusion::shared::marks::{CODEGEN, GLOBAL_SYMBOL, open_functions, string_attr};
use crate::shared::operators::{identifier, op_count};

options! {
    /// Options of PartitionGraph.
    pub struct PartitionGraph {
        /// Whether constants of any size move into the partition instead of being operands.
        bind_constants: bool = false,
    }
}

/// Runs `relax.transform.PartitionGraph`.
pub fn partition_graph(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<PartitionGraph>()?;
    let targets = targets(m)?;
    if targets.is_empty() {
        return Ok(());
    }
    let (mut new_groups, mut report) = (Vec::new(), Report::default());
    let mut symbols = Symbols::default();
    for entry in m.functions() {
        let symbol = string_attr(&m.snapshot(entry.name)?, GLOBAL_SYMBOL);
        symbols.taken.extend(symbol);
    }
    for holder in open_functions(m)? {
        let f = m.snapshot(holder)?;
        for op in f.iter() {
            let Some(target) = targets.get(&f.symbol(op)) else {
                report.stays(&f, op);
                continue;
            };
            report.count_supported(target, &m.snapshot(f.symbol(op))?);
            let base = format!("{}_{}", identifier(target), identifier(f.function_name()));
            let name = symbols.take(&base);
            let attrs = vec![
                (CODEGEN, AttrValue::from(&**target)),
                (GLOBAL_SYMBOL, AttrValue::from(&*name)),
            ];
            let mut group = Group::new(vec![op], domain_of(f.name(op)), name, attrs);
            if options.bind_constants {
                group.most_inside = u64::MAX;
            }
            new_groups.push((holder, group));
        }
    }
    regroup(m, &targets, new_groups)?;
    report.emit(cx);
    Ok(())
}

/// The `global_symbol`s of all partitions, including those of earlier runs.
#[derive(Default)]
struct Symbols {
    taken: HashSet<String>,
    /// The next number to try, by prefix.
    next: HashMap<String, usize>,
}

impl Symbols {
    fn take(&mut self, base: &str) -> String {
        let number = self.next.entry(base.to_owned()).or_default();
        loop {
            let name = format!("{base}_{number}");
            *number += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The numbers of ops by operator: those of each target, and the remaining ones.
#[derive(Default)]
struct Report {
    taken: BTreeMap<String, BTreeMap<String, usize>>,
    left: BTreeMap<String, usize>,
}

impl Report {
    fn stays(&mut self, f: &Function, op: OpId) {
        if !f.is_terminator(op) {
            *self.left.entry(f.name(op).to_owned()).or_default() += 1;
        }
    }

    fn count_supported(&mut self, target: &str, body: &Function) {
        let kinds = self.taken.entry(target.to_owned()).or_default();
        for op in body.iter().filter(|&op| !body.is_terminator(op)) {
            *kinds.entry(body.name(op).to_owned()).or_default() += 1;
        }
    }

    fn emit(&self, cx: &PassContext) {
        for (target, kinds) in &self.taken {
            let note = format!("`{target}` runs {}", listed(kinds));
            cx.emit(&Diagnostic::note(note).code("relax::partitioned"));
        }
        if !self.left.is_empty() {
            let note = format!("no target runs {}", listed(&self.left));
            cx.emit(&Diagnostic::note(note).code("relax::partitioned"));
        }
    }
}

/// Formats counts: `5 ops: onnx.Conv 3, onnx.Relu 2`.
fn listed(kinds: &BTreeMap<String, usize>) -> String {
    let all: usize = kinds.values().sum();
    let mut kinds: Vec<(&String, &usize)> = kinds.iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let kinds: Vec<String> = (kinds.iter())
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    format!("{}: {}", op_count(all), kinds.join(", "))
}
