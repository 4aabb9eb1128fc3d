//! Pipelines for programs that embed the library: parsed from text, resolved, then run.

use std::path::Path;

use passdock_core::{ContextSettings, ErrorKind, PassError, PassRef, Registry};

use crate::pipeline_file::built_in::BuiltInPipeline;
use crate::prepare::{PipelineText, Prepared, Request, Watched};
use crate::trust;

/// A parsed pipeline, whose names aren't resolved yet.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::{PassError, PassInfo, Registry, create_function_pass};
/// #     pub use passdock_driver::{model_file as ir, pipeline};
/// # }
/// use passdock::{PassInfo, Registry, create_function_pass, ir, pipeline::Pipeline};
///
/// # fn main() -> Result<(), passdock::PassError> {
/// let registry = Registry::new();
/// let info = PassInfo::new("demo.transform.Stamp");
/// registry.register(create_function_pass(info, |f, _cx| {
///     Ok(f.set_function_attr("stamp", 1)?)
/// }))?;
///
/// let text = "
///     [context]
///     opt_level = 3
///     [[passes]]
///     name = 'demo.transform.Stamp'
/// ";
/// let pipeline = Pipeline::from_toml(text)?.resolve(&registry)?;
/// let module = ir::parse_text("a.ir", "module { fn @main(%x: f32[2]) -> (%y) { return %x } }")?;
/// assert!(pipeline.run(module)?.to_string().contains("{stamp = 1}"));
///
/// let error = Pipeline::from_toml("[context]\nopt_lvl = 3").unwrap_err();
/// assert_eq!(error.help.as_deref(), Some("did you mean `opt_level`?"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    request: Request,
}

impl Pipeline {
    /// Parses a pipeline. Paths in it are relative to the current directory.
    ///
    /// # Errors
    /// If it isn't valid TOML or isn't a pipeline. The error has a source line.
    pub fn from_toml(text: &str) -> Result<Pipeline, PassError> {
        Pipeline::new(PipelineText::from_file("pipeline.toml", text))
    }

    /// Reads a pipeline file. Paths in it are relative to the file's directory, and may not leave it unless the
    /// pipeline is [`trusted`](Pipeline::trusted).
    ///
    /// # Errors
    /// If the file can't be read; otherwise as [`Pipeline::from_toml`].
    pub fn from_file(path: &Path) -> Result<Pipeline, PassError> {
        let text = passdock_files::read_to_string(path).map_err(|error| {
            let message = format!("could not read `{}`: {error}", path.display());
            PassError::new(ErrorKind::Pipeline, message)
        })?;
        Pipeline::new(PipelineText::from_file(path, text))
    }

    /// Returns the built-in pipeline with a given name, such as `default`.
    ///
    /// # Errors
    /// If there is no such pipeline.
    pub fn built_in(name: &str) -> Result<Pipeline, PassError> {
        Pipeline::new(BuiltInPipeline::named(name)?.into())
    }

    /// Allows the pipeline to name plugins, rules and other files outside of its directory.
    #[must_use]
    pub fn trusted(mut self) -> Pipeline {
        self.request.trust = true;
        self
    }

    /// Rejects plugins that differ from the lock file next to the pipeline. Plugins that the program has registered are
    /// checked if the pipeline needs them.
    #[must_use]
    pub fn locked(mut self) -> Pipeline {
        self.request.locked = true;
        self
    }

    /// Rejects plugins without a valid signature of a key in the pipeline's `trusted_keys`. This includes the standard
    /// plugins, because they aren't a part of the program. Plugins that the program has registered are checked if the
    /// pipeline needs them.
    #[must_use]
    pub fn require_signed(mut self) -> Pipeline {
        self.request.require_signed = true;
        self
    }

    /// Parses a pipeline from its text and name.
    ///
    /// # Errors
    /// See [`Pipeline::from_toml`].
    pub fn new(pipeline: PipelineText) -> Result<Pipeline, PassError> {
        let request = Request {
            pipeline: Some(pipeline),
            ..Request::default()
        };
        request.pipeline_file()?;
        Ok(Pipeline { request })
    }

    /// Returns the pipeline as a pass with the pipeline's name. It runs under the context of its caller.
    ///
    /// # Errors
    /// See [`Pipeline::resolve`]; also if the pipeline has context settings or instruments.
    pub fn into_pass(self, registry: &Registry) -> Result<PassRef, PassError> {
        let prepared = self.resolve(registry)?;
        let name = self.request.pipeline.as_ref().map(PipelineText::name);
        let name = name.unwrap_or_default();
        let has_settings = prepared.file.context.settings() != ContextSettings::default();
        if has_settings || !prepared.file.instruments.is_empty() {
            let message = format!(
                "cannot use pipeline `{name}` as a pass: it has `[context]` or `[[instruments]]`"
            );
            let error = PassError::new(ErrorKind::Pipeline, message);
            return Err(error.help("run it as a pipeline, or move them to the `PassContext`"));
        }
        Ok(prepared.sequential.name(name).into_pass())
    }

    /// Resolves all names. Plugins in the pipeline's directories are added to the registry.
    ///
    /// # Errors
    /// If a directory doesn't exist, or a pass, option, instrument or config key is unknown.
    pub fn resolve(&self, registry: &Registry) -> Result<Prepared, PassError> {
        trust::prepared(registry, &self.request, Watched::default())
    }
}
