//! Loading of a plugin: the system's loader, the entry point, and the table that it returns.
//!
//! Static plugins are loaded in the same way from the entry point on. A loaded library is never unloaded, because its
//! code and data may be referenced from anywhere. So its handle isn't stored.

mod defs;
mod op_info;
mod requirements;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use passdock_abi as abi;
use passdock_crash::{CallKind, Callee};
use passdock_diagnostic::{Diagnostic, Severity};
use passdock_plugin_api::StaticPlugin;
use passdock_sandbox::Permission;

pub use defs::{MissingDefinition, OpDefs};
pub use op_info::{AttrInfo, OpAttrDefault, OpInfo, count_range, kind_name};
pub use table::HostTable;

use crate::error::{Origin, PluginError, PluginErrorKind as Kind, Ver};
use crate::file::{self, Identity};
use crate::manifest::{Manifest, ManifestPass, PassKind, toml_text};
use crate::names;
use requirements::FindPlugin;
use table::Table;

/// The time in nanoseconds that this process has spent loading plugins.
static LOADING: AtomicU64 = AtomicU64::new(0);

/// Returns the time that this process has spent loading plugins, which doesn't count as any pass's.
pub fn loading_time() -> Duration {
    Duration::from_nanos(LOADING.load(Ordering::Relaxed))
}

/// A plugin with a parsed manifest. Its code is loaded on demand.
pub struct Plugin {
    origin: Origin,
    manifest: Arc<Manifest>,
    source: Source,
    loaded: OnceLock<Result<LoadedPlugin, PluginError>>,
    /// Whether a run depends on the plugin without its code.
    marked_used: AtomicBool,
    /// Whether the file must not change before it is loaded, because its contents were checked.
    is_pinned: AtomicBool,
    /// Finds the plugins that this one requires. Set by its registry.
    find_plugin: OnceLock<FindPlugin>,
    /// What the user grants.
    granted: Mutex<Vec<Permission>>,
    /// Why the plugin must not be loaded.
    forbidden: OnceLock<String>,
}

enum Source {
    File { identity: Identity },
    Static(abi::Entry),
}

/// A plugin whose code is loaded into this process.
pub struct LoadedPlugin {
    passes: Vec<LoadedPass>,
    ops: Vec<LoadedOp>,
    instruments: Vec<LoadedInstrument>,
}

/// A pass of a loaded plugin.
#[derive(Clone, Copy)]
pub struct LoadedPass {
    /// The pass's entry in the plugin's table.
    pub entry: abi::PassEntry,
    /// The host that the plugin is attached to.
    pub host: &'static abi::Host,
}

// SAFETY: the tables that it points to are immutable and never unloaded. By the plugin ABI, the host may call a pass
// from any thread, one call at a time unless the manifest declares it as thread-safe.
unsafe impl Send for LoadedPass {}
// SAFETY: as above.
unsafe impl Sync for LoadedPass {}

/// An op definition of a loaded plugin.
#[derive(Clone, Copy)]
pub struct LoadedOp {
    /// The definition's entry in the plugin's table.
    pub entry: abi::OpEntry,
    /// The plugin that defines the op or extends its definition.
    pub plugin: &'static DefiningPlugin,
    /// The attributes that the definition lists, or `None` if it has no list.
    pub attributes: Option<&'static [AttrInfo]>,
    /// The targets for which the definition implements `supports`.
    pub targets: &'static [&'static str],
}

/// The plugin of op definitions, for messages and calls.
pub struct DefiningPlugin {
    /// The plugin's short name.
    pub name: String,
    /// The plugin's file, or built-in origin.
    pub origin: Origin,
    /// The host that the plugin is attached to.
    pub host: &'static abi::Host,
}

// SAFETY: the tables that it points to are immutable and never unloaded. By the plugin ABI, definitions may be called
// from any thread.
unsafe impl Send for LoadedOp {}
// SAFETY: as above.
unsafe impl Sync for LoadedOp {}

/// An instrument of a loaded plugin.
#[derive(Clone, Copy)]
pub struct LoadedInstrument {
    /// The instrument's entry in the plugin's table.
    pub entry: abi::InstrumentEntry,
    /// The function that creates an instance.
    pub create: abi::CreateInstrument,
    /// The host that the plugin is attached to.
    pub host: &'static abi::Host,
}

