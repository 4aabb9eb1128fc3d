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
//! The comments at the head of a file are a pipeline in TOML, which its cases run; those below a case's name are laid
//! over it. `; expect: unchanged` stands for the module itself. Diagnostics are comments below what is expected. The last
//! pass runs once more on the result, which has to stay as it is; `; expect, and another run changes it` says that it doesn't.

mod definitions;
mod file;
mod run;
mod vendors;

pub use file::{Case, CaseFile};
pub use run::run;
