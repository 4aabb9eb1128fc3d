//! TOML pipelines, and `run`: from a serialisable request to a report.

pub mod file;
pub mod report;
pub mod request;
