//! The plugin under check, with the plugins that it needs, and functions that run its passes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use passdock_core::{
    ContextBuilder, ErrorKind, Field, FieldType, ManifestPass, PassContext, PassError, PassRef,
    Plugin, Registry, Sequential, Verify, toml,
};
use passdock_driver::pipeline::{self, Request};
use passdock_driver::reproducer::shell_path;
use passdock_ir::Module;

use super::corpus::{self, Sample};
use super::{CheckedPlugin, Trail, generated};

/// The plugin under check.
pub(super) struct Subject<'t> {
    check: &'t str,
    checked: &'t CheckedPlugin,
    pub(super) plugin: Arc<Plugin>,
    passes: Vec<ManifestPass>,
    pub(super) registry: Registry,
    pub(super) samples: Vec<Sample>,
    pub(super) trail: &'t Trail,
}

impl<'t> Subject<'t> {
    /// Registers the plugin, then the other plugins.
    ///
    /// # Errors
    /// If the file isn't a plugin, or a model or a directory can't be read.
    pub(super) fn new(
        check: &'t str,
        checked: &'t CheckedPlugin,
        trail: &'t Trail,
    ) -> Result<Subject<'t>, Box<dyn std::error::Error>> {
        trail.at("reading the manifest");
        Plugin::open(&checked.file)?;
        let registry = Registry::new();
        let mut request: Request = checked.plugins.clone();
        request.plugin_files.insert(0, checked.file.clone());
        let conflicts = pipeline::load_plugins(&registry, &request)?;
        let is_checked = |plugin: &&Arc<Plugin>| plugin.origin().path() == Some(&checked.file);
        let Some(plugin) = registry.plugins().iter().find(is_checked).cloned() else {
            let reason = conflicts.first().map(ToString::to_string);
            return Err(reason.unwrap_or_default().into());
        };
        let mut passes = plugin.manifest().passes.clone();
        passes.retain(|pass| checked.without.iter().all(|name| name != pass.name()));
        let mut subject = Subject {
            check,
            checked,
            passes,
            plugin,
            registry,
            samples: Vec::new(),
            trail,
        };
        subject.samples = match &checked.seeds {
            Some(seeds) => {
                generated::samples(seeds.clone(), |seed| subject.replay(seed..seed + 1))?
            }
            None => corpus::samples(&checked.models)?,
        };
        Ok(subject)
    }

    /// Removes the samples with more ops than the maximum. Returns a note for each.
    pub(super) fn leave_out_large_samples(&mut self, max_ops: usize) -> Vec<String> {
        let is_large = |sample: &mut Sample| sample.op_count() > max_ops;
        let large = self.samples.extract_if(.., is_large);
        let note = |sample: Sample| {
            format!(
                "{} was not run: it has more than {max_ops} ops",
                sample.name
            )
        };
        large.map(note).collect()
    }

    /// Returns the command that repeats the check with the modules and calls of some seeds.
    pub(super) fn replay(&self, seeds: Range<u64>) -> String {
        let Request {
            plugin_files,
            plugin_dirs,
            ..
        } = &self.checked.plugins;
        let own = [("", &self.checked.file)].into_iter();
        let files = plugin_files.iter().map(|file| (" --plugin", file));
        let dirs = plugin_dirs.iter().map(|dir| (" --plugin-dir", dir));
        let mut command = "passdock plugin check".to_owned();
        for (flag, path) in own.chain(files).chain(dirs) {
            command += &format!("{flag} {}", shell_path(path));
        }
        let (check, runs) = (self.check, seeds.end - seeds.start);
        format!(
            "`{command} --only {check} --fuzz {} --runs {runs}`",
            seeds.start
        )
    }

    /// Returns the seeds of `--fuzz`.
    pub(super) fn seeds(&self) -> Option<Range<u64>> {
        self.checked.seeds.clone()
    }

    /// Returns the plugin's file.
    pub(super) fn file(&self) -> &Path {
        &self.checked.file
    }

    /// Returns the plugin's passes, without the skipped ones.
    pub(super) fn passes(&self) -> &[ManifestPass] {
        &self.passes
    }

    /// Runs one of the plugin's passes, at any level, after the passes that it requires.
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

    /// Runs a pass on a module that isn't shared, since the pass may write to it. Drops what the pass caches.
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
        let mut output = context.scope(|_| Sequential::new([pass]).call(module))?;
        let endings = context.endings();
        drop(context);
        output.clear_cache();
        endings.take().map_or(Ok(output), Err)
    }

    /// Whether an error is a fault of the plugin. It isn't one if the pass rejects a module with a message, or if a
    /// required pass of another plugin fails.
    pub(super) fn is_fault(&self, error: &PassError) -> bool {
        let plugin = error.plugin.as_deref();
        if plugin.is_some_and(|plugin| plugin != self.plugin.name()) {
            return false;
        }
        match error.kind {
            ErrorKind::Failed | ErrorKind::Diagnostics => error.fault.is_some(),
            // The pass rejects a value that its schema allows, such as a name that isn't in the model.
            ErrorKind::Config if plugin.is_some() && !error.is_inner => error.fault.is_some(),
            _ => true,
        }
    }
}

/// Describes an error of a pass on a sample.
pub(super) fn described(pass: &str, on: &str, error: &PassError) -> String {
    let inner = match error.pass.as_deref() {
        Some(inner) if inner != pass => format!(" (in `{inner}`)"),
        _ => String::new(),
    };
    let function = match &error.function {
        Some(function) => format!(", @{function}"),
        None => String::new(),
    };
    let help = match &error.help {
        Some(help) => format!("; {help}"),
        None => String::new(),
    };
    let message = &error.message;
    format!("`{pass}` on {on}{function}{inner}: {message}{help}")
}

/// Returns values for the options that have no default.
pub(super) fn mandatory(fields: &[Field]) -> toml::Table {
    let fields = fields.iter().filter(|field| field.mandatory);
    let value = |field: &Field| match (field.ty, &field.choices[..], field.range) {
        (FieldType::String, [first, ..], _) => first.clone().into(),
        (FieldType::Int, _, Some((min, max))) => 1.clamp(min, max).into(),
        (ty, ..) => ty.zero(),
    };
    let values = fields.map(|field| (field.name.clone(), value(field)));
    values.collect()
}
