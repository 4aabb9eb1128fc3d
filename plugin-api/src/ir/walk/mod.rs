//! Traversals: [`Visitor`], [`Mutator`] and [`Functor`].

mod functor;
mod kind;
mod mutator;
mod visitor;

pub use functor::{Functor, Results};
pub use kind::OpKind;
pub use mutator::{MutateResult, Mutated, Mutation, Mutator};
pub use visitor::{Visit, Visitor};
