//! ONNX Runtime sessions of modules, which are written to a temporary directory.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::sync::Arc;

use passdock_core::terminal;
use passdock_files::TemporaryDirectory;
use passdock_ir::Module;
use passdock_onnx::{EncodeOptions, ExternalData};

use super::ort::{ModelOutput, OrtSession, Runtime};
use super::samples::Sample;

/// A factory of sessions for the versions of one model.
pub(super) struct Sessions {
    pub(super) runtime: Arc<Runtime>,
    directory: TemporaryDirectory,
    count: Cell<usize>,
}

impl Sessions {
    /// Creates the temporary directory.
    ///
    /// # Errors
    /// If it can't be created.
    pub(super) fn new(runtime: Arc<Runtime>) -> Result<Sessions, String> {
        Ok(Sessions {
            runtime,
            directory: TemporaryDirectory::new().map_err(not_written)?,
            count: Cell::new(0),
        })
    }

    /// Opens a version of the model.
    ///
    /// # Errors
    /// If it can't be written, or if ONNX Runtime rejects it.
    pub(super) fn open(&self, module: &Module) -> Result<OrtSession<'_>, String> {
        let number = self.count.replace(self.count.get() + 1);
        let data_file = format!("{number}.onnx.data");
        let options = EncodeOptions {
            drop_spans: false,
            external: ExternalData::Keep,
            data_file: Some(&data_file),
            whole_files: true,
            moved: &[],
        };
        let written = passdock_onnx::write(module, options)
            .map_err(|error| format!("could not write the model as ONNX: {error}"))?;
        let directory = self.directory.path();
        for data in written.data_files() {
            let to = passdock_onnx::resolve_external(directory, data.location())
                .map_err(|error| error.to_string())?;
            // The data files of the original model don't change from pass to pass.
            if !to.exists() {
                fs::create_dir_all(passdock_files::directory_of(&to)).map_err(not_written)?;
                data.create_at(&to).map_err(not_written)?;
            }
        }
        let path = directory.join(format!("{number}.onnx"));
        let file = File::create(&path);
        file.and_then(|mut file| written.write_file(&mut file))
            .map_err(not_written)?;
        let session = self.runtime.session(&path);
        // The session has read the model; data files stay mapped.
        _ = fs::remove_file(&path);
        _ = fs::remove_file(directory.join(data_file));
        session.map_err(|error| format!("ONNX Runtime rejected the model: {}", short(&error)))
    }
}

fn not_written(error: io::Error) -> String {
    format!("could not write the model for ONNX Runtime: {error}")
}

/// Runs a model with samples. It receives only those of a sample's inputs that it has.
///
/// # Errors
/// ONNX Runtime's message.
pub(super) fn run_all(
    session: &OrtSession<'_>,
    samples: &[Sample],
) -> Result<Vec<Vec<ModelOutput>>, String> {
    let has = |name: &str| session.ports.inputs.iter().any(|input| input.name == name);
    let run = |sample: &Sample| {
        let inputs = sample.iter().filter(|(name, _)| has(name)).cloned();
        let inputs: Sample = inputs.collect();
        session.run(&inputs).map_err(|error| short(&error))
    };
    samples.iter().map(run).collect()
}

/// Shortens a message to one line.
fn short(message: &str) -> String {
    const MAX_LEN: usize = 400;
    let parts: Vec<&str> = message.split_whitespace().collect();
    let line = parts.join(" ");
    terminal::shortened(line.trim_end_matches('.').to_owned(), MAX_LEN)
}