// SAFETY: the tables that it points to are immutable and never unloaded. By the plugin ABI, the host may create
// instances on any thread.
unsafe impl Send for LoadedInstrument {}
// SAFETY: as above.
unsafe impl Sync for LoadedInstrument {}

impl LoadedOp {
    /// Returns the traits that follow from which functions the definition has.
    pub fn function_traits(&self) -> u64 {
        let functions = [
            (self.entry.evaluate, abi::OpEntry::FOLDS),
            (self.entry.decompose, abi::OpEntry::DECOMPOSES),
            (self.entry.layout, abi::OpEntry::KNOWS_LAYOUT),
            (self.entry.alter_layout, abi::OpEntry::ALTERS_LAYOUT),
        ];
        let present = functions.iter().filter(|(function, _)| function.is_some());
        present.fold(0, |all, (_, flag)| all | flag)
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plugin({})", self.origin)
    }
}

impl Plugin {
    fn new(origin: Origin, manifest: Manifest, source: Source) -> Plugin {
        Plugin {
            origin,
            manifest: Arc::new(manifest),
            source,
            loaded: OnceLock::new(),
            marked_used: AtomicBool::new(false),
            is_pinned: AtomicBool::new(false),
            find_plugin: OnceLock::new(),
            granted: Mutex::default(),
            forbidden: OnceLock::new(),
        }
    }

    /// Reads the manifest of a plugin file without running its code.
    ///
    /// # Errors
    /// If the file isn't a plugin that this host can load.
    pub fn open(path: &Path) -> Result<Plugin, PluginError> {
        let (manifest, identity) = file::check(path)?;
        if passdock_sandbox::is_prepared() {
            passdock_sandbox::allow_library(path);
            let directories = file::run_path(path).into_iter();
            directories.for_each(|directory| passdock_sandbox::allow_libraries_in(&directory));
        }
        let origin = Origin::File(path.to_path_buf());
        Ok(Plugin::new(origin, manifest, Source::File { identity }))
    }

    /// Creates a plugin that is linked into this program.
    ///
    /// # Errors
    /// If its manifest can't be read.
    pub fn from_static(plugin: StaticPlugin) -> Result<Plugin, PluginError> {
        let unnamed = Origin::Static("?".to_owned());
        let manifest = Manifest::from_symbol(plugin.manifest())
            .map_err(|kind| PluginError::new(unnamed, kind))?;
        let origin = Origin::Static(manifest.plugin.name.clone());
        Ok(Plugin::new(
            origin,
            manifest,
            Source::Static(plugin.entry()),
        ))
    }

    /// Returns the plugin's file, or built-in origin.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the plugin's short name.
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// Returns the plugin's manifest.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Returns warnings about unknown keys of the manifest and about skipped entries. The help is the nearest known
    /// name.
    pub fn unknown_keys(&self) -> Vec<Diagnostic> {
        let (own, host) = (self.manifest.plugin.abi, Ver::from(abi::ABI));
        let skipped = self.manifest.skipped.iter();
        let skipped = skipped.map(|skipped| (skipped.to_string(), &skipped.help));
        let warnings = self.manifest.warnings.iter();
        let warnings = warnings.map(|warning| (warning.message.clone(), &warning.help));
        let diagnostic = |(message, help): (String, &Option<String>)| {
            let message = format!("{message} in the manifest of plugin {}", self.origin);
            let mut diagnostic = Diagnostic::new(Severity::Warning, "manifest", message);
            diagnostic.help.clone_from(help);
            if own.minor > host.minor {
                diagnostic.notes.push(format!(
                    "the plugin was built for plugin ABI {own}; this host has {host}"
                ));
            }
            diagnostic
        };
        skipped.chain(warnings).map(diagnostic).collect()
    }

    /// Forbids loading the plugin, which isn't trusted. Its op definitions are ignored.
    pub fn forbid(&self, reason: &str) {
        _ = self.forbidden.set(reason.to_owned());
    }

    /// Whether the plugin must not be loaded.
    pub fn is_forbidden(&self) -> bool {
        self.forbidden.get().is_some()
    }

    /// Grants permissions. Without all that the manifest lists, the plugin isn't loaded.
    pub fn grant(&self, permissions: &[Permission]) {
        for permission in permissions {
            passdock_sandbox::grant(permission.clone());
        }
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        granted.extend_from_slice(permissions);
    }

