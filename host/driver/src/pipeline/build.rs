//! From what a request says to passes, a context and instruments: every name and value is looked
//! up here, before the model is read and before anything runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::blame;
use super::file::{Entry, Located, PassTable, PipelineFile, SourceText};
use super::instruments;
use super::phases::Phases;
use super::request::Request;
use passdock_core::Sink;
use passdock_core::config::{ConfigError, Schema, Wrong};
use passdock_core::{
    ContextBuilder, ErrorKind, LoadOptions, PassContext, PassError, PassRef, Registry, Sequential,
    suggest,
};
use passdock_core::{FieldType, SearchDir};

/// The name of the Sequential that a pipeline's passes are wrapped in.
pub const PIPELINE: &str = "pipeline";

/// A request, ready to run.
pub(crate) struct Built {
    pub(crate) sequential: Sequential,
    pub(crate) context: ContextBuilder,
    /// What went to its places for phases.
    pub(crate) phases: Phases,
}

/// Looks up everything that a request names. The plugins of its directories come to the registry, and
/// what instruments show goes to `sink`, if there is one.
pub(crate) fn build(
    registry: &Registry,
    request: &Request,
    sink: Option<&Sink>,
    only_judges: bool,
) -> Result<Built, PassError> {
    let file = match &request.pipeline {
        Some(text) => Some(PipelineFile::parse(
            &text.path.display().to_string(),
            &text.text,
        )?),
        None => None,
    };
    load(registry, request, file.as_ref(), &mut Err)?;
    let tables = file.as_ref().map_or(&[][..], |file| &file.passes);
    let mut phases = Phases::new(registry, tables, &request.passes);
    let sequential = sequential(request, file.as_ref(), registry, &mut phases)?;
    check_names(request, file.as_ref(), registry, &sequential)?;
    let context = context(request, file.as_ref(), registry)?;
    let context = instruments::add(
        context,
        request,
        sink,
        file.as_ref(),
        registry,
        &sequential,
        only_judges,
    )?;
    Ok(Built {
        sequential,
        context,
        phases,
    })
}

/// Takes the plugins in all directories of a request into the registry; answers why plugins were
/// left out that contradict others.
pub fn load_plugins(registry: &Registry, request: &Request) -> Result<Vec<PassError>, PassError> {
    let mut conflicts = Vec::new();
    load(registry, request, None, &mut |error| {
        conflicts.push(error);
        Ok(())
    })?;
    Ok(conflicts)
}

fn load(
    registry: &Registry,
    request: &Request,
    file: Option<&PipelineFile>,
    refused: &mut dyn FnMut(PassError) -> Result<(), PassError>,
) -> Result<(), PassError> {
    instruments::register(registry)?;
    if let Some(dir) = &request.manifest_cache {
        registry.keep_manifests(dir);
    }
    let named = |path: &PathBuf| SearchDir {
        path: path.clone(),
        required: true,
    };
    let mut dirs: Vec<SearchDir> = request.plugin_dirs.iter().map(named).collect();
    let mut options: BTreeMap<Option<String>, LoadOptions> = BTreeMap::new();
    if let (Some(file), Some(text)) = (file, &request.pipeline) {
        let base = text.path.parent().unwrap_or(Path::new(""));
        for dir in &file.plugin_dirs {
            let path = base.join(&dir.value);
            if !path.is_dir() {
                let message = format!("There is no plugin directory `{}`.", path.display());
                let error = file.source.error(&dir.span, "no such directory", message);
                return Err(error.help("Directories are relative to the pipeline's file."));
            }
            dirs.push(SearchDir {
                path,
                required: true,
            });
        }
        for plugin in &file.plugins {
            let overrides = plugin
                .overrides
                .iter()
                .map(|name| name.value.clone())
                .collect();
            options.insert(Some(plugin.name.value.clone()), LoadOptions { overrides });
        }
    }
    let optional = |path: &PathBuf| SearchDir {
        path: path.clone(),
        required: false,
    };
    dirs.extend(request.standard_dirs.iter().map(optional));
    registry.load_dirs_with(&dirs, &options, refused)?;
    match file {
        Some(file) => check_plugins(file, registry),
        None => Ok(()),
    }
}

