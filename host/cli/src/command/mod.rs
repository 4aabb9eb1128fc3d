//! The subcommands, one file each. Each answers the exit status.

pub(crate) mod bisect;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod inspect;
pub(crate) mod list;
mod list_ops;
pub(crate) mod reduce;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod stats;

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use passdock::pipeline::{PipelineText, Request};
use passdock::states::{ModelNeed, State};
use passdock::{ErrorKind, PassError};

use crate::args::{ContextArgs, PluginArgs};
use crate::{plugins, show};

/// Shows an error and answers its exit status.
fn fail(error: &PassError) -> u8 {
    show::diagnostic(&error.to_diagnostic());
    error.kind.exit_status()
}

/// The pipeline, if there is one, and the model: `command [PIPELINE.toml] MODEL`.
fn inputs(
    inputs: &[PathBuf],
    command: &str,
    has_passes: bool,
) -> Result<(Option<PathBuf>, PathBuf), PassError> {
    let usage = |message: &str| Err(PassError::new(ErrorKind::Usage, message));
    let is_pipeline = |path: &PathBuf| path.extension().is_some_and(|e| e == "toml");
    match inputs {
        [pipeline, model] if is_pipeline(pipeline) => Ok((Some(pipeline.clone()), model.clone())),
        [pipeline, _] => usage(&format!(
            "`{}` isn't a pipeline: the first of two files is a .toml.",
            pipeline.display()
        )),
        [model] if is_pipeline(model) => usage(&format!(
            "There is a pipeline and no model: `passdock {command} PIPELINE.toml MODEL`."
        )),
        [model] if has_passes => Ok((None, model.clone())),
        [_] => usage("There is nothing to run: give a pipeline (.toml) or --passes A,B,C."),
        _ => usage(&format!(
            "A model is needed: `passdock {command} [PIPELINE.toml] MODEL`."
        )),
    }
}

/// States as people read them.
fn states(states: &[State]) -> String {
    let names: Vec<String> = states.iter().map(State::to_string).collect();
    names.join(", ")
}

/// What a pipeline asks of the model, a line each.
fn model_needs(needs: &[ModelNeed]) -> String {
    let line = |need: &ModelNeed| format!("`{}` needs `{}` of the model.\n", need.pass, need.state);
    needs.iter().map(line).collect()
}

fn read_pipeline(path: &Path) -> Result<PipelineText, PassError> {
    let shown = path.display();
    let wrong = |message: String| PassError::new(ErrorKind::Usage, message);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if let Some("onnx" | "ir") = extension {
        let error = wrong(format!("`{shown}` is a model, and no pipeline."));
        return Err(
            error.help("A pipeline is a .toml file; `passdock stats` shows what is in a model.")
        );
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(PipelineText {
            path: path.to_path_buf(),
            text,
        }),
        Err(error) if error.kind() == IoErrorKind::InvalidData => Err(wrong(format!(
            "The pipeline `{shown}` can't be read: it isn't text in UTF-8."
        ))),
        Err(error) => Err(wrong(format!(
            "The pipeline `{shown}` can't be read: {error}."
        ))),
    }
}

/// What the options that several commands share ask for.
fn request(
    pipeline: Option<&Path>,
    context: ContextArgs,
    plugin_args: PluginArgs,
) -> Result<Request, PassError> {
    let pipeline = match pipeline {
        None => None,
        Some(path) => Some(read_pipeline(path)?),
    };
    Ok(Request {
        pipeline,
        passes: context.passes,
        opt_level: context.opt_level,
        required_pass: context.require,
        disabled_pass: context.disable,
        config: context.config,
        plugin_dirs: plugin_args.plugin_dir,
        standard_dirs: plugins::standard_dirs(),
        manifest_cache: plugins::manifest_cache(),
        ..Request::default()
    })
}