    /// Checks that all permissions of the manifest are granted.
    fn check_permissions(&self) -> Result<(), PluginError> {
        let granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = &self.manifest.plugin.permissions;
        let Some(missing) = needed.iter().find(|needed| !granted.contains(needed)) else {
            return Ok(());
        };
        let plugin = self.name();
        let quoted = needed
            .iter()
            .map(|permission| toml_text(&permission.to_string().into()));
        let flags = needed
            .iter()
            .map(|permission| format!("`--allow {plugin}={permission}`"));
        let kind = Kind::NotGranted {
            permission: missing.to_string(),
            plugin: plugin.to_owned(),
            all: quoted.collect::<Vec<_>>().join(", "),
            flags: flags.collect::<Vec<_>>().join(" "),
        };
        Err(PluginError::new(self.origin.clone(), kind))
    }

    /// Whether the plugin's code is loaded into this process.
    pub fn is_loaded(&self) -> bool {
        matches!(self.loaded.get(), Some(Ok(_)))
    }

    /// Records that a run depends on the plugin without its code: one of its Sequentials was requested, a used plugin
    /// requires it, or a pass crashed in another process that had loaded it.
    pub fn mark_used(&self) {
        self.marked_used.store(true, Ordering::Relaxed);
    }

    /// Whether a run may depend on the plugin: its code is loaded, or a run depends on it without its code.
    pub fn is_used(&self) -> bool {
        self.is_loaded() || self.marked_used.load(Ordering::Relaxed)
    }

    /// Returns the identity of the plugin's file when it was checked. `None` for a static plugin.
    pub fn file(&self) -> Option<&Identity> {
        match &self.source {
            Source::File { identity } => Some(identity),
            Source::Static(_) => None,
        }
    }

    /// Whether `other` was read from a different state of the file which this plugin can't adopt: its own code is
    /// loaded, or the manifests differ.
    pub fn was_replaced_by(&self, other: &Plugin) -> bool {
        let is_used = self.loaded.get().is_some() || self.manifest != other.manifest;
        is_used && self.file() != other.file()
    }

    /// Opens the plugin's file to check its contents. Afterwards the plugin can't be loaded if the file changes.
    /// Returns `None` for a static plugin.
    ///
    /// # Errors
    /// If the file can't be opened, or changed after its manifest was read.
    pub fn pin(&self) -> Result<Option<File>, PluginError> {
        let (Some(path), Some(identity)) = (self.origin.path(), self.file()) else {
            return Ok(None);
        };
        let error = |kind| PluginError::new(self.origin.clone(), kind);
        let (file, found) = file::open(path).map_err(error)?;
        if found != *identity {
            return Err(error(Kind::Changed));
        }
        self.is_pinned.store(true, Ordering::Relaxed);
        Ok(Some(file))
    }

    /// Checks the plugin's requirements, loads its code, and passes the host's table to it. Once loading was tried,
    /// later calls return the same result.
    ///
    /// # Errors
    /// If a requirement isn't satisfied, the file changed, the system doesn't load it, or its table disagrees with its
    /// manifest.
    pub fn load(&self, host: HostTable) -> Result<&LoadedPlugin, PluginError> {
        if self.loaded.get().is_none() {
            self.check_requirements()?;
            self.check_permissions()?;
            if let Some(reason) = self.forbidden.get() {
                let kind = Kind::NotTrusted(reason.clone());
                return Err(PluginError::new(self.origin.clone(), kind));
            }
        }
        let loaded = self.loaded.get_or_init(|| {
            let start = Instant::now();
            let callee = Callee::new(CallKind::Library, self.name(), self.origin.path());
            let entered = callee.enter();
            let loaded = self.load_now(host);
            entered.leave();
            LOADING.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            loaded.map_err(|kind| PluginError::new(self.origin.clone(), kind))
        });
        loaded.as_ref().map_err(PluginError::clone)
    }

