//! Errors about plugins that can't be used: one variant for each reason. The messages have what was found, what this
//! host supports, and a fix.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_abi as abi;
use passdock_sandbox::Unavailable;
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
#[error("cannot load plugin {origin}: {kind}")]
pub struct PluginError {
    /// The plugin's file, or built-in originto this program.
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
    reason = "each variant is documented by its message, and the fields are parts of it"
)]
pub enum PluginErrorKind {
    // The file.
    #[error("could not read the file: {0}; check its path and permissions")]
    Io(#[source] io::Error),
    #[error("not a regular file; pass a shared library")]
    NotAFile,
    #[error("the file is empty; build it again")]
    Empty,
    #[error("expected a shared library ({expected}), found {found}")]
    NotALibrary {
        found: String,
        expected: &'static str,
    },
    #[error("expected {expected}, found {found}; build it for this machine")]
    TargetMismatch { found: String, expected: String },
    #[error(
        "the file is truncated: a segment ends at byte {needed}, but the file has {len} bytes; copy or build it again"
    )]
    Truncated { needed: u64, len: u64 },
    #[error("the file is truncated or damaged; copy or build it again")]
    Damaged,
    #[error("symbol `{symbol}` has no data in the file; initialize it in its definition")]
    Uninitialized { symbol: &'static str },
    #[error(
        "missing symbol `{symbol}`; write `export_plugin!(PLUGIN);` in the library's crate, or \
         in C define the symbol with default visibility"
    )]
    MissingSymbol { symbol: &'static str },
    #[error(
        "symbol `{symbol}` is from another major version of the plugin ABI, expected `{}`; build the plugin against \
         passdock-plugin-api for ABI {}",
        abi::ENTRY_SYMBOL,
        abi::ABI_MAJOR
    )]
    OtherMajor { symbol: String },
    #[error("expected symbol `{symbol}` to be {expected}, found {found}")]
    InvalidSymbol {
        symbol: &'static str,
        found: &'static str,
        expected: &'static str,
    },
    #[error("the file changed after its manifest was read; run the command again")]
    Changed,
    #[error(
        "the plugin needs permission `{permission}`, which is not granted; if you trust it, add \
         `allow = [{all}]` to `[plugins.{plugin}]` in the pipeline, or pass {flags}"
    )]
    NotGranted {
        permission: String,
        plugin: String,
        all: String,
        flags: String,
    },
    #[error(
        "the required sandbox is not available: {0}; pass `--sandbox auto` to run the plugin without the missing parts"
    )]
    Sandbox(#[from] Unavailable),

    // The manifest.
    #[error(
        "the manifest has {len} bytes, but the limit is {limit}; shorten the summaries and docs"
    )]
    ManifestTooLong { len: u64, limit: u64 },
    #[error("the manifest does not end with a NUL byte; append `\\0` to the text")]
    ManifestNotTerminated,
    #[error("invalid UTF-8 in the manifest at byte {at}")]
    ManifestNotUtf8 { at: usize },
    #[error("invalid TOML in the manifest: {message}")]
    ManifestSyntax { message: String },
    #[error("invalid {what} in the manifest: expected {rule}, found `{got}`")]
    ManifestValue {
        what: String,
        got: String,
        rule: &'static str,
    },
    #[error("invalid {what} in the manifest: expected {expected}, found {got}")]
    ManifestType {
        what: String,
        got: String,
        expected: String,
    },
    #[error("missing `{key}`{location} in the manifest")]
    ManifestMissing { key: &'static str, location: String },
    #[error("duplicate {what} `{name}` in the manifest; rename or remove one")]
    ManifestDuplicate { what: &'static str, name: String },

    // Versions.
    #[error(
        "unsupported plugin ABI {got}, expected {supported}.x; build the plugin against \
         passdock-plugin-api for ABI {supported}, or use a passdock of ABI {major}", major = .got.major
    )]
    AbiMajor { got: Ver, supported: u32 },
    #[error(
        "requires plugin ABI {needed}, but this passdock has {host}; update passdock, or build the \
         plugin without the newer features"
    )]
    HostTooOld { needed: Ver, host: Ver },
    #[error("`min_host` {min_host} in the manifest is newer than `abi` {abi}")]
    MinHost { min_host: Ver, abi: Ver },
    #[error(
        "incompatible record layout of ABI {abi}: expected fingerprint {supported}, found {got}; \
         build the plugin against the passdock-plugin-api of this passdock"
    )]
    Layout {
        got: String,
        supported: String,
        abi: Ver,
    },
    #[error(
        "unsupported IR version {got}, expected {supported}.x; build the plugin against a \
         passdock-plugin-api of IR {supported}"
    )]
    IrMajor { got: Ver, supported: u32 },
    #[error(
        "unsupported language version {got} of IR text and rules, expected {supported}.x; build the plugin against a \
         passdock-plugin-api of language {supported}"
    )]
    LanguageMajor { got: Ver, supported: u32 },
    #[error(
        "requires the extension `{name}`, but this passdock has only `{}`; build the plugin against the \
         passdock-plugin-api of this passdock, or use another passdock",
        abi::LOOPS_EXTENSION
    )]
    UnknownExtension { name: String },

    // Loading.
    #[error("the system's loader failed: {0}")]
    LoaderFailed(String),
    #[error("the plugin rejected the host (ABI {abi}, IR {ir}): {reason}")]
    HostRejected { reason: String, abi: Ver, ir: Ver },
    #[error("malformed table of the entry function: {0}; build the plugin again")]
    Table(String),
    #[error(
        "the table differs from the manifest: {0}; generate both with `plugin!`, or in C keep them in sync"
    )]
    TableMismatch(String),

    // Among plugins.
    #[error(
        "requires plugin `{requirement}`, but it is not registered; add it, for example with `--plugin FILE` or \
         `--plugin-dir DIR`"
    )]
    RequirementMissing { requirement: String },
    #[error(
        "requires plugin `{requirement}`, but plugin {found} has version `{version}`; use another version of one of \
         them"
    )]
    RequirementVersion {
        requirement: String,
        found: Origin,
        version: String,
    },
    #[error(
        "requires plugin `{requirement}`, but plugin {found} has version `{version}`, not a semantic one such as \
         `1.2.0`; use a release of it that has such a version, or remove the versions from the requirement"
    )]
    RequirementNotSemantic {
        requirement: String,
        found: Origin,
        version: String,
    },
    #[error("duplicate {what} `{name}`, also in plugin {other}; rename or remove one")]
    Conflict {
        what: &'static str,
        name: String,
        other: Origin,
    },
    #[error("{0}")]
    NotTrusted(String),
    #[error("hidden by plugin {other}, which has the same name and takes precedence")]
    Hidden { other: Origin },
}

/// An error about a requested plugin directory that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("could not read plugin directory `{}`: {error}; correct its name or create it", .path.display())]
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

impl serde::Serialize for Ver {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}
