//! Models in ONNX Runtime: small ones from memory, others from files.

use std::cell::{Cell, OnceCell};
use std::fs::{self, File};
use std::io;
use std::sync::Arc;

use passdock_files::TemporaryDirectory;
use passdock_ir::Module;
use passdock_onnx::{EncodeOptions, ExternalData};

use super::ort::{ModelOutput, ModelSource, OrtSession, Runtime};
use super::samples::Sample;

/// The largest model file that is passed in memory.
const IN_MEMORY: u64 = 64 << 20;

/// Opens versions of one model.
pub(super) struct Sessions {
    pub(super) runtime: Arc<Runtime>,
    /// The directory of models that are too large for memory, and of their data.
    directory: OnceCell<TemporaryDirectory>,
    files: Cell<usize>,
}

impl Sessions {
    pub(super) fn new(runtime: Arc<Runtime>) -> Sessions {
        Sessions {
            runtime,
            directory: OnceCell::new(),
            files: Cell::new(0),
        }
    }

    /// Opens a version of the model.
    ///
    /// # Errors
    /// If it can't be written, or ONNX Runtime refuses it.
    pub(super) fn open(&self, module: &Module) -> Result<OrtSession<'_>, String> {
        let number = self.files.replace(self.files.get() + 1);
        let data_file = format!("{number}.onnx.data");
        let options = EncodeOptions {
            drop_spans: false,
            external: ExternalData::Keep,
            data_file: Some(&data_file),
            whole_files: true,
            moved: &[],
        };
        let written = passdock_onnx::write(module, options)
            .map_err(|error| format!("it can't be written as ONNX: {error}"))?;
        let failed = |error: io::Error| format!("it can't be written for ONNX Runtime: {error}");
        let refused = |error: String| format!("ONNX Runtime refuses the model: {}", short(&error));
        if written.data_files().is_empty() && written.len() <= IN_MEMORY {
            let bytes = written.to_bytes().map_err(failed)?;
            return self
                .runtime
                .session(ModelSource::Bytes(&bytes))
                .map_err(refused);
        }
        let directory = match self.directory.get() {
            Some(directory) => directory,
            None => {
                let directory = TemporaryDirectory::new().map_err(failed)?;
                self.directory.get_or_init(|| directory)
            }
        };
        for data in written.data_files() {
            let to = passdock_onnx::place_external(directory.path(), data.location());
            let to = to.map_err(|error| error.to_string())?;
            // The data of the model's own files doesn't change from pass to pass.
            if !to.exists() {
                fs::create_dir_all(passdock_files::directory_of(&to)).map_err(failed)?;
                data.place(&to).map_err(failed)?;
            }
        }
        let path = directory.path().join(format!("{number}.onnx"));
        let mut file = File::create(&path).map_err(failed)?;
        written.write_file(&mut file).map_err(failed)?;
        drop(file);
        let session = self.runtime.session(ModelSource::File(&path));
        // The model was read; its data files stay mapped.
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(directory.path().join(data_file));
        session.map_err(refused)
    }
}

/// Runs a model with samples, of which it gets the inputs that it has.
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

/// Returns a message as one line of limited length.
fn short(message: &str) -> String {
    const LONGEST: usize = 400;
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
