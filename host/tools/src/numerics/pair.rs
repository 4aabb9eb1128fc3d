//! Do two models compute the same? Both run on the same samples, of several sizes, and each output is measured.
//!
//! The model before is what the other one is held to: the sizes that it refuses are left out, and if it runs with none, or
//! doesn't compute the same twice, nothing can be said, which is an error. What the model after refuses or fails to run is a
//! difference.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use passdock_abi::DType;
use passdock_core::{ErrorKind, PassError, capitalized};
use passdock_ir::Module;
use serde::Serialize;

use super::check::{Checker, Reason, is_telling, run_all};
use super::elements::Overrides;
use super::interface::{self, InterfaceDifference};
use super::options::CheckOptions;
use super::ort::{self, OrtSession, Runtime};
use super::outputs::{self, OutputComparison};
use super::pair_text;
use super::precision::brought_in;
use super::samples::Sample;
use super::sizes::{self, SampleSize, Samples};

/// What to do where ONNX Runtime isn't found.
const GET_IT: &str = "`pip install onnxruntime` for the `python3` in PATH is enough; or `ORT_DYLIB_PATH` names the library: \
                      `libonnxruntime.so`, `libonnxruntime.dylib` or `onnxruntime.dll`, of any version 1.x.";

/// How two models are compared.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// ONNX Runtime's library; `None`: `ORT_DYLIB_PATH`, then the usual places.
    pub library: Option<PathBuf>,
    /// Sample inputs, as the instrument's option `inputs`; `None`: they are made up.
    pub inputs: Option<PathBuf>,
    /// Sizes of dims that inputs leave open, by symbol.
    pub dims: BTreeMap<String, i64>,
    /// The seed of what is made up.
    pub seed: u32,
    /// The number of samples that are made up of each size.
    pub runs: usize,
    /// The number of sizes, for a model that leaves some open.
    pub sizes: usize,
    /// The part of an element by which it may be off, in place of its type's.
    pub rtol: Option<f64>,
    /// The distance by which every element may be off, in place of what its type and the largest element allow.
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

/// The library that ran the models.
#[derive(Clone, Debug, Serialize)]
pub struct RuntimeUsed {
    /// Its file, or the name that the system's loader found it by.
    pub library: String,
    /// Its version.
    pub version: String,
}

/// What came of comparing two models.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Whether the model after computes the same, and has the same interface.
    pub same: bool,
    /// ONNX Runtime.
    pub onnxruntime: RuntimeUsed,
    /// The seed of the inputs; `None`: they were read from files.
    pub seed: Option<u32>,
    /// The sizes that the models ran with, and those that the model before refused.
    pub sizes: Vec<SampleSize>,
    /// Inputs and outputs that aren't alike.
    pub interface: Vec<InterfaceDifference>,
    /// The float type that the model after computes in and the one before doesn't: what is allowed is that one's.
    pub computed_in: Option<&'static str>,
    /// Each output that both models have.
    pub outputs: Vec<OutputComparison>,
    /// Sizes with which the results differ that aren't what the model before declares: one name is several sizes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<ApartSizes>,
    /// Why the model after doesn't run where the one before does.
    pub failure: Option<RunFailure>,
}

/// Inputs in which a dim's name is another size each, and what differs then. It is no fault of the model after: the one before
/// declares that the sizes are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApartSizes {
    /// The name.
    pub symbol: String,
    /// Each input with its type.
    pub inputs: BTreeMap<String, String>,
    /// What differs.
    pub difference: String,
}

/// A model that doesn't run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunFailure {
    /// Whether ONNX Runtime takes it, and only fails to run it.
    pub is_taken: bool,
    /// Its message.
    pub message: String,
}

/// Finds ONNX Runtime and loads it: the library's file, or the name that the system's loader found it by.
///
/// # Errors
/// Where it was looked for, and how to get it.
pub fn find() -> Result<PathBuf, PassError> {
    load(&CompareOptions::default()).map(|runtime| runtime.path)
}

/// Whether ONNX Runtime is there for a comparison with these options.
///
/// # Errors
/// As [`find`].
pub(super) fn is_there(options: &CompareOptions) -> Result<(), PassError> {
    load(options).map(drop)
}

