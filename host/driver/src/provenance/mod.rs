//! Provenance statements: the hashes of a run's inputs and outputs, in the format of in-toto and SLSA.
//!
//! [`Provenance`] records a run. [`verify()`] compares a statement with files. `statement` has the format, `files`
//! hashes files and names them relative to the statement.

mod files;
mod record;
mod statement;
mod verify;

pub use files::sha256;
pub use record::Provenance;
pub use verify::{CheckedFile, FileState, Verification, check_statement, verify};
