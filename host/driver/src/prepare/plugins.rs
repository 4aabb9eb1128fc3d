//! Loading of a request's plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use passdock_core::{
    ErrorKind, LoadOptions, PassError, Plugin, Registry, Snippet, Unsatisfied, VersionRange,
    discover, suggest,
};
use passdock_files::directory_of;
use passdock_sandbox::{CallLimits, Permission};

use toml::Spanned;

use super::request::Request;
use crate::pipeline_file::{PassTable, PipelineFile, PluginTable, SourceText, values};

/// Adds the plugin files of a request, and the plugins in its directories, to the registry. Returns the errors of
/// plugins that were skipped because they conflict with others.
///
/// # Errors
/// If a file doesn't exist or isn't a usable plugin, or a required directory can't be read.
pub fn load_plugins(registry: &Registry, request: &Request) -> Result<Vec<PassError>, PassError> {
    let mut conflicts = Vec::new();
    load(registry, request, &PipelineFile::default(), &mut |error| {
        conflicts.push(error);
        Ok(())
    })?;
    Ok(conflicts)
}

/// Adds the plugins of a run to the registry, without loading them.
///
/// # Errors
/// If a file or directory of plugins isn't usable, plugins conflict, or those of a built-in pipeline are missing.
pub(crate) fn register(
    registry: &Registry,
    request: &Request,
    file: &PipelineFile,
) -> Result<(), PassError> {
    load(registry, request, file, &mut Err)?;
    if request.is_built_in() {
        check_built_in(registry, request, &file.source.name, &file.passes)?;
    }
    Ok(())
}

/// Adds the plugins of a request and of a pipeline file to the registry. `on_error` receives the error of each plugin
/// that conflicts with another.
pub(super) fn load(
    registry: &Registry,
    request: &Request,
    file: &PipelineFile,
    on_error: &mut dyn FnMut(PassError) -> Result<(), PassError>,
) -> Result<(), PassError> {
    for path in &request.plugin_files {
        check_file(path)?;
    }
    let path_of = |named: &Spanned<String>| {
        let path = request.used_by_pipeline(named.get_ref());
        path.map_err(file.source.at(named.span()))
    };
    for named in &file.plugins.files {
        check_file(&path_of(named)?).map_err(|error| {
            let error = error.help("paths are relative to the pipeline file");
            file.source.locate(error, named.span())
        })?;
    }
    let mut dirs: Vec<PathBuf> = Vec::new();
    for named in &file.plugins.dirs {
        let path = path_of(named)?;
        if !path.is_dir() {
            let message = format!("plugin directory `{}` does not exist", path.display());
            let error = file
                .source
                .error(named.span(), "no such directory", message);
            return Err(error.help("paths are relative to the pipeline file"));
        }
        dirs.push(path);
    }
    let mut options = BTreeMap::new();
    for (name, table) in &file.plugins.tables {
        options.insert(
            Some(name.get_ref().clone()),
            load_options(table, request, file)?,
        );
    }
    for (name, permission) in &request.allow {
        let options: &mut LoadOptions = options.entry(Some(name.clone())).or_default();
        options.allow.push(permission.clone());
    }
    let on_error = &mut |error| on_error(blame_override(error, file));
    let blamed = |error| blame_override(error, file);
    let loaded = registry.load_files_with(&request.plugin_files, &options, on_error);
    loaded.map_err(blamed)?;
    for named in &file.plugins.files {
        let loaded = registry.load_files_with(&[path_of(named)?], &options, on_error);
        loaded.map_err(|error| file.source.locate(blamed(error), named.span()))?;
    }
    let loaded = registry.load_dirs_with(&request.search_dirs(dirs), &options, on_error);
    loaded.map_err(blamed)?;
    check_plugins(file, registry)?;
    let plugins = registry.plugins();
    for (name, permission) in &request.allow {
        if plugins.iter().all(|plugin| plugin.name() != name) {
            let message = format!("cannot grant `{permission}`: no plugin is named `{name}`");
            let names = || plugins.iter().map(|plugin| plugin.name());
            let help = suggest::help_or_list(name, names, "plugins found");
            return Err(PassError::new(ErrorKind::Usage, message).help(help));
        }
    }
    Ok(())
}

