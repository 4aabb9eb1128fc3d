//! The samples of several sizes with which the model before runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::check::{Checker, Reason, run_all};
use super::ort::{ModelOutput, ModelPort, OrtSession, PortDim, describe};
use super::pair::CompareOptions;
use super::samples::{self, Sample};

/// The sizes of one or several samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleSize {
    /// Each input with its type.
    pub inputs: BTreeMap<String, String>,
    /// The number of runs with inputs of these sizes.
    pub runs: usize,
    /// Why the model before doesn't run with them.
    pub refused: Option<String>,
}

impl SampleSize {
    pub(super) fn ran(sample: &Sample) -> SampleSize {
        SampleSize {
            inputs: (sample
                .iter()
                .map(|(name, tensor)| (name.clone(), tensor.ty())))
            .collect(),
            runs: 1,
            refused: None,
        }
    }
}

/// The samples, what the model before makes of them, and which sizes that were.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) samples: Vec<Sample>,
    pub(super) ran: Vec<Vec<ModelOutput>>,
    pub(super) said: Vec<SampleSize>,
    pub(super) apart: Vec<ApartSample>,
}

/// A sample with which the model before runs though a name that it declares for one size is another one in each input.
pub(super) struct ApartSample {
    pub(super) symbol: String,
    pub(super) sample: Sample,
    pub(super) ran: Vec<ModelOutput>,
}

/// Reads samples or makes some up, and runs the model before on them.
pub(super) fn samples(
    checker: &Checker,
    before: &OrtSession<'_>,
    after: Option<&OrtSession<'_>>,
    options: &CompareOptions,
) -> Result<Samples, Reason> {
    let Some(path) = &options.inputs else {
        checker.are_dims_known(&before.inputs)?;
        return make(before, after, options);
    };
    let samples = samples::read(path, &before.inputs)
        .map_err(|error| format!("the sample inputs can't be used: {error}"))
        .map_err(Reason::of("inputs"))?;
    let ran = run_all(before, &samples)
        .map_err(|error| format!("ONNX Runtime fails to run the model before: {error}"))?;
    let mut said: Vec<SampleSize> = Vec::new();
    for size in samples.iter().map(SampleSize::ran) {
        match said.iter_mut().find(|known| known.inputs == size.inputs) {
            Some(known) => known.runs += 1,
            None => said.push(size),
        }
    }
    let apart = Vec::new();
    Ok(Samples {
        samples,
        ran,
        said,
        apart,
    })
}

/// Makes samples up, of as many sizes as are asked for and the model takes.
fn make(
    before: &OrtSession<'_>,
    after: Option<&OrtSession<'_>>,
    options: &CompareOptions,
) -> Result<Samples, Reason> {
    let (inputs, dims) = fitting(&before.inputs, after, &options.dims);
    let mut all = Samples::default();
    let (mut too_large, mut tried, mut fits) = (None, Vec::new(), None);
    for guess in samples::guesses() {
        let shapes = match samples::shapes(&inputs, &dims, guess) {
            Ok(shapes) => shapes,
            Err(error) => {
                too_large.get_or_insert(error);
                continue;
            }
        };
        let types = types(&inputs, &shapes);
        let known = all.said.iter().position(|size| size.inputs == types);
        let is_done = known.is_some_and(|at| all.said[at].refused.is_none());
        let is_enough = all
            .said
            .iter()
            .filter(|size| size.refused.is_none())
            .count()
            >= options.sizes.max(1);
        if is_enough {
            break;
        }
        if is_done {
            continue;
        }
        let number = |run| samples::generate(&inputs, &shapes, guess, [options.seed as usize, run]);
        let made = (0..options.runs.max(1))
            .map(number)
            .collect::<Result<Vec<Sample>, String>>()?;
        if tried.contains(&made) {
            continue;
        }
        let (runs, refused) = match run_all(before, &made) {
            Ok(ran) => {
                all.samples.extend_from_slice(&made);
                all.ran.extend(ran);
                fits.get_or_insert((shapes, guess));
                (made.len(), None)
            }
            Err(error) => (0, Some(error)),
        };
        tried.push(made);
        let size = SampleSize {
            inputs: types,
            runs,
            refused,
        };
        match known {
            // What the first values did is told of, unless others do.
            Some(at) if size.refused.is_none() => all.said[at] = size,
            Some(_) => {}
            None => all.said.push(size),
        }
    }
    if let Some((shapes, guess)) = fits {
        for apart in samples::apart(&inputs, &dims, &shapes) {
            let seeds = [options.seed as usize, 0];
            let sample = samples::generate(&inputs, &apart.shapes, guess, seeds)?;
            let Ok(ran) = run_all(before, std::slice::from_ref(&sample)) else {
                continue;
            };
            // Exporters write such a name for any unknown size: nothing says that it is one.
            if passdock_onnx::is_placeholder(&apart.symbol) {
                all.said.push(SampleSize::ran(&sample));
                all.samples.push(sample);
                all.ran.extend(ran);
                continue;
            }
            let symbol = apart.symbol;
            all.apart.extend(ran.into_iter().map(|ran| ApartSample {
                symbol: symbol.clone(),
                sample: sample.clone(),
                ran,
            }));
        }
        return Ok(all);
    }
    let refused = all.said.into_iter().find_map(|size| size.refused);
    let refused = refused.map(|error| {
        format!("ONNX Runtime fails to run the model before, with inputs of any size that was tried: {error}")
    });
    Err(refused.or(too_large).unwrap_or_default().into())
}

/// Inputs and sizes of symbols that fit both models: what the one after has fixed is so.
fn fitting(
    before: &[ModelPort],
    after: Option<&OrtSession<'_>>,
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

fn types(inputs: &[ModelPort], shapes: &[Vec<i64>]) -> BTreeMap<String, String> {
    let ty = |(input, shape): (&ModelPort, &Vec<i64>)| {
        let ty = match &input.ty {
            Ok(ty) => describe(ty.dtype, shape.iter()),
            Err(kind) => (*kind).to_owned(),
        };
        (input.name.clone(), ty)
    };
    inputs.iter().zip(shapes).map(ty).collect()
}
