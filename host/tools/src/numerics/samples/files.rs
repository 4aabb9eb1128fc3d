//! Sample inputs from files: `TensorProto`s as in ONNX's model zoo and test data, and NumPy's `.npy` and `.npz` files.

use std::fs;
use std::path::{Path, PathBuf};

use super::Sample;
use crate::numerics::ort::{ModelPort, Tensor};

/// Reads the samples at a path: one file for a model of one input, a `.npz` file, a directory of files
/// `input_N.pb`, `input_N.npy` or `NAME.npy`, or a directory of such directories (`test_data_set_0`, …) and of
/// `.npz` files.
pub(in crate::numerics) fn read(path: &Path, inputs: &[ModelPort]) -> Result<Vec<Sample>, String> {
    if path.is_file() {
        return Ok(vec![sample(&[path.to_owned()], inputs, path)?]);
    }
    let input_files = |entries: &[PathBuf]| -> Vec<PathBuf> {
        let is_input =
            |path: &&PathBuf| !has_extension(path, "npz") && position(path, inputs).is_some();
        entries.iter().filter(is_input).cloned().collect()
    };
    let entries = sorted(path)?;
    let files = input_files(&entries);
    if !files.is_empty() {
        return Ok(vec![sample(&files, inputs, path)?]);
    }
    let mut samples = Vec::new();
    for entry in &entries {
        let files = match entry.is_dir() {
            true => input_files(&sorted(entry)?),
            false if has_extension(entry, "npz") => vec![entry.clone()],
            false => Vec::new(),
        };
        if !files.is_empty() {
            samples.push(sample(&files, inputs, entry)?);
        }
    }
    if samples.is_empty() {
        let path = path.display();
        return Err(format!(
            "no file `input_0.pb`, `input_0.npy` or `SAMPLE.npz` in `{path}`"
        ));
    }
    Ok(samples)
}

/// Lists a directory, with numbers in names in numerical order.
fn sorted(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("could not read `{}`: {error}", directory.display());
    let entries = fs::read_dir(directory).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, String>>()?;
    let number = |path: &Path| {
        path.file_stem()?
            .to_str()?
            .rsplit_once('_')?
            .1
            .parse::<usize>()
            .ok()
    };
    paths.sort_by_cached_key(|path| (number(path), path.clone()));
    Ok(paths)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own == extension)
}

/// Returns the index of a file's input: by name for `NAME.npy`, by number for `input_N.pb` and `input_N.npy`.
fn position(path: &Path, inputs: &[ModelPort]) -> Option<usize> {
    let name = path.file_stem()?.to_str()?;
    let number = || name.strip_prefix("input_")?.parse().ok();
    match path.extension()?.to_str()? {
        "npy" => named(name, inputs).or_else(number),
        "pb" => number(),
        _ => None,
    }
}

fn named(name: &str, inputs: &[ModelPort]) -> Option<usize> {
    inputs.iter().position(|input| input.name == name)
}

/// Reads one sample. Tensors are matched with inputs by name or number.
fn sample(files: &[PathBuf], inputs: &[ModelPort], path: &Path) -> Result<Sample, String> {
    let mut sample: Vec<Option<Tensor>> = vec![None; inputs.len()];
    for file in files {
        for (label, at, tensor) in tensors(file, inputs)? {
            let Some(at) = at.or((inputs.len() == 1).then_some(0)) else {
                return Err(format!("{label} matches no input by name or number"));
            };
            let count = inputs.len();
            let slot = sample.get_mut(at).ok_or_else(|| {
                format!("input {at} of {label} is out of range; number of inputs: {count}")
            })?;
            *slot = Some(tensor);
        }
    }
    let pair = |(input, tensor): (&ModelPort, Option<Tensor>)| {
        let name = input.name.clone();
        let missing = || format!("`{}` has no tensor for input `{name}`", path.display());
        Ok((name.clone(), tensor.ok_or_else(missing)?))
    };
    inputs.iter().zip(sample).map(pair).collect()
}

