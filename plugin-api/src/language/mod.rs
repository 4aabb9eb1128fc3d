//! The language of rules: from a text to what a rule says. `docs/rules.md` describes it for authors.
//!
//! The SDK finds and replaces what rules say, for `rules!` and for what the host reads from files.
//!
//! `rule.rs` is what a rule says, `lex.rs` its words, `parse.rs` reads a rule as a whole, `node.rs` the ops of its
//! pattern and of its replacement, `conditions.rs` what stands behind `where`; `comparisons.rs` and `bounds.rs` refuse
//! conditions that can't hold.

mod bounds;
mod comparisons;
mod conditions;
mod lex;
mod node;
mod parse;
mod rule;

pub use parse::{file, rule, Extent};
pub use rule::{
    After, AttrTerm, Condition, Literal, Node, NodeAttr, Number, Operand, Opset, Relation, Rule,
    RuleError, Spanned, Term, Test,
};
