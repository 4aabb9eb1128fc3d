//! The language of rules: from a text to what a rule says.
//!
//! `rule.rs` is what a rule says, `lex.rs` its words, `parse.rs` reads a rule as a whole, `before.rs` its pattern,
//! `after.rs` its replacement, `conditions.rs` what stands behind `where`.

mod after;
mod before;
mod conditions;
mod lex;
mod parse;
mod rule;

pub(super) use parse::{file, rule};
pub(super) use rule::{
    After, AttrTerm, Condition, NewNode, NewOperand, Relation, Rule, Term, Test,
};
pub use rule::{AttrPattern, Literal, Mention, Node, Number, Operand, RuleError};
