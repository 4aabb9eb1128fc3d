//! `passdock plugin install`: copies plugins to the user's directory, which every command searches.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use passdock::files::{TemporaryDirectory, directory_of};
use passdock::plugin::{Plugin, SearchDir, discover};
use passdock::{
    Diagnostic, ErrorKind, LoadOptions, PassError, Severity, pipeline, provenance, trust,
};
use serde::Serialize;

use crate::args::plugin::InstallArgs;
use crate::{plugins, request, show};

/// The plugins in the named file or directory.
struct Source {
    plugins: Vec<Arc<Plugin>>,
    /// The directory of the plugins.
    dir: PathBuf,
    /// The data files and signatures, relative to `dir`. Each plugin gets all of them.
    data: Vec<PathBuf>,
}

/// An installed plugin, as `--json` prints it.
#[derive(Serialize)]
struct Installed {
    name: String,
    version: String,
    file: PathBuf,
    sha256: String,
    data_files: usize,
    /// The version of the replaced plugin.
    replaced: Option<String>,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Output {
    plugins: Vec<Installed>,
}

pub(in crate::command) fn install(args: InstallArgs) -> anyhow::Result<u8> {
    let user_dir = user_dir()?;
    let source = Source::read(&args.path, &user_dir)?;
    // Nothing is installed unless all plugins can be.
    check_conflicts(&source.plugins, &user_dir)?;
    let mut replaced = Vec::new();
    for plugin in &source.plugins {
        let old = installed_version(&user_dir.join(plugin.name()));
        if let Some(old) = old.as_ref().filter(|_| !args.replace) {
            return Err(exists(plugin, old, &user_dir).into());
        }
        replaced.push(old);
    }
    let plugins = source.plugins.iter().zip(replaced);
    let plugins = plugins.map(|(plugin, replaced)| source.copy(plugin, replaced, &user_dir));
    let output = Output {
        plugins: plugins.collect::<anyhow::Result<_>>()?,
    };
    show::print_result(&output, args.json, |output| {
        let plugins = output.plugins.iter();
        show::print(&plugins.map(render).collect::<Vec<_>>().join("\n"));
    });
    Ok(0)
}

/// Creates the user's plugin directory and returns its path, with links resolved.
fn user_dir() -> anyhow::Result<PathBuf> {
    let dir = discover::user_dir().ok_or_else(|| {
        let error = PassError::new(ErrorKind::Usage, "the user has no home directory");
        error.help("set HOME, or copy the plugin to a directory and name it with `--plugin-dir`")
    })?;
    show::create_dir(&dir)?;
    dunce::canonicalize(&dir).with_context(|| format!("could not read `{}`", dir.display()))
}

/// Rejects plugins that define the same passes, ops or options as other available ones. Prints a warning if another
/// plugin of the same name takes precedence.
fn check_conflicts(plugins: &[Arc<Plugin>], user_dir: &Path) -> Result<(), PassError> {
    let registry = plugins::registry();
    // The conflicts of other plugins are no reason not to install these.
    pipeline::load_plugins(&registry, &request::from_plugin_args(Default::default()))?;
    for plugin in plugins {
        let other = registry.plugin(plugin.name());
        let other = other.as_ref().and_then(|other| other.origin().path());
        if let Some(other) = other.filter(|other| !other.starts_with(user_dir)) {
            let (name, other) = (plugin.name(), other.display());
            let message =
                format!("plugin `{name}` in `{other}` takes precedence over the installed one");
            show::diagnostic(&Diagnostic::new(Severity::Warning, "plugin", message));
        }
        registry.load_plugin(path_of(plugin), &LoadOptions::default())?;
    }
    Ok(())
}

/// Returns the version of the plugin that is installed in a directory, or `None` if the directory doesn't exist.
fn installed_version(dir: &Path) -> Option<String> {
    dir.symlink_metadata().ok()?;
    let found = discover(&[search(dir)]).map(|found| found.plugins);
    let found = found.unwrap_or_default();
    let mut versions = found.iter().map(|plugin| &plugin.manifest().plugin.version);
    Some(versions.next().cloned().unwrap_or_default())
}

fn exists(plugin: &Plugin, old: &str, user_dir: &Path) -> PassError {
    let name = plugin.name();
    let dir = user_dir.join(name);
    let message = format!(
        "plugin `{name}` is already installed in `{}`",
        dir.display()
    );
    let [old, new] = [old, &plugin.manifest().plugin.version].map(|version: &str| match version {
        "" => "a plugin without a version".to_owned(),
        version => format!("version {version}"),
    });
    PassError::new(ErrorKind::Usage, message).help(format!("replace {old} with {new}: `--replace`"))
}

/// Returns a plugin's name and its version, if it has one.
fn titled(name: &str, version: &str) -> String {
    format!("{name} {version}").trim_end().to_owned()
}

impl Source {
    /// Reads the plugins without running their code.
    fn read(path: &Path, user_dir: &Path) -> anyhow::Result<Source> {
        let source = match path.is_dir() {
            true => Source::read_dir(path, user_dir)?,
            false => {
                let signature = Some(trust::signature_path(path)).filter(|path| path.is_file());
                let name = signature.as_deref().and_then(Path::file_name);
                Source {
                    plugins: vec![Arc::new(Plugin::open(path).map_err(PassError::from)?)],
                    dir: directory_of(path).to_path_buf(),
                    data: name.map(PathBuf::from).into_iter().collect(),
                }
            }
        };
        let plugins = source.plugins.iter();
        let warnings = plugins.flat_map(|plugin| plugin.unknown_keys());
        warnings.for_each(|warning| show::diagnostic(&warning));
        Ok(source)
    }

