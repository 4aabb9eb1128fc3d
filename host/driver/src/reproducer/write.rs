//! Writing a reproducer: under another name first, renamed when it is whole.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use passdock_ir::text;
use serde::{Deserialize, Serialize};

use super::about::{About, Failure, PluginFile, ReproducerCheck, VERSION};
use super::{ABOUT, BEFORE, PIPELINE, PIPELINE_SCHEMA, data, passes};
use passdock_core::{ErrorKind, FailureSite, PassError, Plugin};
use passdock_crash::CallKind;
use passdock_files::{TemporaryDirectory, directory_of};

/// Options for writing a reproducer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReproducerOptions {
    /// Whether constants of more than 64 KiB are copied, too, instead of referring to the files that they are in.
    pub self_contained: bool,
    /// The pipeline that ran, as the user named it.
    pub pipeline: Option<String>,
    /// The model that was read, as the user named it.
    pub model: Option<String>,
    /// The command that judges the pass's result, if the pass itself doesn't fail.
    pub check: Option<ReproducerCheck>,
}

/// The place of a failure that can be reproduced: a pass's, of what was checked. Plugins that can't
/// be loaded and mistakes of the user aren't such, and IR that was broken before can't be written.
pub(crate) fn site_of(error: &PassError) -> Option<&FailureSite> {
    let is_failure = error.exit_status() == 1
        && !matches!(error.kind, ErrorKind::NotChecked | ErrorKind::Broken);
    error.site().filter(|_| is_failure)
}

/// Writes what it takes to run into a pass's failure again to the directory `dir`. A reproducer
/// that is there is replaced; anything else isn't.
///
/// # Errors
/// If the error has no [`FailureSite`], since no pass failed; or if the directory can't be written.
pub fn write(error: &PassError, dir: &Path, options: &ReproducerOptions) -> Result<(), PassError> {
    let Some(site) = error.site() else {
        let message = "There is nothing to reproduce: no pass of a Sequential failed.";
        return Err(PassError::new(ErrorKind::Write, message));
    };
    let failed = |error: io::Error| {
        let dir = dir.display();
        let message = format!("The reproducer `{dir}` can't be written: {error}.");
        PassError::new(ErrorKind::Write, message).caused_by(Arc::new(error))
    };
    check_place(dir).map_err(failed)?;
    let parent = directory_of(dir);
    fs::create_dir_all(parent).map_err(failed)?;
    // Constants name their file in full, so that text can name it from where it stands.
    let parent = std::path::absolute(parent).map_err(failed)?;
    let unfinished = TemporaryDirectory::beside(&parent).map_err(failed)?;
    fill(error, site, unfinished.path(), options, &failed)?;
    put(unfinished, dir).map_err(failed)
}

fn fill(
    error: &PassError,
    site: &FailureSite,
    dir: &Path,
    options: &ReproducerOptions,
    failed: &dyn Fn(io::Error) -> PassError,
) -> Result<(), PassError> {
    let plugins = site.context.registry().plugins();
    let used: Vec<&Plugin> = plugins
        .iter()
        .map(|plugin| &**plugin)
        .filter(|plugin| plugin.is_used())
        .collect();
    let culprit = (error.termination.as_ref()).and_then(|termination| termination.culprit.as_ref());
    let instruments = match error.kind {
        ErrorKind::Instrument | ErrorKind::Numerics | ErrorKind::Verify => site.context.judges(),
        ErrorKind::Crashed if culprit.is_some_and(|by| by.kind == CallKind::Instrument) => {
            site.context.judges()
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
    let data = data::place(&mut module, dir, options.self_contained).map_err(failed)?;
    let file = fs::File::create_new(dir.join(BEFORE)).map_err(failed)?;
    let mut out = BufWriter::new(file);
    let print = text::PrintOptions {
        directory: Some(dir),
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
        check: options.check.clone(),
        plugins: used.into_iter().map(PluginFile::new).collect(),
        data,
    };
    let about = toml::to_string(&about).map_err(|error| failed(io::Error::other(error)))?;
    fs::write(dir.join(ABOUT), about).map_err(failed)
}

/// Refuses to replace what isn't a reproducer.
fn check_place(dir: &Path) -> io::Result<()> {
    if dir.symlink_metadata().is_err() || dir.join(ABOUT).is_file() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        "something else is there",
    ))
}

/// Renames a whole reproducer to its place; the one that is there goes away after that.
fn put(unfinished: TemporaryDirectory, dir: &Path) -> io::Result<()> {
    match dir.symlink_metadata() {
        Ok(_) => unfinished.replace(dir),
        Err(_) => unfinished.rename(dir),
    }
}
