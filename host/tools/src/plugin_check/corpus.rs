//! The modules that the checks run passes on: built-in ones, and those of the plugin's author.

use std::path::{Path, PathBuf};

use passdock_abi::FunctionKind;
use passdock_core::{ErrorKind, PassError, PassKind};
use passdock_driver::model_file;
use passdock_ir::Module;

/// Built-in modules: names and IR text.
const TEXTS: [(&str, &str); 9] = [
    ("small.ir", include_str!("corpus/small.ir")),
    ("elementwise.ir", include_str!("corpus/elementwise.ir")),
    ("attributes.ir", include_str!("corpus/attributes.ir")),
    ("constants.ir", include_str!("corpus/constants.ir")),
    ("control.ir", include_str!("corpus/control.ir")),
    ("own_control.ir", include_str!("corpus/own_control.ir")),
    ("calls.ir", include_str!("corpus/calls.ir")),
    ("prim.ir", include_str!("corpus/prim.ir")),
    ("unknown_types.ir", include_str!("corpus/unknown_types.ir")),
];
/// A built-in ONNX model: its name and bytes.
const MODEL: (&str, &[u8]) = (
    "digits.onnx",
    include_bytes!("../../../../examples/models/digits.onnx"),
);

/// A module to run passes on.
pub(super) struct Sample {
    /// The module's name in messages.
    pub(super) name: String,
    module: Module,
}

impl Sample {
    pub(super) fn from_text(name: &str, text: &str) -> Result<Sample, PassError> {
        Ok(Sample {
            name: name.to_owned(),
            module: model_file::parse_text(name, text)?,
        })
    }

    /// Whether the module contains functions that passes of this kind run on.
    pub(super) fn concerns(&self, kind: PassKind) -> bool {
        let has = |kind| self.module.functions().any(|f| f.kind() == kind);
        match kind {
            PassKind::Function => has(FunctionKind::GRAPH),
            PassKind::PrimFunction => has(FunctionKind::PRIM),
            PassKind::Module => true,
        }
    }

    /// Returns the number of ops in all functions.
    pub(super) fn op_count(&self) -> usize {
        let counts = self.module.functions().map(|f| f.live_op_count() as usize);
        counts.sum()
    }

    /// Copies the module for one run, so that a pass with illegal writes doesn't affect other runs.
    pub(super) fn fresh(&self) -> Module {
        let mut copy = self.module.clone();
        for function in self.module.functions() {
            // The function exists under this name, so `replace` succeeds.
            _ = copy.replace((**function).clone());
        }
        copy
    }
}

/// Returns the built-in modules, and the models in these files.
///
/// # Errors
/// If a model can't be read.
pub(super) fn samples(models: &[PathBuf]) -> Result<Vec<Sample>, PassError> {
    let texts = TEXTS.iter();
    let samples = texts.map(|(name, text)| Sample::from_text(name, text));
    let mut samples = samples.collect::<Result<Vec<Sample>, PassError>>()?;
    let (name, bytes) = MODEL;
    let module = passdock_onnx::read_bytes(Path::new(name), bytes.to_vec())
        .map_err(|error| PassError::new(ErrorKind::Read, error.to_string()))?;
    let name = name.to_owned();
    samples.push(Sample { name, module });
    for path in models {
        let (name, module) = (path.display().to_string(), model_file::read(path)?);
        samples.push(Sample { name, module });
    }
    Ok(samples)
}

/// Returns a module with enough graph functions and ops for a pass to run on several threads.
///
/// # Errors
/// If the generated IR text is invalid, which is a bug.
pub(super) fn many_graph_functions() -> Result<Sample, PassError> {
    let (mut ops, mut last) = (String::new(), "x".to_owned());
    for (at, op) in OPS.iter().cycle().take(OPS_OF_FUNCTION).enumerate() {
        let other = if BINARY.contains(op) { ", %z" } else { "" };
        ops += &format!("    %v{at} = onnx.{op}(%{last}{other}) : f32[2]\n");
        last = format!("v{at}");
    }
    many(|number| {
        format!(
            "  fn @f{number}(%x: f32[2], %z: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{\n{ops}    return %{last}\n  \
                }}\n"
        )
    })
}

/// Returns a module with enough prim functions and ops for a pass to run on several threads.
///
/// # Errors
/// If the generated IR text is invalid, which is a bug.
pub(super) fn many_prim_functions() -> Result<Sample, PassError> {
    let loads = (0..OPS_OF_FUNCTION).map(|at| format!("      %v{at} = tir.load(%a, %i) : f32\n"));
    let loads: String = loads.collect();
    many(|number| {
        format!(
            "  prim @p{number}(%a: buffer<f32[16]>, %b: buffer<f32[16]>) {{\n    for %i in 0..4 unroll {{\n{loads}\
             \x20     tir.store(%v0, %b, %i)\n    }}\n  }}\n"
        )
    })
}

fn many(function: impl Fn(usize) -> String) -> Result<Sample, PassError> {
    let functions: String = (0..FUNCTIONS).map(function).collect();
    let text = format!("module {{\n{functions}}}");
    Sample::from_text("a module with many functions", &text)
}

const FUNCTIONS: usize = 64;

/// The host runs a pass on several threads if the functions have 4096 ops.
const OPS_OF_FUNCTION: usize = 66;

/// Ops that passes simplify when they are adjacent.
const OPS: [&str; 8] = [
    "Relu", "Relu", "Sigmoid", "Identity", "Add", "Abs", "Sub", "Mul",
];
/// The ops in `OPS` with two operands.
const BINARY: [&str; 3] = ["Add", "Sub", "Mul"];

#[cfg(test)]
mod tests {
    use passdock_core::verify;

    use super::*;

    #[test]
    fn corpus_samples_are_valid() {
        let mut samples = samples(&[]).expect("a corpus");
        samples.extend(
            [many_graph_functions(), many_prim_functions()].map(|many| many.expect("a module")),
        );
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
