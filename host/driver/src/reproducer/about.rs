//! `reproducer.toml`: the failure and its environment.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use passdock_core::{PassError, Plugin, Verify};

/// The version of the file format.
pub(crate) const VERSION: u32 = 1;

/// The contents of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) version: u32,
    /// The version of passdock that wrote it.
    pub(crate) passdock: String,
    /// The pipeline, as the user named it.
    pub(crate) pipeline: Option<String>,
    /// The model, as the user named it.
    pub(crate) model: Option<String>,
    pub(crate) verify: Verify,
    pub(crate) failure: Failure,
    pub(crate) test: Option<ReproducerTest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) plugins: Vec<PluginFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<DataRange>,
}

/// A failure. Failures are equal if the same pass fails in the same way; messages may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The error code, such as `pass-panicked`.
    pub code: String,
    /// The pass that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    /// The plugin that provides the pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The function being transformed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The op that it failed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The source location of that op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The cause of a crash: `SIGSEGV`, `exit`, `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination: Option<String>,
    /// The error's message.
    pub message: String,
}

/// The test command that rejects the result of a pass that doesn't fail itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproducerTest {
    /// The argument of `--test`.
    pub command: String,
    /// The time limit of the command in seconds.
    pub timeout_s: Option<f64>,
}

/// A plugin in use: its library was loaded, or one of its Sequentials was requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginFile {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The name of its file, or `None` if it is part of the program.
    pub file: Option<String>,
    /// The BLAKE3 hash of its file.
    pub blake3: Option<String>,
}

/// A range of a file outside of the reproducer with constants of `before.ir`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRange {
    /// The file's path.
    pub file: String,
    /// The start of the range, in bytes.
    pub offset: u64,
    /// The length in bytes.
    pub length: u64,
    /// The BLAKE3 hash of the bytes.
    pub blake3: String,
}

impl Failure {
    /// Returns `true` if the same pass failed in the same way.
    pub fn is_same(&self, other: &Failure) -> bool {
        let terminations = self.termination.as_ref().zip(other.termination.as_ref());
        (&self.code, &self.pass) == (&other.code, &other.pass)
            && terminations.is_none_or(|(one, other)| one == other)
    }
}

impl From<&PassError> for Failure {
    fn from(error: &PassError) -> Failure {
        let termination = error.termination.as_ref();
        let diagnostic = error.to_diagnostic();
        Failure {
            code: diagnostic.code,
            pass: diagnostic.pass,
            plugin: diagnostic.plugin,
            function: diagnostic.function,
            op: diagnostic.op,
            location: diagnostic.location,
            termination: termination.map(|termination| termination.cause.name().to_owned()),
            message: diagnostic.message,
        }
    }
}

/// Formats the failure on one line: `pass-failed in acme.transform.Fuse: no axis 3`
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.code)?;
        if let Some(pass) = &self.pass {
            write!(f, " in {pass}")?;
        }
        if let Some(function) = &self.function {
            write!(f, ", function @{function}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl PluginFile {
    pub(crate) fn new(plugin: &Plugin) -> PluginFile {
        let path = plugin.origin().path();
        let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
        PluginFile {
            name: plugin.name().to_owned(),
            version: plugin.manifest().plugin.version.clone(),
            file: path.and_then(name),
            // A file that was removed meanwhile has no hash.
            blake3: path.and_then(|path| hash_file(path).ok()),
        }
    }
}

/// Returns the BLAKE3 hash of a file.
fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Returns the BLAKE3 hash of bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Returns the BLAKE3 hash of a range of a file.
pub(crate) fn hash_range(path: &Path, offset: u64, length: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut hasher = blake3::Hasher::new();
    match hasher.update_reader(file.take(length))?.count() < length {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => Ok(hasher.finalize().to_hex().to_string()),
    }
}
