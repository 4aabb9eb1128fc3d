//! Typed config: options are registered with fields, types, defaults, ranges and docs. An invalid
//! key, field, type or number is an error that says what would be valid.
//!
//! A [`Schema`] checks values, and reads them as the structs that [`sdk::options!`](crate::sdk::options)
//! declares; `table` holds the registered options. Plugins register through their manifests, Rust
//! programs through a registry.

mod built_in;
mod into;
mod table;

use std::collections::BTreeMap;

pub(crate) use built_in::{FALLBACK_DEVICE, IMMUTABLE_MODULE};
pub use into::IntoConfig;
pub use passdock_loader::{ConfigError, ConfigValue, Field, FieldType, Schema, Wrong, toml_text};
use serde::{Deserialize, Serialize};
pub(crate) use table::ConfigTable;
pub use table::{ConfigInfo, KEYS_OF_TVM, canonical_key};

/// The layer that the value of an option comes from; a later layer wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptionSource {
    /// The default that the pass declares.
    Default,
    /// The value in the context's config.
    Config,
    /// The value in the pipeline's entry.
    Options,
}

/// The config values that a context was given, by key, with only the fields that were set.
pub type GivenConfig = BTreeMap<String, ConfigValue>;
