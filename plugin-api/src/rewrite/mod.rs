//! Rewriting by rules: patterns of ops, and what stands in their place. [`Rules`] are written with
//! [`rules!`](crate::rules), or read from text; [`PassContext::rewrite`](crate::PassContext::rewrite) applies them.

// `crate::language` reads a rule from text; `rules.rs` is sets of them and the macro, `check.rs` what the macro has
// checked while it is compiled. `matching.rs` finds a pattern, `condition.rs` asks what else has to be true
// (`declared.rs`: and what nobody can rely on), `rewriter.rs` makes what replaces it, and `driver.rs` does all of
// that until nothing changes; `places.rs` says then what comes from where. `find.rs` only finds. What they need of
// regions and elements is passes' business, too: `given_out.rs`, `data/element.rs`.

mod check;
mod condition;
mod declared;
mod driver;
mod find;
mod given_out;
mod matching;
mod number;
mod operators;
mod places;
mod rewriter;
mod rules;

#[doc(hidden)]
pub use crate::language::{AttrPattern, Literal, Node, Operand, Rule};
pub use crate::language::{Mention, MentionedAttr, MentionedOperand, Opset, Presence, RuleError};
#[doc(hidden)]
pub use check::check as check_rule;
pub use condition::{compose, number_of};
pub use given_out::GivenOut;
pub use matching::Match;
pub use number::is_about;
pub use rewriter::Rewriter;
#[doc(hidden)]
pub use rules::RuleSource;
pub use rules::{NoMatch, Rewritten, RuleCode, RuleInfo, Rules};