/// Refuses `[plugins.NAME]` for a plugin that isn't there.
fn check_plugins(file: &PipelineFile, registry: &Registry) -> Result<(), PassError> {
    let plugins = registry.plugins();
    for plugin in &file.plugins {
        let name = &plugin.name.value;
        if plugins.iter().all(|known| known.name() != name) {
            let message = format!("There is no plugin `{name}`.");
            let error = file
                .source
                .error(&plugin.name.span, "unknown plugin", message);
            let names: Vec<&str> = plugins.iter().map(|plugin| plugin.name()).collect();
            return Err(
                error.help(match suggest::nearest(name, names.iter().copied()) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("Plugins that were found: {}.", suggest::listed(names)),
                }),
            );
        }
    }
    Ok(())
}

fn sequential(
    request: &Request,
    file: Option<&PipelineFile>,
    registry: &Registry,
    phases: &mut Phases,
) -> Result<Sequential, PassError> {
    let mut passes: Vec<PassRef> = Vec::new();
    if let Some(file) = file {
        passes = children(&file.passes, &file.source, registry, phases)?;
    }
    for name in &request.passes {
        passes.push(registry.get_pass(name)?);
    }
    Ok(Sequential::new(passes).name(PIPELINE))
}

/// The passes of a list: an entry is one pass, or those that ask for its phase. Nesting was limited
/// when the file was read.
fn children(
    tables: &[PassTable],
    source: &SourceText,
    registry: &Registry,
    phases: &mut Phases,
) -> Result<Vec<PassRef>, PassError> {
    let mut passes = Vec::with_capacity(tables.len());
    for table in tables {
        match table {
            PassTable::Pass { name, options } => {
                passes.push(listed(name, options, source, registry)?);
            }
            PassTable::Phase(phase) => {
                if phases.places().contains(&phase.value) {
                    let name = phase.value.name();
                    let message =
                        format!("The pipeline has a place for the phase `{name}` already.");
                    let error = source.error(&phase.span, "another place", message);
                    return Err(error.help("Remove one: its passes would run at both."));
                }
                for name in phases.fill(phase.value) {
                    passes.push(registry.get_pass(name)?);
                }
            }
            PassTable::Sequential {
                name,
                opt_level,
                required,
                disabled,
                passes: inner,
            } => {
                for name in required {
                    registry
                        .get_pass(&name.value)
                        .map_err(|error| source.locate(error, &name.span))?;
                }
                let inner = children(inner, source, registry, phases)?;
                for name in disabled {
                    check_disabled(name, &inner, source, registry)?;
                }
                let values = |names: &[Located<String>]| -> Vec<String> {
                    names.iter().map(|name| name.value.clone()).collect()
                };
                let sequential = Sequential::new(inner)
                    .name(&name.value)
                    .opt_level(*opt_level)
                    .required(values(required))
                    .disabled(values(disabled));
                passes.push(sequential.into_pass());
            }
        }
    }
    Ok(passes)
}

/// A pass that is listed by its name.
fn listed(
    name: &Located<String>,
    options: &[Entry],
    source: &SourceText,
    registry: &Registry,
) -> Result<PassRef, PassError> {
    let schema = registry
        .option_schema(&name.value)
        .map_err(|error| source.locate(error, &name.span))?;
    check_options(&schema, options, source)?;
    let options = options
        .iter()
        .map(|(key, value)| (key.value.clone(), value.value.clone()));
    registry
        .get_pass_with_options(&name.value, &options.collect())
        .map_err(|error| source.locate(error, &name.span))
}

/// Refuses to disable what isn't there.
fn check_disabled(
    name: &Located<String>,
    passes: &[PassRef],
    source: &SourceText,
    registry: &Registry,
) -> Result<(), PassError> {
    let canonical = registry.canonical(&name.value);
    if passes.iter().any(|pass| pass.info().name == canonical) {
        return Ok(());
    }
    let names = passes.iter().map(|pass| pass.info().name.as_str());
    let near = suggest::did_you_mean(&name.value, names);
    let message = format!("There is no such pass in `passes` to disable.{near}");
    Err(source.error(&name.span, "", message))
}

/// Refuses options that a schema doesn't have or whose values it doesn't take.
pub(super) fn check_options(
    schema: &Schema,
    options: &[Entry],
    source: &SourceText,
) -> Result<(), PassError> {
    for (key, value) in options {
        let one = toml::Table::from_iter([(key.value.clone(), value.value.clone())]);
        let checked = schema.accept_part(&toml::Value::Table(one));
        checked.map_err(|error| locate(source, error, key, value))?;
    }
    Ok(())
}

