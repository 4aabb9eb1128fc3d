//! Rewriting by rules: patterns of ops, and what stands in their place.
//!
//! `rule.rs` is what a rule says, `lex.rs` and `parse.rs` read one from text, `rules.rs` is sets of them and the
//! macro. `matching.rs` finds a pattern, `condition.rs` asks what else has to be true, `rewriter.rs` makes what
//! replaces it, and `driver.rs` does all of that until nothing changes.

mod condition;
mod driver;
mod lex;
mod matching;
mod number;
mod operators;
mod parse;
mod rewriter;
mod rule;
mod rules;

pub(crate) use driver::rewrite;
pub use matching::Match;
pub use rewriter::Rewriter;
pub use rule::RuleError;
pub use rules::{Rewritten, RuleCode, RuleSource, Rules};
