//! The request of a run, as plain data that can be sent to another process.

use std::path::{Component, Path, PathBuf};

use passdock_core::{ErrorKind, PassError, SearchDir, Severity, Verify};
use passdock_files::directory_of;
use passdock_ir::Module;
use passdock_sandbox::Permission;
use serde::{Deserialize, Serialize};

use super::requested_instrument::RequestedInstrument;
use crate::model_file::{self, ReadOptions, WriteOptions};
use crate::pipeline_file::PipelineFile;
use crate::pipeline_file::built_in::BuiltInPipeline;

/// Help for errors about untrusted reproducers.
pub(crate) const TRUST: &str = "pass `--trust` if you trust the source of the reproducer";

/// A request to run a pipeline: the options of `passdock run`.
///
/// # Examples
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub use passdock_driver::*;
/// # }
/// use passdock::{PassInfo, Registry, create_function_pass, pipeline};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let info = PassInfo::new("demo.transform.Check").opt_level(0);
/// registry.register(create_function_pass(info, |_f, _cx| Ok(())))?;
///
/// let directory = tempfile::tempdir()?;
/// let model = directory.path().join("model.ir");
/// std::fs::write(&model, "module { fn @main(%x: f32[2]) -> (%x: f32[2]) { return %x } }")?;
/// let request = pipeline::Request {
///     passes: vec!["demo.transform.Check".to_owned()],
///     output: Some(directory.path().join("checked.ir")),
///     model,
///     ..Default::default()
/// };
/// let (report, result) = pipeline::run(&registry, &request, Default::default());
/// result?;
/// assert!(report.ok && report.passes[0].name == "demo.transform.Check");
/// assert!(directory.path().join("checked.ir").is_file());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The pipeline, if there is one.
    pub pipeline: Option<PipelineText>,
    /// Passes to run after those of the file, by name.
    pub passes: Vec<String>,
    /// The model to read: a path, or `-` for IR text on standard input.
    #[serde(with = "passdock_files::raw_path")]
    pub model: PathBuf,
    /// The path of the output. If `None`, nothing is written.
    #[serde(with = "passdock_files::raw_path")]
    pub output: Option<PathBuf>,
    /// Plugin files, with precedence over all other plugins.
    #[serde(with = "passdock_files::raw_path")]
    pub plugin_files: Vec<PathBuf>,
    /// Permissions of plugins, by the plugin's name, in addition to those of the file.
    pub allow: Vec<(String, Permission)>,
    /// Plugin directories, searched before those of the file.
    #[serde(with = "passdock_files::raw_path")]
    pub plugin_dirs: Vec<PathBuf>,
    /// Plugin directories, searched after those of the file. They need not exist.
    #[serde(with = "passdock_files::raw_path")]
    pub default_dirs: Vec<PathBuf>,
    /// The directory in `default_dirs` that contains the program. It may contain libraries that aren't plugins.
    #[serde(with = "passdock_files::raw_path")]
    pub program_dir: Option<PathBuf>,
    /// The optimization level. Overrides the file's.
    pub opt_level: Option<u32>,
    /// Passes to add to the file's `required_pass`.
    pub required_pass: Vec<String>,
    /// Passes to add to the file's `disabled_pass`.
    pub disabled_pass: Vec<String>,
    /// Like `required_pass`, but from the context of the calling program, which has already checked the names.
    pub outer_required_pass: Vec<String>,
    /// Like `disabled_pass`, from the context around the run, which has checked the names.
    pub outer_disabled_pass: Vec<String>,
    /// Rules to add to the file's `disabled_rule`.
    pub disabled_rule: Vec<String>,
    /// The maximum number of rewrites by rules. Overrides the file's.
    pub rewrite_limit: Option<u64>,
    /// The version to which ONNX's own operators are raised before the first pass.
    pub raise_opset: Option<i64>,
    /// Config options `KEY=VALUE`. They override the file's.
    pub config: Vec<String>,
    /// Bindings `NAME=VALUE` of dim symbols and parameters, applied before the first pass.
    pub bind: Vec<String>,
    /// Instruments to add after those of the file, in order.
    pub instruments: Vec<RequestedInstrument>,
    /// Where instruments print.
    pub print: Print,
    /// Which functions to verify, and when.
    pub verify: Verify,
    /// Whether to set the field `allow_growth` of all config options that have it.
    pub allow_growth: bool,
    /// The number of threads for function passes; `None` for the number of cores.
    pub jobs: Option<usize>,
    /// The mildest severity of diagnostics that are shown. `None` for the default.
    pub shown: Option<Severity>,
    /// Options for reading the model.
    #[serde(flatten)]
    pub read: ReadOptions,
    /// Options for writing the result.
    #[serde(flatten)]
    pub write: WriteOptions,
    /// Whether to replace an output that is a link, because the user didn't choose its name. Otherwise the target of
    /// the link is overwritten.
    pub replaces_links: bool,
    /// Whether the pipeline may name files outside of its directory, and a reproducer may load plugins and libraries.
    pub trust: bool,
    /// Whether plugins that differ from the lock file next to the pipeline are rejected.
    pub locked: bool,
    /// Whether plugins without a valid signature of a key that the pipeline trusts are rejected, except for the
    /// standard plugins in the program's directories.
    pub require_signed: bool,
    /// The directory in which reproducers are created, instead of next to the output.
    #[serde(with = "passdock_files::raw_path")]
    pub reproducer_dir: Option<PathBuf>,
    /// Whether reproducers contain copies of large constants.
    pub self_contained: bool,
    /// Whether the model is the state right before the first pass, as in a reproducer. The passes that the first one
    /// requires have then already run.
    pub resumes: bool,
}

