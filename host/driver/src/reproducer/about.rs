//! `reproducer.toml`: what failed, and with what.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use passdock_core::Plugin;
use passdock_core::{Diagnostic, PassError, Verify};

/// The version of the file that this passdock writes and reads.
pub(super) const VERSION: u32 = 1;

/// All of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) version: u32,
    /// The passdock that wrote it.
    pub(super) passdock: String,
    /// The model, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    pub(super) verify: Verify,
    pub(super) failure: Failure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<Check>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) plugins: Vec<PluginFile>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) data: Vec<DataRange>,
}

/// What failed. Two failures are the same if the same pass fails in the same way; what it says of
/// it may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The code of the error: `pass-panicked`.
    pub code: String,
    /// The pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    /// Its plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// The function that it worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The op that it failed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Where that stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What it said.
    pub message: String,
}

/// The command that calls what a pass makes bad, though the pass doesn't fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// As it was given to `--check`.
    pub command: String,
    /// After how many seconds it is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

/// A plugin whose code was loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginFile {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The name of its file; none if it is a part of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The BLAKE3 hash of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
}

/// Constants that `before.ir` refers to in a file outside of the reproducer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRange {
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Their BLAKE3 hash.
    pub blake3: String,
}

impl Failure {
    /// Whether the same pass failed in the same way.
    pub fn is_same(&self, other: &Failure) -> bool {
        (&self.code, &self.pass) == (&other.code, &other.pass)
    }
}

impl From<&PassError> for Failure {
    fn from(error: &PassError) -> Failure {
        Failure::from(&error.to_diagnostic())
    }
}

impl From<&Diagnostic> for Failure {
    fn from(error: &Diagnostic) -> Failure {
        Failure {
            code: error.code.clone(),
            pass: error.pass.clone(),
            plugin: error.plugin.clone(),
            function: error.function.clone(),
            op: error.op.clone(),
            location: error.location.clone(),
            message: error.message.clone(),
        }
    }
}

/// What happened, on one line: `pass-failed in acme.transform.Fuse: There is no axis 3.`
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
    pub(super) fn of(plugin: &Plugin) -> PluginFile {
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

/// A file's BLAKE3 hash.
fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            len => hasher.update(&buffer[..len]),
        };
    }
}

/// The BLAKE3 hash of bytes.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The BLAKE3 hash of a part of a file.
pub(super) fn hash_range(path: &Path, offset: u64, length: u64) -> io::Result<String> {
    use std::io::{Seek, SeekFrom};
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut part = file.take(length);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    let mut read = 0;
    loop {
        match part.read(&mut buffer)? {
            0 if read < length => return Err(io::ErrorKind::UnexpectedEof.into()),
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            len => {
                read += len as u64;
                hasher.update(&buffer[..len])
            }
        };
    }
}
