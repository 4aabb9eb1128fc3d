//! The request of a run: plain data, so that a run can happen in another process.

use std::path::{Component, Path, PathBuf};

use passdock_core::{ErrorKind, PassError, SearchDir, Verify};
use passdock_files::directory_of;
use passdock_ir::Module;
use serde::{Deserialize, Serialize};

use super::requested_instrument::RequestedInstrument;
use crate::model_file::{self, ReadOptions, WriteOptions};
use crate::pipeline_file::PipelineFile;
use crate::pipeline_file::built_in::BuiltInPipeline;

/// The way to trust a reproducer.
pub(crate) const TRUST: &str =
    "`--trust` allows that: use it if you trust the reproducer's sender.";

/// Everything that `passdock run` was told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The pipeline, if there is one.
    pub pipeline: Option<PipelineText>,
    /// Passes to run after the file's, by name.
    pub passes: Vec<String>,
    /// The model to read: a path, or `-` for IR text on standard input.
    #[serde(with = "crate::raw_path")]
    pub model: PathBuf,
    /// The model to write; nothing is written without it.
    #[serde(with = "crate::raw_path")]
    pub output: Option<PathBuf>,
    /// Plugin files, before all others.
    #[serde(with = "crate::raw_path")]
    pub plugin_files: Vec<PathBuf>,
    /// Directories of plugins, before those of the file.
    #[serde(with = "crate::raw_path")]
    pub plugin_dirs: Vec<PathBuf>,
    /// Directories of plugins after those of the file; they may be missing.
    #[serde(with = "crate::raw_path")]
    pub standard_dirs: Vec<PathBuf>,
    /// The one of `standard_dirs` that the program is in, beside which libraries may lie that are no
    /// plugins.
    #[serde(with = "crate::raw_path")]
    pub program_dir: Option<PathBuf>,
    /// The level, in place of the file's.
    pub opt_level: Option<u32>,
    /// Passes that are added to the file's `required_pass`.
    pub required_pass: Vec<String>,
    /// Passes that are added to the file's `disabled_pass`.
    pub disabled_pass: Vec<String>,
    /// As `required_pass`, of the context around the run, which checks the names itself.
    pub outer_required_pass: Vec<String>,
    /// As `disabled_pass`, of the context around the run, which checks the names itself.
    pub outer_disabled_pass: Vec<String>,
    /// Rules that are added to the file's `disabled_rule`.
    pub disabled_rule: Vec<String>,
    /// The number of rewrites after which rules stop, in place of the file's.
    pub rewrite_limit: Option<u64>,
    /// The version that ONNX's own operators are raised to before the first pass.
    pub raise_opset: Option<i64>,
    /// Config options, each `KEY=VALUE`, in place of the file's.
    pub config: Vec<String>,
    /// Sizes for dim symbols of the model and values for parameters, each `NAME=VALUE`, bound before
    /// the first pass.
    pub bind: Vec<String>,
    /// Instruments to run after the file's, in order.
    pub instruments: Vec<RequestedInstrument>,
    /// The output that instruments print to.
    pub print: Print,
    /// The functions that are verified, and when.
    pub verify: Verify,
    /// Whether the field `allow_growth` of every config option that has one is set.
    pub allow_growth: bool,
    /// The number of threads that run function passes; `None`: one for each core.
    pub jobs: Option<usize>,
    /// The options for reading the model.
    #[serde(flatten)]
    pub read: ReadOptions,
    /// The options for writing the result.
    #[serde(flatten)]
    pub write: WriteOptions,
    /// Whether an output that is a link is replaced: its name isn't the user's. Otherwise the link's target is written.
    pub replaces_links: bool,
    /// Whether the pipeline may name files outside of its directory, and a reproducer's plugins and libraries.
    pub trust: bool,
    /// The directory in which the reproducer of a failure gets one of its own, instead of beside the
    /// output.
    #[serde(with = "crate::raw_path")]
    pub reproducer_dir: Option<PathBuf>,
    /// Whether a reproducer has copies of the large constants, too.
    pub self_contained: bool,
    /// Whether the model is as it was right before the first pass, so that what that pass requires
    /// has run: a reproducer's is.
    pub resumes: bool,
}

impl Request {
    /// The pipeline's file, or an empty one.
    pub(crate) fn pipeline_file(&self) -> Result<PipelineFile, PassError> {
        match &self.pipeline {
            Some(file) => PipelineFile::parse(&file.name(), &file.text),
            None => Ok(PipelineFile::default()),
        }
    }

