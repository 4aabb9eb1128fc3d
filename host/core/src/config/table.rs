//! The table of registered config options.

use std::borrow::Cow;
use std::collections::BTreeMap;

use passdock_diagnostic::suggest;
use serde::Serialize;

use super::{ConfigError, InvalidPart, Schema, built_in};

/// Keys of TVM's releases, and the equivalent keys of passdock.
pub const KEYS_OF_TVM: [(&str, &str); 3] = [
    ("relay.fallback_device_type", "relax.fallback_device_type"),
    ("tirx.UnrollLoop", "tir.UnrollLoop"),
    ("s_tir.UnrollLoop", "tir.UnrollLoop"),
];

/// Returns the canonical key of an option, with or without a field appended: a key of TVM becomes passdock's.
pub fn canonical_key(path: &str) -> Cow<'_, str> {
    let own = KEYS_OF_TVM.iter().find_map(|(theirs, ours)| {
        let rest = path.strip_prefix(theirs)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{ours}{rest}"))
    });
    own.map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The config options by key, including the host's own.
pub(crate) struct ConfigTable {
    entries: BTreeMap<String, ConfigInfo>,
}

/// A config option, and the plugin that registered it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigInfo {
    /// The plugin that registered it. `None` for the program itself.
    pub plugin: Option<String>,
    /// The option's key and fields.
    #[serde(flatten)]
    pub schema: Schema,
}

impl Default for ConfigTable {
    fn default() -> ConfigTable {
        let own = built_in::schemas().map(|schema| {
            let plugin = None;
            (schema.key.clone(), ConfigInfo { schema, plugin })
        });
        ConfigTable {
            entries: own.into(),
        }
    }
}

impl ConfigTable {
    pub(crate) fn register(
        &mut self,
        schema: Schema,
        plugin: Option<String>,
    ) -> Result<(), ConfigError> {
        self.check_free(&schema.key)?;
        self.entries
            .insert(schema.key.clone(), ConfigInfo { schema, plugin });
        Ok(())
    }

    /// Rejects a key that is registered already, or that is an alias.
    pub(crate) fn check_free(&self, key: &str) -> Result<(), ConfigError> {
        let own = canonical_key(key);
        if own != key {
            let message = format!("config option `{key}` is an alias of `{own}`");
            let error = ConfigError::new(InvalidPart::Key, key, None, message);
            return Err(error.help("choose another name"));
        }
        let Some(entry) = self.entries.get(key) else {
            return Ok(());
        };
        let by = match &entry.plugin {
            Some(plugin) => format!("by plugin `{plugin}`"),
            None => "by this program".to_owned(),
        };
        let message = format!("config option `{key}` is already registered {by}");
        Err(ConfigError::new(InvalidPart::Key, key, None, message).help("rename one of them"))
    }

    /// Returns the option of a key, or of TVM's key for it, if any.
    pub(crate) fn find(&self, key: &str) -> Option<&ConfigInfo> {
        let own = || self.entries.get(&*canonical_key(key));
        self.entries.get(key).or_else(own)
    }

    /// Returns the option of a key, or of TVM's key for it. The error lists the nearest keys.
    pub(crate) fn get(&self, key: &str) -> Result<&ConfigInfo, ConfigError> {
        self.find(key).ok_or_else(|| {
            let keys = || self.entries.keys().map(String::as_str);
            let near = suggest::nearest(key, keys());
            let others = keys().filter(|other| Some(*other) != near);
            let listed = suggest::listed(near.into_iter().chain(others));
            let message = format!("Invalid config option `{key}`; candidates are: {listed}");
            let mut error = ConfigError::new(InvalidPart::Key, key, None, message);
            error.help = near.map(|near| format!("did you mean `{near}`?"));
            error
        })
    }

    pub(crate) fn list(&self) -> Vec<ConfigInfo> {
        self.entries.values().cloned().collect()
    }

    /// Removes the options that a plugin registered.
    pub(crate) fn remove_plugin(&mut self, plugin: &str) {
        self.entries
            .retain(|_, entry| entry.plugin.as_deref() != Some(plugin));
    }
}