    fn load_now(&self, host: HostTable) -> Result<LoadedPlugin, Kind> {
        let entry = match &self.source {
            Source::Static(entry) => *entry,
            Source::File { identity } => {
                let path = self.origin.path().ok_or(Kind::Changed)?;
                self.recheck(path, identity)?;
                passdock_sandbox::enter()?;
                load_entry(path)?
            }
        };
        let path = self.origin.path();
        let path = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let path = path.as_deref().and_then(Path::to_str);
        let table = table::call(entry, host, path.unwrap_or_default())?;
        LoadedPlugin::new(&self.manifest, &self.origin, table, host.get())
    }

    /// Rejects a file that changed since it was checked, unless its manifest is the same and its contents weren't
    /// checked.
    fn recheck(&self, path: &Path, identity: &Identity) -> Result<(), Kind> {
        if file::identity(path)? == *identity {
            return Ok(());
        }
        if self.is_pinned.load(Ordering::Relaxed) {
            return Err(Kind::Changed);
        }
        match file::check(path) {
            Ok((manifest, _)) if manifest == *self.manifest => Ok(()),
            _ => Err(Kind::Changed),
        }
    }
}

impl LoadedPlugin {
    /// Returns the plugin's passes, in the manifest's order.
    pub fn passes(&self) -> &[LoadedPass] {
        &self.passes
    }

    /// Returns the plugin's op definitions, in the manifest's order.
    pub fn ops(&self) -> &[LoadedOp] {
        &self.ops
    }

    /// Returns the plugin's instruments, in the manifest's order.
    pub fn instruments(&self) -> &[LoadedInstrument] {
        &self.instruments
    }

    /// Pairs the entries of a table with a manifest, and rejects a table that disagrees with it.
    fn new(
        manifest: &Arc<Manifest>,
        origin: &Origin,
        table: Table,
        host: &'static abi::Host,
    ) -> Result<LoadedPlugin, Kind> {
        let Table {
            mut passes,
            mut ops,
            mut instruments,
        } = table;
        passes.retain(|(name, _)| !manifest.skips("pass", name));
        instruments.retain(|(name, _)| !manifest.skips("instrument", name));
        // Several versions of an operator may share a name, so skipped ones are identified by their position, too.
        let mut specs = manifest.ops.iter().peekable();
        ops.retain(|(name, entry)| {
            let is_next =
                |spec: &&crate::manifest::OpSpec| spec.name == *name && spec.since == entry.since;
            specs.next_if(is_next).is_some() || !manifest.skips("op", name)
        });
        let mut passes = VecDeque::from(passes);
        let take = |spec: &ManifestPass| {
            // The order is usually the same, so this is almost always the first one.
            let at = passes.iter().position(|(name, _)| *name == spec.name());
            let Some((_, entry)) = at.and_then(|at| passes.remove(at)) else {
                let text = format!("missing pass `{}` in the table", spec.name());
                return Err(Kind::TableMismatch(text));
            };
            check_pass(spec, &entry)?;
            Ok(LoadedPass { entry, host })
        };
        let loaded = manifest.passes.iter().map(take).collect::<Result<_, _>>()?;
        if let Some((name, _)) = passes.front() {
            let is_known = manifest.passes.iter().any(|pass| pass.name() == *name);
            return Err(Kind::TableMismatch(match is_known {
                true => "duplicate pass in the table".to_owned(),
                false => format!("missing pass `{}` in the manifest", names::escaped(name)),
            }));
        }
        let same_ops = ops.len() == manifest.ops.len()
            && ops
                .iter()
                .zip(&manifest.ops)
                .all(|((name, entry), spec)| *name == spec.name && entry.since == spec.since);
        if !same_ops {
            let text = "the ops or their order differ".to_owned();
            return Err(Kind::TableMismatch(text));
        }
        // Data that definitions refer to is never freed, as libraries are never unloaded.
        let plugin: &'static DefiningPlugin = Box::leak(Box::new(DefiningPlugin {
            name: manifest.plugin.name.clone(),
            origin: origin.clone(),
            host,
        }));
        let ops = ops.into_iter().zip(&manifest.ops);
        let ops = ops.map(|((name, entry), spec)| {
            if spec.extends {
                table::check_extension(name, &entry)?;
            }
            let attributes = table::attributes(&entry)?;
            Ok(LoadedOp {
                entry,
                plugin,
                attributes: attributes.map(|list| &*list.leak()),
                targets: table::targets(&entry)?.leak(),
            })
        });
        Ok(LoadedPlugin {
            passes: loaded,
            ops: ops.collect::<Result<_, Kind>>()?,
            instruments: loaded_instruments(manifest, &instruments, host)?,
        })
    }
}

