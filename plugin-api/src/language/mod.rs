//! Parser for the rule language, which `docs/rules.md` describes.
//!
//! The SDK applies parsed rules, both those of `rules!` and those that the host reads from files.
//!
//! `rule.rs` has the parsed rule, `lex.rs` the lexer. `parse.rs` parses a rule, `node.rs` the ops of its pattern and
//! its replacement, and `conditions.rs` its conditions. `comparisons.rs` and `bounds.rs` reject conditions that can't
//! hold.

mod bounds;
mod comparisons;
mod conditions;
mod lex;
mod node;
mod parse;
mod rule;

pub use parse::{file, rule, Extent};
pub use rule::{
    After, AttrTerm, Condition, Literal, Node, NodeAttr, Number, Operand, Opset, PatternValue,
    Relation, Rule, RuleError, Spanned, Term, Test,
};
