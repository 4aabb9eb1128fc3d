//! The corpus: modules that every pass should be able to meet, and those of the plugin's author.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use passdock_abi::FunctionKind;
use passdock_core::{ErrorKind, PassError, PassKind};
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
    /// The text that it is made of, if it is of one.
    text: Option<String>,
    module: Module,
}

impl Sample {
    /// A module of no text.
    pub(super) fn of(name: String, module: Module) -> Sample {
        Sample {
            name,
            text: None,
            module,
        }
    }

    fn of_text(name: &str, text: impl Into<String>) -> Result<Sample, PassError> {
        let text = text.into();
        Ok(Sample {
            name: name.to_owned(),
            module: model_file::parse_text(name, &text)?,
            text: Some(text),
        })
    }

    /// Whether it has what a pass of this kind runs on.
    pub(super) fn concerns(&self, kind: PassKind) -> bool {
        let has = |kind| self.module.functions().any(|f| f.kind() == kind);
        match kind {
            PassKind::Function => has(FunctionKind::GRAPH),
            PassKind::PrimFunction => has(FunctionKind::PRIM),
            PassKind::Module => true,
        }
    }

    /// The module, for one run: a pass that writes past what it may finds nothing that others are given. Of
    /// one that comes out of a file, constants are the same.
    pub(super) fn fresh(&self) -> Module {
        let text = self.text.as_deref();
        if let Some(Ok(made)) = text.map(|text| model_file::parse_text(&self.name, text)) {
            return made;
        }
        let mut copy = self.module.clone();
        for function in self.module.functions() {
            // It is there, under this name.
            _ = copy.replace((**function).clone());
        }
        copy
    }
}

/// The corpus, and behind it the models of these files.
///
/// # Errors
/// If a model can't be read.
pub(super) fn samples(models: &[PathBuf]) -> Result<Vec<Sample>, PassError> {
    let mut samples = Vec::new();
    for (name, text) in TEXTS {
        samples.push(Sample::of_text(name, text)?);
    }
    let (name, bytes) = MODEL;
    let model = passdock_onnx::read_bytes(Path::new(name), bytes.to_vec())
        .map_err(|error| PassError::new(ErrorKind::Read, error.to_string()))?;
    samples.push(Sample::of(name.to_owned(), model));
    for path in models {
        let name = path.display().to_string();
        samples.push(Sample::of(name, model_file::read(path)?));
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
    Sample::of_text(name, text)
}

/// Ops of which each has something to simplify beside it.
const OPS: [&str; 8] = [
    "Relu", "Relu", "Sigmoid", "Identity", "Add", "Abs", "Sub", "Mul",
];

#[cfg(test)]
mod tests {
    use passdock_core::verify;

    use super::*;

    #[test]
    fn the_corpus_is_right() {
        let mut samples = samples(&[]).expect("a corpus");
        samples.push(many().expect("a module"));
        for sample in samples {
            let (one, other) = (sample.fresh(), sample.fresh());
            let mut pairs = one.functions().zip(other.functions());
            assert!(pairs.all(|(one, other)| !std::sync::Arc::ptr_eq(one, other)));
            for module in [sample.fresh(), sample.module] {
                verify::all(&module).unwrap_or_else(|error| panic!("{}: {error}", sample.name));
            }
        }
    }
}