fn loaded_instruments(
    manifest: &Manifest,
    table: &[(&str, abi::InstrumentEntry)],
    host: &'static abi::Host,
) -> Result<Vec<LoadedInstrument>, Kind> {
    let declared = manifest.instruments.iter().map(|spec| spec.name.as_str());
    if !declared.eq(table.iter().map(|(name, _)| *name)) {
        let text = "the instruments or their order differ".to_owned();
        return Err(Kind::TableMismatch(text));
    }
    let loaded = table.iter().map(|&(name, entry)| match entry.create {
        Some(create) => Ok(LoadedInstrument {
            entry,
            create,
            host,
        }),
        None => Err(Kind::Table(format!(
            "instrument `{name}` has no function `create`"
        ))),
    });
    loaded.collect()
}

fn check_pass(spec: &ManifestPass, entry: &abi::PassEntry) -> Result<(), Kind> {
    let name = spec.name();
    let (is_callable, function) = match spec.kind {
        PassKind::Module => (entry.run_module.is_some(), "run_module"),
        PassKind::Function | PassKind::PrimFunction => {
            (entry.run_function.is_some(), "run_function")
        }
    };
    match is_callable {
        true => Ok(()),
        false => Err(Kind::TableMismatch(format!(
            "pass `{name}` has no `{function}`"
        ))),
    }
}

/// Loads a checked library, and finds its entry point.
fn load_entry(path: &Path) -> Result<abi::Entry, Kind> {
    let whole = std::path::absolute(path).map_err(Kind::Io)?;
    let name = loader_name(&whole);
    let shown = |text: String| text.replace(&*name.to_string_lossy(), &path.to_string_lossy());
    find_entry(open_library(&name).map_err(|text| Kind::LoaderFailed(shown(text)))?)
}

/// Returns the path to pass to the system's loader. For a path that was loaded before, the loader returns the old
/// library. So repeated loads of a path spell it differently: `dir/./lib.so`.
fn loader_name(path: &Path) -> PathBuf {
    static LOADS: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
    let mut all_loads = LOADS.lock().unwrap_or_else(PoisonError::into_inner);
    let loads = all_loads.entry(path.to_path_buf()).or_insert(0);
    let repeats = usize::from(cfg!(unix)) * *loads;
    *loads += 1;
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_path_buf();
    };
    let mut spelled = dir.as_os_str().to_owned();
    spelled.push("/.".repeat(repeats));
    PathBuf::from(spelled).join(name)
}

#[cfg(unix)]
fn open_library(path: &Path) -> Result<libloading::Library, String> {
    use libloading::os::unix;
    let flags = unix::RTLD_NOW | unix::RTLD_LOCAL;
    // SAFETY: the library was validated. Its initializers are the plugin's code, which the user requested to run by
    // naming its directory.
    let opened = unsafe { unix::Library::open(Some(path), flags) };
    opened.map(Into::into).map_err(|e| message(&e))
}

#[cfg(windows)]
fn open_library(path: &Path) -> Result<libloading::Library, String> {
    use libloading::os::windows;
    // With an absolute path and this flag, dependencies are searched in the library's directory first.
    let flags = windows::LOAD_WITH_ALTERED_SEARCH_PATH;
    // SAFETY: the library was validated. Its initializers are the plugin's code, which the user requested to run by
    // naming its directory.
    let opened = unsafe { windows::Library::load_with_flags(path, flags) };
    opened.map(Into::into).map_err(|e| message(&e))
}

/// Returns the system's message without libloading's text.
fn message(error: &libloading::Error) -> String {
    use std::error::Error;
    let text = match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    names::escaped(&text)
}

fn find_entry(library: libloading::Library) -> Result<abi::Entry, Kind> {
    // SAFETY: the symbol has this type by the plugin ABI, and the validation found it to be a function.
    let symbol = unsafe { library.get::<abi::Entry>(abi::ENTRY_SYMBOL) };
    let entry = match symbol {
        Ok(entry) => *entry,
        Err(_) => {
            return Err(Kind::MissingSymbol {
                symbol: abi::ENTRY_SYMBOL,
            });
        }
    };
    std::mem::forget(library);
    Ok(entry)
}
