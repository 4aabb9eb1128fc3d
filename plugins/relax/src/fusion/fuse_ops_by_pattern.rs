//! `relax.transform.FuseOpsByPattern`: groups ops that match patterns into functions named after the patterns.
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
//! fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%z: f32[1,8,6,6]) opset("" = 17, "npu" = 1)
//!     attributes {Composite = "npu.conv_relu"} {
//!   %y = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %z = onnx.Relu(%y) : f32[1,8,6,6]
//!   return %z
//! }
//! ```
//!
//! A pattern is the left-hand side of a rewrite rule with its conditions, as in `.rules` files. It is preceded by the
//! name of the function: a domain and a name. `rules` takes the text of rules. In a pipeline file and in `--config`, it
//! takes file names (`rules = ["npu.rules"]`). The functions are named after the rules, in the domain
//! `passdock.composite` if the name has no domain (`rule npu.conv_relu { … }` has one). A rule may end before the
//! arrow; the right-hand side is ignored.
//!
//! Earlier patterns take precedence, and `patterns` precede `rules`. Matches of one pattern are taken in program order.
//! Each op belongs to at most one function. The functions have the attribute `Composite`. Matches are counted under the
//! pattern's name and disabled with `--disabled-rule`.
//!
//! The pass doesn't match ops with effects. It also skips functions that skip optimization, that are groups already, or
//! that represent one op (`passdock.layout`, `passdock.fast`). A match is rejected if a value leaves the group and
//! returns through another op. It is also rejected if an intermediate result has other users, unless `inner_results` is
//! set; then the function returns these results as well.
//!
//! Source: TVM `src/relax/transform/fuse_ops.cc`.

use std::collections::HashSet;

use passdock_plugin_api::Rules;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::RuleError;

use crate::fusion::group::{Group, Groups};
use crate::fusion::shared::marks::{COMPOSITE, open_functions};
use crate::fusion::shared::placeholders::Placeholders;

/// The domain of functions whose rule's name has no domain.
const DOMAIN: &str = "passdock.composite";

options! {
    /// Options of FuseOpsByPattern.
    pub struct FuseOpsByPattern {
        /// Patterns with names: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
        patterns: Vec<String> = [],
        /// Text of rules whose left-hand sides are the patterns. A pipeline file takes names of files: `npu.rules`.
        rules: Vec<RulesText> = [],
        /// Whether to match ops whose intermediate results have other users. The function then returns these results as
        /// well.
        inner_results: bool = false,
    }
}

/// Runs `relax.transform.FuseOpsByPattern`.
pub fn fuse_ops_by_pattern(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<FuseOpsByPattern>()?;
    let mut patterns = Vec::new();
    for text in &options.patterns {
        patterns.push(Pattern::parse(text)?);
    }
    for text in &options.rules {
        patterns.extend(Pattern::all_of(&text.0)?);
    }
    let all = Rules::joined(patterns.iter().map(|pattern| &pattern.rules));
    let all = all.map_err(|error| PassError::new(error.to_string()))?;
    let placeholders = Placeholders::new(m)?;
    let mut groups = Groups::default();
    for holder in open_functions(m)? {
        let mut found = Vec::new();
        cx.find(m.edit(holder)?, &[&all], |_, position| {
            found.push((position.rule_index(), position.ops().to_vec()));
            Ok(())
        })?;
        // A stable sort: matches of one pattern stay in program order.
        found.sort_by_key(|(pattern, _)| *pattern);
        let mut used: HashSet<OpId> = HashSet::new();
        for (at, ops) in found {
            let pattern = &patterns[at];
            let is_free = ops.iter().all(|op| !used.contains(op));
            if !is_free || !cx.may_rewrite(&pattern.name) {
                continue;
            }
            let f = m.edit(holder)?;
            if may_be_group(f, &ops, &placeholders, options.inner_results)
                && groups.outline(m, holder, &pattern.group(&ops))?.is_some()
            {
                cx.rewrote(&pattern.name);
                used.extend(ops);
            }
        }
    }
    Ok(())
}

/// A pattern, and the name of its functions.
struct Pattern {
    /// The name with its domain, under which matches are counted and disabled.
    name: String,
    rules: Rules,
}

impl Pattern {
    /// Parses an entry of the option `patterns`.
    fn parse(text: &str) -> Result<Pattern, PassError> {
        let parts = text.split_once(": ").and_then(|(full, pattern)| {
            let name = full.trim();
            name.contains('.').then(|| (name.to_owned(), pattern))
        });
        let Some((name, pattern)) = parts else {
            let message = format!(
                "invalid value for option `patterns`: expected `DOMAIN.NAME: PATTERN`, such as \
                 `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`, found {text:?}"
            );
            return Err(PassError::config(message));
        };
        let rules = Rules::pattern(&name, pattern).map_err(|error| {
            PassError::config(format!(
                "invalid pattern `{name}` in option `patterns`: {}",
                error.message
            ))
        })?;
        Ok(Pattern { name, rules })
    }

    /// Parses the patterns of rules.
    fn all_of(text: &str) -> Result<Vec<Pattern>, PassError> {
        let unread = |error: RuleError| {
            let before = text.get(..error.at.start).unwrap_or(text);
            let line = 1 + before.matches('\n').count();
            let is_name = !text.contains(['{', '\n']) && text.ends_with(".rules");
            PassError::config(match is_name {
                true => format!(
                    "invalid value for option `rules`: expected the text of rules, found file name {text:?}; only \
                     pipeline files and `--config` accept file names"
                ),
                false => format!("invalid rules in option `rules`, line {line}: {error}"),
            })
        };
        let mut patterns = Vec::new();
        for rules in Rules::parse_patterns(text).map_err(unread)? {
            let name = rules.names().map_err(unread)?.concat();
            patterns.push(Pattern { name, rules });
        }
        Ok(patterns)
    }

    /// Returns the group for matched ops.
    fn group(&self, ops: &[OpId]) -> Group {
        let parts = self.name.rsplit_once('.');
        let (domain, name) = parts.unwrap_or((DOMAIN, &self.name));
        let attrs = vec![(COMPOSITE, AttrValue::from(format!("{domain}.{name}")))];
        Group::new(ops.to_vec(), domain, name.to_owned(), attrs)
    }
}

/// Whether ops can form one function.
fn may_be_group(
    f: &Function,
    ops: &[OpId],
    placeholders: &Placeholders<'_>,
    inner_results: bool,
) -> bool {
    let Some((&root, others)) = ops.split_last() else {
        return false;
    };
    let is_inner = |&op: &OpId| {
        let mut uses = f.results(op).iter().flat_map(|&value| f.iter_uses(value));
        f.parent_region(op) == f.parent_region(root)
            && (inner_results || uses.all(|one| ops.contains(&one.op)))
    };
    let is_pure = |&op: &OpId| placeholders.traits(f, op).is_pure();
    ops.iter().all(is_pure) && others.iter().all(is_inner)
}
