//! Comparing statements, which are untrusted input, with files.

use std::io::{self, Read};
use std::path::Path;

use passdock_core::{ErrorKind, PassError, terminal};
use passdock_files::directory_of;
use serde::{Deserialize, Serialize};

use super::files::sha256;
use super::statement::{PREDICATE, RUN, Resource, SHA256, STATEMENT, Statement};

/// The maximum size of a statement in bytes.
const MAX_LEN: u64 = 16 << 20;

/// The files of a statement, compared with its hashes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// The files that the run wrote.
    pub outputs: Vec<CheckedFile>,
    /// The files that the run read.
    pub inputs: Vec<CheckedFile>,
}

/// A file of a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedFile {
    /// The path in the statement.
    pub name: String,
    /// How the file compares with the statement.
    pub state: FileState,
    /// The hash in the statement.
    pub recorded: String,
    /// The hash of the file, if it could be read.
    pub found: Option<String>,
    /// The reason why the file can't be read.
    pub error: Option<String>,
}

/// How a file compares with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// The hash is the same.
    Same,
    /// The hash differs.
    Different,
    /// The file doesn't exist.
    Missing,
    /// The file can't be read.
    Unreadable,
}

impl Verification {
    /// Returns all files: the outputs, then the inputs.
    pub fn files(&self) -> impl Iterator<Item = &CheckedFile> {
        self.outputs.iter().chain(&self.inputs)
    }

    /// Returns `true` if all files have the recorded hashes.
    pub fn is_same(&self) -> bool {
        self.files().all(|file| file.state == FileState::Same)
    }
}

/// Compares the files of a statement with its hashes. Relative paths are relative to the statement.
///
/// # Errors
/// If the statement can't be read, or isn't a provenance statement of passdock.
pub fn verify(file: &Path) -> Result<Verification, PassError> {
    let error = |why: &dyn std::fmt::Display| {
        let message = format!("could not read `{}`: {why}", file.display());
        PassError::new(ErrorKind::Provenance, message)
    };
    let mut text = String::new();
    let read = passdock_files::open(file)
        .and_then(|file| file.take(MAX_LEN + 1).read_to_string(&mut text));
    if read.map_err(|failed| error(&failed))? as u64 > MAX_LEN {
        return Err(error(&"it is too large for a provenance statement"));
    }
    let statement = parse(&text).map_err(|why| {
        error(&why).help("pass a file that `passdock run --provenance FILE` wrote")
    })?;
    let dir = directory_of(file);
    let checked = |files: &[Resource]| files.iter().map(|file| checked(file, dir)).collect();
    Ok(Verification {
        outputs: checked(&statement.subject),
        inputs: checked(&statement.predicate.build_definition.resolved_dependencies),
    })
}

/// Checks that a text is a provenance statement of passdock, without reading the files in it.
///
/// # Errors
/// The reason why it isn't one.
pub fn check_statement(text: &str) -> Result<(), String> {
    parse(text).map(drop)
}

fn parse(text: &str) -> Result<Statement, String> {
    let statement: Statement = serde_json::from_str(text)
        .map_err(|error| format!("it is not a provenance statement: {error}"))?;
    let build = &statement.predicate.build_definition;
    for (what, found, expected) in [
        ("_type", &statement.statement_type, STATEMENT),
        ("predicateType", &statement.predicate_type, PREDICATE),
        ("buildType", &build.build_type, RUN),
    ] {
        if found != expected {
            let found = terminal::safe_line(found);
            return Err(format!(
                "expected `{what}` to be `{expected}`, found `{found}`"
            ));
        }
    }
    if statement.subject.is_empty() {
        return Err("`subject` is empty".to_owned());
    }
    let mut files = statement.subject.iter().chain(&build.resolved_dependencies);
    let is_hash =
        |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match files.find(|file| !file.digest.get(SHA256).is_some_and(is_hash)) {
        None => Ok(statement),
        Some(file) => {
            let name = terminal::safe_line(&file.name);
            Err(format!("`{name}` has no SHA-256 hash"))
        }
    }
}

/// Compares a file with its recorded hash.
fn checked(file: &Resource, dir: &Path) -> CheckedFile {
    let recorded = file
        .digest
        .get(SHA256)
        .map(|hash| hash.to_ascii_lowercase());
    let recorded = recorded.unwrap_or_default();
    let found = sha256(&dir.join(&file.name));
    let state = match &found {
        Ok(found) if *found == recorded => FileState::Same,
        Ok(_) => FileState::Different,
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileState::Missing,
        Err(_) => FileState::Unreadable,
    };
    let (found, error) = match found {
        Ok(found) => (Some(found), None),
        Err(error) => (None, Some(error.to_string())),
    };
    CheckedFile {
        name: file.name.clone(),
        state,
        recorded,
        found,
        error,
    }
}
