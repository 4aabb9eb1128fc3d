//! Cases that are IR text: what stands in a file, what becomes of it, and whether that is what the file says.
//!
//! ```text
//! ; passes = ["SimplifyExpr"]
//!
//! ; --- adding zero
//! module {
//!   …
//! }
//! ; expect
//! module {
//!   …
//! }
//! ```
//!
//! The comments at the head of a file are settings in TOML; those below a case's name win over them (ARCHITECTURE.md
//! lists them). `; expect: unchanged` stands for the module itself. Diagnostics are comments below what is expected.
//! The last pass runs once more on the result: `; expect, and another run differs` says that this changes it or fails.

mod definitions;
mod file;
mod run;
mod vendors;

pub use file::{Case, CaseFile};
pub use run::run;