pub(super) fn locate(
    source: &SourceText,
    error: ConfigError,
    key: &Located<String>,
    value: &Located<toml::Value>,
) -> PassError {
    let span = match error.wrong {
        Wrong::Key | Wrong::Field => &key.span,
        Wrong::Value => &value.span,
    };
    source.locate(error.into(), span)
}

/// The passes in a Sequential, and those in them.
pub(super) fn passes_in(sequential: &Sequential) -> Vec<PassRef> {
    let mut passes = Vec::new();
    let mut open: Vec<PassRef> = sequential.passes().to_vec();
    while let Some(pass) = open.pop() {
        let inner = pass.as_sequential().into_iter();
        open.extend(inner.flat_map(|inner| inner.passes().to_vec()));
        passes.push(pass);
    }
    passes
}

/// What a run's Sequentials are called.
pub(super) fn sequential_names(sequential: &Sequential) -> Vec<String> {
    let inner = passes_in(sequential).into_iter();
    let inner = inner.filter(|pass| pass.as_sequential().is_some());
    let mut names: Vec<String> = inner.map(|pass| pass.info().name.clone()).collect();
    names.push(PIPELINE.to_owned());
    names
}

/// Refuses names of passes to require or disable that nobody bears: a misspelt one would be
/// silently without effect.
fn check_names(
    request: &Request,
    file: Option<&PipelineFile>,
    registry: &Registry,
    sequential: &Sequential,
) -> Result<(), PassError> {
    let mut known: BTreeSet<String> = registry.pass_names().into_iter().collect();
    let passes = passes_in(sequential).into_iter();
    known.extend(passes.map(|pass| pass.info().name.clone()));
    let check_for = |name: &str, what: &str| {
        if known.contains(&registry.canonical(name)) {
            return Ok(());
        }
        let message = format!("There is no pass `{name}` to {what}.");
        let error = PassError::new(ErrorKind::UnknownPass, message);
        Err(
            match suggest::nearest(name, known.iter().map(String::as_str)) {
                Some(near) => error.help(format!("Did you mean `{near}`?")),
                None => error.help("`passdock list passes` shows what there is."),
            },
        )
    };
    let check = |name: &str| check_for(name, "require or to disable");
    if let Some(file) = file {
        for name in file
            .context
            .required_pass
            .iter()
            .chain(&file.context.disabled_pass)
        {
            check(&name.value).map_err(|error| file.source.locate(error, &name.span))?;
        }
    }
    let names = request.required_pass.iter().chain(&request.disabled_pass);
    names.map(String::as_str).try_for_each(check)?;
    let printed = request.print.before.iter().chain(&request.print.after);
    let mut printed = printed.filter(|name| *name != "all" && *name != PIPELINE);
    printed.try_for_each(|name| check_for(name, "print the module around"))
}

fn context(
    request: &Request,
    file: Option<&PipelineFile>,
    registry: &Registry,
) -> Result<ContextBuilder, PassError> {
    let mut context = PassContext::builder()
        .registry(registry)
        .verify(request.verify)
        .resumes(request.resumes)
        .jobs(request.jobs.unwrap_or(0));
    let names = |names: &[Located<String>]| -> Vec<String> {
        names.iter().map(|name| name.value.clone()).collect()
    };
    let mut config: BTreeMap<String, toml::Value> = BTreeMap::new();
    if let Some(file) = file {
        context = context
            .required_pass(names(&file.context.required_pass))
            .disabled_pass(names(&file.context.disabled_pass));
        for entry in &file.context.config {
            check_config(&file.source, entry, registry)?;
            config.insert(entry.0.value.clone(), entry.1.value.clone());
        }
    }
    let level = request
        .opt_level
        .or(file.and_then(|file| file.context.opt_level));
    if let Some(level) = level {
        context = context.opt_level(level);
    }
    context = context
        .required_pass(request.required_pass.iter().cloned())
        .disabled_pass(request.disabled_pass.iter().cloned());
    if request.allow_growth {
        for info in registry.list_configs() {
            if info
                .schema
                .fields
                .iter()
                .any(|field| field.name == "allow_growth")
            {
                let setting = format!("{}.allow_growth=true", info.schema.key);
                set(&setting, registry, &mut config)?;
            }
        }
    }
    for setting in &request.config {
        set(setting, registry, &mut config)?;
    }
    for (key, value) in config {
        context = context.config(key, value);
    }
    Ok(context)
}

