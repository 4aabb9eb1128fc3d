//! The language of rules: from a text to what a rule says. `docs/rules.md` describes it for authors.
//!
//! The SDK finds and replaces what rules say, for `rules!` and for what the host reads from files.
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

pub use parse::{file, rule, Extent};
pub use rule::{
    After, AttrPattern, AttrTerm, Condition, Literal, Mention, MentionedAttr, MentionedOperand,
    NewNode, NewOperand, Node, Number, Operand, Opset, Presence, Relation, Rule, RuleError, Term,
    Test,
};
