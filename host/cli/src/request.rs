//! From the options that several commands share to what is asked of the library.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use passdock::pipeline::{PipelineText, Request};
use passdock::{ErrorKind, PassError};

use crate::args::{PassArgs, PluginArgs, SearchArgs};
use crate::plugins;

/// A request that says where plugins are.
pub(crate) fn of_plugins(plugins: PluginArgs) -> Request {
    Request {
        plugin_files: plugins.plugin,
        plugin_dirs: plugins.plugin_dir,
        standard_dirs: plugins::standard_dirs(),
        program_dir: plugins::program_dir(),
        manifest_cache: plugins::manifest_cache(),
        ..Request::default()
    }
}

/// A request that also says which passes run.
pub(crate) fn of_passes(pipeline: Option<&Path>, args: PassArgs) -> Result<Request, PassError> {
    Ok(Request {
        pipeline: pipeline.map(read_pipeline).transpose()?,
        passes: args.passes,
        opt_level: args.opt_level,
        required_pass: args.require,
        disabled_pass: args.disable,
        disabled_rule: args.disable_rule,
        config: args.config,
        ..of_plugins(args.plugins)
    })
}

/// A request of `command [PIPELINE.toml] MODEL` that runs again and again.
pub(crate) fn of_search(command: &str, search: SearchArgs) -> Result<Request, PassError> {
    let has_passes = !search.passes.passes.is_empty();
    let (pipeline, model) = inputs(&search.inputs, command, has_passes)?;
    Ok(Request {
        model,
        jobs: search.jobs,
        outside_data: search.allow_outside_data,
        ..of_passes(pipeline.as_deref(), search.passes)?
    })
}

/// The pipeline, if there is one, and the model: `command [PIPELINE.toml] MODEL`.
pub(crate) fn inputs(
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
