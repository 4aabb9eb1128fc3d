//! The corpus: modules that every pass should be able to meet, and those of the plugin's author.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use passdock_core::{ErrorKind, PassError};
use passdock_driver::model_file;
use passdock_ir::Module;

/// Texts, by name.
const TEXTS: [(&str, &str); 8] = [
    ("small.ir", include_str!("corpus/small.ir")),
    ("elementwise.ir", include_str!("corpus/elementwise.ir")),
    ("constants.ir", include_str!("corpus/constants.ir")),
    ("control.ir", include_str!("corpus/control.ir")),
    ("own_control.ir", include_str!("corpus/own_control.ir")),
    ("calls.ir", include_str!("corpus/calls.ir")),
    ("prim.ir", include_str!("corpus/prim.ir")),
    ("unknown_types.ir", include_str!("corpus/unknown_types.ir")),
];
/// A model, by name.
const MODEL: (&str, &[u8]) = (
    "digits.onnx",
    include_bytes!("../../../../examples/models/digits.onnx"),
);

/// A module to run passes on.
pub(super) struct Sample {
    /// The module's name, for people.
    pub(super) name: String,
    pub(super) module: Module,
}

/// The corpus, and behind it the models of these files.
///
/// # Errors
/// If a model can't be read.
pub(super) fn samples(models: &[PathBuf]) -> Result<Vec<Sample>, PassError> {
    let mut samples = Vec::new();
    for (name, text) in TEXTS {
        samples.push(sample(name, model_file::parse_text(name, text)?));
    }
    let (name, bytes) = MODEL;
    let model = passdock_onnx::read_bytes(Path::new(name), bytes.to_vec())
        .map_err(|error| PassError::new(ErrorKind::Read, error.to_string()))?;
    samples.push(sample(name, model));
    for path in models {
        let name = path.display().to_string();
        samples.push(sample(&name, model_file::read(path)?));
    }
    Ok(samples)
}

/// A module of so many functions of each kind, and so many ops, that passes run on several threads.
///
/// # Errors
/// None but of a defect.
pub(super) fn many() -> Result<Sample, PassError> {
    let mut text = "module {\n".to_owned();
    for number in 0..64 {
        // Writing to a string doesn't fail.
        _ = writeln!(
            text,
            "  fn @f{number}(%x: f32[2], %z: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{"
        );
        let mut last = "x".to_owned();
        for (at, op) in OPS.iter().cycle().take(100).enumerate() {
            _ = match *op {
                "Add" | "Sub" | "Mul" => {
                    writeln!(text, "    %v{at} = onnx.{op}(%{last}, %z) : f32[2]")
                }
                _ => writeln!(text, "    %v{at} = onnx.{op}(%{last}) : f32[2]"),
            };
            last = format!("v{at}");
        }
        _ = writeln!(text, "    return %{last}\n  }}");
        _ = writeln!(
            text,
            "  prim @p{number}(%a: buffer<f32[16]>, %b: buffer<f32[16]>) {{\n    \
             for %i in 0..4 unroll {{"
        );
        for at in 0..40 {
            _ = writeln!(text, "      %v{at} = tir.load(%a, %i) : f32");
        }
        _ = writeln!(text, "      tir.store(%v0, %b, %i)\n    }}\n  }}");
    }
    text.push('}');
    let name = "64 functions of each kind";
    Ok(sample(name, model_file::parse_text(name, &text)?))
}

/// Ops of which each has something to simplify beside it.
const OPS: [&str; 8] = [
    "Relu", "Relu", "Sigmoid", "Identity", "Add", "Abs", "Sub", "Mul",
];

fn sample(name: &str, module: Module) -> Sample {
    Sample {
        name: name.to_owned(),
        module,
    }
}

#[cfg(test)]
mod tests {
    use passdock_core::verify;

    use super::*;

    #[test]
    fn the_corpus_is_right() {
        let mut samples = samples(&[]).expect("a corpus");
        samples.push(many().expect("a module"));
        for sample in samples {
            verify::all(&sample.module).unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        }
    }
}
