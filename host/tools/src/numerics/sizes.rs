//! Samples of several sizes that the reference model runs with.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::compare::{CompareOptions, Reason};
use super::ort::{ModelOutput, ModelPort, ModelPorts, OrtSession, OutputValue, PortDim};
use super::outputs;
use super::samples::{self, Sample};
use super::sessions::run_all;
use super::tolerance::{self, Overrides};

/// The input sizes of one or several samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleSize {
    /// The types of the inputs, by name.
    pub inputs: BTreeMap<String, String>,
    /// The number of runs with inputs of these sizes.
    pub runs: usize,
    /// The symbol that has a different size in each input, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inconsistent_symbol: Option<String>,
    /// The error of the model before, if it doesn't run with these sizes.
    pub rejected: Option<String>,
}

impl SampleSize {
    pub(super) fn new(sample: &Sample) -> SampleSize {
        SampleSize {
            inputs: samples::types(sample),
            runs: 1,
            inconsistent_symbol: None,
            rejected: None,
        }
    }
}

/// Samples, the results of the model before, and the sizes.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) samples: Vec<Sample>,
    pub(super) results: Vec<Vec<ModelOutput>>,
    pub(super) sizes: Vec<SampleSize>,
    pub(super) inconsistent: Vec<InconsistentSample>,
}

/// A sample in which a symbol has a different size in each input, although the model declares one size.
pub(super) struct InconsistentSample {
    pub(super) symbol: String,
    pub(super) sample: Sample,
    pub(super) results: Vec<ModelOutput>,
}

/// Reads or generates samples, and runs the model before on them. The sizes also fit `after`, if given.
///
/// # Errors
/// If the model runs with no sample, if its results can't be compared, or if an option is invalid.
pub(super) fn samples(
    before: &OrtSession<'_>,
    after: Option<&ModelPorts>,
    options: &CompareOptions,
) -> Result<Samples, Reason> {
    let all = match &options.inputs {
        Some(path) => {
            let samples = samples::read(path, &before.ports.inputs).map_err(|error| Reason {
                text: format!("invalid sample inputs: {error}"),
                option: Some("inputs"),
            })?;
            let results = run_all(before, &samples)
                .map_err(|error| format!("ONNX Runtime could not run the model before: {error}"))?;
            let mut sizes: Vec<SampleSize> = Vec::new();
            for size in samples.iter().map(SampleSize::new) {
                match sizes.iter_mut().find(|known| known.inputs == size.inputs) {
                    Some(known) => known.runs += 1,
                    None => sizes.push(size),
                }
            }
            Samples {
                samples,
                results,
                sizes,
                inconsistent: Vec::new(),
            }
        }
        None => {
            check_dims(&before.ports.inputs, &options.dims)?;
            generate(before, after, options)?
        }
    };
    if all.results.iter().all(|outputs| is_all_nan(outputs)) {
        let reason = "all results of the model are NaN for the sample inputs";
        return Err(reason.to_owned().into());
    }
    // A random op's seed may depend on its position in the module, so its results can't be compared.
    let is_reproducible = run_all(before, &all.samples[..1]).is_ok_and(|repeated| {
        let outputs = outputs::compare_results(&all.results[..1], &repeated, Overrides::default());
        // Outputs that can't be compared don't count as random.
        let mut outputs = outputs.iter();
        outputs.all(|output| output.same || output.reason.is_some())
    });
    if !is_reproducible {
        let reason = "the model's results are not reproducible: two runs differ";
        return Err(reason.to_owned().into());
    }
    Ok(all)
}

/// Rejects sizes for dims that no input has.
fn check_dims(inputs: &[ModelPort], dims: &BTreeMap<String, i64>) -> Result<(), Reason> {
    let symbols = samples::symbols(inputs);
    let Some(unknown) = dims.keys().find(|dim| !symbols.contains(&dim.as_str())) else {
        return Ok(());
    };
    let existing = match symbols.is_empty() {
        true => "no symbols".to_owned(),
        false => format!("the symbols {}", symbols.join(", ")),
    };
    Err(Reason {
        text: format!("unknown symbol `{unknown}` in `dims`; the model's inputs have {existing}"),
        option: Some("dims"),
    })
}

