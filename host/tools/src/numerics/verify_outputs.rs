//! The instrument of `--verify-outputs`: compares the module after all passes with the one before the first.
//!
//! It runs when the outermost pass ends. A difference is an error of the run, so the output isn't written.

use std::sync::{Arc, Mutex};

use passdock_core::instrument::{Entries, Running};
use passdock_core::sdk::Table;
use passdock_core::{
    ErrorKind, Frame, InstrumentResult, InstrumentSetup, InstrumentSpec, PassCall, PassError,
    PassInstrument, util,
};
use passdock_ir::Module;

use super::compare::{self, CompareOptions, Comparison};
use super::options;

/// The name of the instrument.
pub const VERIFY_OUTPUTS: &str = "verify-outputs";

passdock_core::sdk::options! {
    /// The instrument's fields, as a pipeline sets them.
    struct Fields {
        /// The library of ONNX Runtime. By default, `ORT_DYLIB_PATH` or the standard locations.
        library: String = "",
        /// Sample inputs: a file `input_0.pb` or `input_0.npy`, a directory of such files, or a directory of such
        /// directories. By default, inputs are randomly generated.
        inputs: String = "",
        /// Sizes for unknown dims of the model's inputs: `{ batch = 2 }`.
        dims: Table<i64> = [],
        /// The seed of generated inputs.
        #[range(0..=4294967295)]
        seed: i64 = 0,
        /// The number of generated samples of each size.
        #[range(1..=64)]
        runs: i64 = 2,
        /// The number of sizes to try for unknown dims.
        #[range(1..=8)]
        sizes: i64 = 3,
        /// The relative tolerance. If negative, that of the element type.
        rtol: f64 = -1.0,
        /// The absolute tolerance. If negative, it depends on the element type and the largest element.
        atol: f64 = -1.0,
    }
}

/// Returns the instrument `verify-outputs`, for a registry.
pub fn verify_outputs() -> InstrumentSpec {
    InstrumentSpec::new(
        VERIFY_OUTPUTS,
        "Compares the outputs of the model before and after the run in ONNX Runtime; a difference fails the run.",
        |fields: Fields, setup| Ok(Arc::new(VerifyOutputs::new(fields, setup)?)),
    )
    .paths(["library", "inputs"])
}

/// Compares the module after the outermost pass with the one before it.
struct VerifyOutputs {
    options: CompareOptions,
    /// The running passes. The outermost one has the module before it.
    running: Running<Option<Module>>,
    entries: Entries,
    comparisons: Mutex<Vec<Comparison>>,
}

impl VerifyOutputs {
    fn new(fields: Fields, setup: &InstrumentSetup<'_>) -> Result<VerifyOutputs, PassError> {
        let paths = [&*fields.library, &fields.inputs];
        let tolerances = [fields.rtol, fields.atol];
        let number = |number: i64| usize::try_from(number).unwrap_or(1);
        Ok(VerifyOutputs {
            options: CompareOptions {
                seed: u32::try_from(fields.seed).unwrap_or(0),
                runs: number(fields.runs),
                sizes: number(fields.sizes),
                ..options::common(VERIFY_OUTPUTS, setup, paths, fields.dims, tolerances)?
            },
            running: Running::default(),
            entries: Entries::default(),
            comparisons: Mutex::default(),
        })
    }
}

impl PassInstrument for VerifyOutputs {
    fn name(&self) -> &str {
        VERIFY_OUTPUTS
    }

    /// Loads ONNX Runtime before the first pass, so that a run without it fails at once.
    fn prepare(&self, _: &dyn Frame) -> Result<(), PassError> {
        compare::load(&self.options).map(drop)
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter() {
            util::lock(&self.comparisons).clear();
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let is_outermost = self.running.depth() == 0;
        let module = is_outermost.then(|| call.module.clone());
        self.running.push(module);
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let before = self.running.pop().flatten();
        let Some(before) = before.filter(|before| !before.is_same(call.module)) else {
            return Ok(());
        };
        let comparison = compare::compare(&before, call.module, &self.options)?;
        let difference = comparison.difference();
        util::lock(&self.comparisons).push(comparison);
        let Some(difference) = difference else {
            return Ok(());
        };
        let message = format!("the output model differs from the input model: {difference}");
        Err(PassError::new(ErrorKind::Numerics, message).into())
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.running.pop();
        Ok(())
    }

    fn report(&self) -> Option<String> {
        let comparisons = util::lock(&self.comparisons);
        let texts = comparisons.iter().map(Comparison::text);
        Some(texts.collect::<String>()).filter(|text| !text.is_empty())
    }

    fn report_data(&self) -> Option<serde_json::Value> {
        let comparisons = util::lock(&self.comparisons);
        serde_json::to_value(comparisons.last()?).ok()
    }
}
