//! The registry: passes by their full names, from plugins and from the program itself, and also config options and
//! instruments.
//!
//! A plugin's passes are listed in its manifest. Its code is loaded when one of its passes first runs.

mod adding;
mod entries;
mod imports;
mod instruments;
mod names;
mod plugin_pass;
mod plugin_sequential;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub use entries::LoadOptions;
use entries::{Entries, Entry, Item};
use instruments::InstrumentTable;
use names::Aliases;
use passdock_abi::FunctionKind;
use passdock_diagnostic::suggest;
use passdock_loader::discover::is_unrelated;
use passdock_loader::file::Identity;
use passdock_loader::{
    Discovered, ManifestPass, ManifestSequential, MissingDefinition, OpDefs, PassDeclaration,
    PassKind, Plugin, PluginError, SearchDir, discover,
};
use passdock_plugin_api::{Options, StaticPlugin};

use crate::boundary::host;
use crate::config::{ConfigError, ConfigInfo, ConfigTable, ConfigValue, Schema};
use crate::error::{ErrorKind, PassError};
use crate::pass::{PassRef, Work, check_info, check_name};

/// The registered passes, config options, instruments and ops, by name. Clones share the registry.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::{PassInfo, Registry, create_function_pass};
///
/// let registry = Registry::new();
/// let info = PassInfo::new("demo.transform.Nothing");
/// registry.register(create_function_pass(info, |_f, _cx| Ok(())))?;
/// registry.register_alias("Idle", "demo.transform.Nothing")?;
/// assert_eq!(registry.get_pass("Idle")?.info().name, "demo.transform.Nothing");
/// let error = registry.get_pass("demo.transform.Noting").unwrap_err();
/// assert_eq!(error.help.as_deref(), Some("did you mean `demo.transform.Nothing`?"));
/// # Ok::<(), passdock::PassError>(())
/// ```
#[derive(Clone, Default)]
pub struct Registry(Arc<RwLock<Inner>>);

#[derive(Default)]
struct Inner {
    passes: Entries,
    aliases: Aliases,
    plugins: Vec<Arc<Plugin>>,
    /// The identities of plugin files. A file may be named twice, by different paths.
    files: HashSet<Identity>,
    /// The names of the plugins that the user named by file or by directory.
    named: HashSet<String>,
    /// The paths of plugin files that were named individually, not by their directories.
    named_files: HashSet<PathBuf>,
    /// The errors about unusable plugin files, which errors about missing passes list.
    unreadable: Vec<PluginError>,
    /// The errors about skipped libraries: of other systems, next to the program, or hidden by a plugin of the same
    /// name. Errors about missing passes may list them.
    passed_over: Vec<PluginError>,
    config: ConfigTable,
    instruments: InstrumentTable,
    importer: Option<Arc<imports::Importer>>,
    ops: OnceLock<Arc<OpDefs>>,
}

