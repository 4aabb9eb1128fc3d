//! Typed config: options are registered with fields, types, defaults, ranges and docs, and every
//! wrong key, field, type or number is an error that says what would be right.
//!
//! [`schema`] checks values, `typed` maps them to and from Rust structs, `table` holds what is
//! registered. Plugins register through their manifests, Rust programs through
//! [`register_config_option`].

mod built_in;
pub mod schema;
mod table;
mod typed;

pub(crate) use built_in::IMMUTABLE_MODULE;
pub use schema::{ConfigError, Field, Schema, Wrong};
pub use table::ConfigInfo;
pub(crate) use table::ConfigTable;
pub use typed::{ConfigOption, FieldType, Scalar};

use serde::{Deserialize, Serialize};

use crate::plugin::FieldValue;
use crate::registry::Registry;

/// Which layer the value of an option comes from; the later one wins.
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

/// A checked value of an option: each field, defaults filled in. A scalar's field is `""`.
pub type ConfigValue = std::collections::BTreeMap<String, FieldValue>;

/// Registers an option of the process-wide registry.
pub fn register_config_option<T: ConfigOption>(key: &str) -> Result<(), ConfigError> {
    Registry::global().register_config_option::<T>(key)
}

/// The options of the process-wide registry, sorted by key.
pub fn list_configs() -> Vec<ConfigInfo> {
    Registry::global().list_configs()
}
