//! Type rules: what they read of an op, and what they answer.
//!
//! A rule says the types of an op's results as far as its operands' are known, and where a result is
//! a shape (a short list of integers), its elements as dims, which is how `Shape` → `Gather` →
//! `Concat` → `Reshape` keeps its symbols. It never guesses: a dim that isn't certain is `?`.

mod arithmetic;
mod dims;
mod read;
mod rule;
mod values;

pub(crate) use dims::{as_const, as_consts, is_known, same, sizes};
pub(crate) use rule::{Answer, Infer, ResultFacts, Rule, Stop, Ty, wrong};
pub(crate) use values::{Arithmetic, Moves, carry, compute_known, integer_tensor};
