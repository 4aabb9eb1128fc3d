//! Removal of numbered files, such as the dumps of an earlier run.

use std::fs;
use std::io;
use std::path::Path;

use crate::broker::{OutputRequest, broker_for};

/// Removes all files of a directory if their names are a number of three digits or more, `_`, a name and `suffix`.
/// Otherwise removes none, and returns the name of another file.
///
/// # Errors
/// The system's error.
pub fn remove_numbered_files(directory: &Path, suffix: &str) -> io::Result<Option<String>> {
    match broker_for(directory) {
        Some(broker) => broker(OutputRequest::RemoveNumbered {
            path: std::path::absolute(directory)?,
            suffix: suffix.to_owned(),
        }),
        None => remove_numbered(directory, suffix),
    }
}

/// Returns `true` for a name that is a number of three digits or more, `_`, a name and `suffix`.
pub(crate) fn is_numbered(name: &str, suffix: &str) -> bool {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 3 && name[digits..].starts_with('_') && name.ends_with(suffix)
}

pub(crate) fn remove_numbered(directory: &Path, suffix: &str) -> io::Result<Option<String>> {
    let mut numbered = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_numbered = name.to_str().is_some_and(|name| is_numbered(name, suffix));
        if !is_numbered || !entry.file_type()?.is_file() {
            return Ok(Some(name.to_string_lossy().into_owned()));
        }
        numbered.push(entry.path());
    }
    numbered.iter().try_for_each(fs::remove_file)?;
    Ok(None)
}
