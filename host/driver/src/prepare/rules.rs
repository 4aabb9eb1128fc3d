//! Files of rules, which may be used as passes or as values of options.

use std::ffi::OsStr;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use passdock_core::sdk::rewrite::Rule;
use passdock_core::{ErrorKind, FieldType, OpDefs, PassError, Registry, RulesFile, Schema};
use toml::Value;

use super::request::Request;
use crate::pipeline_file::{Options, PassTable, SourceText, parse_value, table_of};

/// Returns `true` if a pass name, or an element of an option for rules, is the name of a .rules file such as
/// `fuse.rules`.
pub(super) fn is_file(name: &str) -> bool {
    // Rules may end with a comment that names a file.
    !name.contains(['{', '\n']) && Path::new(name).extension() == Some(OsStr::new("rules"))
}

/// Reads a .rules file and checks its operators against the registry's definitions.
pub(super) fn read(path: &Path, registry: &Registry) -> Result<RulesFile, PassError> {
    let file = read_file(path)?;
    file.check(&registry.op_defs())?;
    Ok(file)
}

/// Reads a .rules file.
///
/// # Errors
/// If the file can't be read or its rules are invalid. The error has a source line.
pub fn read_file(path: &Path) -> Result<RulesFile, PassError> {
    RulesFile::parse(&path.display().to_string(), &read_text(path)?)
}

/// Reads a file of match-only rules, whose replacements may be omitted.
///
/// # Errors
/// If the file can't be read or its patterns are invalid. The error has a source line.
pub fn read_patterns(path: &Path) -> Result<Vec<Rule>, PassError> {
    RulesFile::patterns(
        &path.display().to_string(),
        &read_text(path)?,
        &OpDefs::default(),
    )
}

