//! The settings of a request's context, and validation of options against their schemas.

use std::collections::BTreeMap;
use std::ops::Range;

use passdock_core::config::canonical_key;
use passdock_core::{
    ConfigError, ContextSettings, ErrorKind, FieldType, InvalidPart, PassError, Registry, Schema,
    Sequential,
};

use toml::Spanned;

use super::request::Request;
use super::{bind, blame, passes, rules};
use crate::pipeline_file::{Options, PipelineFile, SourceText, parse_value};

/// Merges the settings of a file with those of the request, which take precedence.
pub(super) fn settings(
    request: &Request,
    file: &PipelineFile,
    registry: &Registry,
    sequential: &Sequential,
) -> Result<ContextSettings, PassError> {
    for (key, value) in &file.context.config {
        check_config(&file.source, key, value, registry)?;
    }
    let mut settings = file.context.settings();
    for (key, value) in &file.context.config {
        if let Some(given) = settings.config.get_mut(key.get_ref()) {
            let schema = registry.config_schema(key.get_ref())?;
            let path_in_pipeline_dir = |path: &str| request.path_in_pipeline_dir(path);
            rules::put_texts(given, &schema, path_in_pipeline_dir, registry)
                .and_then(|()| rules::resolve_tensors(given, request))
                .map_err(file.source.at(value.span()))?;
        }
    }
    settings.opt_level = request.opt_level.unwrap_or(settings.opt_level);
    let required = &mut settings.required_pass;
    let known_names = passes::known_names(registry, sequential);
    // The outer context checks its names itself. A name that is unknown here may be a pass of another run.
    let outer = |names: &[String]| {
        let names = names.iter().cloned();
        let met = names.filter(|name| known_names.contains(&registry.canonical(name)));
        met.collect::<Vec<_>>()
    };
    required.extend(outer(&request.outer_required_pass));
    required.extend_from_slice(&request.required_pass);
    if !request.bind.is_empty() {
        required.extend(bind::PASSES.map(str::to_owned));
    }
    let disabled = &mut settings.disabled_pass;
    disabled.extend(outer(&request.outer_disabled_pass));
    disabled.extend_from_slice(&request.disabled_pass);
    settings
        .disabled_rule
        .extend_from_slice(&request.disabled_rule);
    settings.rewrite_limit = request.rewrite_limit.or(settings.rewrite_limit);
    settings.verify = request.verify;
    settings.jobs = request.jobs.unwrap_or(settings.jobs);
    settings.shown = request.shown.unwrap_or(settings.shown);
    settings.resumes = request.resumes;
    if request.allow_growth {
        for info in registry.list_configs() {
            let mut fields = info.schema.fields.iter();
            if fields.any(|field| field.name == "allow_growth") {
                let setting = format!("{}.allow_growth=true", info.schema.key);
                set(&setting, registry, &mut settings.config)?;
            }
        }
    }
    for setting in &request.config {
        set(setting, registry, &mut settings.config)?;
    }
    Ok(settings)
}

/// Checks options against a schema.
pub(super) fn check_options(
    schema: &Schema,
    options: &Options,
    source: &SourceText,
) -> Result<(), PassError> {
    for (key, value) in options {
        let one = toml::Table::from_iter([(key.get_ref().clone(), value.get_ref().clone())]);
        let checked = schema.accept_part(&toml::Value::Table(one));
        checked.map_err(|error| locate(source, error, key, value))?;
    }
    Ok(())
}

/// Adds the location of the invalid key or value to an error.
pub(super) fn locate(
    source: &SourceText,
    error: ConfigError,
    key: &Spanned<String>,
    value: &Spanned<toml::Value>,
) -> PassError {
    // The field is the key itself, or a key in its value.
    let field = error
        .field
        .as_deref()
        .filter(|field| *field != key.get_ref());
    let mut inner = source.spans_in(value.span()).into_iter();
    let inner = inner.find(|entry| field == Some(&*entry.name));
    let span = match (error.part, inner) {
        (InvalidPart::Value, Some(inner)) => inner.value,
        (InvalidPart::Value, None) => value.span(),
        (InvalidPart::Field, Some(inner)) => inner.key,
        _ => key.span(),
    };
    source.locate(error.into(), span)
}

fn check_config(
    source: &SourceText,
    key: &Spanned<String>,
    value: &Spanned<toml::Value>,
    registry: &Registry,
) -> Result<(), PassError> {
    let checked = registry
        .config_schema(key.get_ref())
        .and_then(|schema| schema.accept(value.get_ref()).map(drop));
    checked.map_err(|mut error| {
        if error.part == InvalidPart::Key {
            error.help = as_table(key.get_ref(), value.get_ref(), registry).or(error.help);
        }
        locate(source, error, key, value)
    })
}

