//! Sample inputs from files: `TensorProto`s, as ONNX's model zoo and test data have them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ort::{Input, Result};
use crate::samples::Sample;
use crate::tensor::Tensor;

/// Reads the samples at a path: one file for a model of one input, a directory of files
/// `input_N.pb`, or a directory of such directories (`test_data_set_0`, …).
pub(crate) fn samples(path: &Path, inputs: &[Input]) -> Result<Vec<Sample>> {
    if path.is_file() {
        return Ok(vec![sample(&[path.to_owned()], inputs, path)?]);
    }
    let entries = sorted(path)?;
    let is_input = |path: &&PathBuf| number(path).is_some();
    let files: Vec<PathBuf> = entries.iter().filter(is_input).cloned().collect();
    if !files.is_empty() {
        return Ok(vec![sample(&files, inputs, path)?]);
    }
    let mut samples = Vec::new();
    for directory in entries.iter().filter(|path| path.is_dir()) {
        let files: Vec<PathBuf> = sorted(directory)?
            .iter()
            .filter(is_input)
            .cloned()
            .collect();
        if !files.is_empty() {
            samples.push(sample(&files, inputs, directory)?);
        }
    }
    match samples.is_empty() {
        true => Err(format!(
            "there is no file `input_0.pb` in `{}`",
            path.display()
        )),
        false => Ok(samples),
    }
}

/// What is in a directory, numbers in names in their order.
fn sorted(directory: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| format!("`{}` can't be read: {error}", directory.display());
    let entries = fs::read_dir(directory).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.sort_by_cached_key(|path| (trailing_number(path), path.clone()));
    Ok(paths)
}

/// `N` of `input_N.pb`.
fn number(path: &Path) -> Option<usize> {
    let is_tensor = path.extension().is_some_and(|extension| extension == "pb");
    let number = path.file_stem()?.to_str()?.strip_prefix("input_")?;
    number.parse().ok().filter(|_| is_tensor)
}

fn trailing_number(path: &Path) -> Option<usize> {
    path.file_stem()?.to_str()?.rsplit_once('_')?.1.parse().ok()
}

/// One sample. A tensor is the input that has its name, or its number.
fn sample(files: &[PathBuf], inputs: &[Input], place: &Path) -> Result<Sample> {
    let mut sample: Vec<Option<Tensor>> = vec![None; inputs.len()];
    for path in files {
        let read = passdock_onnx::read_tensor(path).map_err(|error| error.to_string())?;
        let named = read.name.as_deref();
        let named = named.and_then(|name| inputs.iter().position(|input| input.name == name));
        let Some(at) = named.or(number(path)).or((inputs.len() == 1).then_some(0)) else {
            return Err(format!(
                "`{}` has no name or number of an input",
                path.display()
            ));
        };
        let Some(slot) = sample.get_mut(at) else {
            let count = inputs.len();
            return Err(format!(
                "`{}` is for an input that isn't there: the model has {count}",
                path.display()
            ));
        };
        let data = read
            .data
            .bytes()
            .map_err(|error| error.trim_end_matches('.').to_owned())?;
        *slot = Some(Tensor {
            dtype: read.dtype,
            shape: read.shape,
            data: data.to_vec(),
        });
    }
    let given = |(input, tensor): (&Input, Option<Tensor>)| match tensor {
        Some(tensor) => Ok((input.name.clone(), tensor)),
        None => Err(format!(
            "`{}` has nothing for the input `{}`",
            place.display(),
            input.name
        )),
    };
    inputs.iter().zip(sample).map(given).collect()
}
