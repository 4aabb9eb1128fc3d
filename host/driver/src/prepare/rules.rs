//! Files of rules, which a pipeline or a request names in place of a pass.

use std::ffi::OsStr;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_core::{ErrorKind, PassError, Registry, RulesFile};

use super::request::Request;
use crate::pipeline_file::{PassTable, PipelineFile};

/// Whether what stands where a pass's name may is a file of rules: `fuse.rules`.
pub(super) fn is_file(name: &str) -> bool {
    Path::new(name).extension() == Some(OsStr::new("rules"))
}

/// Reads a file of rules, whose operators the registry's plugins have to define.
pub(super) fn read(path: &Path, registry: &Registry) -> Result<RulesFile, PassError> {
    let file = read_file(path)?;
    file.check(&registry.op_defs())?;
    Ok(file)
}

/// Reads a file of rules.
///
/// # Errors
/// If it can't be read, or isn't one of rules: what is wrong, and where.
pub fn read_file(path: &Path) -> Result<RulesFile, PassError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let why = match error.kind() {
            IoErrorKind::InvalidData => "it isn't text in UTF-8".to_owned(),
            _ => error.to_string(),
        };
        let message = format!("The rules `{name}` can't be read: {why}.");
        PassError::new(ErrorKind::Rules, message).caused_by(Arc::new(error))
    })?;
    RulesFile::parse(&name, &text)
}

/// The files of rules that a request names.
pub(super) fn files(request: &Request, file: &PipelineFile) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open: Vec<&PassTable> = file.passes.iter().collect();
    while let Some(table) = open.pop() {
        if let PassTable::Rules { file, .. } = table {
            files.push(request.beside_pipeline(&file.value));
        }
        open.extend(table.inner());
    }
    let named = request.passes.iter().filter(|name| is_file(name));
    files.extend(named.map(PathBuf::from));
    files
}
