//! Adding the program's passes, and plugins. A plugin is added completely or, with an error, not at all.

use std::fs::File;
use std::sync::Arc;

use passdock_diagnostic::suggest;
use passdock_files::same_contents;
use passdock_loader::discover::check_op_conflicts;
use passdock_loader::{Manifest, Plugin};

use super::Inner;
use super::entries::{Entries, Entry, Item, LoadOptions};
use crate::config::Schema;
use crate::error::{ErrorKind, PassError};
use crate::pass::PassRef;

impl Inner {
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
        named: bool,
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
                    named,
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

/// Returns the error about a plugin whose file was replaced after its code was loaded.
pub(super) fn rebuilt(plugin: &Plugin) -> PassError {
    let message = format!(
        "plugin {} changed after it was loaded, and its old code cannot be unloaded",
        plugin.origin()
    );
    PassError::new(ErrorKind::Plugin, message).help("restart the program to use the new file")
}

/// Improves the error about a plugin that conflicts with registered ones: if it is registered already, from another
/// file, the error is about the two files.
pub(super) fn explained(error: PassError, plugin: &Plugin, others: &[Arc<Plugin>]) -> PassError {
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
            "remove one of the files, its `--plugin`, or its directory from `--plugin-dir`, \
             `[plugins]` of the pipeline or `PASSDOCK_PLUGIN_PATH`",
        )
        .caused_by(Arc::new(error))
}
