//! Rewriting by rules: patterns of ops, and what stands in their place. [`Rules`] are written with
//! [`rules!`](crate::rules), or read from text; [`PassContext::rewrite`](crate::PassContext::rewrite) applies them.

// `crate::language` reads a rule from text; `rules.rs` is sets of them and the macro. `matching.rs` finds a pattern, `condition.rs` asks what else has to be true
// (`declared.rs`: and what nobody can rely on), `rewriter.rs` makes what replaces it, and `driver.rs` does all of
// that until nothing changes; `places.rs` says then what comes from where. `find.rs` only finds. What they need of
// regions and elements is passes' business, too: `region_results.rs`, `data/element.rs`.

mod condition;
mod declared;
mod driver;
mod find;
mod matching;
mod number;
mod operators;
mod places;
mod region_results;
mod rewriter;
mod rules;

pub use crate::language::{
    After, AttrTerm, Condition, Literal, Node, NodeAttr, Number, Operand, Opset, Relation, Rule,
    RuleError, Spanned, Term, Test,
};
pub use condition::compose;
pub use matching::Match;
pub use number::{is_about, number_of};
pub use region_results::RegionResults;
pub use rewriter::Rewriter;
#[doc(hidden)]
pub use rules::RuleSource;
pub use rules::{NoMatch, Rewritten, RuleCode, Rules};
