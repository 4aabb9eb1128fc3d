//! `reproducer.toml`: the failure, and what it was found with.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use passdock_core::{PassError, Plugin, Verify};

/// The version of the file that this passdock writes and reads.
pub(crate) const VERSION: u32 = 1;

/// The content of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) version: u32,
    /// The passdock that wrote it.
    pub(crate) passdock: String,
    /// The pipeline, as the user named it.
    pub(crate) pipeline: Option<String>,
    /// The model, as the user named it.
    pub(crate) model: Option<String>,
    pub(crate) verify: Verify,
    pub(crate) failure: Failure,
    pub(crate) check: Option<ReproducerCheck>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) plugins: Vec<PluginFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<DataRange>,
}

/// A failure. Two are the same if the same pass fails in the same way; its message may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The code of the error: `pass-panicked`.
    pub code: String,
    /// The pass that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    /// The plugin that gives the pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The function that it worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The op that it failed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The place where that op stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What ended the process, in a word: `SIGSEGV`, `exit`, `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination: Option<String>,
    /// The error's message.
    pub message: String,
}

/// The command that calls what a pass makes bad, though the pass doesn't fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReproducerCheck {
    /// The command, as it was given to `--check`.
    pub command: String,
    /// The seconds after which it is ended.
    pub timeout_s: Option<f64>,
}

/// A plugin that was used: its code was loaded, or a Sequential of it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginFile {
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// The name of its file; none if it is a part of the program.
    pub file: Option<String>,
    /// The BLAKE3 hash of its file.
    pub blake3: Option<String>,
}

/// Constants that `before.ir` refers to in a file outside of the reproducer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRange {
    /// The file's path.
    pub file: String,
    /// The first of the bytes in it.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
    /// The BLAKE3 hash of the bytes.
    pub blake3: String,
}

impl Failure {
    /// Whether the same pass failed in the same way.
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

/// The failure on one line: `pass-failed in acme.transform.Fuse: There is no axis 3.`
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
            // A file that is gone meanwhile has no hash to compare.
            blake3: path.and_then(|path| hash_file(path).ok()),
        }
    }
}

/// The BLAKE3 hash of a file.
fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// The BLAKE3 hash of bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The BLAKE3 hash of a part of a file.
pub(crate) fn hash_range(path: &Path, offset: u64, length: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut hasher = blake3::Hasher::new();
    match hasher.update_reader(file.take(length))?.count() < length {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => Ok(hasher.finalize().to_hex().to_string()),
    }
}
