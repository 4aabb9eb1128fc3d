//! The registry's instruments by name: those of the host, and those that programs and plugins register.

use std::collections::BTreeMap;
use std::sync::Arc;

use passdock_diagnostic::suggest;
use passdock_loader::Plugin;

use super::Registry;
use crate::error::{ErrorKind, PassError};
use crate::instrument::{
    InstrumentRef, InstrumentSetup, InstrumentSpec, PassNames, built_in, plugin_spec,
};
use crate::pass::check_name;

/// The instruments by name.
pub(super) struct InstrumentTable {
    specs: BTreeMap<String, InstrumentSpec>,
    /// The names of instruments by alias.
    aliases: BTreeMap<String, String>,
}

impl Default for InstrumentTable {
    fn default() -> InstrumentTable {
        let mut table = InstrumentTable {
            specs: BTreeMap::new(),
            aliases: BTreeMap::new(),
        };
        built_in::specs()
            .into_iter()
            .for_each(|spec| table.insert(spec));
        table
    }
}

impl InstrumentTable {
    pub(super) fn register(&mut self, spec: InstrumentSpec) -> Result<(), PassError> {
        for name in [&spec.name].into_iter().chain(&spec.aliases) {
            check_name(name)?;
            self.check_free(name)?;
        }
        self.insert(spec);
        Ok(())
    }

    fn insert(&mut self, spec: InstrumentSpec) {
        let aliases = spec.aliases.iter();
        self.aliases
            .extend(aliases.map(|alias| (alias.clone(), spec.name.clone())));
        self.specs.insert(spec.name.clone(), spec);
    }

    fn check_free(&self, name: &str) -> Result<(), PassError> {
        let Some(registered) = self.find(name) else {
            return Ok(());
        };
        let owner = registered.owner();
        let message = match registered.name == name {
            true => format!("instrument `{name}` is already registered by {owner}"),
            false => format!(
                "name `{name}` is an alias of instrument `{}`",
                registered.name
            ),
        };
        Err(PassError::new(ErrorKind::Duplicate, message).help("rename or remove one of them"))
    }

    /// Rejects a plugin with an instrument whose name is taken.
    pub(super) fn check_plugin(&self, plugin: &Plugin) -> Result<(), PassError> {
        for instrument in &plugin.manifest().instruments {
            self.check_free(&instrument.name).map_err(|error| {
                error.note(format!("the other is in plugin {}", plugin.origin()))
            })?;
        }
        Ok(())
    }

    /// Adds a plugin's instruments, which were checked.
    pub(super) fn add_plugin(&mut self, plugin: &Arc<Plugin>) {
        for at in 0..plugin.manifest().instruments.len() {
            self.insert(plugin_spec(plugin, at));
        }
    }

    /// Returns the instrument with a name or an alias.
    fn find(&self, name: &str) -> Option<&InstrumentSpec> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        self.specs.get(name)
    }

    fn get(&self, name: &str) -> Result<&InstrumentSpec, PassError> {
        self.find(name).ok_or_else(|| {
            let names = || self.specs.keys().map(String::as_str);
            let message = format!("no instrument is named `{name}`");
            let error = PassError::new(ErrorKind::UnknownInstrument, message);
            let list = || format!("available instruments: {}", suggest::listed(names()));
            let called = names().chain(self.aliases.keys().map(String::as_str));
            error.help(suggest::help(name, called).unwrap_or_else(list))
        })
    }

    /// Removes a plugin's instruments.
    pub(super) fn remove_plugin(&mut self, plugin: &str) {
        self.specs
            .retain(|_, spec| spec.plugin.as_deref() != Some(plugin));
        self.aliases.retain(|_, name| self.specs.contains_key(name));
    }
}

impl Registry {
    /// Registers an instrument.
    ///
    /// # Errors
    /// If the name is taken or invalid.
    pub fn register_instrument(&self, spec: InstrumentSpec) -> Result<(), PassError> {
        self.write().instruments.register(spec)
    }

    /// Returns the instruments, sorted by name.
    pub fn instruments(&self) -> Vec<InstrumentSpec> {
        self.read().instruments.specs.values().cloned().collect()
    }

    /// Returns an instrument by its name.
    ///
    /// # Errors
    /// If there is no such instrument. The error suggests the nearest name.
    pub fn instrument_spec(&self, name: &str) -> Result<InstrumentSpec, PassError> {
        let inner = self.read();
        let spec = inner.instruments.get(name).cloned();
        spec.map_err(|mut error| {
            error.notes.extend(inner.unusable());
            error
        })
    }

    /// Creates an instrument by its name, with options, which are checked.
    ///
    /// # Errors
    /// If there is no such instrument, an option is invalid or missing, or the instrument can't be created.
    pub fn get_instrument(
        &self,
        name: &str,
        options: &toml::Table,
        setup: &InstrumentSetup<'_>,
    ) -> Result<InstrumentRef, PassError> {
        // Without the lock: the constructor may use the registry.
        self.instrument_spec(name)?.make(options, setup)
    }
}

impl PassNames for Registry {
    fn pass_names(&self) -> Vec<String> {
        Registry::pass_names(self)
    }

    fn canonical(&self, name: &str) -> String {
        Registry::canonical(self, name)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::instrument::InstrumentSetup;
    use crate::instrument::built_in::PassTimingInstrument;

    fn spec(name: &str) -> InstrumentSpec {
        let make = |(), _: &InstrumentSetup<'_>| -> Result<InstrumentRef, PassError> {
            Ok(Arc::new(PassTimingInstrument::new()))
        };
        let mut spec = InstrumentSpec::new(name, "A clock.", make).watching();
        spec.plugin = Some("acme".to_owned());
        spec
    }

    #[test]
    fn duplicate_names_are_rejected() {
        let registry = Registry::new();
        registry.register_instrument(spec("clock")).unwrap();
        let error = registry.register_instrument(spec("clock")).unwrap_err();
        expect![
            "instrument `clock` is already registered by plugin acme; rename or remove one of them"
        ]
        .assert_eq(&error.to_string());
        let error = registry.register_instrument(spec("timing")).unwrap_err();
        expect!["instrument `timing` is already registered by this program; rename or remove one of them"]
        .assert_eq(&error.to_string());
        assert!(registry.register_instrument(spec("")).is_err());
    }

    #[test]
    fn host_instruments_have_documentation() {
        for instrument in Registry::new().instruments() {
            assert!(instrument.summary.ends_with('.'), "{}", instrument.name);
            for option in instrument.options {
                let name = format!("{}.{}", instrument.name, option.name);
                assert!(option.doc.ends_with('.'), "{name}: {}", option.doc);
            }
        }
    }
}
