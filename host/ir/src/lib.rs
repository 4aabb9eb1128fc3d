//! The IR: one arena-based IR for graph functions and loop-level functions.
//!
//! A [`Module`] is an ordered list of [`Function`]s. A function is a set of flat arenas with the records of the plugin
//! ABI (`passdock_abi`), so plugins read them in place. This crate depends on no pass, plugin or operator, and on no
//! file format except its own text format.
//!
//! Reading order: [`symbols`], [`constant`], [`function`] (reading), [`edit`] (changes), [`module`],
//! [`text`], [`verify`](mod@verify).

mod cache;
pub mod constant;
pub mod edit;
pub mod error;
pub mod function;
pub mod module;
pub mod name;
mod names;
mod pool;
mod quote;
mod source;
pub mod symbols;
pub mod text;
pub mod verify;

pub use cache::{CacheKey, CachedValue};
pub use constant::{ByteSource, ConstantData, Deferred, FileRange, Payload};
pub use edit::{
    AttrData, CloneOps, CloneRegion, MAX_OPSETS, NewAttr, NewOp, NewPort, NewRegion, OutlinedOps,
    Position,
};
pub use error::{Edit, EditFailure};
pub use function::differences::Differences;
pub use function::expr::MAX_DIM_TERMS;
pub use function::origin::{Entity, Extras, ModuleSource, Origins, SourceSpan};
pub use function::premises::Premises;
pub use function::reserve::ReplacedPools;
pub use function::types::{BufferSpec, TypeData};
pub use function::{Function, column};
pub use module::Module;
pub use name::OpName;
pub use symbols::Symbols;
