//! Rewriting by rules: patterns of ops, and what stands in their place. [`Rules`] are written with
//! [`rules!`](crate::rules), or read from text; [`PassContext::rewrite`](crate::PassContext::rewrite) applies them.

// `crate::language` reads a rule from text; `rules.rs` is sets of them and the macro. `matching.rs` finds a pattern,
// `condition.rs` tests its conditions (`declared.rs`: without the types that a model only declares), `rewriter.rs`
// makes the replacement, and `driver.rs` does all of that until nothing changes; `places.rs` then sets the locations.
// `find.rs` only finds. Passes use what these need of regions and elements, too: `region_results.rs`,
// `data/element.rs`.

mod condition;
mod declared;
mod driver;
mod find;
mod locations;
mod matching;
mod number;
mod operators;
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
