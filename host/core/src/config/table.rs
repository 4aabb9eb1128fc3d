//! The table of registered config options.

use std::borrow::Cow;
use std::collections::BTreeMap;

use passdock_diagnostic::suggest;
use serde::Serialize;

use super::{ConfigError, Schema, Wrong, built_in};

/// What TVM's releases call options that hold the same, and what they are called here.
pub const KEYS_OF_TVM: [(&str, &str); 3] = [
    ("relay.fallback_device_type", "relax.fallback_device_type"),
    ("tirx.UnrollLoop", "tir.UnrollLoop"),
    ("s_tir.UnrollLoop", "tir.UnrollLoop"),
];

/// The key that stands for an option, with a field behind it or not: one of TVM's becomes the option's own.
pub fn canonical_key(path: &str) -> Cow<'_, str> {
    let own = KEYS_OF_TVM.iter().find_map(|(theirs, ours)| {
        let rest = path.strip_prefix(theirs)?;
        (rest.is_empty() || rest.starts_with('.')).then(|| format!("{ours}{rest}"))
    });
    own.map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The config options by key; the host's own are always there.
pub(crate) struct ConfigTable {
    entries: BTreeMap<String, ConfigInfo>,
}

/// A config option, and the plugin that registered it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigInfo {
    /// The plugin that registered it; `None`: the program itself.
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

    /// Refuses a key that is registered already.
    pub(crate) fn check_free(&self, key: &str) -> Result<(), ConfigError> {
        let own = canonical_key(key);
        if own != key {
            let message = format!("The config option `{key}` stands for `{own}`.");
            let error = ConfigError::new(Wrong::Key, key, None, message);
            return Err(error.help("Give the option a name of its own."));
        }
        let Some(entry) = self.entries.get(key) else {
            return Ok(());
        };
        let by = match &entry.plugin {
            Some(plugin) => format!("by plugin {plugin}"),
            None => "by this program".to_owned(),
        };
        let message = format!("The config option `{key}` is registered already, {by}.");
        Err(ConfigError::new(Wrong::Key, key, None, message).help("Rename one of the two."))
    }

    /// The option of a key, or of TVM's key for it, if there is one.
    pub(crate) fn find(&self, key: &str) -> Option<&ConfigInfo> {
        let own = || self.entries.get(&*canonical_key(key));
        self.entries.get(key).or_else(own)
    }

    /// The option of a key, or of TVM's key for it.
    pub(crate) fn get(&self, key: &str) -> Result<&ConfigInfo, ConfigError> {
        self.find(key).ok_or_else(|| {
            let keys = || self.entries.keys().map(String::as_str);
            let near = suggest::nearest(key, keys());
            let others = keys().filter(|other| Some(*other) != near);
            let listed = suggest::listed(near.into_iter().chain(others));
            let message = format!("Invalid config option `{key}`; candidates are: {listed}.");
            let mut error = ConfigError::new(Wrong::Key, key, None, message);
            error.help = near.map(|near| format!("Did you mean `{near}`?"));
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