/// Compares what two models compute.
///
/// # Errors
/// If nothing can be said: ONNX Runtime isn't there, the model before doesn't run with any input, or doesn't compute the same
/// twice; and if an option is wrong.
pub fn compare(
    before: &Module,
    after: &Module,
    options: &CompareOptions,
) -> Result<Comparison, PassError> {
    let runtime = Arc::new(load(options)?);
    let fields = Arc::new(CheckOptions::of(options));
    // Two, since data files of both may have the same names.
    let checker = || Checker::with(runtime.clone(), fields.clone());
    let (of_before, of_after) = (checker(), checker());
    let unsaid = |text: String| not_compared(&Reason::from(text));
    let first = of_before
        .session(before)
        .map_err(|error| unsaid(format!("of the model before: {error}")))?;
    let second = of_after.session(after);
    let computed_in = brought_in(before, after);
    let mut comparison = Comparison {
        same: false,
        onnxruntime: RuntimeUsed {
            library: runtime.path.display().to_string(),
            version: runtime.version.clone(),
        },
        seed: options.inputs.is_none().then_some(options.seed),
        sizes: Vec::new(),
        interface: Vec::new(),
        computed_in: computed_in.and_then(DType::name),
        outputs: Vec::new(),
        apart: Vec::new(),
        failure: None,
    };
    let second = match second {
        Ok(second) => {
            comparison.interface = interface::compare(&first, &second);
            Some(second)
        }
        Err(message) => {
            comparison.failure = Some(RunFailure {
                is_taken: false,
                message,
            });
            None
        }
    };
    let samples = sizes::samples(&of_before, &first, second.as_ref(), options);
    let Samples {
        samples,
        ran,
        said,
        apart,
    } = samples.map_err(|reason| not_compared(&reason))?;
    is_telling(&first, &samples, &ran).map_err(unsaid)?;
    comparison.sizes = said;
    if let Some(second) = second.filter(|second| interface::takes(&first, second)) {
        let overrides = Overrides {
            relative: options.rtol,
            absolute: options.atol,
            computed_in,
        };
        let mut outputs = outputs::Outputs::new(overrides);
        for (run, (sample, before)) in samples.iter().zip(&ran).enumerate() {
            match run_all(&second, &[for_model(&second, sample)]) {
                Ok(after) => outputs.add(run, before, after.first().map_or(&[], |all| all)),
                Err(message) => {
                    comparison.failure = Some(RunFailure {
                        is_taken: true,
                        message,
                    });
                    break;
                }
            }
        }
        comparison.outputs = outputs.done();
        for apart in &apart {
            let difference = match run_all(&second, &[for_model(&second, &apart.sample)]) {
                Ok(after) => {
                    let mut outputs = outputs::Outputs::new(overrides);
                    outputs.add(0, &apart.ran, after.first().map_or(&[], |all| all));
                    let mut outputs = outputs.done().into_iter();
                    outputs
                        .find(|output| !output.same)
                        .map(|output| output.sentence())
                }
                Err(message) => Some(format!("it ran before, and fails now: {message}")),
            };
            let is_said = |said: &ApartSizes| said.symbol == apart.symbol;
            if let Some(difference) = difference
                && !comparison.apart.iter().any(is_said)
            {
                comparison.apart.push(ApartSizes {
                    symbol: apart.symbol.clone(),
                    inputs: SampleSize::ran(&apart.sample).inputs,
                    difference,
                });
            }
        }
    }
    comparison.same = comparison.failure.is_none()
        && !comparison.interface.iter().any(|found| found.breaks)
        && comparison.outputs.iter().all(|output| output.same);
    Ok(comparison)
}

/// Of a sample what a model has inputs for.
fn for_model(session: &OrtSession<'_>, sample: &Sample) -> Sample {
    let has = |name: &str| session.inputs.iter().any(|input| input.name == name);
    sample
        .iter()
        .filter(|(name, _)| has(name))
        .cloned()
        .collect()
}

fn load(options: &CompareOptions) -> Result<Runtime, PassError> {
    ort::runtime(options.library.as_deref()).map_err(|text| {
        let message = format!("The models can't be run: {}.", text.trim_end_matches('.'));
        PassError::new(ErrorKind::NotChecked, message).help(GET_IT)
    })
}

/// Nothing can be said, or an option is wrong.
fn not_compared(reason: &Reason) -> PassError {
    if reason.option.is_some() {
        return PassError::new(ErrorKind::Config, capitalized(&reason.text));
    }
    let text = reason.text.trim_end_matches('.');
    let message = format!("The models can't be compared: {text}.");
    PassError::new(ErrorKind::NotChecked, message)
}

impl Comparison {
    /// The difference in a sentence; `None` if there is none.
    pub fn difference(&self) -> Option<String> {
        if self.same {
            return None;
        }
        if let Some(failure) = &self.failure {
            return Some(match failure.is_taken {
                true => format!("it ran before, and fails now: {}", failure.message),
                false => failure.message.clone(),
            });
        }
        if let Some(found) = self.interface.iter().find(|found| found.breaks) {
            return Some(found.to_string());
        }
        self.outputs
            .iter()
            .filter(|output| !output.same)
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
            .map(OutputComparison::sentence)
    }

    /// What came of it, as a text for people.
    pub fn text(&self) -> String {
        pair_text::text(self)
    }
}
