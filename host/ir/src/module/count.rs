//! How many ops a module has, groups counted by what is in them.
//!
//! A function that is a kernel (`Primitive`), what a pattern found (`Composite`), what a target takes (`Target`) or a
//! partition (`Codegen`) is nothing but a place for ops: each call of it counts as its ops do, and itself as nothing.
//! So making groups isn't shown as fewer ops.

use std::sync::Arc;

use passdock_abi::{Attr, AttrKind, OpId, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Module;
use crate::function::Function;

/// The attributes of functions that are groups.
const GROUPS: [&str; 4] = ["Primitive", "Composite", "Target", "Codegen"];

impl Module {
    /// The number of live ops of all functions, without terminators, and those of groups once for each call of one, in
    /// its place: what reports count.
    pub fn op_count(&self) -> usize {
        let groups = self.groups();
        if groups.is_empty() {
            return self.functions().map(|function| function.op_count()).sum();
        }
        let counted = self.counted_ops().into_iter();
        counted.fold(0, |all, (_, count)| all.saturating_add(count))
    }

    /// The number of ops of each name, counted as [`Module::op_count`] does.
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

    /// The functions that are groups.
    fn groups(&self) -> FxHashSet<SymbolId> {
        let names = GROUPS.map(|name| self.symbols().find(name));
        let is_group = |f: &&Arc<Function>| names.iter().flatten().any(|&name| has(f, name));
        let groups = self.functions().filter(is_group);
        groups.map(|f| f.name()).collect()
    }

    /// How often each function counts: a group once for each call, or once if nobody calls it. Groups may call groups;
    /// of those that call themselves in the end, the calls count nothing.
    fn times(
        &self,
        groups: &FxHashSet<SymbolId>,
        names: &[FxHashMap<SymbolId, usize>],
    ) -> Vec<usize> {
        let calls = |caller: usize| {
            let calls = names[caller].iter();
            let calls = calls.filter(|(name, _)| groups.contains(name));
            calls.filter_map(|(name, &count)| Some((self.functions.get_index_of(name)?, count)))
        };
        // The callers of each function that aren't counted yet.
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

/// Whether a function has an attribute that isn't 0.
fn has(f: &Function, name: SymbolId) -> bool {
    let attr = f.attr(OpId::NONE, name);
    attr.is_some_and(|attr: &Attr| attr.kind != AttrKind::INT || attr.bits != 0)
}

#[cfg(test)]
mod tests {
    use crate::text;

    #[test]
    fn groups_count_as_what_is_in_them() {
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
