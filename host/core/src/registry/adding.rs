//! Adding the program's passes, and plugins. A plugin is added completely or, with an error, not at all.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use passdock_diagnostic::suggest;
use passdock_files::same_contents;
use passdock_loader::discover::check_op_conflicts;
use passdock_loader::{Manifest, Plugin, PluginError, PluginErrorKind};

use super::entries::{Entries, Entry, Item, LoadOptions};
use super::{Inner, Registry};
use crate::config::{ConfigError, Schema};
use crate::error::{ErrorKind, PassError};
use crate::pass::PassRef;

impl Registry {
    /// Registers a plugin completely or not at all. `named`: the user named the file or its directory.
    pub(super) fn add(
        &self,
        plugin: Arc<Plugin>,
        options: &LoadOptions,
        named: bool,
    ) -> Result<(), PassError> {
        let mut inner = self.write();
        // A file that is registered already is skipped: two paths or directories may lead to it.
        let file = plugin.file().copied();
        if file.is_some_and(|file| inner.files.contains(&file)) {
            inner.mark_named(&plugin, named);
            return Ok(());
        }
        let hidden = match inner.other_file(&plugin) {
            None => None,
            Some(first) if !named => {
                inner.passed_over.push(hidden_by(&plugin, &first));
                return Ok(());
            }
            Some(first) => (!inner.named.contains(first.name())).then_some(first),
        };
        if let Some(hidden) = &hidden {
            inner.remove(hidden.name())?;
        }
        if let Err(error) = inner.add(&plugin, options) {
            if let Some(hidden) = &hidden {
                inner.add(hidden, options)?;
                inner.list(hidden);
            }
            // If a file of a directory was rebuilt, the registered plugin stays.
            let mut others = inner.plugins.iter();
            if let Some(other) = others.find(|other| is_same_path(other, &plugin)) {
                return match named && other.was_replaced_by(&plugin) {
                    true => Err(rebuilt(other)),
                    false => Ok(()),
                };
            }
            return Err(explained(error, &plugin, &inner.plugins));
        }
        plugin.grant(&options.allow);
        if let Some(path) = plugin.origin().path() {
            passdock_sandbox::limit_calls(path, options.limits);
        }
        let registry = Arc::downgrade(&self.0);
        plugin.find_required_with(move |name| Registry(registry.upgrade()?).plugin(name));
        if let Some(hidden) = hidden {
            inner.passed_over.push(hidden_by(&hidden, &plugin));
        }
        inner.mark_named(&plugin, named);
        inner.list(&plugin);
        Ok(())
    }
}

impl Inner {
    /// Returns the registered plugin of the same name as one in another file.
    fn other_file(&self, plugin: &Plugin) -> Option<Arc<Plugin>> {
        let mut others = self.plugins.iter();
        let other = others.find(|other| other.name() == plugin.name())?;
        (!is_same_path(other, plugin)).then(|| other.clone())
    }

    /// Stores that the user named a plugin, if so.
    fn mark_named(&mut self, plugin: &Plugin, named: bool) {
        if named {
            self.named.insert(plugin.name().to_owned());
        }
    }

    /// Lists a plugin whose items were added.
    fn list(&mut self, plugin: &Arc<Plugin>) {
        self.files.extend(plugin.file().copied());
        self.plugins.push(plugin.clone());
        self.ops = OnceLock::new();
    }

    /// Removes a plugin's items. Its library stays loaded.
    pub(super) fn remove(&mut self, name: &str) -> Result<(), ConfigError> {
        self.passes.remove_plugin(name);
        self.aliases.remove_plugin(name);
        self.plugins.retain(|plugin| plugin.name() != name);
        self.named.remove(name);
        let remaining = self.plugins.iter().filter_map(|plugin| plugin.file());
        self.files = remaining.copied().collect();
        self.config.remove_plugin(name);
        // Options that the plugin shared with others stay registered.
        for plugin in self.plugins.clone() {
            for config in &plugin.manifest().configs {
                if self.config.check_free(&config.key).is_ok() {
                    let owner = Some(plugin.name().to_owned());
                    self.config.register(config.clone(), owner)?;
                }
            }
        }
        self.instruments.remove_plugin(name);
        self.ops = OnceLock::new();
        Ok(())
    }

    /// Adds a pass of the program. Its name was checked before.
    pub(super) fn add_own(
        &mut self,
        pass: PassRef,
        add: fn(&mut Entries, String, Entry),
    ) -> Result<(), PassError> {
        self.aliases.check_declared(pass.declaration())?;
        self.aliases.add_declared(pass.declaration(), None);
        let name = pass.info().name.clone();
        add(&mut self.passes, name, Entry::Program(pass));
        Ok(())
    }

