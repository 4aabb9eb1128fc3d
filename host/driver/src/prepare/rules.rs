//! Files of rules, which a pipeline or a request names in place of a pass, or in an option of one.

use std::ffi::OsStr;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock_core::{ErrorKind, PassError, Registry, RulesFile};
use toml::Value;

use super::request::Request;
use crate::pipeline_file::{Entry, PassTable, PipelineFile, SourceText, lone_value, table_of};

/// The option in which passes take texts of rules that are looked for; a file's name stands for its text.
const OPTION: &str = "rules";

/// Whether what stands where a pass's name may, or a text of rules, is the name of a file of them: `fuse.rules`.
pub(super) fn is_file(name: &str) -> bool {
    // A text may end with a comment that names one.
    !name.contains(['{', '\n']) && Path::new(name).extension() == Some(OsStr::new("rules"))
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
    RulesFile::parse(&path.display().to_string(), &text_of(path)?)
}

fn text_of(path: &Path) -> Result<String, PassError> {
    std::fs::read_to_string(path).map_err(|error| {
        let why = match error.kind() {
            IoErrorKind::InvalidData => "it isn't text in UTF-8".to_owned(),
            _ => error.to_string(),
        };
        let message = format!("The rules `{}` can't be read: {why}.", path.display());
        PassError::new(ErrorKind::Rules, message).caused_by(Arc::new(error))
    })
}

/// The options of a pipeline's pass, or the fields of a config key, with the texts of files of rules in the place of their names.
pub(super) fn with_texts(
    options: &[Entry],
    request: &Request,
    source: &SourceText,
    registry: &Registry,
) -> Result<toml::Table, PassError> {
    let mut table = table_of(options);
    let at = options.iter().find(|(key, _)| key.value == OPTION);
    put_texts(&mut table, |path| request.beside_pipeline(path), registry).map_err(
        |error| match at {
            Some((_, value)) => source.locate(error, &value.span),
            None => error,
        },
    )?;
    Ok(table)
}

/// Puts the texts of files in the place of their names, in the option that takes rules. What is no name of a file stays.
pub(super) fn put_texts(
    options: &mut toml::Table,
    path_of: impl Fn(&str) -> PathBuf,
    registry: &Registry,
) -> Result<(), PassError> {
    let Some(Value::Array(items)) = options.get_mut(OPTION) else {
        return Ok(());
    };
    for item in items {
        let Value::String(named) = item else { continue };
        if is_file(named) {
            let path = path_of(named);
            let text = text_of(&path)?;
            RulesFile::check_patterns(&path.display().to_string(), &text, &registry.op_defs())?;
            *named = text;
        }
    }
    Ok(())
}

impl Request {
    /// The files of rules that the request names; none, if its pipeline can't be read.
    pub(crate) fn rules_files(&self) -> Vec<PathBuf> {
        files(self, &self.pipeline_file().unwrap_or_default())
    }
}

/// The files of rules that a request names.
fn files(request: &Request, file: &PipelineFile) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open: Vec<&PassTable> = file.passes.iter().collect();
    while let Some(table) = open.pop() {
        match table {
            PassTable::Rules { file, .. } => files.push(request.beside_pipeline(&file.value)),
            PassTable::Pass { options, .. } => {
                let named = named_in(&table_of(options).into());
                files.extend(named.iter().map(|name| request.beside_pipeline(name)));
            }
            _ => {}
        }
        open.extend(table.inner());
    }
    for (_, fields) in &file.context.config {
        let named = named_in(&fields.value);
        files.extend(named.iter().map(|name| request.beside_pipeline(name)));
    }
    let named = request.passes.iter().filter(|name| is_file(name));
    files.extend(named.map(PathBuf::from));
    for setting in &request.config {
        let Some((key, text)) = setting.split_once('=') else {
            continue;
        };
        let field = key.trim().rsplit_once('.').map(|(_, field)| field);
        let value = lone_value(text).map(|value| match field {
            Some(OPTION) => toml::Table::from_iter([(OPTION.to_owned(), value)]).into(),
            _ => value,
        });
        let named = value.map(|value| named_in(&value)).unwrap_or_default();
        files.extend(named.into_iter().map(PathBuf::from));
    }
    files
}

/// The files that options or the fields of a config key name.
fn named_in(options: &Value) -> Vec<String> {
    let items = options.get(OPTION).and_then(Value::as_array);
    let names = items.into_iter().flatten().filter_map(Value::as_str);
    let names = names.filter(|name| is_file(name));
    names.map(str::to_owned).collect()
}
