//! Errors about plugins that can't be used: one variant for each reason. The messages have what was found, what this
//! host supports, and a fix.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_abi as abi;
use serde::{Deserialize, Serialize};

/// The origin of a plugin: a file, or this program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A library file.
    File(PathBuf),
    /// A plugin that is linked into this program, by name.
    Static(String),
}

impl Origin {
    /// Returns the path of the library file, if it is one.
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

/// An error about a plugin that can't be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("plugin {origin} can't be used: {kind}")]
pub struct PluginError {
    /// The plugin's file, or that it is built into this program.
    pub origin: Origin,
    /// The reason why it can't be used.
    #[source]
    pub kind: Arc<PluginErrorKind>,
}

impl PluginError {
    /// Creates an error about a plugin file.
    pub fn file(path: &Path, kind: PluginErrorKind) -> PluginError {
        PluginError::new(Origin::File(path.to_path_buf()), kind)
    }

    /// Creates an error about any plugin.
    pub fn new(origin: Origin, kind: PluginErrorKind) -> PluginError {
        PluginError {
            origin,
            kind: Arc::new(kind),
        }
    }
}

/// The reason why a plugin can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "each variant's sentence says what it is, and its fields are that sentence's parts"
)]
pub enum PluginErrorKind {
    // The file.
    #[error("it can't be read ({0}); check that it exists and that you may read it")]
    Io(#[source] io::Error),
    #[error("it isn't a regular file; name a shared library")]
    NotAFile,
    #[error("it is empty; build it again")]
    Empty,
    #[error("it isn't a shared library ({found}); a plugin here is {expected}")]
    NotALibrary {
        found: String,
        expected: &'static str,
    },
    #[error("it is {found}, this host needs {expected}; build it for this machine")]
    WrongTarget { found: String, expected: String },
    #[error(
        "it is cut off: a segment ends at byte {needed} and the file has {len}; copy or build it again"
    )]
    Truncated { needed: u64, len: u64 },
    #[error(
        "it is cut off or damaged, so that it can't be read as a library; copy or build it again"
    )]
    Damaged,
    #[error(
        "the bytes of `{symbol}` aren't in the file; initialize it where it is defined, and build it again"
    )]
    Uninitialized { symbol: &'static str },
    #[error(
        "it doesn't export `{symbol}`; write `export_plugin!(PLUGIN);` in the library's crate, or \
         in C define the symbol with default visibility"
    )]
    MissingSymbol { symbol: &'static str },
    #[error("it exports `{symbol}` as {found}, it must be {expected}")]
    WrongSymbol {
        symbol: &'static str,
        found: &'static str,
        expected: &'static str,
    },
    #[error("the file changed after its manifest was read; run again")]
    Changed,

    // The manifest.
    #[error("its manifest has {len} bytes, the limit is {limit}; shorten the summaries and docs")]
    ManifestTooLong { len: u64, limit: u64 },
    #[error("its manifest doesn't end with a NUL byte; end the text with `\\0`")]
    ManifestNotTerminated,
    #[error("its manifest isn't UTF-8 (at byte {at}); write it in UTF-8")]
    ManifestNotUtf8 { at: usize },
    #[error("its manifest isn't the TOML that hosts read: {message}")]
    ManifestSyntax { message: String },
    #[error("in its manifest {what} is `{got}`; {rule}")]
    ManifestValue {
        what: String,
        got: String,
        rule: &'static str,
    },
    #[error("in its manifest {what} is {got}, and has to be {expected}")]
    ManifestType {
        what: String,
        got: String,
        expected: String,
    },
    #[error("its manifest lacks `{key}`{place}")]
    ManifestMissing { key: &'static str, place: String },
    #[error("its manifest names {what} `{name}` twice; rename or remove one")]
    ManifestDuplicate { what: &'static str, name: String },

    // Versions.
    #[error(
        "it was built for plugin ABI {got}, this host supports {supported}.x; build it against \
         passdock-plugin-api for ABI {supported}, or use a passdock of ABI {major}", major = .got.major
    )]
    AbiMajor { got: Ver, supported: u32 },
    #[error(
        "it was built for plugin ABI {got}, which {}.{oldest} broke; build it against the \
         passdock-plugin-api of ABI {host}, or use a passdock of ABI {got}", host.major
    )]
    Broken { got: Ver, host: Ver, oldest: u32 },
    #[error(
        "it needs plugin ABI {needed}, this host has {host}; update passdock, or build the plugin \
         without the newer features"
    )]
    HostTooOld { needed: Ver, host: Ver },
    #[error(
        "it says that it needs ABI {min_host} of a host but was built against {abi}; `min_host` \
         can't be newer than `abi`"
    )]
    MinHost { min_host: Ver, abi: Ver },
    #[error(
        "its records have another layout (fingerprint {got}, this host's is {supported}), though \
         both say ABI {abi}; build it against the passdock-plugin-api of this host"
    )]
    Layout {
        got: String,
        supported: String,
        abi: Ver,
    },
    #[error(
        "it was built for IR {got}, this host supports {supported}.x; build it against a \
         passdock-plugin-api of IR {supported}"
    )]
    IrMajor { got: Ver, supported: u32 },

    // Loading.
    #[error("the system refuses to load it: {0}")]
    Refused(String),
    #[error("it refuses this host (ABI {abi}, IR {ir}): {reason}")]
    RefusesHost { reason: String, abi: Ver, ir: Ver },
    #[error("the table that its entry returns is malformed: {0}; build the plugin again")]
    Table(String),
    #[error(
        "its table and its manifest disagree: {0}; both come from `plugin!`, in C keep them equal"
    )]
    Disagree(String),

    // Among plugins.
    #[error("{what} `{name}` is also given by {other}; remove one of the two, or rename")]
    Conflict {
        what: &'static str,
        name: String,
        other: Origin,
    },
}

/// An error about a requested plugin directory that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("the plugin directory `{}` can't be read ({error}); correct its name or create it", .path.display())]
pub struct DirError {
    /// The directory's path.
    pub path: PathBuf,
    /// The system's error.
    #[source]
    pub error: io::Error,
}

/// A version in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ver {
    /// The major version. Different major versions are incompatible.
    pub major: u32,
    /// The minor version. Later minor versions are compatible extensions.
    pub minor: u32,
}

impl From<abi::Version> for Ver {
    fn from(v: abi::Version) -> Ver {
        Ver {
            major: v.major,
            minor: v.minor,
        }
    }
}

impl std::fmt::Display for Ver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
