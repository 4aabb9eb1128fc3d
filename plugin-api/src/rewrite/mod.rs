//! Rewriting by rules: patterns of ops, and what stands in their place.
//!
//! `language/` reads a rule from text, `rules.rs` is sets of them and the macro. `matching.rs` finds a pattern, `condition.rs` asks what else has to be true, `rewriter.rs` makes what
//! replaces it, and `driver.rs` does all of that until nothing changes.

mod condition;
mod driver;
mod language;
mod matching;
mod number;
mod operators;
mod rewriter;
mod rules;

pub use language::{Mention, RuleError};
pub use matching::Match;
pub use rewriter::Rewriter;
pub use rules::{Rewritten, RuleCode, RuleInfo, RuleSource, Rules};
