//! The part of a model that an accelerator runs: a whole plugin.
//!
//! `npu.transform.Partition` takes what the accelerator can, and writes each partition to a file of its own, as a
//! vendor's compiler would. The model around them still runs.
mod onnx;

use std::path::Path;

use passdock_plugin_api::prelude::*;

const TARGET: &str = "npu";

/// What the accelerator has kernels for.
const KERNELS: [&str; 7] = [
    "onnx.Add",
    "onnx.Conv",
    "onnx.Gemm",
    "onnx.MatMul",
    "onnx.MaxPool",
    "onnx.Mul",
    "onnx.Relu",
];

options! {
    /// Where partitions go.
    pub struct WritePartitions {
        /// The directory of the files.
        dir: String = "partitions",
    }
}

/// Says which ops the accelerator takes: each becomes a function with the attribute `Target`, which
/// `relax.transform.MergeRegions` goes by.
fn annotate(m: &mut Module, cx: &PassContext) -> PassResult {
    let main = m.snapshot("main")?;
    let taken: Vec<OpId> = main
        .ops_in(main.body())
        .filter(|op| takes(&main, *op, cx))
        .collect();
    drop(main);
    for op in taken {
        let made = m.outline("main", &[op], "npu.op")?;
        m.edit(made.function)?.set_function_attr("Target", TARGET)?;
    }
    Ok(())
}

/// Whether the accelerator has a kernel for an op: of float32 tensors whose sizes are all known.
fn takes(f: &Function, op: OpId, cx: &PassContext) -> bool {
    if !KERNELS.contains(&f.name(op))
        || f.result_count(op) != 1
        || f.use_count(f.result(op, 0)) == 0
    {
        return false;
    }
    let values = f.operands(op).chain(f.results(op).iter().copied());
    let mut values = values.filter(|value| value.is_some());
    let fits = values.all(|value| f.dtype(value) == DType::F32 && f.shape(value).is_some());
    if !fits {
        let place = Place::op(op).within(f);
        let note = "The accelerator takes float32 tensors of known sizes only, so this op stays.";
        cx.emit(&Diagnostic::note(note).code("npu::not-taken").at(place));
    }
    fits
}

/// Writes each partition to a file of its own, named by its `global_symbol`.
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
                let model = onnx::model(&f)?;
                written
                    .and_then(|()| std::fs::write(&file, model))
                    .map_err(|error| {
                        PassError::new(format!("{} can't be written: {error}", file.display()))
                    })?;
            }
        }
    }
    Ok(())
}

plugin! {
    name: "npu",
    passes: [
        /// Says which ops the accelerator takes.
        module "npu.transform.Annotate" => annotate {
            opt_level: 0,
            required: ["relax.transform.InferType"],
        },
        /// Writes each partition to a file of its own.
        module "npu.transform.WritePartitions" => write_partitions {
            opt_level: 0,
            options: WritePartitions,
            config: "npu.WritePartitions",
        },
    ],
    sequentials: [
        /// Takes what the accelerator can, and writes it.
        "npu.transform.Partition" => [
            "npu.transform.Annotate",
            "relax.transform.MergeRegions",
            "relax.transform.PartitionGraph",
            "npu.transform.WritePartitions",
        ] { opt_level: 0 },
    ],
}
export_plugin!(PLUGIN);
