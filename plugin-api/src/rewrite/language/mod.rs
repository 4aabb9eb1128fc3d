//! The language of rules: from a text to what a rule says.
//!
//! `rule.rs` is what a rule says, `lex.rs` its words, `parse.rs` reads a rule as a whole, `before.rs` its pattern,
//! `after.rs` its replacement, `conditions.rs` what stands behind `where`; `comparisons.rs` and `bounds.rs` refuse
//! conditions that can't hold.

mod after;
mod before;
mod bounds;
mod comparisons;
mod conditions;
mod lex;
mod parse;
mod rule;

pub(super) use parse::{file, rule};
pub(super) use rule::{
    After, AttrTerm, Condition, NewNode, NewOperand, Relation, Rule, Term, Test,
};
pub use rule::{
    AttrPattern, Literal, Mention, MentionedAttr, MentionedOperand, Node, Number, Operand, Opset,
    Presence, RuleError,
};
