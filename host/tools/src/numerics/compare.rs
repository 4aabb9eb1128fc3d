//! The comparison of the results of two models for the same samples, output by output.
//!
//! The model before is the reference. Sizes that it rejects are skipped. It is an error if it runs with no size or
//! isn't reproducible, since nothing is compared then. If only the model after is rejected or fails to run, that is a
//! difference.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use passdock_abi::DType;
use passdock_core::{ErrorKind, PassError};
use passdock_ir::Module;
use serde::Serialize;

use super::interface::{self, InterfaceDifference};
use super::ort::{self, OrtSession, Runtime};
use super::outputs::{OutputComparison, compare_results, worst};
use super::precision::introduced_dtype;
use super::samples;
use super::sessions::{Sessions, run_all};
use super::sizes::{self, InconsistentSample, SampleSize};
use super::text;
use super::tolerance::Overrides;

/// The help for users without ONNX Runtime.
const GET_ONNX_RUNTIME: &str = "run `pip install onnxruntime` for the `python3` in PATH, or set `ORT_DYLIB_PATH` to \
    the library of any version 1.x (`libonnxruntime.so`, `libonnxruntime.dylib` or `onnxruntime.dll`)";

/// The options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// ONNX Runtime's library; `None`: `ORT_DYLIB_PATH`, then the standard locations.
    pub library: Option<PathBuf>,
    /// Sample inputs, as the instrument's option `inputs`; `None` if they are generated.
    pub inputs: Option<PathBuf>,
    /// Sizes of dims that inputs leave open, by symbol.
    pub dims: BTreeMap<String, i64>,
    /// The seed of generated inputs.
    pub seed: u32,
    /// The number of generated samples of each size.
    pub runs: usize,
    /// The number of sizes, for a model with open dims.
    pub sizes: usize,
    /// The relative tolerance, instead of the one of the element type.
    pub rtol: Option<f64>,
    /// The absolute tolerance, instead of the one that follows from the element type and the largest element.
    pub atol: Option<f64>,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            library: None,
            inputs: None,
            dims: BTreeMap::new(),
            seed: 0,
            runs: 2,
            sizes: 3,
            rtol: None,
            atol: None,
        }
    }
}

impl CompareOptions {
    /// Returns the tolerances for two models. `compute_dtype` is the type that only the model after computes in.
    pub(super) fn overrides(&self, compute_dtype: Option<DType>) -> Overrides {
        Overrides {
            relative: self.rtol,
            absolute: self.atol,
            compute_dtype,
        }
    }
}

/// The reason why a model isn't checked.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub(super) text: String,
    /// The invalid option, if one is the reason.
    pub(super) option: Option<&'static str>,
}

impl From<String> for Reason {
    fn from(text: String) -> Reason {
        Reason { text, option: None }
    }
}

/// The ONNX Runtime library that ran the models.
#[derive(Clone, Debug, Serialize)]
pub struct RuntimeUsed {
    /// The library's file, or the name under which the system's loader found it.
    pub library: String,
    /// The library's version.
    pub version: String,
}

/// The result of comparing two models.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Whether the model after computes the same results and has the same interface.
    pub same: bool,
    /// ONNX Runtime.
    pub onnxruntime: RuntimeUsed,
    /// The seed of the inputs; `None` if they were read from files.
    pub seed: Option<u32>,
    /// The sizes that the models ran with, and those that the model before rejected.
    pub sizes: Vec<SampleSize>,
    /// Differences of inputs and outputs.
    pub interface: Vec<InterfaceDifference>,
    /// The float type that only the model after computes in. Its tolerance applies.
    pub compute_dtype: Option<&'static str>,
    /// The outputs that both models have.
    pub outputs: Vec<OutputComparison>,
    /// Differences for samples in which one symbol has several sizes, contrary to what the model before declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inconsistent_symbols: Vec<InconsistentSymbol>,
    /// The failure of the model after, if the model before runs.
    pub failure: Option<RunFailure>,
}

/// Inputs in which a symbol has a different size in each, and the difference for them. The model after may be correct,
/// since the model before declares that the sizes are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InconsistentSymbol {
    /// The symbol.
    pub symbol: String,
    /// The types of the inputs, by name.
    pub inputs: BTreeMap<String, String>,
    /// The difference.
    pub difference: String,
}

/// The failure of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunFailure {
    /// Whether ONNX Runtime loads the model, and only fails to run it.
    pub loaded: bool,
    /// ONNX Runtime's message.
    pub message: String,
}

/// Loads ONNX Runtime. Returns the library's file, or the name under which the system's loader found it.
///
/// # Errors
/// If it isn't found. The error lists the locations that were searched and explains how to install it.
pub fn find() -> Result<PathBuf, PassError> {
    load(&CompareOptions::default()).map(|runtime| runtime.path.clone())
}

