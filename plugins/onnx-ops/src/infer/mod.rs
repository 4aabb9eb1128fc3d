//! The library for type rules.
//!
//! A rule infers the types of an op's results from its operands' types. If a result is a shape (a short list of
//! integers), it also infers its elements as dims. So `Shape` → `Gather` → `Concat` → `Reshape` keeps its symbols. A
//! rule never guesses: a dim that isn't certain is `?`.

mod arithmetic;
mod dims;
mod read;
mod rule;
mod values;

pub(crate) use dims::{as_consts, sizes};
pub(crate) use rule::{Infer, Inferred, ResultFacts, Rule, Stop, Ty, check_length, invalid};
pub(crate) use values::{Arithmetic, Moves, carry, compute_known, integer_tensor};
