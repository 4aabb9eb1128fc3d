//! Plugins: shared libraries, and parts of a program, that bring passes, op definitions and
//! instruments.
//!
//! The modules in the order of a plugin's way: [`discover`](mod@discover) finds files in the
//! directories that the user named,
//! [`file`](mod@file) checks a file without running any of it and takes out its manifest,
//! [`manifest`] reads that as untrusted text, [`library`] loads the few plugins that a pipeline
//! needs, checks their tables, and finds the definition of an op among all plugins. [`error`] has a
//! message for each failure on the way.
//!
//! **Invariant:** a library file is checked before the system's loader sees it, and never unloaded.
//! `unsafe` is in `library/`, and the one call in `file/` that maps a file.

pub mod discover;
pub mod error;
pub mod file;
pub mod library;
pub mod manifest;
mod names;

pub use discover::{Discovered, SearchDir, discover};
pub use error::{DirError, Origin, PluginError, PluginErrorKind, Ver};
pub use library::{
    AttrInfo, HostTable, MissingDefinition, OpAttrDefault, OpDefs, OpInfo, kind_name, loading_time,
    takes,
};
pub use library::{LoadedInstrument, LoadedOp, LoadedPass, LoadedPlugin, Plugin};
pub use manifest::{
    ConfigError, ConfigValue, Field, FieldType, Manifest, ManifestChild, ManifestPass,
    ManifestPlugin, ManifestSequential, OpSpec, PanicStrategy, PassDeclaration, PassInfo, PassKind,
    Phase, Schema, Wrong, overlay, setting, toml_text, toml_value,
};