/// Returns the options for a plugin in a pipeline file.
fn load_options(
    table: &PluginTable,
    request: &Request,
    file: &PipelineFile,
) -> Result<LoadOptions, PassError> {
    let pipeline = request.pipeline.as_ref();
    let directory = pipeline.map_or(Path::new(""), |text| directory_of(&text.path));
    let mut allow = Vec::with_capacity(table.allow.len());
    for text in &table.allow {
        let permission = text.get_ref().parse::<Permission>();
        let permission = permission.map_err(|error| {
            let what = "unknown permission";
            file.source.error(text.span(), what, error.to_string())
        });
        allow.push(permission?.in_directory(directory));
    }
    let time = table.timeout_s.as_ref().map(|seconds| {
        let time = Duration::try_from_secs_f64(*seconds.get_ref()).ok();
        time.filter(|time| !time.is_zero()).ok_or_else(|| {
            let message = "`timeout_s` must be greater than 0".to_owned();
            file.source
                .error(seconds.span(), "not a time limit", message)
        })
    });
    let memory = table.memory_mb.as_ref().map(|size| {
        let bytes = size
            .get_ref()
            .checked_mul(1 << 20)
            .filter(|bytes| *bytes > 0);
        bytes.filter(|_| cfg!(target_os = "linux")).ok_or_else(|| {
            let message = "`memory_mb` must be greater than 0, and is only available on Linux";
            file.source
                .error(size.span(), "not a memory limit", message.to_owned())
        })
    });
    let limits = CallLimits {
        time: time.transpose()?,
        memory: memory.transpose()?,
    };
    Ok(LoadOptions {
        overrides: values(&table.overrides),
        allow,
        limits,
    })
}

/// Whether a directory is one of the standard plugins: that of the program, or the one of its installation.
pub(crate) fn is_standard_dir(request: &Request, dir: &Path) -> bool {
    let Some(program) = &request.program_dir else {
        return false;
    };
    let installed = program.parent().map(discover::dir_in_prefix);
    let mut standard = [Some(program), installed.as_ref()].into_iter().flatten();
    let same = |other: &PathBuf| match (dunce::canonicalize(other), dunce::canonicalize(dir)) {
        (Ok(other), Ok(dir)) => other == dir,
        _ => false,
    };
    standard.any(same)
}

/// Rejects a built-in pipeline if the standard plugins are missing. The error doesn't refer to its text, which the user
/// can't change.
pub(super) fn check_built_in(
    registry: &Registry,
    request: &Request,
    name: &str,
    tables: &[PassTable],
) -> Result<(), PassError> {
    let names = tables.iter().filter_map(|table| match table {
        PassTable::Pass { name, .. } => Some(name.get_ref()),
        _ => None,
    });
    let mut unknown = names.filter_map(|name| Some((name, registry.option_schema(name).err()?)));
    let (what, notes) = match unknown.next() {
        Some((name, error)) => (format!("pass `{name}`"), error.notes.clone()),
        // Without op definitions, passes would change nothing.
        None if registry.op_defs().is_empty() => {
            let unreadable = registry.unreadable().into_iter();
            let notes = unreadable.map(|error| error.to_string()).collect();
            ("operator definitions".to_owned(), notes)
        }
        None => return Ok(()),
    };
    let dirs = request.plugin_dirs.iter().chain(&request.default_dirs);
    let dirs: Vec<String> = dirs.map(|dir| dir.display().to_string()).collect();
    let (plugin, help) = match dirs.is_empty() {
        true => (
            "loaded plugin".to_owned(),
            "load the directory of the standard plugins into the registry",
        ),
        false => (
            format!(
                "plugin in {}",
                suggest::listed(dirs.iter().map(String::as_str))
            ),
            "put the standard plugins next to the executable or into `../lib/passdock/plugins`, or name their \
             directory with `--plugin-dir DIR` or `PASSDOCK_PLUGIN_PATH`",
        ),
    };
    let message =
        format!("the built-in pipeline `{name}` needs {what}, which no {plugin} provides");
    let mut error = PassError::new(ErrorKind::Plugin, message).help(help);
    error.notes = notes;
    Err(error)
}