fn read_text(path: &Path) -> Result<String, PassError> {
    passdock_files::read_to_string(path).map_err(|error| {
        let why = match error.kind() {
            IoErrorKind::InvalidData => "not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        let message = format!("could not read `{}`: {why}", path.display());
        PassError::new(ErrorKind::Rules, message).caused_by(Arc::new(error))
    })
}

/// Returns the options of a pipeline's pass. Names of .rules files are replaced by the files' contents.
pub(super) fn with_texts(
    options: &Options,
    schema: &Schema,
    request: &Request,
    source: &SourceText,
    registry: &Registry,
) -> Result<toml::Table, PassError> {
    let path_of = |path: &str| request.path_in_pipeline_dir(path);
    let mut table = toml::Table::new();
    for (key, located) in options {
        let mut value = located.get_ref().clone();
        if has_rules(schema, key.get_ref()) {
            put_into(&mut value, path_of, registry).map_err(source.at(located.span()))?;
        }
        resolve_tensors(&mut value, request).map_err(source.at(located.span()))?;
        table.insert(key.get_ref().clone(), value);
    }
    Ok(table)
}

/// Replaces names of .rules files with the files' contents, in a config key for rules or in its fields.
pub(super) fn put_texts(
    value: &mut Value,
    schema: &Schema,
    path_of: impl Fn(&str) -> Result<PathBuf, PassError>,
    registry: &Registry,
) -> Result<(), PassError> {
    match value {
        Value::Table(fields) => put_into_fields(fields, schema, path_of, registry),
        value if has_rules(schema, "") => put_into(value, path_of, registry),
        _ => Ok(()),
    }
}

/// Replaces names of .rules files in the options of an instrument or the fields of a config key.
pub(super) fn put_into_fields(
    fields: &mut toml::Table,
    schema: &Schema,
    path_of: impl Fn(&str) -> Result<PathBuf, PassError>,
    registry: &Registry,
) -> Result<(), PassError> {
    let fields = fields.iter_mut();
    let mut rule_fields = fields.filter(|(name, _)| has_rules(schema, name));
    rule_fields.try_for_each(|(_, value)| put_into(value, &path_of, registry))
}

fn has_rules(schema: &Schema, name: &str) -> bool {
    let mut fields = schema.fields.iter();
    fields.any(|field| field.name == name && field.ty == FieldType::Rules)
}

/// Allows reading the `.npy` files in the options of passes from a sandbox. Invalid options are reported later.
pub(super) fn allow_tensors_of(tables: &[PassTable], request: &Request) {
    for table in tables {
        match table {
            PassTable::Sequential { passes, .. } => allow_tensors_of(passes, request),
            PassTable::Pass { options, .. } => allow_tensors(options, request),
            _ => {}
        }
    }
}

/// Allows reading the `.npy` files in options from a sandbox.
pub(super) fn allow_tensors(options: &Options, request: &Request) {
    let values = options.values().map(toml::Spanned::get_ref);
    values.for_each(|value| allow_in(value, request));
}

fn allow_in(value: &Value, request: &Request) {
    match value {
        Value::Table(fields) => fields
            .iter()
            .for_each(|(_, value)| allow_in(value, request)),
        Value::String(file) if file.ends_with(".npy") => {
            if let Ok(path) = request.path_in_pipeline_dir(file) {
                passdock_sandbox::allow_read(path);
            }
        }
        _ => {}
    }
}

/// Replaces paths of `.npy` files in a pipeline's values with absolute paths, because passes open them.
///
/// # Errors
/// If the pipeline may not name the file.
pub(super) fn resolve_tensors(value: &mut Value, request: &Request) -> Result<(), PassError> {
    match value {
        Value::String(file) if file.ends_with(".npy") => {
            let path = request.path_in_pipeline_dir(file)?;
            if let Some(whole) = absolute(path).ok().as_deref().and_then(Path::to_str) {
                whole.clone_into(file);
            }
            Ok(())
        }
        Value::Table(fields) => fields
            .iter_mut()
            .try_for_each(|(_, value)| resolve_tensors(value, request)),
        _ => Ok(()),
    }
}

/// Replaces names of .rules files in a list. Other elements are kept.
fn put_into(
    value: &mut Value,
    path_of: impl Fn(&str) -> Result<PathBuf, PassError>,
    registry: &Registry,
) -> Result<(), PassError> {
    let Value::Array(items) = value else {
        return Ok(());
    };
    for item in items {
        let Value::String(named) = item else { continue };
        if is_file(named) {
            let path = path_of(named)?;
            let text = read_text(&path)?;
            RulesFile::patterns(&path.display().to_string(), &text, &registry.op_defs())?;
            *named = text;
        }
    }
    Ok(())
}

impl Request {
    /// Returns the .rules files that the request may use: all such names in lists. Schemas of options aren't known yet.
    /// Returns none for an invalid pipeline.
    pub(crate) fn rules_files(&self) -> Vec<PathBuf> {
        let file = self.pipeline_file().unwrap_or_default();
        let mut named: Vec<String> = Vec::new();
        for table in file.tables() {
            match table {
                PassTable::Rules { file, .. } => named.push(file.get_ref().clone()),
                PassTable::Pass { options, .. } => {
                    named.extend(named_in(&table_of(options).into()));
                }
                _ => {}
            }
        }
        let config = file.context.config.iter();
        named.extend(config.flat_map(|(_, given)| named_in(given.get_ref())));
        let instruments = file.instruments.iter();
        named.extend(instruments.flat_map(|table| named_in(&table_of(&table.options).into())));
        // The run reports forbidden files.
        let paths = named.iter();
        let mut paths: Vec<PathBuf> = paths
            .filter_map(|name| self.path_in_pipeline_dir(name).ok())
            .collect();
        let passes = self.passes.iter().filter(|name| is_file(name)).cloned();
        let requested = self.instruments.iter();
        let requested = requested.flat_map(|one| named_in(&one.options.clone().into()));
        let values = self.config.iter();
        let values = values.filter_map(|setting| parse_value(setting.split_once('=')?.1));
        let values = values.flat_map(|value| named_in(&value));
        paths.extend(passes.chain(requested).chain(values).map(PathBuf::from));
        paths
    }
}

/// Returns the .rules files named in the lists of an option, a config key or its fields.
fn named_in(value: &Value) -> Vec<String> {
    match value {
        Value::Table(fields) => fields
            .iter()
            .flat_map(|(_, value)| named_in(value))
            .collect(),
        Value::Array(items) => {
            let names = items.iter().filter_map(Value::as_str);
            names
                .filter(|name| is_file(name))
                .map(str::to_owned)
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use passdock_core::{Field, FieldType};

    use super::*;

    const TEXT: &str = "rule acme.neg_neg { onnx.Neg(onnx.Neg(%x)) }";

    fn with_rule_files(fields: &[(&str, FieldType)], value: Value) -> Value {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("npu.rules"), TEXT).unwrap();
        let fields = fields.iter().map(|&(name, ty)| Field {
            ty,
            ..Field::new(name, FieldType::Strings)
        });
        let schema = Schema::new("acme.Take", fields.collect());
        let mut value = value;
        let path_of = |name: &str| Ok(directory.path().join(name));
        put_texts(&mut value, &schema, path_of, &Registry::new()).unwrap();
        value
    }

    #[test]
    fn only_rules_fields_read_rule_files() {
        let value = toml::toml! { rules = ["npu.rules"] found = ["npu.rules", "rule x { }"] };
        let fields = [("rules", FieldType::Strings), ("found", FieldType::Rules)];
        let value = with_rule_files(&fields, value.into());
        assert_eq!(value["rules"][0].as_str(), Some("npu.rules"));
        assert_eq!(value["found"][0].as_str(), Some(TEXT));
        assert_eq!(value["found"][1].as_str(), Some("rule x { }"));
    }

    #[test]
    fn config_key_can_be_a_rules_list() {
        let value = vec!["npu.rules"].into();
        let value = with_rule_files(&[("", FieldType::Rules)], value);
        assert_eq!(value[0].as_str(), Some(TEXT));
    }
}