/// Returns the table to write instead of a key that ends with a field, such as `"acme.Tile.size" = 1`. Without the
/// quotes, TOML parses such a key as nested tables, for which the result is the same.
fn as_table(key: &str, value: &toml::Value, registry: &Registry) -> Option<String> {
    let (mut path, mut value) = (key.to_owned(), value);
    while let toml::Value::Table(table) = value
        && registry.config_schema(&path).is_err()
        && let Some((name, inner)) = table.iter().next()
    {
        path = format!("{path}.{name}");
        value = inner;
    }
    let fields = match registry.config_schema(&path) {
        Ok(_) => value.to_string(),
        Err(_) => {
            let (key, field) = path.rsplit_once('.')?;
            let schema = registry.config_schema(key).ok()?;
            schema.settable(field).ok()?;
            let fields = format!("{{ {field} = {value} }}");
            path.truncate(key.len());
            fields
        }
    };
    Some(format!("did you mean `\"{path}\" = {fields}`?"))
}

/// Sets `KEY=VALUE` from the command line. The path is the longest registered key, optionally followed by a field.
fn set(
    setting: &str,
    registry: &Registry,
    config: &mut BTreeMap<String, toml::Value>,
) -> Result<(), PassError> {
    let shown =
        |error: PassError, span: Range<usize>| blame::in_argument(error, "--config", setting, span);
    let invalid = |message: &str| PassError::new(ErrorKind::Config, message);
    let Some((path, text)) = setting.split_once('=') else {
        let error = invalid("missing value for `--config`").help("write `--config KEY=VALUE`");
        return Err(shown(error, 0..setting.len()));
    };
    let value_span = path.len() + 1..setting.len();
    let (start, path) = (path.len() - path.trim_start().len(), path.trim());
    let path_span = start..start + path.len();
    let own = canonical_key(path);
    let is_prefix = |key: &String| {
        let rest = own.strip_prefix(key.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let keys = registry
        .list_configs()
        .into_iter()
        .map(|info| info.schema.key);
    let Some(key) = keys.filter(is_prefix).max_by_key(String::len) else {
        return Err(shown(unknown(path, registry), path_span));
    };
    let schema = registry.config_schema(&key)?;
    let field = own[key.len()..].strip_prefix('.');
    let Some(value) = parse_value(text) else {
        let setting_field = match field {
            None if !schema.is_scalar() => None,
            field => schema.settable(field.unwrap_or("")).ok(),
        };
        let text = text.trim();
        let help = match setting_field.map(|field| (field, field.ty)) {
            None => format!("expected {}", schema.type_name()),
            Some((_, FieldType::Strings | FieldType::Rules)) => {
                format!("write a list of strings: `--config '{path}=[\"{text}\"]'`")
            }
            Some((_, FieldType::String | FieldType::Values)) => {
                format!("put the string in quotes: `--config '{path}=\"{text}\"'`")
            }
            Some((setting_field, _)) => {
                let values = setting_field.accepted_values();
                format!("expected {}", values.replace("NAME = ", ""))
            }
        };
        return Err(shown(invalid("invalid TOML value").help(help), value_span));
    };
    let mut given = match field {
        None => value,
        Some(field) => toml::Table::from_iter([(field.to_owned(), value)]).into(),
    };
    let checked = match field {
        // A scalar has no fields.
        Some(field) if schema.is_scalar() => schema.field(field).map(drop),
        _ => schema.accept_part(&given).map(drop),
    };
    checked.map_err(|error| {
        let span = match (error.part, field) {
            (InvalidPart::Field, Some(field)) => path_span.end - field.len()..path_span.end,
            (InvalidPart::Key, _) => path_span,
            _ => value_span,
        };
        shown(error.into(), span)
    })?;
    rules::put_texts(&mut given, &schema, |path| Ok(path.into()), registry)?;
    let entry = config
        .entry(key)
        .or_insert_with(|| toml::Table::new().into());
    match (field, entry, given) {
        (Some(_), toml::Value::Table(table), toml::Value::Table(given)) => table.extend(given),
        (_, entry, given) => *entry = given,
    }
    Ok(())
}

/// Returns the error for a path without a registered key. The last part may be a field.
fn unknown(path: &str, registry: &Registry) -> PassError {
    let error = |key: &str| registry.config_schema(key).err();
    let whole = error(path);
    let key = path.rsplit_once('.').and_then(|(key, _)| error(key));
    // Prefer the error with a suggestion.
    let near = [whole.clone(), key].into_iter().flatten();
    let best = near.max_by_key(|error| error.help.is_some());
    match best.or(whole) {
        Some(mut error) => {
            // Show the path as typed instead of the part that was looked up.
            error.message = error.message.replacen(&error.key, path, 1);
            error.into()
        }
        None => PassError::new(ErrorKind::Config, format!("unknown config option `{path}`")),
    }
}
