//! What of a batch is the command's, too: how a result is known that was made before, and the file of outcomes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use passdock::Registry;
use passdock::batch::{BatchItem, Fingerprint as Own, Outcomes as Kept, plugin_files};
use pyo3::exceptions::PyValueError;
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
    fn of_file(&self, model: PathBuf) -> String {
        self.0.of_file(&model)
    }

    /// That of a model at an address; state: what changes when the model does.
    fn of_address(&self, address: &str, state: &str) -> String {
        self.0.of_address(address, state)
    }
}

/// The file of outcomes, which is this batch's until it is closed. Outcomes go in and out as JSON.
#[pyclass(frozen, module = "passdock")]
pub(crate) struct Outcomes(Mutex<Option<Kept>>);

#[pymethods]
impl Outcomes {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Outcomes> {
        let opened = gil::detach(py, || Kept::open(&path));
        let opened = opened.map_err(|error| error::to_exception(py, &error))?;
        Ok(Outcomes(Mutex::new(Some(opened))))
    }

    /// The outcome of a model, if it succeeded of the same fingerprint; its result may be gone.
    fn known(
        &self,
        model: PathBuf,
        output: PathBuf,
        fingerprint: &str,
    ) -> PyResult<Option<String>> {
        let item = BatchItem { model, output };
        self.with(|kept| kept.known(&item, fingerprint))?
            .map(|known| serde_json::to_string(&known).map_err(not_one))
            .transpose()
    }

    /// Adds an outcome, in one piece.
    fn add(&self, py: Python<'_>, outcome: &str) -> PyResult<()> {
        let outcome = serde_json::from_str(outcome).map_err(not_one)?;
        self.with(|kept| kept.add(&outcome))?
            .map_err(|error| error::to_exception(py, &error))
    }

    /// Closes the file, which another batch may have then.
    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Outcomes {
    fn with<T>(&self, done: impl FnOnce(&mut Kept) -> T) -> PyResult<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_mut();
        kept.map(done)
            .ok_or_else(|| PyValueError::new_err("the file of outcomes is closed"))
    }
}

fn not_one(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