    fn read_dir(path: &Path, user_dir: &Path) -> anyhow::Result<Source> {
        let shown = path.display();
        let dir = dunce::canonicalize(path).with_context(|| format!("could not read `{shown}`"))?;
        if user_dir.starts_with(&dir) {
            let message = format!("`{shown}` contains the directory of installed plugins");
            let error = PassError::new(ErrorKind::Usage, message);
            let help = "name a directory with only the plugin and its data";
            return Err(error.help(help).into());
        }
        // Other libraries may belong to the plugins.
        let mixed = true;
        let found = discover(&[SearchDir {
            mixed,
            ..search(&dir)
        }])?;
        if let Some(error) = found.unreadable.into_iter().next() {
            return Err(PassError::from(error).into());
        }
        let plugins = found.plugins;
        if plugins.is_empty() {
            let error = PassError::new(ErrorKind::Plugin, format!("no plugin found in `{shown}`"));
            return Err(error.help("subdirectories are not searched").into());
        }
        let mut data = files_in(&dir)?;
        let is_plugin = |path: PathBuf| plugins.iter().any(|plugin| path_of(plugin) == path);
        data.retain(|file| !is_plugin(dir.join(file)));
        Ok(Source { plugins, dir, data })
    }

    /// Copies a plugin and the data files to a new directory, which then gets its final name.
    fn copy(
        &self,
        plugin: &Plugin,
        replaced: Option<String>,
        user_dir: &Path,
    ) -> anyhow::Result<Installed> {
        let dir = user_dir.join(plugin.name());
        let could_not_write = || format!("could not write `{}`", dir.display());
        let new = TemporaryDirectory::in_directory(user_dir).with_context(could_not_write)?;
        let name = path_of(plugin).file_name();
        let name = Path::new(name.context("the plugin has no file name")?);
        for file in self.data.iter().map(PathBuf::as_path).chain([name]) {
            let (from, to) = (self.dir.join(file), new.path().join(file));
            let copied = fs::create_dir_all(directory_of(&to)).and_then(|()| fs::copy(&from, &to));
            copied.with_context(|| format!("could not copy `{}`", from.display()))?;
        }
        let sha256 = provenance::sha256(&new.path().join(name)).with_context(could_not_write)?;
        let placed = match replaced {
            Some(_) => new.replace(&dir),
            None => new.rename(&dir),
        };
        placed.with_context(could_not_write)?;
        Ok(Installed {
            name: plugin.name().to_owned(),
            version: plugin.manifest().plugin.version.clone(),
            file: dir.join(name),
            sha256,
            data_files: self.data.len(),
            replaced,
        })
    }
}

/// Returns the search of one directory that must exist.
fn search(dir: &Path) -> SearchDir {
    SearchDir {
        path: dir.to_path_buf(),
        required: true,
        mixed: false,
    }
}

fn path_of(plugin: &Plugin) -> &Path {
    plugin.origin().path().unwrap_or(Path::new(""))
}

/// Returns the files in a directory and its subdirectories, relative to it and sorted, without hidden ones.
fn files_in(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut dirs = vec![PathBuf::new()];
    while let Some(dir) = dirs.pop() {
        let shown = root.join(&dir);
        let could_not_read = || format!("could not read `{}`", shown.display());
        for entry in shown.read_dir().with_context(could_not_read)? {
            let entry = entry.with_context(could_not_read)?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if entry.file_type().with_context(could_not_read)?.is_dir() {
                dirs.push(dir.join(name));
            } else if path.is_file() {
                files.push(dir.join(name));
            } else {
                let message = format!("`{}` is not a file or a directory", path.display());
                let error = PassError::new(ErrorKind::Usage, message);
                return Err(error
                    .help("replace a link to a directory with a copy")
                    .into());
            }
        }
    }
    files.sort();
    Ok(files)
}

fn render(plugin: &Installed) -> String {
    let mut facts = show::Facts::default();
    facts.add("installed", titled(&plugin.name, &plugin.version));
    if let Some(replaced) = &plugin.replaced {
        facts.add("replaced", titled(&plugin.name, replaced));
    }
    facts.add("file", plugin.file.display().to_string());
    if plugin.data_files > 0 {
        facts.add("data files", show::count(plugin.data_files as u64));
    }
    facts.add("sha256", &*plugin.sha256);
    facts.render()
}
