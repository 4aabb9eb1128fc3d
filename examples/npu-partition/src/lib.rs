//! A plugin that partitions a model for an accelerator.
//!
//! `npu.transform.Partition` groups the ops that the accelerator supports, and writes each partition to a file, like a
//! vendor's compiler would. The remaining model calls the partitions and still runs.
mod onnx;

use std::path::Path;

use passdock_plugin_api::prelude::*;

const TARGET: &str = "npu";

options! {
    /// The output of partitions.
    pub struct WritePartitions {
        /// Directory for the files.
        dir: String = "partitions",
    }
}

/// Extends ONNX's definition of an operator that the accelerator has a kernel for.
const fn kernel(operator: &'static str) -> OpDef {
    OpDef::extending(operator, 1).supports(&[TARGET], takes)
}

/// Accepts an op that the kernel supports: all of its tensors are float32 and have known sizes.
fn takes(call: &OpCall) -> OpResult {
    let op = call.op();
    let values = call.operands(op).chain(call.results(op).iter().copied());
    let mut values = values.filter(|value| value.is_some());
    match values.all(|value| call.dtype(value) == Some(DType::F32) && call.shape(value).is_some()) {
        true => Ok(()),
        false => Err("not all tensors are f32 with known sizes".into()),
    }
}

/// Writes each partition to a file that is named after its `global_symbol`.
fn write_partitions(m: &mut Module, cx: &PassContext) -> PassResult {
    let options = cx.options::<WritePartitions>()?;
    let dir = Path::new(&options.dir);
    for entry in m.functions() {
        let f = m.snapshot(entry.name)?;
        let (codegen, name) = (f.function_attr("Codegen"), f.function_attr("global_symbol"));
        if let (Some(Attr::String(codegen)), Some(Attr::String(name))) = (codegen, name) {
            if codegen == TARGET.as_bytes() {
                let file = dir.join(format!("{}.onnx", String::from_utf8_lossy(name)));
                let written = std::fs::create_dir_all(dir);
                let model = onnx::model(m, &f)?;
                written
                    .and_then(|()| std::fs::write(&file, model))
                    .map_err(|error| {
                        PassError::new(format!("could not write `{}`: {error}", file.display()))
                    })?;
            }
        }
    }
    Ok(())
}

plugin! {
    name: "npu",
    passes: [
        /// Writes each partition to a file.
        module "npu.transform.WritePartitions" => write_partitions {
            opt_level: 0,
            phase: "lower",
            options: WritePartitions,
            config: "npu.WritePartitions",
        },
    ],
    sequentials: [
        /// Groups the ops that the accelerator supports, and writes each group to a file.
        "npu.transform.Partition" => [
            "relax.transform.AnnotateTarget" { target: "npu" },
            "relax.transform.MergeRegions",
            "relax.transform.PartitionGraph",
            "relax.transform.DeadCodeElimination",
            "npu.transform.WritePartitions",
        ] { opt_level: 0 },
    ],
    ops: [
        kernel("onnx.Add"),
        kernel("onnx.Conv"),
        kernel("onnx.Gemm"),
        kernel("onnx.MatMul"),
        kernel("onnx.MaxPool"),
        kernel("onnx.Mul"),
        kernel("onnx.Relu"),
    ],
}
export_plugin!(PLUGIN);
