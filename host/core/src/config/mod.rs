//! Typed config: options are registered with fields, types, defaults, ranges and documentation. An invalid key, field,
//! type or number is an error that lists the valid ones.
//!
//! A [`Schema`] checks values, and reads them into structs that [`sdk::options!`](crate::sdk::options) declares.
//! `table` has the registered options. Plugins register options in their manifests, Rust programs in a registry.

mod built_in;
mod into;
mod table;

use std::collections::BTreeMap;

pub(crate) use built_in::{FALLBACK_DEVICE, IMMUTABLE_MODULE};
pub use into::IntoConfig;
pub use passdock_loader::{
    ConfigError, ConfigValue, Field, FieldType, InvalidPart, Schema, toml_file, toml_text,
};
use serde::{Deserialize, Serialize};
pub(crate) use table::ConfigTable;
pub use table::{ConfigInfo, KEYS_OF_TVM, canonical_key};

/// The layer that the value of an option comes from. A later layer overrides an earlier one.
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

/// The config values of a context, by key, with only the fields that are set.
pub type GivenConfig = BTreeMap<String, ConfigValue>;
