//! `relax.transform.FuseOpsByPattern`: makes functions of ops that patterns find, under the patterns' names.
//!
//! ```ir
//! fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%z: f32[1,8,6,6]) opset("" = 17) {
//!   %y = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %z = onnx.Relu(%y) : f32[1,8,6,6]
//!   return %z
//! }
//! → { patterns = ["npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))"] }
//! fn @main(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%z: f32[1,8,6,6]) opset("" = 17, "npu" = 1) {
//!   %z = npu.conv_relu(%x, %w) : f32[1,8,6,6]
//!   return %z
//! }
//! fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%z: f32[1,8,6,6]) opset("" = 17, "npu" = 1) attributes {Composite = "npu.conv_relu"} {
//!   %y = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %z = onnx.Relu(%y) : f32[1,8,6,6]
//!   return %z
//! }
//! ```
//!
//! A pattern is what stands in front of a rule's arrow, with its conditions, as in `.rules` files; before it stands the name
//! of what it finds, a domain and a name. Patterns that come first have the first choice; of one pattern, what stands
//! first. An op is of one function only. The functions have the attribute `Composite`.
//!
//! It does not take ops with an effect, nor in functions that skip optimization or that groups became already; nor ops of
//! which one that isn't among them needs a result and makes an operand.
//!
//! Source: TVM `src/relax/transform/fuse_ops.cc`.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use passdock_plugin_api::Rules;
use passdock_plugin_api::prelude::*;

use crate::group::{Group, Groups, MOST_INSIDE};
use crate::shared::marks::{COMPOSITE, is_closed};

options! {
    /// What is looked for.
    pub struct FuseOpsByPattern {
        /// Patterns, each behind its name: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
        patterns: Vec<String> = [],
    }
}

/// Ops that a pattern found.
type Found = Arc<Mutex<Vec<Vec<OpId>>>>;

/// Runs `relax.transform.FuseOpsByPattern`.
pub fn fuse_ops_by_pattern(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<FuseOpsByPattern>()?;
    let patterns: Result<Vec<Pattern>, PassError> = options
        .patterns
        .iter()
        .map(|text| Pattern::of(text))
        .collect();
    let patterns = patterns?;
    let mut makers = Vec::new();
    for pattern in &patterns {
        makers.push(Groups::new(m, &pattern.domain)?);
    }
    let entries: Vec<_> = m.functions().collect();
    for entry in entries.iter().filter(|f| f.kind == FunctionKind::GRAPH) {
        let f = m.snapshot(entry.name)?;
        if is_closed(&f) {
            continue;
        }
        drop(f);
        for (pattern, groups) in patterns.iter().zip(&mut makers) {
            let mut used: HashSet<OpId> = HashSet::new();
            for ops in pattern.find(m.edit(entry.name)?, cx)? {
                let is_free = ops.iter().all(|op| !used.contains(op));
                if is_free && pattern.make(m, groups, entry.name, &ops)? {
                    used.extend(ops);
                }
            }
        }
    }
    Ok(())
}

/// A pattern, and what its functions are called.
struct Pattern {
    domain: String,
    name: String,
    rules: Rules,
    found: Found,
}

impl Pattern {
    /// A pattern as the option has it.
    fn of(text: &str) -> Result<Pattern, PassError> {
        let parts = text.split_once(": ").and_then(|(full, pattern)| {
            let (domain, name) = full.trim().rsplit_once('.')?;
            Some((domain.to_owned(), name.to_owned(), pattern))
        });
        let Some((domain, name, pattern)) = parts else {
            let message = format!(
                "The option `patterns` has {text:?}, which isn't a name with a domain, a colon and a pattern: \
                 `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`."
            );
            return Err(PassError::new(message));
        };
        let found = Found::default();
        let sink = found.clone();
        let rules = Rules::with_code(&name, pattern, move |_, found| {
            let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
            sink.push(found.ops().to_vec());
            Ok(None)
        });
        let rules = rules.map_err(|error| {
            PassError::new(format!(
                "The pattern of `{domain}.{name}` can't be read: {}",
                error.message
            ))
        })?;
        Ok(Pattern {
            domain,
            name,
            rules,
            found,
        })
    }

    /// What it finds, in program order.
    fn find(&self, f: &mut Function, cx: &PassContext) -> Result<Vec<Vec<OpId>>, PassError> {
        cx.rewrite(f, &[&self.rules])?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *found))
    }

    /// Makes a function of ops, if they can be one.
    fn make(
        &self,
        m: &mut Module<'_>,
        groups: &mut Groups,
        holder: SymbolId,
        ops: &[OpId],
    ) -> Result<bool, PassError> {
        let f = m.edit(holder)?;
        let Some((&root, others)) = ops.split_last() else {
            return Ok(false);
        };
        let region = f.parent_region(root);
        let is_inner = |&op: &OpId| {
            let mut uses = f.results(op).iter().flat_map(|&value| f.iter_uses(value));
            f.parent_region(op) == region && uses.all(|one| ops.contains(&one.op))
        };
        if !ops.iter().all(|&op| f.traits(op).is_pure()) || !others.iter().all(is_inner) {
            return Ok(false);
        }
        let name = format!("{}.{}", self.domain, self.name);
        let group = Group {
            ops,
            name: &self.name,
            attrs: &[(COMPOSITE, AttrValue::from(name))],
            places: None,
            most_inside: MOST_INSIDE,
        };
        Ok(groups.make(m, holder, group)?.is_some())
    }
}
