//! Test cases in IR text: a file has modules, the passes that run on them, and the expected results.
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
//! The comments at the head of a file are settings in TOML. Those below a case's name override them (ARCHITECTURE.md
//! lists the settings). `; expect: unchanged` means the input module. Diagnostics are comments below the expected
//! module. The last pass runs a second time on the result; `; expect, and another run differs` states that this changes
//! the result or fails.

mod definitions;
mod file;
mod run;
mod vendors;

pub use file::{Case, CaseFile};
pub use run::run;
