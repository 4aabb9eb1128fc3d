//! Op definitions of all plugins, found by name and version, loaded when first asked for.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use passdock_diagnostic::suggest;

use super::op_info::OpInfo;
use super::{HostTable, LoadedOp, Plugin};
use crate::error::{Origin, PluginError};

/// What the plugins say about ops; none of them anything, by default.
#[derive(Default)]
pub struct OpDefs {
    /// Tells one set of definitions from another in caches; 0 has none.
    id: u64,
    /// Definitions of a name, by the first version that they are for, ascending.
    by_name: HashMap<String, Vec<Definition>>,
    /// The table that plugins are loaded with; none where nothing is defined.
    host: Option<HostTable>,
    failures: Mutex<Vec<PluginError>>,
}

#[derive(Debug)]
struct Definition {
    since: u32,
    plugin: Arc<Plugin>,
    /// Which op of the plugin's.
    at: usize,
}

impl OpDefs {
    /// The definitions of these plugins. None is loaded for it.
    pub fn new<'p>(plugins: impl IntoIterator<Item = &'p Arc<Plugin>>, host: HostTable) -> OpDefs {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut by_name: HashMap<String, Vec<Definition>> = HashMap::new();
        for plugin in plugins {
            for (at, op) in plugin.manifest().ops.iter().enumerate() {
                by_name
                    .entry(op.name.clone())
                    .or_default()
                    .push(Definition {
                        since: op.since,
                        plugin: plugin.clone(),
                        at,
                    });
            }
        }
        for definitions in by_name.values_mut() {
            definitions.sort_by_key(|d| d.since);
        }
        OpDefs {
            id: match by_name.is_empty() {
                true => 0,
                false => NEXT.fetch_add(1, Ordering::Relaxed),
            },
            by_name,
            host: Some(host),
            failures: Mutex::default(),
        }
    }

    /// How an op of this canonical name is defined in a version of its domain (`None`: the newest).
    /// A plugin that can't be loaded defines nothing; [`OpDefs::failures`] tells of it.
    pub fn find(&self, name: &str, version: Option<i64>) -> Option<LoadedOp> {
        let definition = self.definition(name, version)?;
        match definition.plugin.load(self.host?) {
            Ok(plugin) => plugin.ops().get(definition.at).copied(),
            Err(error) => {
                let mut failures = self.lock();
                if failures.iter().all(|known| known.origin != error.origin) {
                    failures.push(error);
                }
                None
            }
        }
    }

    /// Where the definition of an op of this name comes from.
    pub fn provider(&self, name: &str, version: Option<i64>) -> Option<&Origin> {
        let definition = self.definition(name, version)?;
        Some(definition.plugin.origin())
    }

    fn definition(&self, name: &str, version: Option<i64>) -> Option<&Definition> {
        let fits = |d: &&Definition| version.is_none_or(|v| i64::from(d.since) <= v);
        self.by_name.get(name)?.iter().rev().find(fits)
    }

    /// Whether an op of this name is defined in a version of its domain, by what the manifests say.
    pub fn knows(&self, name: &str, version: Option<i64>) -> bool {
        let fits = |since: u32| version.is_none_or(|version| i64::from(since) <= version);
        self.first_version(name).is_some_and(fits)
    }

    /// The first version of its domain that a name is defined in.
    pub fn first_version(&self, name: &str) -> Option<u32> {
        Some(self.by_name.get(name)?.first()?.since)
    }

    /// Whether nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The plugins whose definitions were asked for and that couldn't be loaded.
    pub fn failures(&self) -> Vec<PluginError> {
        self.lock().clone()
    }

    /// Every defined op: its name, the version since which, its plugin. In no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32, &Arc<Plugin>)> + '_ {
        self.by_name.iter().flat_map(|(name, definitions)| {
            definitions
                .iter()
                .map(move |d| (name.as_str(), d.since, &d.plugin))
        })
    }

    /// What is said of every defined op, by name and version. The plugins are loaded for it; those
    /// that can't be are in the second list.
    pub fn describe(&self) -> (Vec<OpInfo>, Vec<PluginError>) {
        let (mut ops, mut failures) = (Vec::new(), Vec::<PluginError>::new());
        let Some(host) = self.host else {
            return (ops, failures);
        };
        for (name, definitions) in &self.by_name {
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
        ops.sort_by(|a, b| (&a.name, a.since).cmp(&(&b.name, b.since)));
        (ops, failures)
    }

    /// The name of a defined op that is nearest to this one, if one is near.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        suggest::nearest(name, self.by_name.keys().map(String::as_str))
    }

    /// The number that tells this set of definitions from others; 0 has none.
    pub fn id(&self) -> u64 {
        self.id
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<PluginError>> {
        self.failures
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
