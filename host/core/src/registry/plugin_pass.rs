//! The passes of plugins, with their options.

use std::collections::BTreeMap;
use std::sync::Arc;

use passdock_abi::FunctionKind;
use passdock_loader::{PassDeclaration, PassKind, PassSpec, Plugin};

use crate::boundary::{FunctionCode, ModuleCode, host};
use crate::config::{ConfigValue, Field, FieldValue, GivenConfig, OptionSource, Schema};
use crate::error::{ErrorKind, PassError, Provider};
use crate::pass::{Pass, Work};

/// A plugin's pass as a pipeline names it, with the options that are given.
pub(super) struct PluginPass {
    provider: Provider,
    plugin: Arc<Plugin>,
    at: usize,
    schema: Schema,
    /// The values of the options that are given.
    options: ConfigValue,
}

impl PluginPass {
    pub(super) fn new(
        plugin: Arc<Plugin>,
        at: usize,
        options: &toml::Table,
    ) -> Result<PluginPass, PassError> {
        let spec = &plugin.manifest().passes[at];
        let schema = Schema::new(spec.name(), spec.options.clone());
        let options = schema.accept_part(&toml::Value::Table(options.clone()))?;
        Ok(PluginPass {
            provider: Provider::of(&plugin),
            plugin,
            at,
            schema,
            options,
        })
    }

    /// The error about an option that has no default and that nobody sets.
    fn lacks(&self, option: &Field) -> PassError {
        let name = self.spec().name();
        let message = format!(
            "The pass `{name}` needs its option `{}`, which has no default.",
            option.name
        );
        let help = match &self.spec().config {
            Some(key) => format!("Set `{key}.{}` in the context's config.", option.name),
            None => format!(
                "Give it where the pipeline lists the pass: `options = {{ {} = … }}`.",
                option.name
            ),
        };
        PassError::new(ErrorKind::Config, message).help(help)
    }

    fn spec(&self) -> &PassSpec {
        &self.plugin.manifest().passes[self.at]
    }
}

impl Pass for PluginPass {
    fn declaration(&self) -> &PassDeclaration {
        &self.spec().declaration
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        let loaded = &self.plugin.load(host())?.passes()[self.at];
        let function = FunctionCode::Loaded(loaded);
        Ok(match self.spec().kind {
            PassKind::Module => Work::Module(ModuleCode::Loaded(loaded)),
            PassKind::Function => Work::Functions(FunctionKind::GRAPH, function),
            PassKind::PrimFunction => Work::Functions(FunctionKind::PRIM, function),
        })
    }

    fn provider(&self) -> Option<&Provider> {
        Some(&self.provider)
    }

    fn options(&self, config: &GivenConfig) -> Result<ConfigValue, PassError> {
        let layers = self.option_sources(config);
        if let Some(missing) = self.schema.missing(|name| layers.contains_key(name)) {
            return Err(self.lacks(missing));
        }
        let values = layers.into_iter().map(|(name, (value, _))| (name, value));
        Ok(values.collect())
    }

    /// The layers of options: defaults, then the context's config, then the pipeline's entry.
    fn option_sources(&self, config: &GivenConfig) -> BTreeMap<String, (FieldValue, OptionSource)> {
        let defaults = self.schema.defaults().into_iter();
        let default = |(name, value)| (name, (value, OptionSource::Default));
        let mut options: BTreeMap<_, _> = defaults.map(default).collect();
        let key = self.spec().config.as_ref();
        let layer = key.and_then(|key| config.get(key));
        let layer = layer.into_iter().flatten();
        let own = layer.filter(|(name, _)| self.schema.field(name).is_ok());
        for (name, value) in own {
            overlay(&mut options, name, value, OptionSource::Config);
        }
        for (name, value) in &self.options {
            overlay(&mut options, name, value, OptionSource::Options);
        }
        options
    }
}

/// Overlays an option's value with that of a later layer.
fn overlay(
    options: &mut BTreeMap<String, (FieldValue, OptionSource)>,
    name: &str,
    value: &FieldValue,
    source: OptionSource,
) {
    match options.get_mut(name) {
        Some((known, from)) => {
            known.overlay(value.clone());
            *from = source;
        }
        None => _ = options.insert(name.to_owned(), (value.clone(), source)),
    }
}
