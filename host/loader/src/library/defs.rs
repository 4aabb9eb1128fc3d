//! The op definitions of all plugins, found by name and version, and loaded on demand.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use passdock_diagnostic::suggest;

use super::op_info::OpInfo;
use super::{HostTable, LoadedOp, Plugin};
use crate::error::PluginError;

/// The op definitions of all plugins. Empty by default.
#[derive(Default)]
pub struct OpDefs {
    /// The unique id of this set of definitions, for caches; 0 if it is empty.
    id: u64,
    /// The definitions by name, sorted by their first version.
    by_name: HashMap<String, Vec<Definition>>,
    /// The extensions by name. Plugins registered later come first, then newer versions.
    extensions: HashMap<String, Vec<Definition>>,
    /// The host table that plugins are loaded with. `None` for the default, which is empty.
    host: Option<HostTable>,
    failures: Mutex<Vec<MissingDefinition>>,
}

/// An op definition that a pass needed, but whose plugin can't be loaded.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error} (the plugin defines `{op}`)")]
pub struct MissingDefinition {
    /// The canonical name of the first op whose definition was needed.
    pub op: String,
    /// The reason why the plugin can't be loaded.
    #[source]
    pub error: PluginError,
}

struct Definition {
    since: i64,
    plugin: Arc<Plugin>,
    /// The index of the plugin among all plugins.
    order: usize,
    /// The index of the op in the plugin's manifest.
    at: usize,
}

impl OpDefs {
    /// Creates the set of the plugins' definitions, without loading any plugin.
    pub fn new<'p>(plugins: impl IntoIterator<Item = &'p Arc<Plugin>>, host: HostTable) -> OpDefs {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut by_name: HashMap<String, Vec<Definition>> = HashMap::new();
        let mut extensions: HashMap<String, Vec<Definition>> = HashMap::new();
        for (order, plugin) in plugins.into_iter().enumerate() {
            for (at, op) in plugin.manifest().ops.iter().enumerate() {
                let all = match op.extends {
                    true => &mut extensions,
                    false => &mut by_name,
                };
                all.entry(op.name.clone()).or_default().push(Definition {
                    since: op.since,
                    plugin: plugin.clone(),
                    order,
                    at,
                });
            }
        }
        for definitions in by_name.values_mut() {
            definitions.sort_by_key(|d| d.since);
        }
        for extensions in extensions.values_mut() {
            extensions.sort_by_key(|d| Reverse((d.order, d.since)));
        }
        OpDefs {
            id: match by_name.is_empty() && extensions.is_empty() {
                true => 0,
                false => NEXT.fetch_add(1, Ordering::Relaxed),
            },
            by_name,
            extensions,
            host: Some(host),
            failures: Mutex::default(),
        }
    }

    /// Returns the definition of an op by its canonical name, in a version of its domain (`None` for the newest).
    /// Definitions of a plugin that can't be loaded are missing; [`OpDefs::failures`] returns its error.
    pub fn find(&self, name: &str, version: Option<i64>) -> Option<LoadedOp> {
        self.load(name, self.definition(name, version)?)
    }

    /// Returns the extensions of an op's definition, in the order in which they are tried. Extensions of a plugin that
    /// can't be loaded are missing; [`OpDefs::failures`] returns its error.
    pub fn extensions(&self, name: &str, version: Option<i64>) -> impl Iterator<Item = LoadedOp> {
        let all = self.extensions.get(name).map_or(&[][..], Vec::as_slice);
        let mut last = None;
        let newest = all.iter().filter(move |d| {
            let fits = version.is_none_or(|v| d.since <= v) && last != Some(d.order);
            if fits {
                last = Some(d.order);
            }
            fits
        });
        newest.filter_map(|extension| self.load(name, extension))
    }

    fn load(&self, name: &str, definition: &Definition) -> Option<LoadedOp> {
        if definition.plugin.is_forbidden() {
            return None;
        }
        match definition.plugin.load(self.host?) {
            Ok(plugin) => plugin.ops().get(definition.at).copied(),
            Err(error) => {
                let mut failures = self.lock();
                let is_same = |failure: &MissingDefinition| failure.error.origin == error.origin;
                if !failures.iter().any(is_same) {
                    let op = name.to_owned();
                    failures.push(MissingDefinition { op, error });
                }
                None
            }
        }
    }

    fn definition(&self, name: &str, version: Option<i64>) -> Option<&Definition> {
        let fits = |d: &&Definition| version.is_none_or(|v| d.since <= v);
        self.by_name.get(name)?.iter().rev().find(fits)
    }

    /// Whether an op of this name is defined in a version of its domain, according to the manifests.
    pub fn knows(&self, name: &str, version: Option<i64>) -> bool {
        let fits = |since: i64| version.is_none_or(|version| since <= version);
        self.first_version(name).is_some_and(fits)
    }

    /// Returns the first version of its domain in which an op of this name is defined.
    pub fn first_version(&self, name: &str) -> Option<i64> {
        Some(self.by_name.get(name)?.first()?.since)
    }

    /// Returns the version of its domain since which an op has the definition that is valid in `version`.
    pub fn since(&self, name: &str, version: i64) -> Option<i64> {
        Some(self.definition(name, Some(version))?.since)
    }

    /// Iterates over the names of all defined ops, in no particular order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the number of defined names.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether no plugin defines an op. Extensions don't count.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the errors of plugins that couldn't be loaded when a definition was needed, one per plugin.
    pub fn failures(&self) -> Vec<MissingDefinition> {
        self.lock().clone()
    }

    /// Iterates over all defined ops, in no particular order: name, first version and plugin.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64, &Arc<Plugin>)> + '_ {
        self.by_name.iter().flat_map(|(name, definitions)| {
            definitions
                .iter()
                .map(move |d| (name.as_str(), d.since, &d.plugin))
        })
    }

    /// Describes all defined ops, sorted by name and version. Loads the plugins. The second list has the errors of
    /// those that can't be loaded.
    pub fn describe(&self) -> (Vec<OpInfo>, Vec<PluginError>) {
        let (mut ops, mut failures) = (Vec::new(), Vec::<PluginError>::new());
        let Some(host) = self.host else {
            return (ops, failures);
        };
        for (name, definitions) in self.by_name.iter().chain(&self.extensions) {
            for definition in definitions {
                match OpInfo::new(name, &definition.plugin, definition.at, host) {
                    Ok(info) => ops.push(info),
                    Err(error) if failures.iter().all(|f| f.origin != error.origin) => {
                        failures.push(error);
                    }
                    Err(_) => {}
                }
            }
        }
        ops.sort_by(|a, b| (&a.name, a.extends, a.since).cmp(&(&b.name, b.extends, b.since)));
        (ops, failures)
    }

    /// Describes the definitions of an op name, sorted by version. Loads their plugins, and omits those that can't be
    /// loaded.
    pub fn versions(&self, name: &str) -> Vec<OpInfo> {
        let (Some(host), Some(all)) = (self.host, self.by_name.get(name)) else {
            return Vec::new();
        };
        let info = |one: &Definition| OpInfo::new(name, &one.plugin, one.at, host).ok();
        all.iter().filter_map(info).collect()
    }

    /// Returns the name of a defined op that is nearest to this one, if one is similar enough.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        suggest::nearest(name, self.by_name.keys().map(String::as_str))
    }

    /// Returns the unique id of this set of definitions, or 0 if it is empty.
    pub fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> MutexGuard<'_, Vec<MissingDefinition>> {
        let failures = self.failures.lock();
        failures.unwrap_or_else(PoisonError::into_inner)
    }
}