/// Loads ONNX Runtime for a comparison with these options.
///
/// # Errors
/// See [`find`].
pub(super) fn load(options: &CompareOptions) -> Result<Arc<Runtime>, PassError> {
    let runtime = ort::runtime(options.library.as_deref()).map_err(|error| {
        let message = format!("could not run the models: {error}");
        PassError::new(ErrorKind::NotChecked, message).help(GET_ONNX_RUNTIME)
    })?;
    Ok(Arc::new(runtime))
}

/// Compares the results of two models.
///
/// # Errors
/// If nothing can be compared: ONNX Runtime isn't found, or the model before runs with no input or isn't reproducible;
/// or if an option is invalid.
pub fn compare(
    before: &Module,
    after: &Module,
    options: &CompareOptions,
) -> Result<Comparison, PassError> {
    let runtime = load(options)?;
    let not_opened = |error| not_compared(&format!("model before: {error}").into());
    let directory = || Sessions::new(runtime.clone()).map_err(not_opened);
    // Two directories, since data files of the models may have the same names.
    let sessions = [directory()?, directory()?];
    let first = sessions[0].open(before).map_err(not_opened)?;
    let second = sessions[1].open(after);
    let after_ports = second.as_ref().ok().map(|second| &second.ports);
    let samples = sizes::samples(&first, after_ports, options);
    let samples = samples.map_err(|reason| not_compared(&reason))?;
    let compute_dtype = introduced_dtype(before, after);
    let interface = after_ports.map(|after| interface::compare(&first.ports, after));
    let interface = interface.unwrap_or_default();
    let overrides = options.overrides(compute_dtype);
    let mut inconsistent_symbols = Vec::new();
    let results = match second {
        Err(message) => Err(RunFailure::rejected(message)),
        Ok(second) if !interface::accepts_same_inputs(&first.ports, &second.ports) => {
            Ok(Vec::new())
        }
        Ok(second) => {
            inconsistent_symbols = compare_inconsistent(&second, samples.inconsistent, overrides);
            run_all(&second, &samples.samples).map_err(RunFailure::failed)
        }
    };
    let (outputs, failure) = match results {
        Ok(after) => (compare_results(&samples.results, &after, overrides), None),
        Err(failure) => (Vec::new(), Some(failure)),
    };
    Ok(Comparison {
        same: failure.is_none()
            && interface.iter().all(|difference| !difference.breaking)
            && outputs.iter().all(|output| output.same),
        onnxruntime: RuntimeUsed {
            library: runtime.path.display().to_string(),
            version: runtime.version.clone(),
        },
        seed: options.inputs.is_none().then_some(options.seed),
        sizes: samples.sizes,
        interface,
        compute_dtype: compute_dtype.and_then(DType::name),
        outputs,
        inconsistent_symbols,
        failure,
    })
}

/// Compares the results for samples in which a symbol has several sizes. Returns the first difference for each symbol.
fn compare_inconsistent(
    after: &OrtSession<'_>,
    samples: Vec<InconsistentSample>,
    overrides: Overrides,
) -> Vec<InconsistentSymbol> {
    let mut inconsistent: Vec<InconsistentSymbol> = Vec::new();
    for InconsistentSample {
        symbol,
        sample,
        results,
    } in samples
    {
        if inconsistent.iter().any(|known| known.symbol == symbol) {
            continue;
        }
        let difference = match run_all(after, std::slice::from_ref(&sample)) {
            Ok(after) => worst(&compare_results(&[results], &after, overrides)),
            Err(message) => Some(RunFailure::failed(message).difference()),
        };
        inconsistent.extend(difference.map(|difference| InconsistentSymbol {
            symbol,
            inputs: samples::types(&sample),
            difference,
        }));
    }
    inconsistent
}

/// Returns the error for models that can't be compared.
fn not_compared(reason: &Reason) -> PassError {
    if reason.option.is_some() {
        return PassError::new(ErrorKind::Config, reason.text.as_str());
    }
    let message = format!("could not compare the models: {}", reason.text);
    PassError::new(ErrorKind::NotChecked, message)
}

impl RunFailure {
    pub(super) fn rejected(message: String) -> RunFailure {
        RunFailure {
            loaded: false,
            message,
        }
    }

    pub(super) fn failed(message: String) -> RunFailure {
        RunFailure {
            loaded: true,
            message,
        }
    }

    /// Describes the difference to the model before, which runs.
    pub(super) fn difference(&self) -> String {
        match self.loaded {
            true => format!("the model no longer runs: {}", self.message),
            false => self.message.clone(),
        }
    }
}

impl Comparison {
    /// Describes the difference; `None` if there is none.
    pub fn difference(&self) -> Option<String> {
        let failure = self.failure.as_ref().map(RunFailure::difference);
        let breaking = self.interface.iter().find(|difference| difference.breaking);
        failure
            .or_else(|| breaking.map(ToString::to_string))
            .or_else(|| worst(&self.outputs))
    }

    /// Renders the comparison as text.
    pub fn text(&self) -> String {
        text::text(self)
    }
}