/// Reads the tensors of a file, each with its name for messages and the index of its input, if known.
fn tensors(
    path: &Path,
    inputs: &[ModelPort],
) -> Result<Vec<(String, Option<usize>, Tensor)>, String> {
    let file = format!("`{}`", path.display());
    let numpy = |array: passdock_npy::Array| Tensor {
        dtype: array.dtype,
        shape: array.shape,
        data: array.data,
    };
    if has_extension(path, "npz") {
        let read = passdock_files::read(path).map_err(passdock_npy::Error::from);
        let arrays = read.and_then(|bytes| passdock_npy::read_npz_from(&bytes));
        let arrays = arrays.map_err(|error| format!("could not read {file}: {error}"))?;
        let tensors = arrays.into_iter().map(|(name, array)| {
            // NumPy names arrays without a name `arr_N`.
            let number = || {
                name.strip_prefix("input_")
                    .or(name.strip_prefix("arr_"))?
                    .parse()
                    .ok()
            };
            let at = named(&name, inputs).or_else(number);
            (format!("`{name}` of {file}"), at, numpy(array))
        });
        return Ok(tensors.collect());
    }
    if has_extension(path, "npy") {
        let array = passdock_npy::read(path);
        let array = array.map_err(|error| format!("could not read {file}: {error}"))?;
        return Ok(vec![(file, position(path, inputs), numpy(array))]);
    }
    let read = passdock_onnx::read_tensor(path).map_err(|error| error.to_string())?;
    let data = read.data.bytes()?;
    let at = read.name.and_then(|name| named(&name, inputs));
    let tensor = Tensor {
        dtype: read.dtype,
        shape: read.shape,
        data: data.to_vec(),
    };
    Ok(vec![(file, at.or(position(path, inputs)), tensor)])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi::DType;

    use super::*;
    use crate::numerics::ort::PortType;

    /// Returns a `TensorProto` with one `f32`.
    fn tensor(name: &str, value: f32) -> Vec<u8> {
        let mut bytes = vec![0x10, 1];
        if !name.is_empty() {
            bytes.extend([0x42, name.len() as u8]);
            bytes.extend(name.as_bytes());
        }
        bytes.extend([0x4a, 4]);
        bytes.extend(value.to_le_bytes());
        bytes
    }

    #[track_caller]
    fn check(files: &[(&str, Vec<u8>)], expected: Expect) {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let input = |name: &str| {
            let (dtype, dims) = (DType::F32, Vec::new());
            let ty = Ok(PortType { dtype, dims });
            let name = name.to_owned();
            ModelPort { name, ty }
        };
        let text = match read(directory.path(), &[input("a"), input("b")]) {
            Ok(samples) => samples.iter().map(describe).collect(),
            Err(error) => error.replace(&directory.path().display().to_string(), "DIR"),
        };
        expected.assert_eq(&text);
    }

    fn describe(sample: &Sample) -> String {
        let each = sample.iter().map(|(name, tensor)| {
            let value = f32::from_le_bytes(tensor.data[..].try_into().unwrap());
            format!("{name}: {} = {value}", tensor.ty())
        });
        each.collect::<Vec<String>>().join("; ") + "\n"
    }

    #[test]
    fn tensor_files_match_inputs_by_name_or_number() {
        let (first, second) = ("input_0.pb", "input_1.pb");
        let by_name = [(first, tensor("b", 1.0)), (second, tensor("a", 2.0))];
        check(
            &by_name,
            expect![[r#"
            a: f32[] = 2; b: f32[] = 1
        "#]],
        );
        let by_number = [(second, tensor("", 1.0)), (first, tensor("other", 2.0))];
        check(
            &by_number,
            expect![[r#"
            a: f32[] = 2; b: f32[] = 1
        "#]],
        );
        check(
            &[(first, tensor("", 1.0))],
            expect!["`DIR` has no tensor for input `b`"],
        );
        check(
            &[("input_2.pb", tensor("", 1.0))],
            expect!["input 2 of `DIR/input_2.pb` is out of range; number of inputs: 2"],
        );
        check(
            &[("output_0.pb", tensor("", 1.0))],
            expect!["no file `input_0.pb`, `input_0.npy` or `SAMPLE.npz` in `DIR`"],
        );
        check(
            &[(first, vec![0x4a, 9])],
            expect!["`DIR/input_0.pb`: a length exceeds the rest of its message (at byte 1)"],
        );
    }

    /// Returns a `.npy` file with one number.
    fn npy(descr: &str, value: f32) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (), }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(value.to_le_bytes());
        bytes
    }

    #[test]
    fn npy_files_match_inputs_by_name_or_number() {
        check(
            &[("input_1.npy", npy("<f4", 1.0)), ("a.npy", npy("<f4", 2.0))],
            expect![[r#"
                a: f32[] = 2; b: f32[] = 1
            "#]],
        );
        check(
            &[("a.npy", npy("|O", 1.0)), ("b.npy", npy("<f4", 1.0))],
            expect![
                "could not read `DIR/a.npy`: unsupported elements: Python objects; expected numbers or bools"
            ],
        );
        check(
            &[("other.npy", npy("<f4", 1.0))],
            expect!["no file `input_0.pb`, `input_0.npy` or `SAMPLE.npz` in `DIR`"],
        );
    }

    #[test]
    fn npz_archives_are_samples() {
        let stored = include_bytes!("../../../../npy/tests/data/stored.npz").to_vec();
        let packed = include_bytes!("../../../../npy/tests/data/packed.npz").to_vec();
        check(
            &[("1.npz", stored.clone()), ("2.npz", stored)],
            expect![[r#"
            a: f32[] = 1; b: f32[] = 2
            a: f32[] = 1; b: f32[] = 2
        "#]],
        );
        check(
            &[("1.npz", packed)],
            expect!["`x` of `DIR/1.npz` matches no input by name or number"],
        );
        check(
            &[("1.npz", npy("<f4", 1.0))],
            expect!["could not read `DIR/1.npz`: not a `.npz` file"],
        );
    }

    #[test]
    fn sample_directories_are_sorted_by_number() {
        let files: Vec<(String, Vec<u8>)> = [10, 2]
            .into_iter()
            .flat_map(|set| [("a", set, 0), ("b", set, 1)])
            .map(|(name, set, at)| {
                let path = format!("test_data_set_{set}/input_{at}.pb");
                (path, tensor(name, set as f32))
            })
            .collect();
        let files: Vec<(&str, Vec<u8>)> = files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.clone()))
            .collect();
        check(
            &files,
            expect![[r#"
            a: f32[] = 2; b: f32[] = 2
            a: f32[] = 10; b: f32[] = 10
        "#]],
        );
    }
}
