//! What is asked of a run: plain data, so that a run can happen in another process.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model_file::ExternalData;
use passdock_core::Verify;

/// Everything that `passdock run` was told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The pipeline file, if there is one.
    pub pipeline: Option<PipelineText>,
    /// Passes to run after the file's, by name.
    pub passes: Vec<String>,
    /// The model to read: a path, or `-` for IR text on standard input.
    pub model: PathBuf,
    /// The model to write; nothing is written without it.
    pub output: Option<PathBuf>,
    /// Where plugins are, before the directories of the file.
    pub plugin_dirs: Vec<PathBuf>,
    /// Where else plugins are, after the directories of the file: they may be missing.
    pub standard_dirs: Vec<PathBuf>,
    /// Where the manifests of plugins are kept between runs; `None`: nowhere.
    pub manifest_cache: Option<PathBuf>,
    /// Wins over the file's.
    pub opt_level: Option<u32>,
    /// Added to the file's `required_pass`.
    pub required_pass: Vec<String>,
    /// Added to the file's `disabled_pass`.
    pub disabled_pass: Vec<String>,
    /// `KEY=VALUE`, each wins over the file's.
    pub config: Vec<String>,
    /// `NAME=VALUE`: sizes for dim symbols of the model and values for parameters, bound before the
    /// first pass.
    pub bind: Vec<String>,
    /// Instruments to run after the file's: `NAME`, or `NAME={OPTION=VALUE, …}` in TOML.
    pub instruments: Vec<String>,
    /// What to print, and when.
    pub print: Print,
    /// Whether to collect and show the time of each pass as a tree.
    pub timing: bool,
    /// Where to write the time of each pass as a trace.
    pub trace: Option<PathBuf>,
    /// When to verify.
    pub verify: Verify,
    /// Where to write the module after each pass.
    pub dump_dir: Option<PathBuf>,
    /// Sets the field `allow_growth` of every config option that has one.
    pub allow_growth: bool,
    /// How many threads run function passes; `None`: as many as there are cores.
    pub jobs: Option<usize>,
    /// Encode everything anew instead of copying what didn't change.
    pub drop_spans: bool,
    /// Where the data of the written model's initializers goes.
    pub external_data: ExternalData,
    /// Whether the model's data may be outside of its directory.
    pub outside_data: bool,
    /// Where the reproducer of a failure goes instead of beside the output: a directory in which it
    /// gets a directory of its own.
    pub reproducer_dir: Option<PathBuf>,
    /// Whether a reproducer has copies of the large constants, too.
    pub self_contained: bool,
    /// Whether the model is as it was right before the first pass, so that what that pass requires
    /// has run: a reproducer's is.
    pub resumes: bool,
}

/// A pipeline file: its name for messages and relative paths, and its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineText {
    /// As the user named it.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

/// What to print around passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Print {
    /// The module before these passes; `all` stands for all.
    pub before: Vec<String>,
    /// The module after these.
    pub after: Vec<String>,
    /// What each pass changed, as a diff.
    pub changed: bool,
    /// On standard error instead of standard output.
    pub to_stderr: bool,
    /// Whether that takes colours.
    pub color: bool,
}
