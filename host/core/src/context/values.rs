//! Config values as running passes and instruments ask for them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::PassContext;
use crate::config::ConfigValue;
use crate::plugin::FieldValue;

/// All registered config options with their values under a context; gathered when first asked for.
pub(crate) struct ConfigValues<'c> {
    cx: &'c PassContext,
    all: OnceLock<BTreeMap<String, ConfigValue>>,
}

impl<'c> ConfigValues<'c> {
    pub(crate) fn new(cx: &'c PassContext) -> ConfigValues<'c> {
        ConfigValues {
            cx,
            all: OnceLock::new(),
        }
    }

    /// A field's value; `field` is empty for a value that is no struct. The error is a sentence.
    pub(crate) fn get(&self, key: &str, field: &str) -> Result<&FieldValue, String> {
        let all = self.all.get_or_init(|| self.gather());
        let found = all.get(key).and_then(|value| value.get(field));
        found.ok_or_else(|| {
            let schema = self.cx.registry().config_schema(key);
            match schema.and_then(|schema| schema.field(field).cloned()) {
                Err(error) => error.to_string(),
                Ok(_) => format!("The config option `{key}` was registered after this started."),
            }
        })
    }

    fn gather(&self) -> BTreeMap<String, ConfigValue> {
        let mut all = self.cx.registry().config_defaults();
        for (key, value) in &mut all {
            if let Some(set) = self.cx.config(key) {
                value.clone_from(set);
            }
        }
        all
    }
}
