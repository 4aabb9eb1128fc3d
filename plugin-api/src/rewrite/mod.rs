//! Rewrite rules: patterns of ops and their replacements. [`Rules`] are declared with [`rules!`](crate::rules) or
//! parsed from text; [`PassContext::rewrite`](crate::PassContext::rewrite) applies them.

// `crate::language` parses rules; `rules.rs` has sets of them and the macro, whose syntax `syntax.rs` checks when it is
// compiled. `search.rs` matches a pattern (`matching.rs`: the match), `condition.rs` tests its conditions
// (`declared.rs`: with inferred instead of declared types), `rewriter.rs` creates the replacement, and `driver.rs`
// repeats this until a fixed point; `locations.rs` then sets the locations. `find.rs` only matches. Passes also use
// `region_results.rs` and `data/element.rs`.

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
mod search;
#[doc(hidden)]
pub mod syntax;

pub use crate::language::{
    After, AttrTerm, Condition, Literal, Node, NodeAttr, Number, Operand, Opset, PatternValue,
    Relation, Rule, RuleError, Spanned, Term, Test,
};
pub use condition::{broadcasts_to, compose};
pub use matching::Match;
pub use number::{is_about, number_of};
pub use region_results::RegionResults;
pub use rewriter::Rewriter;
#[doc(hidden)]
pub use rules::RuleSource;
pub use rules::{NoMatch, Rewritten, RuleCode, Rules};
