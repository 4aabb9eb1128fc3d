//! The table of registered config options.

use std::collections::BTreeMap;

use passdock_diagnostic::suggest;
use serde::Serialize;

use super::{ConfigError, Schema, Wrong, built_in};

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

    pub(crate) fn get(&self, key: &str) -> Result<&ConfigInfo, ConfigError> {
        self.entries.get(key).ok_or_else(|| {
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