impl Registry {
    /// Creates a registry without passes. It has the host's own options and instruments.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Returns the process-wide registry.
    pub fn global() -> &'static Registry {
        static GLOBAL: OnceLock<Registry> = OnceLock::new();
        GLOBAL.get_or_init(Registry::new)
    }

    /// Returns the pass with this name, with default options.
    ///
    /// # Errors
    /// If there is no such pass. The error suggests the nearest name.
    pub fn get_pass(&self, name: &str) -> Result<PassRef, PassError> {
        self.get_pass_with_options(name, &toml::Table::new())
    }

    /// Returns the pass with this name, with options, which are checked.
    ///
    /// # Errors
    /// If there is no such pass or option, or a value is invalid. For a plugin's Sequential, also if it has an unknown
    /// child, or contains itself.
    pub fn get_pass_with_options(
        &self,
        name: &str,
        options: &toml::Table,
    ) -> Result<PassRef, PassError> {
        self.read().pass(name, options, &mut Vec::new())
    }

    /// Returns the schema of a pass's options.
    ///
    /// # Errors
    /// If there is no such pass.
    pub fn option_schema(&self, name: &str) -> Result<Schema, PassError> {
        let inner = self.read();
        let entry = inner.entry(name).ok_or_else(|| inner.unknown(name))?;
        let declared = entry.declaration();
        Ok(Schema::new(&declared.info.name, declared.options.clone()))
    }

    /// Registers a pass of the program itself.
    ///
    /// # Errors
    /// If the name is taken or invalid, or a name in `required` is invalid.
    pub fn register(&self, pass: impl Into<PassRef>) -> Result<(), PassError> {
        let pass = pass.into();
        check_info(pass.info())?;
        let name = &pass.info().name;
        let mut inner = self.write();
        inner.check_free(name, false)?;
        if let Some((other, _)) = inner.resolve(name).filter(|(other, _)| other != name) {
            let message = format!("name `{name}` is an alias of pass `{other}`");
            let error = PassError::new(ErrorKind::Duplicate, message);
            return Err(error.help("choose another name, such as `acme.transform.NAME`"));
        }
        inner.add_own(pass, Entries::add)
    }

    /// Registers a pass in place of the one with the same name. The program's own is removed; a plugin's is overridden.
    ///
    /// # Errors
    /// If the name is invalid or an alias that the program registered.
    pub fn replace(&self, pass: impl Into<PassRef>) -> Result<(), PassError> {
        let pass = pass.into();
        check_info(pass.info())?;
        let name = &pass.info().name;
        let mut inner = self.write();
        if !inner.passes.contains_key(name) {
            inner.check_free(name, false)?;
        }
        inner.add_own(pass, Entries::replace)
    }

    /// Registers an alias, which can be used wherever a pass name can.
    ///
    /// # Errors
    /// If the alias is taken or invalid.
    pub fn register_alias(&self, alias: &str, name: &str) -> Result<(), PassError> {
        check_name(alias)?;
        let mut inner = self.write();
        inner.check_free(alias, false)?;
        inner.aliases.add(alias, name);
        Ok(())
    }

    /// Finds the plugins in directories, in the order of the directories, without registering them.
    ///
    /// # Errors
    /// If a required directory can't be read.
    pub fn discover(&self, dirs: &[SearchDir]) -> Result<Discovered, PassError> {
        discover(dirs).map_err(|error| {
            PassError::new(ErrorKind::Usage, error.to_string()).caused_by(Arc::new(error))
        })
    }

    /// Registers a plugin file. Its code isn't loaded before one of its passes runs.
    ///
    /// # Errors
    /// If the file isn't a plugin that this host can load, or one of its names is taken. Nothing is registered then.
    pub fn load_plugin(&self, path: &Path, options: &LoadOptions) -> Result<(), PassError> {
        self.add_plugin(Plugin::open(path)?, options)?;
        self.write().named_files.insert(path.to_path_buf());
        Ok(())
    }

    /// Returns the paths of the plugin files that were named individually, not by their directories.
    pub fn named_files(&self) -> HashSet<PathBuf> {
        self.read().named_files.clone()
    }

    /// Whether the user named a plugin by file or by directory. Other plugins were found in default directories.
    pub fn is_named(&self, plugin: &str) -> bool {
        self.read().named.contains(plugin)
    }

    /// Registers plugin files, in their order. `options` are by plugin name, with `None` for all others. `on_error` is
    /// called with the error of each plugin that conflicts with others. If it returns an error, that ends the call.
    ///
    /// # Errors
    /// If a file isn't a plugin that this host can load, or `on_error` returns an error.
    pub fn load_files_with(
        &self,
        files: &[PathBuf],
        options: &BTreeMap<Option<String>, LoadOptions>,
        on_error: &mut dyn FnMut(PassError) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        for file in files {
            let plugin = Plugin::open(file)?;
            let options = options_of(plugin.name(), options);
            let added = self.add_plugin(plugin, &options);
            added.or_else(&mut *on_error)?;
            self.write().named_files.insert(file.clone());
        }
        Ok(())
    }

    /// Registers a plugin that is linked into this program.
    ///
    /// # Errors
    /// If one of its names is taken, or its manifest is invalid. Nothing is registered then.
    pub fn load_static(&self, plugin: StaticPlugin) -> Result<(), PassError> {
        self.add_plugin(Plugin::from_static(plugin)?, &LoadOptions::default())
    }

    /// Registers the plugins of a directory, which must exist and may be empty. Errors of unusable files are stored:
    /// [`Registry::unreadable`] returns them, and errors about unknown passes list them.
    ///
    /// # Errors
    /// If the directory can't be read, or plugins conflict with each other or with registered ones.
    pub fn load_dir(&self, path: &Path, options: &LoadOptions) -> Result<(), PassError> {
        let dir = SearchDir {
            path: path.to_path_buf(),
            required: true,
            mixed: false,
        };
        let options = BTreeMap::from([(None, options.clone())]);
        self.load_dirs_with(&[dir], &options, &mut Err)
    }

    /// Registers the plugins of directories, in their order. `options` are by plugin name, with `None` for all others.
    /// `on_error` is called with the error of each plugin that conflicts with others. If it returns an error, that ends
    /// the call.
    ///
    /// # Errors
    /// If a required directory can't be read, or `on_error` returns an error.
    pub fn load_dirs_with(
        &self,
        dirs: &[SearchDir],
        options: &BTreeMap<Option<String>, LoadOptions>,
        on_error: &mut dyn FnMut(PassError) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        let discovered = self.discover(dirs)?;
        let named: HashSet<&Path> = dirs
            .iter()
            .filter(|dir| dir.required)
            .map(|dir| dir.path.as_path())
            .collect();
        for plugin in discovered.plugins {
            let dir = plugin.origin().path().and_then(Path::parent);
            let named = dir.is_some_and(|dir| named.contains(dir));
            let options = options_of(plugin.name(), options);
            self.add(plugin, &options, named).or_else(&mut *on_error)?;
        }
        let mut inner = self.write();
        inner.unreadable.extend(discovered.unreadable);
        inner.passed_over.extend(discovered.passed_over);
        Ok(())
    }

    fn add_plugin(&self, plugin: Plugin, options: &LoadOptions) -> Result<(), PassError> {
        self.add(Arc::new(plugin), options, true)
    }

    /// Removes a plugin's passes, config options, instruments and ops. Its library stays loaded.
    ///
    /// # Errors
    /// If there is no such plugin.
    pub fn unregister_plugin(&self, name: &str) -> Result<(), PassError> {
        let mut inner = self.write();
        let names = inner.plugins.iter().map(|plugin| plugin.name());
        if !names.clone().any(|other| other == name) {
            let near = suggest::did_you_mean(name, names);
            let message = format!("no plugin is named `{name}`{near}");
            return Err(PassError::new(ErrorKind::Plugin, message));
        }
        inner.remove(name).map_err(PassError::from)
    }

    /// Removes a plugin that must not be loaded. Errors about missing passes list the reason. With `warns`, so does
    /// [`Registry::unreadable`].
    ///
    /// # Errors
    /// If there is no such plugin.
    pub fn reject_plugin(
        &self,
        name: &str,
        reason: PluginError,
        warns: bool,
    ) -> Result<(), PassError> {
        self.unregister_plugin(name)?;
        let mut inner = self.write();
        match warns {
            true => inner.unreadable.push(reason),
            false => inner.passed_over.push(reason),
        }
        Ok(())
    }

    /// Returns the overriding passes of each plugin, by the plugin's name.
    pub fn overrides(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, entry) in self.read().passes.iter() {
            if let Some(plugin) = entry.plugin().filter(|_| entry.overrides()) {
                let names = all.entry(plugin.name().to_owned()).or_default();
                names.push(name.clone());
                names.sort();
            }
        }
        all
    }

    /// Returns the canonical name of a pass, or the name itself if it is unknown.
    pub fn canonical(&self, name: &str) -> String {
        self.read().canonical(name).to_owned()
    }

    /// Whether a pass of this name is registered.
    pub fn contains(&self, name: &str) -> bool {
        self.read().entry(name).is_some()
    }

    /// Returns the canonical names of all passes, sorted.
    pub fn pass_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.read().passes.keys().cloned().collect();
        names.sort();
        names
    }

    /// Returns the kind of a pass. The kind of a Sequential is `Module`.
    pub fn pass_kind(&self, name: &str) -> Option<PassKind> {
        let pass = match self.read().entry(name)? {
            Entry::Plugin { plugin, item, .. } => {
                return Some(match *item {
                    Item::Pass(at) => plugin.manifest().passes[at].kind,
                    Item::Sequential(_) => PassKind::Module,
                });
            }
            Entry::Program(pass) => pass.clone(),
        };
        // The program may have registered a plugin's pass again, whose requirements are looked up in this registry.
        Some(match pass.work() {
            Ok(Work::Functions(FunctionKind::PRIM, _)) => PassKind::PrimFunction,
            Ok(Work::Functions(..)) => PassKind::Function,
            _ => PassKind::Module,
        })
    }

    /// Returns the plugin and the manifest entry of a pass. `None` for a pass of the program itself, and for a
    /// Sequential.
    pub fn pass_spec(&self, name: &str) -> Option<(Arc<Plugin>, ManifestPass)> {
        let inner = self.read();
        match inner.entry(name)?.item()? {
            (plugin, Item::Pass(at)) => {
                Some((plugin.clone(), plugin.manifest().passes[at].clone()))
            }
            _ => None,
        }
    }

    /// Returns the plugin and the manifest entry of a plugin's Sequential. `None` for any other pass.
    pub fn sequential_spec(&self, name: &str) -> Option<(Arc<Plugin>, ManifestSequential)> {
        let inner = self.read();
        match inner.entry(name)?.item()? {
            (plugin, Item::Sequential(at)) => {
                Some((plugin.clone(), plugin.manifest().sequentials[at].clone()))
            }
            _ => None,
        }
    }

    /// Returns the plugin that provides a pass, or `None` for a pass of the program itself.
    pub fn plugin_of(&self, name: &str) -> Option<Arc<Plugin>> {
        self.read().entry(name)?.plugin().cloned()
    }

    /// Returns the declaration of a pass.
    pub fn declaration(&self, name: &str) -> Option<PassDeclaration> {
        Some(self.read().entry(name)?.declaration().clone())
    }

    /// Returns the passes that declare a phase, by name: those of the program, and of plugins that the user named by
    /// file or by directory. Passes of other plugins run only where a pipeline lists them.
    pub fn phased(&self) -> BTreeMap<String, passdock_loader::Phase> {
        let inner = self.read();
        let is_named = |plugin: &Arc<Plugin>| inner.named.contains(plugin.name());
        let passes = inner.passes.iter();
        let passes = passes.filter(|(_, entry)| entry.plugin().is_none_or(is_named));
        passes
            .filter_map(|(name, entry)| Some((name.clone(), entry.declaration().phase?)))
            .collect()
    }

    /// Returns the registered plugins, in the order of their registration.
    pub fn plugins(&self) -> Vec<Arc<Plugin>> {
        self.read().plugins.clone()
    }

    /// Returns the registered plugin with a name.
    pub fn plugin(&self, name: &str) -> Option<Arc<Plugin>> {
        let inner = self.read();
        let mut plugins = inner.plugins.iter();
        plugins.find(|plugin| plugin.name() == name).cloned()
    }

    /// Returns the errors about unusable plugin files.
    pub fn unreadable(&self) -> Vec<PluginError> {
        self.read().unreadable.clone()
    }

    /// Registers a config option of the program itself: a struct of [`sdk::options!`](crate::sdk::options), or a single
    /// value such as a `bool` or an `i64`.
    ///
    /// # Errors
    /// If the key is registered already.
    pub fn register_config_option<T: Options>(&self, key: &str) -> Result<(), ConfigError> {
        self.write()
            .config
            .register(Schema::from_options::<T>(key), None)
    }

    /// Registers a config option of the program itself by its schema, for programs that don't know its type at compile
    /// time.
    ///
    /// # Errors
    /// If the key is registered already.
    pub fn register_config_schema(&self, schema: Schema) -> Result<(), ConfigError> {
        self.write().config.register(schema, None)
    }

    /// Returns the config options, sorted by key.
    pub fn list_configs(&self) -> Vec<ConfigInfo> {
        self.read().config.list()
    }

    /// Returns the schema of a config option.
    ///
    /// # Errors
    /// If the key isn't registered. The error suggests the nearest key.
    pub fn config_schema(&self, key: &str) -> Result<Schema, ConfigError> {
        self.read()
            .config
            .get(key)
            .map(|entry| entry.schema.clone())
    }

    /// Returns the default values of all config options.
    pub(crate) fn config_defaults(&self) -> BTreeMap<String, ConfigValue> {
        let inner = self.read();
        let schemas = inner.config.list().into_iter().map(|info| info.schema);
        schemas
            .map(|schema| (schema.key.clone(), schema.defaults()))
            .collect()
    }

    /// Returns the error of the first op definition that couldn't be loaded when it was needed.
    pub(crate) fn missing_definition(&self) -> Option<MissingDefinition> {
        self.read().ops.get()?.failures().into_iter().next()
    }

    /// Returns the op definitions of all plugins.
    pub fn op_defs(&self) -> Arc<OpDefs> {
        let inner = self.read();
        let ops = inner
            .ops
            .get_or_init(|| Arc::new(OpDefs::new(&inner.plugins, host())));
        ops.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Inner> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Inner> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Rejects a name that is taken. An overriding entry conflicts only with another overriding entry, or with an alias
    /// of the program.
    fn check_free(&self, name: &str, overrides: bool) -> Result<(), PassError> {
        let message = match self.passes.in_the_way(name, overrides) {
            Some(entry) => {
                let is = if overrides {
                    "overridden"
                } else {
                    "registered"
                };
                format!("pass `{name}` is already {is} by {}", entry.origin())
            }
            None => match self.aliases.program_name(name) {
                Some(pass) => format!("name `{name}` is already an alias of `{pass}`"),
                None => return Ok(()),
            },
        };
        Err(
            PassError::new(ErrorKind::Duplicate, message).help(match overrides {
                true => "let only one of them override it",
                false => {
                    "rename or remove one of them, or select one: `override = [\"…\"]` in \
                     `[plugins.NAME]`"
                }
            }),
        )
    }

    fn unknown(&self, name: &str) -> PassError {
        let names = self.passes.keys().map(String::as_str);
        let near = suggest::help(name, names.chain(self.aliases.names()));
        let message = format!("no pass is named `{name}`");
        let mut error = PassError::new(ErrorKind::UnknownPass, message);
        if let Some(why) = self.skipped_reason(name) {
            error.notes = vec![why];
            let help = "update passdock, or correct the plugin's manifest".to_owned();
            return error.help(near.unwrap_or(help));
        }
        error.notes = self.unusable();
        if name.ends_with(".rules") {
            let help = format!("list a rules file in a pipeline as `{{ rules = {name:?} }}`");
            return error.help(help);
        }
        error.help(near.unwrap_or_else(|| {
            match self.passes.is_empty() {
                true => {
                    "load plugins into the registry, which has no passes, or set the context's registry"
                        .to_owned()
                }
                false => "run `passdock list passes` to list the passes".to_owned(),
            }
        }))
    }

    /// Returns the reason why a plugin's pass was skipped, if there is such a pass.
    fn skipped_reason(&self, name: &str) -> Option<String> {
        self.plugins.iter().find_map(|plugin| {
            let mut skipped = plugin.manifest().skipped.iter();
            let skipped =
                skipped.find(|s| s.name == name && matches!(&*s.entry, "pass" | "sequential"))?;
            Some(format!("in plugin {}: {skipped}", plugin.origin()))
        })
    }

    /// Returns the errors about unusable files, which may contain a missing pass.
    fn unusable(&self) -> Vec<String> {
        let passed_over = self.passed_over.iter();
        let doubtful = passed_over.filter(|error| !is_unrelated(error));
        let errors = self.unreadable.iter().chain(doubtful);
        errors.map(ToString::to_string).collect()
    }
}

/// Returns the options for the plugin of a name.
fn options_of(name: &str, options: &BTreeMap<Option<String>, LoadOptions>) -> LoadOptions {
    let own = options.get(&Some(name.to_owned()));
    let options = own.or_else(|| options.get(&None));
    options.cloned().unwrap_or_default()
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let inner = self.read();
        let (passes, plugins) = (inner.passes.len(), inner.plugins.len());
        write!(f, "Registry({passes} passes, {plugins} plugins)")
    }
}
