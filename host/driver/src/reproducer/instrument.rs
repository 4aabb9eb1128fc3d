//! A reproducer of each failure.

use std::path::PathBuf;
use std::sync::Arc;

use super::{ReproducerOptions, site_of, write};
use passdock_core::instrument::Running;
use passdock_core::{
    InstrumentResult, InstrumentSpec, PassCall, PassError, PassInstrument, Severity,
};

passdock_core::sdk::options! {
    /// The options of `reproducer`.
    struct Options {
        /// The directory in which the reproducer's own one is made.
        dir: String = ".",
        /// Copies constants of more than 64 KiB, too, instead of referring to the model.
        self_contained: bool = false,
    }
}

/// The instrument `reproducer`, to register.
pub fn instrument() -> InstrumentSpec {
    let summary = "Writes what it takes to run into a pass's failure again.";
    InstrumentSpec::watching("reproducer", summary, |options: Options, setup| {
        let written = ReproducerOptions {
            self_contained: options.self_contained,
            ..ReproducerOptions::default()
        };
        let dir = setup.path(&options.dir);
        Ok(Arc::new(WriteReproducer::new(dir, written)))
    })
    .paths(["dir"])
}

/// Writes what it takes to run into a failure again to a directory `PASS.reproducer`.
pub struct WriteReproducer {
    dir: PathBuf,
    options: ReproducerOptions,
    /// The passes that are running, one in another.
    running: Running<()>,
}

impl WriteReproducer {
    /// Writes to directories in this one.
    pub fn new(dir: impl Into<PathBuf>, options: ReproducerOptions) -> WriteReproducer {
        WriteReproducer {
            dir: dir.into(),
            options,
            running: Running::default(),
        }
    }
}

impl PassInstrument for WriteReproducer {
    fn name(&self) -> &str {
        "reproducer"
    }

    fn run_before_pass(&self, _: &PassCall<'_>) -> InstrumentResult {
        self.running.push(());
        Ok(())
    }

    fn run_after_pass(&self, _: &PassCall<'_>) -> InstrumentResult {
        self.running.pop();
        Ok(())
    }

    /// At the outermost pass the error knows all that was still to run.
    fn pass_failed(&self, _: &PassCall<'_>, error: &PassError) -> InstrumentResult {
        self.running.pop();
        let Some(site) = site_of(error).filter(|_| self.running.depth() == 0) else {
            return Ok(());
        };
        let pass = error.pass.as_deref().unwrap_or("pipeline");
        let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let name = pass.replace(|c| !plain(c), "_");
        let dir = self.dir.join(format!("{name}.reproducer"));
        if let Err(error) = write(error, &dir, &self.options) {
            let mut warning = error.to_diagnostic();
            warning.severity = Severity::Warning;
            site.context.emit(warning);
        }
        Ok(())
    }
}
