//! Requests to the library, from options that several commands share.

use std::fmt::Display;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Component, Path, PathBuf};

use passdock::model_file::{Format, ReadOptions, is_standard};
use passdock::pipeline::{BUILT_IN, BuiltInPipeline, DEFAULT, PipelineText, Request};
use passdock::{ErrorKind, PassError, files};

use crate::args::search::SearchArgs;
use crate::args::{PassArgs, PluginArgs};
use crate::{plugins, watchdog};

/// Returns a request with the directories and files of plugins.
pub(crate) fn from_plugin_args(plugins: PluginArgs) -> Request {
    Request {
        plugin_files: plugins.plugin,
        allow: plugins.allow,
        plugin_dirs: plugins.plugin_dir,
        default_dirs: plugins::default_dirs(),
        program_dir: plugins::program_dir(),
        ..Request::default()
    }
}

/// Returns a request that also selects passes: those of the pipeline, then those of `--passes`. Without either, the
/// passes are those of the default pipeline.
pub(crate) fn from_pass_args(
    pipeline: Option<&Path>,
    args: PassArgs,
) -> Result<Request, PassError> {
    let mut passes = args.passes;
    let pipeline = match pipeline {
        // A .rules file is a pipeline with one pass.
        Some(path) if is_rules(path) => {
            passes.insert(0, path.display().to_string());
            None
        }
        Some(path) => Some(path),
        None => passes.is_empty().then_some(Path::new(DEFAULT)),
    };
    Ok(Request {
        pipeline: pipeline.map(read_pipeline).transpose()?,
        passes,
        opt_level: args.opt_level,
        required_pass: args.required_pass,
        disabled_pass: args.disabled_pass,
        disabled_rule: args.disabled_rule,
        rewrite_limit: args.rewrite_limit,
        raise_opset: args.raise_opset,
        config: args.config,
        trust: args.trust,
        locked: args.signed.locked,
        require_signed: args.signed.require_signed,
        ..from_plugin_args(args.plugins)
    })
}

/// Returns the request of `command [PIPELINE] MODEL` for repeated runs.
pub(crate) fn from_search_args(command: &str, search: SearchArgs) -> Result<Request, PassError> {
    let (pipeline, model) = inputs(&search.inputs, command)?;
    Ok(Request {
        model,
        jobs: search.jobs,
        allow_growth: search.allow_growth,
        read: ReadOptions {
            outside_data: search.allow_outside_data,
        },
        ..from_pass_args(pipeline.as_deref(), search.passes)?
    })
}

/// Rejects standard output as the output with `--json`, which prints the report there.
pub(crate) fn check_output(output: Option<&Path>, json: bool) -> Result<(), PassError> {
    if !json || !output.is_some_and(is_standard) {
        return Ok(());
    }
    let message = "`--json` and `-o -` both use standard output; pass a file to `-o`";
    Err(PassError::new(ErrorKind::Usage, message))
}

/// Splits the arguments of `command [PIPELINE] MODEL` into the optional pipeline and the model.
pub(crate) fn inputs(
    inputs: &[PathBuf],
    command: &str,
) -> Result<(Option<PathBuf>, PathBuf), PassError> {
    let usage = |message: String| PassError::new(ErrorKind::Usage, message);
    match inputs {
        [pipeline, model] if names_pipeline(pipeline) => {
            Ok((Some(pipeline.clone()), model.clone()))
        }
        [first, second] => {
            let shown = first.display();
            let error = usage(format!(
                "expected a pipeline before the model, found `{shown}`"
            ));
            Err(error.help(match Format::from_path(second) {
                Ok(_) if command != "bisect" => format!(
                    "pass the output with `-o`: `passdock {command} {shown} -o {}`",
                    second.display()
                ),
                Ok(_) => "pass a .toml file or the name of a built-in pipeline; see `passdock list pipelines`"
                    .to_owned(),
                Err(_) => format!(
                    "put the pipeline first: `passdock {command} {} {shown}`",
                    second.display()
                ),
            }))
        }
        [alone] if has_extension(alone, "toml") || is_rules(alone) || is_built_in(alone) => {
            Err(usage(format!(
                "missing model: `passdock {command} {} MODEL`",
                alone.display()
            )))
        }
        [model] => Ok((None, model.clone())),
        _ => Err(usage(format!(
            "missing model: `passdock {command} MODEL`, or `passdock {command} PIPELINE MODEL`"
        ))),
    }
}

/// Returns `true` if the first of two arguments is a pipeline: a `.toml` or `.rules` file, the name of a built-in
/// pipeline, or a path such as `./default` that can't be a model.
fn names_pipeline(path: &Path) -> bool {
    has_extension(path, "toml")
        || is_rules(path)
        || built_in_name(path).is_some()
        || path.components().count() > 1 && Format::from_path(path).is_err()
}

/// Returns `true` if the path is a .rules file, which runs as a pass.
pub(crate) fn is_rules(path: &Path) -> bool {
    has_extension(path, "rules")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

fn is_built_in(path: &Path) -> bool {
    built_in_name(path).is_some_and(|name| BuiltInPipeline::named(name).is_ok())
}

/// Returns the name of a built-in pipeline: a path without directories or extension.
fn built_in_name(path: &Path) -> Option<&str> {
    let mut components = path.components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(pipeline_name)), None) => pipeline_name
            .to_str()
            .filter(|pipeline_name| !pipeline_name.contains('.') && *pipeline_name != "-"),
        _ => None,
    }
}

fn read_pipeline(path: &Path) -> Result<PipelineText, PassError> {
    let shown = path.display();
    let usage_error = |message: String| PassError::new(ErrorKind::Usage, message);
    if let Some(name) = built_in_name(path) {
        let pipeline = BuiltInPipeline::named(name).map_err(|error| match path.exists() {
            true => error.help(format!("for the file of that name, write `./{name}`")),
            false => error,
        })?;
        return Ok(pipeline.into());
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    if let Some("onnx" | "ir") = extension {
        let error = usage_error(format!("`{shown}` is a model, not a pipeline"));
        return Err(error
            .help("a pipeline is a .toml file; for a summary of a model, run `passdock stats`"));
    }
    watchdog::set_activity(&format!("reading the pipeline `{shown}`"));
    let unreadable =
        |why: &dyn Display| usage_error(format!("could not read the pipeline `{shown}`: {why}"));
    let text = files::read_to_string(path).map_err(|error| match error.kind() {
        IoErrorKind::InvalidData => unreadable(&"it is not UTF-8"),
        IoErrorKind::NotFound => {
            let is_stem = |known: &&BuiltInPipeline| path.file_stem() == Some(known.name.as_ref());
            let mut missing = unreadable(&error);
            missing.help = BUILT_IN
                .iter()
                .find(is_stem)
                .map(|known| format!("the built-in pipeline is `{}`", known.name));
            missing
        }
        _ => unreadable(&error),
    })?;
    Ok(PipelineText::from_file(path, text))
}
