//! Pipelines for programs that embed the library: text, then names looked up, then run.

use std::path::Path;

use passdock_core::{ContextSettings, ErrorKind, PassError, PassRef, Registry};

use crate::pipeline_file::built_in::BuiltInPipeline;
use crate::prepare::{PipelineText, Prepared, Request, Watched};

/// A pipeline as its text says it.
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
/// assert_eq!(error.help.as_deref(), Some("Did you mean `opt_level`?"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    request: Request,
}

impl Pipeline {
    /// Reads a pipeline. Directories in it are relative to the current one.
    ///
    /// # Errors
    /// If it isn't TOML, or not a pipeline; the error shows the line.
    pub fn from_toml(text: &str) -> Result<Pipeline, PassError> {
        Pipeline::new(PipelineText::of_file("pipeline.toml", text))
    }

    /// Reads a pipeline's file. Paths in it start from the file's directory and may not leave it, unless it is
    /// [`trusted`](Pipeline::trusted).
    ///
    /// # Errors
    /// If the file can't be read; otherwise as [`Pipeline::from_toml`].
    pub fn from_file(path: &Path) -> Result<Pipeline, PassError> {
        let text = passdock_files::read_to_string(path).map_err(|error| {
            let message = format!("The pipeline `{}` can't be read: {error}.", path.display());
            PassError::new(ErrorKind::Pipeline, message)
        })?;
        Pipeline::new(PipelineText::of_file(path, text))
    }

    /// The built-in pipeline of this name: `default`.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn built_in(name: &str) -> Result<Pipeline, PassError> {
        Pipeline::new(BuiltInPipeline::named(name)?.into())
    }

    /// Lets the pipeline name plugins, rules and other files outside of its directory.
    #[must_use]
    pub fn trusted(mut self) -> Pipeline {
        self.request.trust = true;
        self
    }

    /// A pipeline of a text and its name.
    ///
    /// # Errors
    /// As [`Pipeline::from_toml`].
    pub fn new(pipeline: PipelineText) -> Result<Pipeline, PassError> {
        let request = Request {
            pipeline: Some(pipeline),
            ..Request::default()
        };
        request.pipeline_file()?;
        Ok(Pipeline { request })
    }

    /// Returns the pipeline as one pass, of its name, which runs under the context that it is called in.
    ///
    /// # Errors
    /// As [`Pipeline::resolve`], and if it has a context or instruments of its own.
    pub fn into_pass(self, registry: &Registry) -> Result<PassRef, PassError> {
        let prepared = self.resolve(registry)?;
        let name = self.request.pipeline.as_ref().map(PipelineText::name);
        let name = name.unwrap_or_default();
        let has_settings = prepared.file.context.settings() != ContextSettings::default();
        if has_settings || !prepared.file.instruments.is_empty() {
            let message = format!(
                "The pipeline `{name}` can't be a pass: it has a `[context]` or `[[instruments]]`."
            );
            let error = PassError::new(ErrorKind::Pipeline, message);
            return Err(error.help("Run it as a pipeline, or give these to the `PassContext`."));
        }
        Ok(prepared.sequential.name(name).into_pass())
    }

    /// Looks up everything that it names. The plugins of its directories come to the registry.
    ///
    /// # Errors
    /// If a directory isn't there, or a pass, option, instrument or config key isn't known.
    pub fn resolve(&self, registry: &Registry) -> Result<Prepared, PassError> {
        Prepared::new(registry, &self.request, Watched::default())
    }
}
