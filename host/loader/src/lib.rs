//! Plugins: shared libraries, or parts of a program, that provide passes, op definitions and instruments.
//!
//! The modules process a plugin in this order: [`discover`](mod@discover) finds files in directories.
//! [`file`](mod@file) validates a file without running it, and extracts its manifest. [`manifest`] parses the manifest
//! as untrusted input. [`library`] loads the few plugins that a pipeline needs, checks their tables, and finds op
//! definitions among all plugins. [`error`] has a message for each failure.
//!
//! **Invariant:** a library file is validated before the system's loader sees it, and never unloaded. `unsafe` is in
//! `library/`, and the one call in `file/` that maps a file.

pub mod discover;
pub mod error;
pub mod file;
pub mod library;
pub mod manifest;
mod names;

pub use discover::{Discovered, SearchDir, discover};
pub use error::{DirError, Origin, PluginError, PluginErrorKind, Ver};
pub use library::{
    AttrInfo, HostTable, MissingDefinition, OpAttrDefault, OpDefs, OpInfo, count_range, kind_name,
    loading_time,
};
pub use library::{LoadedInstrument, LoadedOp, LoadedPass, LoadedPlugin, Plugin};
pub use manifest::{
    ConfigError, ConfigValue, Field, FieldType, InvalidPart, Manifest, ManifestChild, ManifestPass,
    ManifestPlugin, ManifestSequential, OpSpec, PanicStrategy, PassDeclaration, PassInfo, PassKind,
    Phase, Requirement, Schema, Unsatisfied, VersionRange, overlay, setting, toml_file, toml_text,
    toml_value,
};
