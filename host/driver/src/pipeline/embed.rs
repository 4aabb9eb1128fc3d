//! Pipelines for programs that embed the library: text, then names looked up, then run.

use std::path::Path;

use super::build::{self, Built};
use super::explain::{self, Explanation};
use super::file::PipelineFile;
use super::phases::Phases;
use super::request::{PipelineText, Request};
use passdock_core::{ErrorKind, ModuleRef, PassContext, PassError, Registry, Sequential};

/// A pipeline as its text says it.
#[derive(Clone, Debug)]
pub struct Pipeline {
    request: Request,
}

/// A pipeline whose names were looked up.
pub struct Resolved {
    sequential: Sequential,
    context: PassContext,
    phases: Phases,
}

impl Pipeline {
    /// Reads a pipeline. Directories in it are relative to the current one.
    pub fn from_toml(text: &str) -> Result<Pipeline, PassError> {
        Pipeline::new("pipeline.toml".as_ref(), text.to_owned())
    }

    /// Reads a pipeline's file. Directories in it are relative to the file.
    pub fn from_file(path: &Path) -> Result<Pipeline, PassError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("The pipeline `{}` can't be read: {error}.", path.display());
            PassError::new(ErrorKind::Pipeline, message)
        })?;
        Pipeline::new(path, text)
    }

    fn new(path: &Path, text: String) -> Result<Pipeline, PassError> {
        PipelineFile::parse(&path.display().to_string(), &text)?;
        let path = path.to_path_buf();
        Ok(Pipeline {
            request: Request {
                pipeline: Some(PipelineText { path, text }),
                ..Request::default()
            },
        })
    }

    /// Looks up everything that it names. The plugins of its directories come to the registry.
    pub fn resolve(&self, registry: &Registry) -> Result<Resolved, PassError> {
        let built = build::build(registry, &self.request, None, false)?;
        let Built {
            sequential,
            context,
            phases,
        } = built;
        let context = context.build()?;
        Ok(Resolved {
            sequential,
            context,
            phases,
        })
    }
}

impl Resolved {
    /// The context that it runs under.
    pub fn context(&self) -> &PassContext {
        &self.context
    }

    /// What would run, and why or why not.
    pub fn explain(&self) -> Result<Explanation, PassError> {
        explain::explain_in(&self.sequential, &self.context, &self.phases)
    }

    /// Runs it.
    pub fn run(&self, module: ModuleRef) -> Result<ModuleRef, PassError> {
        self.context.scope(|_| self.sequential.call(module))
    }
}