    /// Adds the items of a plugin: all of them, or none.
    pub(super) fn add(
        &mut self,
        plugin: &Arc<Plugin>,
        options: &LoadOptions,
    ) -> Result<(), PassError> {
        check_op_conflicts(plugin, &self.plugins)?;
        self.instruments.check_plugin(plugin)?;
        let manifest = plugin.manifest();
        for name in &options.overrides {
            let mut names = items(manifest).map(|(name, _)| name);
            if names.all(|own| own != name) {
                let near = suggest::did_you_mean(name, items(manifest).map(|(name, _)| name));
                let message = format!(
                    "plugin `{}` has no pass `{name}` to override with{near}",
                    plugin.name()
                );
                return Err(PassError::new(ErrorKind::UnknownPass, message));
            }
        }
        let mut new = Vec::new();
        for (name, item) in items(manifest) {
            let name = name.to_owned();
            let overrides = options.overrides.contains(&name);
            self.check_free(&name, overrides).map_err(|error| {
                error.note(format!("the other is in plugin {}", plugin.origin()))
            })?;
            new.push((
                name,
                Entry::Plugin {
                    plugin: plugin.clone(),
                    item,
                    overrides,
                },
            ));
        }
        for pass in &manifest.passes {
            self.aliases.check_declared(&pass.declaration)?;
        }
        // Plugins may share an option if their schemas are equal.
        let unshared = |schema: &&Schema| {
            let registered = self.config.find(&schema.key);
            registered.is_none_or(|registered| registered.schema.fields != schema.fields)
        };
        let schemas: Vec<Schema> = manifest.configs.iter().filter(unshared).cloned().collect();
        for schema in &schemas {
            self.config.check_free(&schema.key)?;
        }
        for schema in schemas {
            self.config
                .register(schema, Some(plugin.name().to_owned()))?;
        }
        for pass in &manifest.passes {
            self.aliases
                .add_declared(&pass.declaration, Some(plugin.name()));
        }
        for (name, entry) in new {
            self.passes.add(name, entry);
        }
        self.instruments.add_plugin(plugin);
        Ok(())
    }
}

/// Iterates over the passes and the Sequentials of a manifest, by name.
fn items(manifest: &Manifest) -> impl Iterator<Item = (&str, Item)> {
    let passes = manifest.passes.iter().enumerate();
    let passes = passes.map(|(at, pass)| (pass.name(), Item::Pass(at)));
    let sequentials = manifest.sequentials.iter().enumerate();
    passes.chain(sequentials.map(|(at, spec)| (spec.name(), Item::Sequential(at))))
}

/// Returns the error about a plugin that another one of the same name hides.
fn hidden_by(plugin: &Plugin, other: &Plugin) -> PluginError {
    let other = other.origin().clone();
    PluginError::new(plugin.origin().clone(), PluginErrorKind::Hidden { other })
}

/// Whether the files of two plugins have the same path, after resolving links.
fn is_same_path(one: &Plugin, other: &Plugin) -> bool {
    let canonical_path = |plugin: &Plugin| plugin.origin().path()?.canonicalize().ok();
    let path = canonical_path(one);
    path.is_some() && path == canonical_path(other)
}

/// Returns the error about a plugin whose file was replaced after its code was loaded.
fn rebuilt(plugin: &Plugin) -> PassError {
    let message = format!(
        "plugin {} changed after it was loaded, and its old code cannot be unloaded",
        plugin.origin()
    );
    PassError::new(ErrorKind::Plugin, message).help("restart the program to use the new file")
}

/// Improves the error about a plugin that conflicts with registered ones: if it is registered already, from another
/// file, the error is about the two files.
fn explained(error: PassError, plugin: &Plugin, others: &[Arc<Plugin>]) -> PassError {
    let twin = others.iter().find(|other| other.name() == plugin.name());
    // An unknown pass to override is a different error.
    let Some(twin) = twin.filter(|_| error.kind != ErrorKind::UnknownPass) else {
        return error;
    };
    let (Some(first), Some(second)) = (twin.origin().path(), plugin.origin().path()) else {
        return error;
    };
    let name = plugin.name();
    let [old, new] = [twin, plugin].map(|plugin| plugin.manifest().plugin.version.as_str());
    let same = || same_contents(&mut File::open(first)?, &mut File::open(second)?);
    let how = match (old == new, same().unwrap_or(false)) {
        (_, true) => "copies of one file".to_owned(),
        (true, false) => format!("two builds of version {new}"),
        (false, false) => format!("versions {old} and {new}"),
    };
    let message = format!(
        "duplicate plugin `{name}`: `{}` and `{}` are {how}",
        first.display(),
        second.display()
    );
    PassError::new(ErrorKind::Duplicate, message)
        .help(
            "remove one of the files, its `--plugin`, or its directory from `--plugin-dir` or \
             `[plugins]` of the pipeline",
        )
        .caused_by(Arc::new(error))
}
