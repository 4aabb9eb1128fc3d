//! The IR: one arena IR for graph functions and loop-level functions.
//!
//! A [`Module`] is an ordered list of [`Function`]s; a function is a set of flat arenas whose
//! records are those of the plugin contract (`passdock_abi`), so a plugin reads them in place. This
//! crate knows no passes, no plugins, no operators and no file formats but its own text form.
//!
//! Reading order: [`symbols`], [`function`] (what one reads), [`edit`] (what one changes),
//! [`module`], [`types`], [`constant`], [`origin`], [`text`],
//! [`verify`](mod@verify).

mod compact;
pub mod constant;
mod depth;
pub mod edit;
pub mod error;
mod expr;
pub mod function;
mod kept;
mod memory;
mod merge;
pub mod module;
pub mod name;
pub mod origin;
pub mod symbols;
pub mod text;
mod transfer;
pub mod types;
pub mod verify;
mod walk;

pub use constant::{ByteSource, ConstantData, Deferred, Payload};
pub use edit::{AttrValue, CloneRegion, MAX_OPSETS, NewAttr, NewOp, NewPort, NewRegion, Position};
pub use error::{Edit, EditError};
pub use expr::MAX_DIM_TERMS;
pub use function::Function;
pub use kept::{KeptKey, KeptValue};
pub use module::Module;
pub use name::OpName;
pub use origin::{Entity, Extras, Origin, Origins};
pub use symbols::Symbols;
pub use types::{BufferSpec, TypeSpec};
pub use walk::Walk;