impl Request {
    /// Parses the pipeline. Returns an empty one if there is none.
    pub(crate) fn pipeline_file(&self) -> Result<PipelineFile, PassError> {
        match &self.pipeline {
            Some(file) => PipelineFile::parse(&file.name(), &file.text),
            None => Ok(PipelineFile::default()),
        }
    }

    /// Returns `true` if the pipeline is built in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.pipeline.as_ref().is_some_and(|text| text.built_in)
    }

    /// Reads the model with the request's options.
    ///
    /// # Errors
    /// If it can't be read or is invalid.
    pub fn read_model(&self) -> Result<Module, PassError> {
        model_file::read_with(&self.model, self.read).map_err(|mut error| {
            if self.resumes {
                let (onnx_flag, run_flag) = ("--allow-outside-data", "--trust");
                error.message = error.message.replace(onnx_flag, run_flag);
            }
            error
        })
    }

    /// Returns a path in the pipeline file, resolved against the file's directory.
    ///
    /// # Errors
    /// If it is outside of that directory after resolving links, and the pipeline isn't trusted.
    pub(super) fn path_in_pipeline_dir(&self, path: &str) -> Result<PathBuf, PassError> {
        let pipeline = self.pipeline.as_ref();
        let base = pipeline.and_then(|text| text.path.parent());
        let whole = base.unwrap_or(Path::new("")).join(path);
        let dir = pipeline.map_or(Path::new("."), |text| directory_of(&text.path));
        if self.trust || is_inside(dir, &whole) {
            return Ok(whole);
        }
        let message = format!(
            "`{path}` is outside the pipeline's directory `{}`",
            dir.display()
        );
        let error = PassError::new(ErrorKind::Usage, message);
        Err(error.help("pass `--trust` to allow files outside the directory"))
    }

    /// Like [`Request::path_in_pipeline_dir`], for libraries to load and files to write. A reproducer that isn't
    /// trusted may not name any.
    pub(super) fn used_by_pipeline(&self, path: &str) -> Result<PathBuf, PassError> {
        if self.trust || !self.resumes {
            return self.path_in_pipeline_dir(path);
        }
        let message = format!("the reproducer is not trusted: it uses `{path}`");
        let error = PassError::new(ErrorKind::Usage, message);
        Err(error.help(TRUST))
    }

    /// Returns the plugin directories in search order. `more` has those of the pipeline.
    pub(crate) fn search_dirs(&self, more: impl IntoIterator<Item = PathBuf>) -> Vec<SearchDir> {
        let required = self.plugin_dirs.iter().cloned().chain(more);
        let required = required.map(|path| (path, true));
        let standard = self.default_dirs.iter().cloned().map(|path| (path, false));
        let dirs = required.chain(standard);
        let searched = dirs.map(|(path, required)| SearchDir {
            mixed: !required && self.program_dir.as_ref() == Some(&path),
            path,
            required,
        });
        searched.collect()
    }
}

/// Returns `true` if a path is inside a directory after resolving links. If the path doesn't exist, its nearest
/// existing ancestor is resolved.
pub(crate) fn is_inside(dir: &Path, path: &Path) -> bool {
    let exists = |path: &&Path| path.symlink_metadata().is_ok();
    let existing = path.ancestors().find(exists).unwrap_or(Path::new("."));
    let missing = path.strip_prefix(existing).unwrap_or(path).components();
    let leaves_parent = missing.into_iter().any(|part| part == Component::ParentDir);
    match (dir.canonicalize(), existing.canonicalize()) {
        (Ok(dir), Ok(existing)) => !leaves_parent && existing.starts_with(dir),
        _ => false,
    }
}

/// A pipeline's text, with its path for messages and relative paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineText {
    /// The file's path, as the user gave it, or the name of a built-in pipeline.
    #[serde(with = "passdock_files::raw_path")]
    pub path: PathBuf,
    /// The whole text.
    pub text: String,
    /// Whether the pipeline is built in.
    #[serde(default)]
    pub built_in: bool,
    /// Whether the running program created it. It may then name passes in any Python module.
    #[serde(default, skip_serializing)]
    pub of_program: bool,
}

impl PipelineText {
    /// Creates the pipeline of a file.
    pub fn from_file(path: impl Into<PathBuf>, text: impl Into<String>) -> PipelineText {
        PipelineText {
            path: path.into(),
            text: text.into(),
            built_in: false,
            of_program: false,
        }
    }

    /// Returns the name for messages and reports.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }
}

impl From<BuiltInPipeline> for PipelineText {
    fn from(pipeline: BuiltInPipeline) -> PipelineText {
        PipelineText {
            path: pipeline.name.into(),
            text: pipeline.text.to_owned(),
            built_in: true,
            of_program: false,
        }
    }
}

/// Where instruments print.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Print {
    /// Whether to print to standard error instead of standard output.
    pub to_stderr: bool,
    /// Whether to use colors.
    pub color: bool,
}
