//! Plugins: shared libraries (and parts of this program) that bring passes, op definitions
//! and instruments.
//!
//! In the order in which a plugin meets them: [`discover`](mod@discover) finds files in the directories that the
//! user named, [`file`](mod@file) checks each without running any of it and takes out its manifest,
//! [`manifest`] reads that as hostile text, [`cache`] may keep it for the next run, [`library`] loads the few that a pipeline needs and
//! checks the table that they answer, [`defs`] finds the definition of an op among all of them.
//! [`error`] has a sentence for everything that can go wrong on the way.

pub mod cache;
pub mod defs;
pub mod discover;
pub mod error;
mod field;
pub mod file;
pub mod library;
pub mod manifest;
mod names;
mod op_info;
mod raw;
mod table;
mod unknown;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use cache::ManifestCache;
pub use defs::OpDefs;
pub use discover::{Discovered, SearchDir, discover};
pub use error::{DirError, PluginError, PluginErrorKind, Ver};
pub(crate) use field::toml_text;
pub use field::{FieldType, FieldValue};
pub(crate) use library::loading_time;
pub use library::{LoadedInstrument, LoadedPass, LoadedPlugin, Plugin};
pub use manifest::{
    ConfigSpec, FieldSpec, InstrumentSpec, Manifest, OpSpec, PanicStrategy, PassKind, PassSpec,
    Phase, PluginSpec,
};
pub(crate) use op_info::kind_name;
pub use op_info::{AttrInfo, AttrValue, OpInfo};
pub(crate) use table::AttrList;

/// Where a plugin comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A library file.
    File(PathBuf),
    /// A plugin that is linked into this program, by name.
    Static(String),
}

impl Origin {
    /// The library file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Static(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => write!(f, "`{}`", path.display()),
            Origin::Static(name) => write!(f, "`{name}` (built in)"),
        }
    }
}
