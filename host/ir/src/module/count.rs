//! Op counts of a module that don't depend on how ops are grouped into functions.
//!
//! Functions with the attribute `Primitive` (kernels), `Composite` (matched patterns), `Target` (assigned to a target)
//! or `Codegen` (partitions) are groups. A call of a group counts as the ops of the group, and the call op itself as
//! zero, so grouping doesn't look like fewer ops.

use std::sync::Arc;

use passdock_abi::{Attr, AttrKind, Constant, OpId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Module;
use crate::function::Function;

/// The attributes that mark a function as a group.
const GROUPS: [&str; 4] = ["Primitive", "Composite", "Target", "Codegen"];

impl Module {
    /// Returns the number of live ops of all functions, without terminators, as reports count them. The ops of a group
    /// are counted once per call of the group, and the calls aren't counted.
    pub fn op_count(&self) -> usize {
        let groups = self.groups();
        if groups.is_empty() {
            return self.functions().map(|function| function.op_count()).sum();
        }
        let counted = self.counted_ops().into_iter();
        counted.fold(0, |all, (_, count)| all.saturating_add(count))
    }

    /// Returns the number of used constants that are `Constant` nodes in the ONNX model. They aren't ops.
    pub fn constant_node_count(&self) -> usize {
        let is_node = |f: &Function, constant: &Constant| {
            let value = constant.value.option();
            constant.flags & Constant::NODE != 0
                && value.is_some_and(|value| f.value(value).use_count > 0)
        };
        let nodes_of = |f: &Function| {
            let constants = f.live_constants();
            constants
                .filter(|(_, constant)| is_node(f, constant))
                .count()
        };
        self.functions().map(|f| nodes_of(f)).sum()
    }

    /// Returns the number of ops of each name, counted like [`Module::op_count`].
    pub fn counted_ops(&self) -> FxHashMap<SymbolId, usize> {
        let groups = self.groups();
        let mut names: Vec<FxHashMap<SymbolId, usize>> = Vec::new();
        for f in self.functions() {
            let mut own = FxHashMap::default();
            for (_, op) in f.ops() {
                *own.entry(op.name).or_default() += 1;
            }
            names.push(own);
        }
        let times = self.times(&groups, &names);
        let mut all = FxHashMap::default();
        for (own, times) in names.iter().zip(times) {
            for (&name, &count) in own.iter().filter(|(name, _)| !groups.contains(name)) {
                let sum: &mut usize = all.entry(name).or_default();
                *sum = sum.saturating_add(count.saturating_mul(times));
            }
        }
        all
    }

    /// Returns the functions that are groups.
    fn groups(&self) -> FxHashSet<SymbolId> {
        let names = GROUPS.map(|name| self.symbols().find(name));
        let is_group = |f: &&Arc<Function>| names.iter().flatten().any(|&name| has(f, name));
        let groups = self.functions().filter(is_group);
        groups.map(|f| f.name()).collect()
    }

    /// Returns how often each function counts: a group once per call, or once if it has no caller. Groups may call
    /// groups; calls in a recursive cycle of groups count zero.
    fn times(
        &self,
        groups: &FxHashSet<SymbolId>,
        names: &[FxHashMap<SymbolId, usize>],
    ) -> Vec<usize> {
        let indices: FxHashMap<SymbolId, usize> = self.names().zip(0..).collect();
        let calls = |caller: usize| {
            let calls = names[caller].iter();
            let calls = calls.filter(|(name, _)| groups.contains(name));
            calls.filter_map(|(name, &count)| Some((*indices.get(name)?, count)))
        };
        // The number of callers of each function that aren't processed yet.
        let mut callers = vec![0_usize; self.len()];
        for (callee, _) in (0..self.len()).flat_map(calls) {
            callers[callee] += 1;
        }
        let times = callers.iter().map(|&callers| usize::from(callers == 0));
        let mut times: Vec<usize> = times.collect();
        let mut ready: Vec<usize> = (0..self.len()).filter(|&at| callers[at] == 0).collect();
        while let Some(caller) = ready.pop() {
            for (callee, count) in calls(caller) {
                let more = count.saturating_mul(times[caller]);
                times[callee] = times[callee].saturating_add(more);
                callers[callee] -= 1;
                if callers[callee] == 0 {
                    ready.push(callee);
                }
            }
        }
        times
    }
}

/// Whether a function has an attribute with a value other than 0.
fn has(f: &Function, name: SymbolId) -> bool {
    let attr = f.attr(OpId::NONE, name);
    attr.is_some_and(|attr: &Attr| attr.kind != AttrKind::INT || attr.bits != 0)
}

#[cfg(test)]
mod tests {
    use crate::text;

    #[test]
    fn calls_of_groups_count_the_ops_of_the_group() {
        let module = text::parse(
            r#"module {
  fn @main(%x) -> (%z) {
    %y = acme.Group(%x)
    %w = acme.Group(%y)
    %z = acme.Plain(%w)
    return %z
  }
  fn @acme.Group(%x) -> (%z) attributes {Codegen = "npu"} {
    %y = onnx.Neg(%x)
    %z = acme.Kernel(%y)
    return %z
  }
  fn @acme.Kernel(%x) -> (%z) attributes {Primitive = 1} {
    %y = onnx.Abs(%x)
    %z = onnx.Exp(%y)
    return %z
  }
  fn @acme.Unused(%x) -> (%y) attributes {Primitive = 1} {
    %y = onnx.Abs(%x)
    return %y
  }
  fn @acme.Plain(%x) -> (%y) attributes {Primitive = 0} {
    %y = onnx.Abs(%x)
    return %y
  }
}
"#,
        );
        let module = module.unwrap();
        assert_eq!(module.op_count(), 2 * 3 + 1 + 1 + 1);
    }
}
