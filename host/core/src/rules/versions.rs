//! The check that the operators of a rule exist together in some opset.

use passdock_plugin_api as sdk;
use sdk::rewrite::{Operand, Rule, RuleError};

use super::Mention;
use super::definitions::RuleOp;

/// Rejects ops if no version of their domain has all of them, and alternatives that exist in none of the versions of
/// the others. `range` returns the first and the last version of a domain that the rule allows.
pub(super) fn check(
    rule: &Rule,
    ops: &[Vec<RuleOp<'_>>],
    range: impl Fn(&str) -> (i64, i64),
) -> Result<(), RuleError> {
    let versions = Versions::new(rule, ops);
    let all = || ops.iter().flatten();
    for (at, domain) in all().map(|one| &one.domain).enumerate() {
        if all().take(at).any(|other| other.domain == *domain) {
            continue;
        }
        let (first, last) = range(domain);
        // Definitions don't change between two of these versions.
        let mut candidates: Vec<(i64, Existing)> = all()
            .filter(|one| one.domain == *domain)
            .flat_map(|one| one.definitions.iter().map(|definition| definition.since))
            .chain(Some(first))
            .filter(|version| (first..=last).contains(version))
            .map(|version| (version, versions.existing(domain, version)))
            .collect();
        let mut narrowed: Option<&str> = None;
        for (op, needed) in &versions.needed {
            let before = candidates.len();
            candidates.retain(|(_, existing)| match *needed {
                Needed::Op => existing.ops[*op],
                Needed::OneOf(value) => existing.values[value],
            });
            let mention = ops[*op][0].mention;
            if let (true, Some(other)) = (candidates.is_empty(), narrowed) {
                return Err(apart(mention, other));
            }
            if candidates.len() < before {
                narrowed = Some(mention.operator());
            }
        }
        let exists = |op: &usize| candidates.iter().any(|(_, existing)| existing.ops[*op]);
        let useless = (0..ops.len()).find(|op| ops[*op][0].domain == *domain && !exists(op));
        if let (Some(op), Some(other)) = (useless, narrowed) {
            return Err(apart(ops[op][0].mention, other));
        }
    }
    Ok(())
}

/// Returns the error for two ops that no version has together.
fn apart(mention: Mention<'_>, other: &str) -> RuleError {
    let message = format!(
        "no opset version has both this `{}` and the `{other}` of this rule",
        mention.operator(),
    );
    RuleError::new(mention.name.at.clone(), message)
}

/// The ops of a rule with the indices by which the pattern refers to them.
struct Versions<'c> {
    rule: &'c Rule,
    /// The ops in the order of the text.
    ops: &'c [Vec<RuleOp<'c>>],
    /// The op of each node of the pattern.
    nodes: Vec<usize>,
    /// The ops that each match has or creates, in the order of the text; with the op to name in an error.
    needed: Vec<(usize, Needed)>,
}

#[derive(Clone, Copy)]
enum Needed {
    Op,
    /// One of the alternatives of a value.
    OneOf(usize),
}

/// Whether each op, and an alternative of each value, exists in a version.
struct Existing {
    ops: Vec<bool>,
    values: Vec<bool>,
}

impl<'c> Versions<'c> {
    fn new(rule: &'c Rule, ops: &'c [Vec<RuleOp<'c>>]) -> Versions<'c> {
        let is_of = |op: &[RuleOp<'_>], node| std::ptr::eq(op[0].mention.node, node);
        let nodes = rule.nodes.iter();
        let nodes = nodes.filter_map(|node| ops.iter().position(|op| is_of(op, node)));
        let nodes: Vec<usize> = nodes.collect();
        let created = (0..ops.len()).filter(|op| ops[*op][0].mention.is_replacement);
        let mut needed: Vec<(usize, Needed)> = created.map(|op| (op, Needed::Op)).collect();
        let mut is_reached = vec![false; rule.nodes.len()];
        let mut next = vec![&rule.root];
        while let Some(operand) = next.pop() {
            match operand {
                Operand::Result { node, .. } if !is_reached[*node] => {
                    is_reached[*node] = true;
                    needed.push((nodes[*node], Needed::Op));
                    let operands = rule.nodes[*node].operands.iter();
                    next.extend(operands.map(|operand| &operand.value));
                }
                Operand::Value(value) => {
                    let alternatives = rule.values[*value].alternatives.iter();
                    let mut ops = alternatives.filter_map(|one| match one.value {
                        Operand::Result { node, .. } => Some(nodes[node]),
                        _ => None,
                    });
                    needed.extend(ops.next().map(|op| (op, Needed::OneOf(*value))));
                }
                _ => {}
            }
        }
        needed.sort_by_key(|(op, _)| *op);
        Versions {
            rule,
            ops,
            nodes,
            needed,
        }
    }

    /// Returns what exists in a version of a domain. Ops of other domains, and those without definitions, may exist.
    fn existing(&self, domain: &str, version: i64) -> Existing {
        let own = self.ops.iter().map(|op| {
            let is_known = |one: &RuleOp<'_>| one.domain == *domain && !one.definitions.is_empty();
            !op.iter().all(is_known) || op.iter().any(|one| one.is_right(version))
        });
        let mut existing = Existing {
            ops: own.collect(),
            values: Vec::new(),
        };
        // Operands precede their users, and alternatives the values that have them.
        for (node, op) in self.rule.nodes.iter().zip(&self.nodes) {
            let mut operands = node.operands.iter();
            let exist = operands.all(|operand| self.exists(&operand.value, &mut existing));
            existing.ops[*op] &= exist;
        }
        self.exists(&self.rule.root, &mut existing);
        existing
    }

    fn exists(&self, operand: &Operand, existing: &mut Existing) -> bool {
        match operand {
            Operand::Result { node, .. } => existing.ops[self.nodes[*node]],
            Operand::Value(value) => {
                for value in &self.rule.values[existing.values.len().min(value + 1)..=*value] {
                    let mut alternatives = value.alternatives.iter();
                    let exists = value.alternatives.is_empty()
                        || alternatives.any(|one| match &one.value {
                            Operand::Result { node, .. } => existing.ops[self.nodes[*node]],
                            Operand::Value(value) => existing.values[*value],
                            _ => true,
                        });
                    existing.values.push(exists);
                }
                existing.values[*value]
            }
            _ => true,
        }
    }
}
