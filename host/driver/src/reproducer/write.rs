//! Writing reproducers atomically: to a temporary directory that is renamed when it is complete.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use passdock_ir::text;
use serde::{Deserialize, Serialize};

use super::about::{About, Failure, PluginFile, ReproducerTest, VERSION};
use super::{ABOUT, BEFORE, PIPELINE, PIPELINE_SCHEMA, data, passes};
use passdock_core::config::toml_file;
use passdock_core::{ErrorKind, FailureSite, PassError, Plugin};
use passdock_crash::CallKind;
use passdock_files::OutputDirectory;

/// Options for writing a reproducer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReproducerOptions {
    /// Whether to copy constants of more than 64 KiB instead of referring to their files.
    pub self_contained: bool,
    /// The path or name of the pipeline, as the user gave it.
    pub pipeline: Option<String>,
    /// The path of the model, as the user gave it.
    pub model: Option<String>,
    /// The test command for the pass's result, if the pass itself doesn't fail.
    pub test: Option<ReproducerTest>,
}

/// Returns the failure site of a reproducible failure of a pass. Errors of plugin loading and of the user aren't
/// reproducible. Corrupt IR can't be written.
pub(crate) fn failure_site(error: &PassError) -> Option<&FailureSite> {
    let is_failure = error.exit_status() == 1
        && !matches!(error.kind, ErrorKind::NotChecked | ErrorKind::Broken);
    error.site().filter(|_| is_failure)
}

/// Writes a reproducer of a pass's failure to the directory `dir`. An existing reproducer is replaced. Returns `true`
/// if replaying it needs trust, because it runs a command or refers to other files.
///
/// # Errors
/// If the error has no [`FailureSite`], because no pass failed; or if `dir` is something else than a reproducer, or
/// can't be written.
pub fn write(
    error: &PassError,
    dir: &Path,
    options: &ReproducerOptions,
) -> Result<bool, PassError> {
    let Some(site) = error.site() else {
        let message = "nothing to reproduce: no pass of a Sequential failed";
        return Err(PassError::new(ErrorKind::Write, message));
    };
    let failed = |error: io::Error| {
        let dir = dir.display();
        let message = format!("could not write reproducer `{dir}`: {error}");
        PassError::new(ErrorKind::Write, message).caused_by(Arc::new(error))
    };
    let directory = OutputDirectory::new(dir, ABOUT).map_err(failed)?;
    let about = fill(error, site, &directory, options, &failed)?;
    directory.finish().map_err(failed)?;
    Ok(about.test.is_some() || !about.data.is_empty())
}

fn fill(
    error: &PassError,
    site: &FailureSite,
    directory: &OutputDirectory,
    options: &ReproducerOptions,
    failed: &dyn Fn(io::Error) -> PassError,
) -> Result<About, PassError> {
    let dir = directory.path();
    let plugins = site.context.registry().plugins();
    let used: Vec<&Plugin> = plugins
        .iter()
        .map(|plugin| &**plugin)
        .filter(|plugin| plugin.is_used())
        .collect();
    let culprit = (error.termination.as_ref()).and_then(|termination| termination.culprit.as_ref());
    let instruments = match error.kind {
        ErrorKind::Instrument | ErrorKind::Numerics | ErrorKind::Verify => {
            site.context.checking_instruments()
        }
        ErrorKind::Crashed if culprit.is_some_and(|by| by.kind == CallKind::Instrument) => {
            site.context.checking_instruments()
        }
        _ => &[],
    };
    let passes = passes::pipeline(site, &used, instruments)?;
    fs::write(dir.join(PIPELINE), passes.pipeline).map_err(failed)?;
    for (name, text) in &passes.rules {
        fs::write(dir.join(name), text).map_err(failed)?;
    }
    fs::write(dir.join(PIPELINE_SCHEMA), crate::pipeline_file::SCHEMA).map_err(failed)?;

    let other = |error| failed(io::Error::other(error));
    let mut module = passdock_onnx::detach(&site.before).map_err(other)?;
    let data = data::write_data(&mut module, directory, options.self_contained).map_err(failed)?;
    let file = fs::File::create_new(dir.join(BEFORE)).map_err(failed)?;
    let mut out = BufWriter::new(file);
    let print = text::PrintOptions {
        directory: Some(directory.final_path()),
        ..text::PrintOptions::default()
    };
    let written = text::write_module(&mut out, &module, &print);
    written.and_then(|()| out.flush()).map_err(failed)?;

    let about = About {
        version: VERSION,
        passdock: env!("CARGO_PKG_VERSION").to_owned(),
        pipeline: options.pipeline.clone(),
        model: options.model.clone(),
        verify: site.context.verify(),
        failure: Failure::from(error),
        test: options.test.clone(),
        plugins: used.into_iter().map(PluginFile::new).collect(),
        data,
    };
    let table = toml::Table::try_from(&about).map_err(|error| failed(io::Error::other(error)))?;
    fs::write(dir.join(ABOUT), toml_file(&table)).map_err(failed)?;
    Ok(about)
}
