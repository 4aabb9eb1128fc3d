//! The plugin under check, among those that it needs, and the runs of its passes.

use std::sync::Arc;

use passdock_core::run::is_unexplained;
use passdock_core::verify::is_undeclared_change;
use passdock_core::{
    ContextBuilder, ErrorKind, Field, FieldType, FieldValue, ManifestPass, PassContext, PassError,
    PassRef, Plugin, Registry, Sequential, Verify, boundary, capitalized, toml,
};
use passdock_driver::pipeline::{self, Request};
use passdock_ir::Module;

use super::corpus::{self, Sample};
use super::{CheckedPlugin, Trail};

/// The plugin under check.
pub(super) struct Subject<'t> {
    checked: &'t CheckedPlugin,
    pub(super) plugin: Arc<Plugin>,
    passes: Vec<ManifestPass>,
    pub(super) registry: Registry,
    pub(super) samples: Vec<Sample>,
    pub(super) trail: &'t Trail,
}

/// Why a pass made nothing of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The pass panicked.
    Panic,
    /// What it made is wrong.
    Invalid,
    /// It changed an interface, and doesn't declare that it may.
    Interface,
    /// Its names can't be looked up, or go in a circle.
    Names,
    /// It said that it can't: which a pass may.
    Refusal,
    /// It failed, and didn't say why.
    Unexplained,
    /// The module isn't for it, or another plugin's pass, which it requires, failed.
    Unfit,
    /// The host refused the options.
    Config,
    /// Anything else.
    Other,
}

impl<'t> Subject<'t> {
    /// Registers the plugin, first of all, and the others. The inner error is why there is nothing to
    /// check.
    ///
    /// # Errors
    /// If a model or a directory can't be read.
    pub(super) fn new(
        checked: &'t CheckedPlugin,
        trail: &'t Trail,
    ) -> Result<Result<Subject<'t>, String>, PassError> {
        trail.at("the manifest was read");
        if let Err(error) = Plugin::open(&checked.file) {
            return Ok(Err(capitalized(&error.to_string())));
        }
        let registry = Registry::new();
        let mut request = Request {
            plugin_dirs: checked.plugins.plugin_dirs.clone(),
            ..checked.plugins.clone()
        };
        request.plugin_files.insert(0, checked.file.clone());
        let conflicts = pipeline::load_plugins(&registry, &request)?;
        let is_it = |plugin: &&Arc<Plugin>| plugin.origin().path() == Some(&checked.file);
        let Some(plugin) = registry.plugins().iter().find(is_it).cloned() else {
            let why = conflicts.first().map(ToString::to_string);
            return Ok(Err(why.unwrap_or_else(|| {
                "The host took the plugin for another one.".to_owned()
            })));
        };
        let mut passes = plugin.manifest().passes.clone();
        passes.retain(|pass| checked.without.iter().all(|name| name != pass.name()));
        Ok(Ok(Subject {
            checked,
            passes,
            plugin,
            registry,
            samples: corpus::samples(&checked.models)?,
            trail,
        }))
    }

    /// The plugin with its library, loaded by this host; the error is why it can't be.
    pub(super) fn loaded(self) -> Result<Subject<'t>, String> {
        self.trail.at(Trail::LOADING);
        let loaded = self.plugin.load(boundary::host());
        loaded.map_err(|error| capitalized(&error.to_string()))?;
        Ok(self)
    }

    /// The plugin as it is in this process's own host; `None` if it serves another one already.
    pub(super) fn anew(&self) -> Option<Subject<'t>> {
        let anew = Subject::new(self.checked, self.trail).ok()?.ok()?;
        anew.loaded().ok()
    }

    /// The plugin's passes that are run.
    pub(super) fn passes(&self) -> &[ManifestPass] {
        &self.passes
    }

    /// Runs one of its passes, at any level, with what it requires before it.
    pub(super) fn run(
        &self,
        pass: &ManifestPass,
        options: &toml::Table,
        sample: &Sample,
        configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
    ) -> Result<Module, PassError> {
        self.trail.at_pass(pass.name(), &sample.name);
        let mut all = mandatory(&pass.declaration.options);
        all.extend(options.clone());
        let pass = self.registry.get_pass_with_options(pass.name(), &all)?;
        self.call(pass, sample.fresh(), configure)
    }

    /// Runs a pass on a module that nobody else has: it may write into it. What it keeps is freed.
    pub(super) fn call(
        &self,
        pass: PassRef,
        module: Module,
        configure: impl FnOnce(ContextBuilder) -> ContextBuilder,
    ) -> Result<Module, PassError> {
        let context = PassContext::builder()
            .registry(&self.registry)
            .opt_level(u32::MAX)
            .verify(Verify::Off)
            .on_diagnostic(|_| ());
        let context = configure(context).build()?;
        let mut made = context.scope(|_| Sequential::new([pass]).call(module))?;
        let endings = context.endings();
        drop(context);
        made.forget_kept();
        endings.take().map_or(Ok(made), Err)
    }

    /// What kind of fault an error is.
    pub(super) fn fault(&self, error: &PassError) -> Fault {
        let of_other = |by: &passdock_core::Provider| by.plugin != self.plugin.name();
        if error.plugin.as_ref().is_some_and(of_other) {
            return Fault::Unfit;
        }
        match error.kind {
            ErrorKind::Panicked => Fault::Panic,
            ErrorKind::Verify => Fault::Invalid,
            ErrorKind::Failed if is_undeclared_change(error) => Fault::Interface,
            ErrorKind::Failed | ErrorKind::Config if is_unexplained(error) => Fault::Unexplained,
            ErrorKind::Failed | ErrorKind::Diagnostics => Fault::Refusal,
            // The pass itself refuses what its schema allows, as a name that the model doesn't have.
            ErrorKind::Config if error.plugin.is_some() && !error.is_inner => Fault::Refusal,
            ErrorKind::Config => Fault::Config,
            ErrorKind::Name
            | ErrorKind::UnknownPass
            | ErrorKind::Duplicate
            | ErrorKind::Cycle
            | ErrorKind::RequiredDisabled
            | ErrorKind::TooDeep => Fault::Names,
            _ => Fault::Other,
        }
    }
}

/// An error as one sentence of an answer: of which pass, and what. The file is known.
pub(super) fn told(pass: &str, on: &str, error: &PassError) -> String {
    let inner = match error.pass.as_deref() {
        Some(inner) if inner != pass => format!(" (in `{inner}`)"),
        _ => String::new(),
    };
    let function = match &error.function {
        Some(function) => format!(", @{function}"),
        None => String::new(),
    };
    let help = error.help.as_deref().unwrap_or_default();
    let message = format!("{} {help}", error.message);
    format!("`{pass}` on {on}{function}{inner}: {}", message.trim_end())
}

/// Values for the options that have no default.
pub(super) fn mandatory(fields: &[Field]) -> toml::Table {
    let fields = fields.iter().filter(|field| field.mandatory);
    let values = fields.filter_map(|field| Some((field.name.clone(), likely(field)?)));
    values.collect()
}

/// A value that an option without a default may have.
fn likely(field: &Field) -> Option<toml::Value> {
    let value = match (field.ty, &field.choices[..], field.range) {
        (FieldType::String, [first, ..], _) => FieldValue::String(first.clone()),
        (FieldType::Int, _, Some((min, max))) => FieldValue::Int(1.clamp(min, max)),
        (ty, ..) => ty.zero(),
    };
    as_toml(&value)
}

/// A value as a pipeline writes it.
pub(super) fn as_toml(value: &FieldValue) -> Option<toml::Value> {
    toml::Value::try_from(value).ok()
}
