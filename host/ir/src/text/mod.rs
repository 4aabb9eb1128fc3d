//! The text form (`.ir`).

mod types;

pub use types::type_text;
