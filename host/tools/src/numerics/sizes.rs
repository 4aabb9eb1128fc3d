//! Samples of several sizes with which the model before runs.

use std::collections::BTreeMap;

use passdock_core::suggest;
use serde::Serialize;

use super::compare::{CompareOptions, Reason};
use super::elements::{self, Overrides};
use super::ort::{ModelOutput, ModelPort, ModelPorts, OrtSession, OutputValue, PortDim};
use super::outputs;
use super::samples::{self, Sample};
use super::sessions::run_all;

/// The sizes of one or several samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleSize {
    /// Each input with its type.
    pub inputs: BTreeMap<String, String>,
    /// The number of runs with inputs of these sizes.
    pub runs: usize,
    /// The symbol that has another size in each input, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// The reason why the model before doesn't run with them.
    pub refused: Option<String>,
}

impl SampleSize {
    /// Returns the sizes of one sample.
    pub(super) fn new(sample: &Sample) -> SampleSize {
        let inputs = sample
            .iter()
            .map(|(name, tensor)| (name.clone(), tensor.ty()));
        SampleSize {
            inputs: inputs.collect(),
            runs: 1,
            apart: None,
            refused: None,
        }
    }
}

/// Samples, the results of the model before, and the sizes.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) samples: Vec<Sample>,
    pub(super) results: Vec<Vec<ModelOutput>>,
    pub(super) sizes: Vec<SampleSize>,
    pub(super) apart: Vec<ApartSample>,
}

/// A sample in which a symbol that the model declares to be one size has another one in each input.
pub(super) struct ApartSample {
    pub(super) symbol: String,
    pub(super) sample: Sample,
    pub(super) results: Vec<ModelOutput>,
}

/// Reads samples or generates some, and runs the model before on them. With `apart` sizes of equal symbols are tried
/// apart, too.
///
/// # Errors
/// If the model runs with none, its results can't be compared, or an option is wrong.
pub(super) fn samples(
    before: &OrtSession<'_>,
    after: Option<&ModelPorts>,
    options: &CompareOptions,
    apart: bool,
) -> Result<Samples, Reason> {
    let all = match &options.inputs {
        Some(path) => {
            let samples = samples::read(path, &before.ports.inputs).map_err(|error| Reason {
                text: format!("the sample inputs can't be used: {error}"),
                option: Some("inputs"),
            })?;
            let results = run_all(before, &samples)
                .map_err(|error| format!("ONNX Runtime fails to run the model before: {error}"))?;
            let mut all = Samples {
                samples,
                results,
                ..Samples::default()
            };
            for size in all.samples.iter().map(SampleSize::new) {
                match all
                    .sizes
                    .iter_mut()
                    .find(|known| known.inputs == size.inputs)
                {
                    Some(known) => known.runs += 1,
                    None => all.sizes.push(size),
                }
            }
            all
        }
        None => {
            check_dims(&before.ports.inputs, &options.dims)?;
            generate(before, after, options, apart)?
        }
    };
    if all.results.iter().all(|outputs| is_all_nan(outputs)) {
        return Err("each result of the model is NaN for the sample inputs"
            .to_owned()
            .into());
    }
    // The seed of a random op may depend on its position in the module: its results can't be compared.
    let again = run_all(before, &all.samples[..1]);
    let same = again.is_ok_and(|again| {
        let outputs = outputs::compare_results(&all.results[..1], &again, Overrides::default());
        // An output that can't be compared isn't random for that.
        outputs
            .iter()
            .all(|output| output.same || output.what.is_some())
    });
    match same {
        true => Ok(all),
        false => Err(
            "the model's results aren't reproducible: two runs of it differ"
                .to_owned()
                .into(),
        ),
    }
}

