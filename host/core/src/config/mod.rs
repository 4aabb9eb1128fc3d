//! Typed config: options are registered with fields, types, defaults, ranges and docs, and every
//! wrong key, field, type or number is an error that says what would be right.
//!
//! A [`Schema`] checks values, `typed` maps them to and from Rust structs, `table` holds what is
//! registered. Plugins register through their manifests, Rust programs through a registry.

mod built_in;
mod table;
mod typed;

use std::collections::BTreeMap;

pub(crate) use built_in::{FALLBACK_DEVICE, IMMUTABLE_MODULE};
pub use passdock_loader::{
    ConfigError, ConfigValue, Field, FieldType, FieldValue, Schema, Wrong, toml_text,
};
use serde::{Deserialize, Serialize};
pub use table::ConfigInfo;
pub(crate) use table::ConfigTable;
pub use typed::{ConfigOption, Scalar};

/// The layer that the value of an option comes from; the later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionSource {
    /// The pass declares it.
    Default,
    /// The context's config sets it.
    Config,
    /// The pipeline's entry sets it.
    Options,
}

/// The config that a context was given, by key: of each option only the fields that were set.
pub type GivenConfig = BTreeMap<String, ConfigValue>;