/// Returns the error for a request whose directories contain no plugins.
pub fn no_plugins(request: &Request) -> PassError {
    let dirs = request.plugin_dirs.iter().chain(&request.default_dirs);
    let dirs: Vec<String> = dirs.map(|dir| format!("`{}`", dir.display())).collect();
    let message = format!("no plugin found in {}", dirs.join(", "));
    PassError::new(ErrorKind::Plugin, message).help(
        "put the standard plugins next to the executable or into `../lib/passdock/plugins`, or name plugins with \
         `--plugin FILE`, `--plugin-dir DIR` or `PASSDOCK_PLUGIN_PATH`",
    )
}

/// Adds to an error about an unknown pass that the searched directories contain no plugins, if that is the case.
pub(super) fn none_found(error: PassError, request: &Request, registry: &Registry) -> PassError {
    let has_searched = !request.plugin_dirs.is_empty() || !request.default_dirs.is_empty();
    if error.kind != ErrorKind::UnknownPass || !has_searched || !registry.plugins().is_empty() {
        return error;
    }
    let none = no_plugins(request);
    let help = none.help.clone().unwrap_or_default();
    error.note(none.message.clone()).help(help)
}

/// Adds the location of the name in `override` that an error refers to.
fn blame_override(error: PassError, file: &PipelineFile) -> PassError {
    let plugins = file.plugins.tables.iter();
    let mut names = plugins.flat_map(|(_, plugin)| &plugin.overrides);
    let is_requested = |name: &&Spanned<String>| {
        let quoted = format!("`{}`", name.get_ref());
        error.message.contains(&quoted) && error.message.contains("override")
    };
    match names.find(is_requested) {
        Some(name) => file.source.locate(error, name.span()),
        None => error,
    }
}

/// Rejects a plugin file that doesn't exist or is a directory.
fn check_file(path: &Path) -> Result<(), PassError> {
    let shown = path.display();
    let usage_error = |message: String| Err(PassError::new(ErrorKind::Usage, message));
    match path.metadata() {
        Ok(found) if found.is_dir() => usage_error(format!(
            "`{shown}` is a directory, not a plugin file; name directories with `--plugin-dir` or `dirs`"
        )),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let missing = usage_error(format!("plugin file `{shown}` does not exist"));
            missing.map_err(|error| error.help("correct the path, or build the plugin"))
        }
        Err(error) => usage_error(format!("could not read plugin file `{shown}`: {error}")),
    }
}

/// Rejects `[plugins.NAME]` for an unknown plugin, or for one whose version isn't in the table's range.
fn check_plugins(file: &PipelineFile, registry: &Registry) -> Result<(), PassError> {
    let plugins = registry.plugins();
    for (key, table) in &file.plugins.tables {
        let name = key.get_ref();
        let Some(plugin) = plugins.iter().find(|plugin| plugin.name() == name) else {
            let message = format!("no plugin is named `{name}`");
            let error = file.source.error(key.span(), "unknown plugin", message);
            let names = || plugins.iter().map(|plugin| plugin.name());
            let help = suggest::help_or_list(name, names, "plugins found");
            return Err(error.help(help));
        };
        if let Some(range) = &table.version {
            check_version(range, plugin, &file.source)?;
        }
    }
    Ok(())
}

/// Rejects a plugin whose version isn't in a range of the pipeline file.
fn check_version(
    range: &Spanned<String>,
    plugin: &Plugin,
    source: &SourceText,
) -> Result<(), PassError> {
    let text = range.get_ref();
    let Some(versions) = VersionRange::parse(text) else {
        let message = format!("`{text}` is not a range of versions");
        let error = source.error(range.span(), "not a range of versions", message);
        return Err(error.help("write it as in Cargo.toml: `\">=1.2, <2\"`"));
    };
    let (name, found) = (plugin.name(), plugin.origin());
    let version = &plugin.manifest().plugin.version;
    let error = |why: &str, help: &str| {
        let message = format!("plugin `{name}` in {found} has version `{version}`{why}");
        let error = PassError::new(ErrorKind::Plugin, message).help(help);
        let label = format!("expected version {text}");
        error.snippet(Snippet::new(
            &source.name,
            &source.text,
            range.span(),
            &label,
        ))
    };
    match versions.check(version) {
        Ok(()) => Ok(()),
        Err(Unsatisfied::OtherVersion) => Err(error(
            "",
            "use another version of the plugin, or change the range",
        )),
        Err(Unsatisfied::NotSemantic) => Err(error(
            ", which is not a semantic version such as `1.2.0`",
            "use a release of the plugin that has such a version, or remove `version` from the pipeline",
        )),
    }
}