/// Generates samples of as many sizes as requested, as far as the model accepts them.
fn generate(
    before: &OrtSession<'_>,
    after: Option<&ModelPorts>,
    options: &CompareOptions,
) -> Result<Samples, Reason> {
    let (inputs, dims) = fitting(&before.ports.inputs, after, &options.dims);
    let seed = options.seed as usize;
    let mut all = Samples::default();
    let (mut too_large, mut first, mut tried) = (None, None, FxHashSet::default());
    for guess in samples::guesses() {
        let runs = all.sizes.iter().filter(|size| size.rejected.is_none());
        if runs.count() >= options.sizes.max(1) {
            break;
        }
        let shapes = match samples::shapes(&inputs, &dims, guess) {
            Ok(shapes) => shapes,
            Err(error) => {
                too_large.get_or_insert(error);
                continue;
            }
        };
        if !tried.insert((shapes.clone(), guess.below)) {
            continue;
        }
        let runs = 0..options.runs.max(1);
        let samples = runs.map(|run| samples::generate(&inputs, &shapes, guess, [seed, run]));
        let samples = samples.collect::<Result<Vec<Sample>, String>>()?;
        let mut size = SampleSize::new(&samples[0]);
        // The model may have rejected other values of these sizes before.
        let index = all
            .sizes
            .iter()
            .position(|tried| tried.inputs == size.inputs);
        if index.is_some_and(|at| all.sizes[at].rejected.is_none()) {
            continue;
        }
        match run_all(before, &samples) {
            Ok(results) => {
                size.runs = samples.len();
                all.samples.extend(samples);
                all.results.extend(results);
                first.get_or_insert((shapes, guess));
            }
            Err(error) => (size.runs, size.rejected) = (0, Some(error)),
        }
        match index {
            Some(at) => all.sizes[at] = size,
            None => all.sizes.push(size),
        }
    }
    let Some((shapes, guess)) = first else {
        let rejected = all.sizes.into_iter().find_map(|size| size.rejected);
        let rejected = rejected.map(|error| {
            format!(
                "ONNX Runtime could not run the model before with inputs of any tried size: {error}"
            )
        });
        return Err(rejected.or(too_large).unwrap_or_default().into());
    };
    // A version of the instrument `numerics` runs with one size only.
    if after.is_some() {
        for (symbol, shapes) in samples::apart(&inputs, &dims, &shapes) {
            let sample = samples::generate(&inputs, &shapes, guess, [seed, 0])?;
            let Ok(results) = run_all(before, std::slice::from_ref(&sample)) else {
                continue;
            };
            // Exporters write such a name for any unknown size. It doesn't mean that sizes are equal.
            if passdock_onnx::is_placeholder(&symbol) {
                all.sizes.push(SampleSize {
                    inconsistent_symbol: Some(symbol),
                    ..SampleSize::new(&sample)
                });
                all.samples.push(sample);
                all.results.extend(results);
                continue;
            }
            all.inconsistent
                .extend(results.into_iter().map(|results| InconsistentSample {
                    symbol: symbol.clone(),
                    sample: sample.clone(),
                    results,
                }));
        }
    }
    Ok(all)
}

/// Returns inputs and sizes of symbols that fit both models. Sizes that are constant in the model after are used.
fn fitting(
    before: &[ModelPort],
    after: Option<&ModelPorts>,
    dims: &BTreeMap<String, i64>,
) -> (Vec<ModelPort>, BTreeMap<String, i64>) {
    let (mut inputs, mut dims) = (before.to_vec(), dims.clone());
    for input in &mut inputs {
        let mut others = after.into_iter().flat_map(|after| &after.inputs);
        let other = others.find(|other| other.name == input.name);
        let (Ok(ty), Some(Ok(other))) = (&mut input.ty, other.map(|other| &other.ty)) else {
            continue;
        };
        if ty.dims.len() != other.dims.len() {
            continue;
        }
        for (dim, other) in ty.dims.iter_mut().zip(&other.dims) {
            match (&*dim, other) {
                (PortDim::Symbol(symbol), PortDim::Known(size)) => {
                    dims.entry(symbol.clone()).or_insert(*size);
                }
                (PortDim::Open, PortDim::Known(size)) => *dim = PortDim::Known(*size),
                _ => {}
            }
        }
    }
    (inputs, dims)
}

/// Whether all numbers in these outputs are NaN, so that comparing them is inconclusive.
fn is_all_nan(outputs: &[ModelOutput]) -> bool {
    let tensors = outputs.iter().flat_map(|output| match &output.value {
        OutputValue::Tensors(parts) => &parts[..],
        OutputValue::Opaque(_) => &[],
    });
    let mut tensors = tensors
        .filter(|(_, tensor)| !tensor.data.is_empty())
        .peekable();
    tensors.peek().is_some() && tensors.all(|(_, tensor)| tolerance::is_all_nan(tensor))
}

#[cfg(test)]
mod tests {
    use passdock_abi::DType;

    use super::*;
    use crate::numerics::ort::Tensor;

    #[test]
    fn all_nan_results_are_detected() {
        let output = |dtype, data: &[u8]| ModelOutput {
            name: "y".to_owned(),
            value: OutputValue::Tensors(vec![(
                String::new(),
                Tensor {
                    dtype,
                    shape: vec![i64::from(!data.is_empty())],
                    data: data.to_vec(),
                },
            )]),
        };
        let (nan, zero) = (f32::NAN.to_le_bytes(), 0_f32.to_le_bytes());
        assert!(is_all_nan(&[output(DType::F32, &nan)]));
        assert!(!is_all_nan(&[
            output(DType::F32, &nan),
            output(DType::F32, &zero)
        ]));
        assert!(!is_all_nan(&[
            output(DType::F32, &nan),
            output(DType::BOOL, &[1])
        ]));
        assert!(!is_all_nan(&[output(DType::F32, &[])]));
    }
}
