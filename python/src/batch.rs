//! What of a batch is the command's, too: how a result is known that was made before.

use std::path::{Path, PathBuf};

use passdock::Registry;
use passdock::batch::{Fingerprint as Own, plugin_files};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::crossing::error;
use crate::crossing::gil;
use crate::pipeline::request;

/// What all results of a batch are made of: passdock itself, the request, the files of the plugins that it uses, and those
/// of passes of Python.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Fingerprint(Own);

#[pymethods]
impl Fingerprint {
    #[new]
    fn new(py: Python<'_>, said: &Bound<'_, PyDict>, files: Vec<PathBuf>) -> PyResult<Fingerprint> {
        let (request, _) = request(said)?;
        let plugins = gil::detach(py, || plugin_files(Registry::global(), &request));
        let plugins = plugins.map_err(|error| error::to_exception(py, &error))?;
        let own = Own::new(&request, &plugins);
        Ok(Fingerprint(
            own.with_files(files.iter().map(PathBuf::as_path)),
        ))
    }

    /// The fingerprint of the result of a model's file, as the command ``passdock batch`` has it.
    fn of_file(&self, model: &str) -> String {
        self.0.of_file(Path::new(model))
    }

    /// That of a model at an address; state: what changes when the model does.
    fn of_address(&self, address: &str, state: &str) -> String {
        self.0.of_address(address, state)
    }
}