    /// Whether the pipeline is inside the program, and no file.
    pub(crate) fn is_built_in(&self) -> bool {
        self.pipeline.as_ref().is_some_and(|text| text.built_in)
    }

    /// Reads the model, with what the request allows.
    ///
    /// # Errors
    /// If it can't be read, or isn't right.
    pub fn read_model(&self) -> Result<Module, PassError> {
        model_file::read_with(&self.model, self.read).map_err(|mut error| {
            if self.resumes {
                let (theirs, ours) = ("--allow-outside-data", "--trust");
                error.message = error.message.replace(theirs, ours);
            }
            error
        })
    }

    /// The path of a file that the pipeline's file names, which starts from the file's directory.
    ///
    /// # Errors
    /// If it leads out of that directory, links followed, and the pipeline isn't trusted.
    pub(super) fn beside_pipeline(&self, path: &str) -> Result<PathBuf, PassError> {
        let pipeline = self.pipeline.as_ref();
        let base = pipeline.and_then(|text| text.path.parent());
        let whole = base.unwrap_or(Path::new("")).join(path);
        let dir = pipeline.map_or(Path::new("."), |text| directory_of(&text.path));
        if self.trust || is_inside(dir, &whole) {
            return Ok(whole);
        }
        let message = format!(
            "The pipeline names `{path}`, which is outside of its directory, `{}`.",
            dir.display()
        );
        let error = PassError::new(ErrorKind::Usage, message);
        Err(error.help("`--trust` lets a pipeline name files anywhere."))
    }

    /// As [`Request::beside_pipeline`], of a file from which code is loaded, or that is written: a reproducer may not
    /// name any unless it is trusted.
    pub(super) fn used_by_pipeline(&self, path: &str) -> Result<PathBuf, PassError> {
        if self.trust || !self.resumes {
            return self.beside_pipeline(path);
        }
        let message = format!("The reproducer isn't trusted: it names `{path}`.");
        let error = PassError::new(ErrorKind::Usage, message);
        Err(error.help(TRUST))
    }

    /// The directories in which plugins are looked for, in order; `more` are those of the pipeline.
    pub(crate) fn search_dirs(&self, more: impl IntoIterator<Item = PathBuf>) -> Vec<SearchDir> {
        let required = self.plugin_dirs.iter().cloned().chain(more);
        let required = required.map(|path| (path, true));
        let standard = self.standard_dirs.iter().cloned().map(|path| (path, false));
        let dirs = required.chain(standard);
        let searched = dirs.map(|(path, required)| SearchDir {
            mixed: !required && self.program_dir.as_ref() == Some(&path),
            path,
            required,
        });
        searched.collect()
    }
}

/// Whether a path is in a directory or below, links followed. A path that doesn't exist counts from its nearest
/// directory that does.
pub(crate) fn is_inside(dir: &Path, path: &Path) -> bool {
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    let there = path.ancestors().find(is_there).unwrap_or(Path::new("."));
    let missing = path.strip_prefix(there).unwrap_or(path).components();
    let goes_up = missing.into_iter().any(|part| part == Component::ParentDir);
    match (dir.canonicalize(), there.canonicalize()) {
        (Ok(dir), Ok(there)) => !goes_up && there.starts_with(dir),
        _ => false,
    }
}

/// A pipeline: its name for messages and relative paths, and its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineText {
    /// The file's path, as the user gave it, or the name of a built-in pipeline.
    #[serde(with = "crate::raw_path")]
    pub path: PathBuf,
    /// The whole text.
    pub text: String,
    /// Whether it is inside the program, and no file.
    #[serde(default)]
    pub built_in: bool,
    /// Whether the running program made it, and no file says it: it may name passes of any module of Python.
    #[serde(default, skip_serializing)]
    pub of_program: bool,
}

impl PipelineText {
    /// The text of a file.
    pub fn of_file(path: impl Into<PathBuf>, text: impl Into<String>) -> PipelineText {
        PipelineText {
            path: path.into(),
            text: text.into(),
            built_in: false,
            of_program: false,
        }
    }

    /// The name that messages and reports call it by.
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

/// The output that instruments print to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Print {
    /// Whether it is standard error instead of standard output.
    pub to_stderr: bool,
    /// Whether it takes colours.
    pub color: bool,
}
