//! The checks of a plugin's op definitions, made when it is compiled.

use super::names::{equal, is_op};
use crate::op::OpDef;

/// Refuses definitions that no host would take.
pub(super) const fn check_ops(ops: &[OpDef]) {
    // Comparing each with each would take most of the steps that constant evaluation has.
    let mut seen = [0u64; 256];
    let mut o = 0;
    while o < ops.len() {
        assert!(
            is_op(ops[o].name),
            "an op is called by its domain and name, without blanks: `acme.Gelu`"
        );
        assert!(ops[o].since >= 1, "the first version of a domain is 1");
        assert!(
            !ops[o].extends || adds_only(&ops[o]),
            "what extends a definition has a body for back ends, layouts or `supports`, and nothing of what is the definition's to say"
        );
        assert!(
            ops[o].supports.is_none() || are_names(ops[o].targets),
            "`supports` speaks for targets, which have names"
        );
        let hash = hash(ops[o].name, ops[o].since);
        let (word, bit) = (hash / 64, 1 << (hash % 64));
        if seen[word] & bit != 0 {
            let mut other = 0;
            while other < o {
                assert!(
                    ops[other].since != ops[o].since
                        || ops[other].extends != ops[o].extends
                        || !equal(ops[other].name, ops[o].name),
                    "an op is defined twice since the same version"
                );
                other += 1;
            }
        }
        seen[word] |= bit;
        o += 1;
    }
}

/// Whether a definition has only what may be added to another one.
const fn adds_only(op: &OpDef) -> bool {
    op.infer.is_none()
        && op.evaluate.is_none()
        && op.decompose.is_none()
        && op.attrs.is_none()
        && op.traits.0 == 0
        && op.min_operands == 0
        && op.max_operands == u32::MAX
        && (op.legalize.is_some()
            || op.layout.is_some()
            || op.alter_layout.is_some()
            || op.supports.is_some())
}

/// Whether there are names, and none is empty.
const fn are_names(names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        if names[at].is_empty() {
            return false;
        }
        at += 1;
    }
    at > 0
}

/// A number below 2^14.
const fn hash(name: &str, since: i64) -> usize {
    let bytes = name.as_bytes();
    let (mut hash, mut i) = (since as u32, 0);
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    ((hash ^ (hash >> 15)) & 0x3fff) as usize
}