fn check_config(source: &SourceText, entry: &Entry, registry: &Registry) -> Result<(), PassError> {
    let (key, value) = entry;
    let checked = registry
        .config_schema(&key.value)
        .and_then(|schema| schema.accept(&value.value).map(drop));
    checked.map_err(|error| locate(source, error, key, value))
}

/// `KEY=VALUE` of the command line: the longest registered key, then the field's name.
fn set(
    setting: &str,
    registry: &Registry,
    config: &mut BTreeMap<String, toml::Value>,
) -> Result<(), PassError> {
    let shown =
        |error: PassError, span: Range<usize>| blame::in_argument(error, "--config", setting, span);
    let wrong = |message: &str| PassError::new(ErrorKind::Config, message);
    let Some(equals) = setting.find('=') else {
        let error = wrong("`--config` needs a value.").help("Write `--config KEY=VALUE`.");
        return Err(shown(error, 0..setting.len()));
    };
    let (path, text) = (setting[..equals].trim(), &setting[equals + 1..]);
    let value_span = equals + 1..setting.len();
    let path_start = setting.len() - setting.trim_start().len();
    let registered = registry
        .list_configs()
        .into_iter()
        .map(|info| info.schema.key);
    let is_prefix = |key: &String| {
        path.strip_prefix(key.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let Some(key) = registered.filter(is_prefix).max_by_key(String::len) else {
        return Err(shown(
            unknown(path, registry),
            path_start..path_start + path.len(),
        ));
    };
    let field = path[key.len()..].strip_prefix('.');
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    let parsed = parsed.filter(|table| table.len() == 1);
    let Some(value) = parsed.and_then(|mut table| table.remove("value")) else {
        let schema = registry.config_schema(&key)?;
        let known = match field {
            None if !schema.is_scalar() => None,
            field => schema.settable(field.unwrap_or("")).ok(),
        };
        let text = text.trim();
        let help = match known.map(|known| (known, known.ty)) {
            None => format!("It is {}.", schema.type_name()),
            Some((_, FieldType::Strings)) => {
                format!("It is a list of strings: `--config '{path}=[\"{text}\"]'`.")
            }
            Some((_, FieldType::String | FieldType::Values)) => {
                format!("A string needs quotes: `--config '{path}=\"{text}\"'`.")
            }
            Some((known, _)) => format!("It is {}.", known.takes().replace("NAME = ", "")),
        };
        return Err(shown(wrong("The value isn't TOML.").help(help), value_span));
    };
    let given = match field {
        None => value.clone(),
        Some(field) => toml::Table::from_iter([(field.to_owned(), value.clone())]).into(),
    };
    let checked = registry.config_schema(&key).and_then(|schema| match field {
        // A scalar has no fields to set.
        Some(field) if schema.is_scalar() => schema.field(field).map(drop),
        _ => schema.accept_part(&given).map(drop),
    });
    checked.map_err(|error| {
        let field_span =
            path_start + path.len() - field.map_or(0, str::len)..path_start + path.len();
        let span = match (error.wrong, field) {
            (Wrong::Field, Some(_)) => field_span,
            (Wrong::Key, _) => path_start..path_start + path.len(),
            _ => value_span,
        };
        shown(error.into(), span)
    })?;
    match field {
        None => {
            config.insert(key, value);
        }
        Some(field) => {
            let table = config
                .entry(key)
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            match table {
                toml::Value::Table(table) => _ = table.insert(field.to_owned(), value),
                other => *other = given,
            }
        }
    }
    Ok(())
}

/// The error of a path that starts with no registered key; it may end with a field.
fn unknown(path: &str, registry: &Registry) -> PassError {
    let error = |key: &str| registry.config_schema(key).err();
    let whole = error(path);
    let key = path.rsplit_once('.').and_then(|(key, _)| error(key));
    // The one that is near something.
    let near = [whole.clone(), key].into_iter().flatten();
    let best = near.max_by_key(|error| error.help.is_some());
    match best.or(whole) {
        Some(mut error) => {
            // What was typed, not the part of it that was looked up.
            error.message = error.message.replacen(&error.key, path, 1);
            error.into()
        }
        None => PassError::new(
            ErrorKind::Config,
            format!("There is no config option `{path}`."),
        ),
    }
}