/// Rejects sizes of dims that no input has.
fn check_dims(inputs: &[ModelPort], dims: &BTreeMap<String, i64>) -> Result<(), Reason> {
    let symbols = samples::symbols(inputs);
    let Some(unknown) = dims.keys().find(|dim| !symbols.contains(&dim.as_str())) else {
        return Ok(());
    };
    let existing = match symbols.is_empty() {
        true => "which have none".to_owned(),
        false => format!("which are {}", symbols.join(", ")),
    };
    let near = suggest::did_you_mean(unknown, symbols.iter().copied());
    let text = format!(
        "`dims` binds `{unknown}`, which isn't among the symbols of the model's inputs, {existing}.{near}"
    );
    Err(Reason {
        text,
        option: Some("dims"),
    })
}

/// Generates samples of as many sizes as are asked for and the model takes.
fn generate(
    before: &OrtSession<'_>,
    after: Option<&ModelPorts>,
    options: &CompareOptions,
    apart: bool,
) -> Result<Samples, Reason> {
    let (inputs, dims) = fitting(&before.ports.inputs, after, &options.dims);
    let seed = options.seed as usize;
    let mut all = Samples::default();
    let (mut too_large, mut tried, mut first) = (None, Vec::new(), None);
    for guess in samples::guesses() {
        let runs = all.sizes.iter().filter(|size| size.refused.is_none());
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
        let number = |run| samples::generate(&inputs, &shapes, guess, [seed, run]);
        let samples = (0..options.runs.max(1))
            .map(number)
            .collect::<Result<Vec<Sample>, String>>()?;
        let mut size = SampleSize::new(&samples[0]);
        let known = all
            .sizes
            .iter()
            .position(|known| known.inputs == size.inputs);
        if tried.contains(&samples) || known.is_some_and(|at| all.sizes[at].refused.is_none()) {
            continue;
        }
        (size.runs, size.refused) = match run_all(before, &samples) {
            Ok(results) => {
                all.samples.extend_from_slice(&samples);
                all.results.extend(results);
                first.get_or_insert((shapes, guess));
                (samples.len(), None)
            }
            Err(error) => (0, Some(error)),
        };
        tried.push(samples);
        match known {
            // Other values of these sizes were refused.
            Some(at) if size.refused.is_none() => all.sizes[at] = size,
            Some(_) => {}
            None => all.sizes.push(size),
        }
    }
    let Some((shapes, guess)) = first else {
        let refused = all.sizes.into_iter().find_map(|size| size.refused);
        let refused = refused.map(|error| {
            format!("ONNX Runtime fails to run the model before, with inputs of any size that was tried: {error}")
        });
        return Err(refused.or(too_large).unwrap_or_default().into());
    };
    let apart = apart.then(|| samples::apart(&inputs, &dims, &shapes));
    for shapes in apart.into_iter().flatten() {
        let sample = samples::generate(&inputs, &shapes.shapes, guess, [seed, 0])?;
        let Ok(results) = run_all(before, std::slice::from_ref(&sample)) else {
            continue;
        };
        // Exporters write such a name for any unknown size: it doesn't say that sizes are equal.
        if passdock_onnx::is_placeholder(&shapes.symbol) {
            all.sizes.push(SampleSize {
                apart: Some(shapes.symbol),
                ..SampleSize::new(&sample)
            });
            all.samples.push(sample);
            all.results.extend(results);
            continue;
        }
        all.apart
            .extend(results.into_iter().map(|results| ApartSample {
                symbol: shapes.symbol.clone(),
                sample: sample.clone(),
                results,
            }));
    }
    Ok(all)
}

/// Returns inputs and sizes of symbols that fit both models: a size that the one after has fixed is used.
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

/// Whether every number of these outputs is NaN, so that comparing them proves nothing.
fn is_all_nan(outputs: &[ModelOutput]) -> bool {
    let tensors = outputs.iter().flat_map(|output| match &output.value {
        OutputValue::Tensors(parts) => &parts[..],
        OutputValue::Opaque(_) => &[],
    });
    let mut tensors = tensors
        .filter(|(_, tensor)| !tensor.data.is_empty())
        .peekable();
    tensors.peek().is_some() && tensors.all(|(_, tensor)| elements::is_all_nan(tensor))
}

#[cfg(test)]
mod tests {
    use passdock_abi::DType;

    use super::*;
    use crate::numerics::ort::Tensor;

    #[test]
    fn results_that_are_all_nan_are_recognised() {
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
