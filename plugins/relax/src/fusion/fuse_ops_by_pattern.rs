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
//! fn @npu.conv_relu(%x: f32[1,8,8,8], %w: f32[8,8,3,3]) -> (%z: f32[1,8,6,6]) opset("" = 17, "npu" = 1)
//!     attributes {Composite = "npu.conv_relu"} {
//!   %y = onnx.Conv(%x, %w) : f32[1,8,6,6]
//!   %z = onnx.Relu(%y) : f32[1,8,6,6]
//!   return %z
//! }
//! ```
//!
//! A pattern is what stands in front of a rule's arrow, with its conditions, as in `.rules` files; before it stands the
//! name of what it finds, a domain and a name. `rules` takes whole texts of rules: a pipeline's file names files there
//! (`rules = ["npu.rules"]`), and so does `--config`. A rule's name is that of what it finds, in the domain
//! `passdock.composite` if it has none (`rule npu.conv_relu { … }` has one); it may end before the arrow, and what
//! stands behind that says nothing.
//!
//! Patterns that come first have the first choice, `patterns` before `rules`; of one pattern, what stands first. An op
//! is of one function only. The functions have the attribute `Composite`, and are counted, and disabled by
//! `--disable-rule`, by the pattern's name.
//!
//! It does not take ops with an effect, nor in functions that skip optimization, that groups became already or that
//! stand for an op (`passdock.layout`, `passdock.fast`); nor ops of which one that isn't among them needs a result and
//! makes an operand. Ops of which others use a result in between stay, too, unless `inner_results` is set: then the
//! function has those results as well.
//!
//! Source: TVM `src/relax/transform/fuse_ops.cc`.

use std::collections::HashSet;

use passdock_plugin_api::Rules;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::RuleError;

use crate::fusion::group::{Group, Groups};
use crate::fusion::shared::marks::{COMPOSITE, open_functions};
use crate::fusion::shared::placeholders::Placeholders;

/// The domain of what a rule finds whose name has none.
const DOMAIN: &str = "passdock.composite";

options! {
    /// What is looked for.
    pub struct FuseOpsByPattern {
        /// Patterns, each behind its name: `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`.
        patterns: Vec<String> = [],
        /// Texts of rules, of which what stands in front of the arrows is looked for. A pipeline names files of them:
        /// `npu.rules`.
        rules: Vec<RulesText> = [],
        /// Whether ops are taken of which others use results in between, and the function gives those, too.
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
        cx.find(m.edit(holder)?, &[&all], |_, place| {
            found.push((place.rule_index(), place.ops().to_vec()));
            Ok(())
        })?;
        // Those of one pattern stay in program order.
        found.sort_by_key(|(pattern, _)| *pattern);
        let mut used: HashSet<OpId> = HashSet::new();
        for (at, ops) in found {
            let pattern = &patterns[at];
            let is_free = ops.iter().all(|op| !used.contains(op));
            if !is_free || !cx.may_rewrite(&pattern.rule) {
                continue;
            }
            let f = m.snapshot(holder)?;
            if may_be_group(&f, &ops, &placeholders, options.inner_results)
                && groups.make(m, holder, &pattern.group(&ops))?.is_some()
            {
                cx.rewrote(&pattern.rule);
                used.extend(ops);
            }
        }
    }
    Ok(())
}

/// A pattern, and what its functions are called.
struct Pattern {
    domain: String,
    name: String,
    /// What it is called as a rule.
    rule: String,
    rules: Rules,
}

impl Pattern {
    /// A pattern as the option `patterns` has it.
    fn parse(text: &str) -> Result<Pattern, PassError> {
        let parts = text.split_once(": ").and_then(|(full, pattern)| {
            let (domain, name) = full.trim().rsplit_once('.')?;
            Some((domain.to_owned(), name.to_owned(), pattern))
        });
        let Some((domain, name, pattern)) = parts else {
            let message = format!(
                "The option `patterns` has {text:?}, which isn't a name with a domain, a colon and a pattern: \
                 `npu.conv_relu: onnx.Relu(onnx.Conv(%x, %w))`."
            );
            return Err(PassError::config(message));
        };
        let rule = format!("{domain}.{name}");
        let rules = Rules::pattern(&rule, pattern).map_err(|error| {
            PassError::config(format!(
                "The pattern of `{rule}` can't be read: {}",
                error.message
            ))
        })?;
        Ok(Pattern {
            domain,
            name,
            rule,
            rules,
        })
    }

    /// The patterns of a text of rules.
    fn all_of(text: &str) -> Result<Vec<Pattern>, PassError> {
        let unread = |error: RuleError| {
            let before = text.get(..error.at.start).unwrap_or(text);
            let line = 1 + before.matches('\n').count();
            let is_name = !text.contains(['{', '\n']) && text.ends_with(".rules");
            PassError::config(match is_name {
                true => format!(
                    "The option `rules` takes texts of rules here, and no file's name: {text:?}. Only a pipeline's \
                        file \
                     and `--config` name files."
                ),
                false => format!(
                    "The option `rules` has a text that can't be read, line {line}: {error}"
                ),
            })
        };
        let mut patterns = Vec::new();
        for rules in Rules::parse_patterns(text).map_err(unread)? {
            let rule = rules.names().map_err(unread)?.concat();
            let (domain, name) = rule.rsplit_once('.').unwrap_or((DOMAIN, &rule));
            patterns.push(Pattern {
                domain: domain.to_owned(),
                name: name.to_owned(),
                rule,
                rules,
            });
        }
        Ok(patterns)
    }

    /// The group of ops that it found.
    fn group(&self, ops: &[OpId]) -> Group {
        let name = format!("{}.{}", self.domain, self.name);
        let attrs = vec![(COMPOSITE, AttrValue::from(name))];
        Group::new(ops.to_vec(), &self.domain, self.name.clone(), attrs)
    }
}

/// Whether ops can be one function.
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
