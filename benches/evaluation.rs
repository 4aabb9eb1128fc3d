//! Evaluation of operators on constants: cost per element of large tensors, and per call of small ops.
//! Large tensors are compared with copying an element between buffers that exceed the caches.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use std::hint::black_box;

use passdock_abi::DType;
use passdock_benches::{Figure, measure, report, report_ratio, sized};
use passdock_plugins_onnx_ops::eval::{Call, EvalAttr, Tensor};
use passdock_plugins_onnx_ops::evaluate;

fn main() {
    let (side, edge) = (sized(1000), sized(100));
    let million = side * side;
    // Larger than the caches.
    let bytes = sized(256 << 20);
    let floats = || singles(&[side, side]);
    let (source, mut target) = (vec![1_u8; bytes], vec![2_u8; bytes]);
    let copy = measure(bytes / size_of::<f32>(), || {
        black_box(&mut target).copy_from_slice(&source);
    });
    drop((source, target));
    report("copying 256 MB, per float", copy, "(what memory does)");
    let axes = |list: &[i64]| ints(&[list.len()], list.to_vec());
    let large = |what: &str, inputs: &[Tensor], attrs: &[(&'static str, i64)], of: usize| {
        let figure = run(what, inputs, attrs, of);
        report_ratio(&format!("{what}, to copying"), figure, copy, "<= 10 x");
    };
    large("onnx.Add", &[floats(), floats()], &[], million);
    large("onnx.Mul", &[floats(), singles(&[side])], &[], million);
    large("onnx.Less", &[floats(), singles(&[])], &[], million);
    large("onnx.Sqrt", &[floats()], &[], million);
    large("onnx.Cast", &[floats()], &[("to", 10)], million);
    large("onnx.Cast", &[floats()], &[("to", 7)], million);
    large("onnx.Transpose", &[floats()], &[], million);
    large(
        "onnx.Transpose",
        &[singles(&[edge, edge, edge])],
        &[],
        million,
    );
    large(
        "onnx.Concat",
        &[floats(), floats()],
        &[("axis", 1)],
        2 * million,
    );
    let columns = ints(&[side], (0..side as i64).rev().collect());
    large("onnx.Gather", &[floats(), columns], &[("axis", 0)], million);
    let columns = ints(&[side], (0..side as i64).rev().collect());
    large("onnx.Gather", &[floats(), columns], &[("axis", 1)], million);
    large("onnx.ReduceSum", &[floats(), axes(&[1])], &[], million);
    large("onnx.ReduceSum", &[floats(), axes(&[0])], &[], million);
    large("onnx.ReduceMax", &[floats(), axes(&[1])], &[], million);
    large(
        "onnx.Expand",
        &[singles(&[side, 1]), axes(&[side as i64; 2])],
        &[],
        million,
    );

    let small = [
        ("onnx.Add", vec![axes(&[1, 2, 3]), axes(&[4])], vec![]),
        (
            "onnx.Gather",
            vec![axes(&[5, 6, 7]), ints(&[], vec![1])],
            vec![("axis", 0)],
        ),
        (
            "onnx.Concat",
            vec![axes(&[1]), axes(&[2]), axes(&[3])],
            vec![("axis", 0)],
        ),
        (
            "onnx.Reshape",
            vec![axes(&[1, 2, 3, 4]), axes(&[2, -1])],
            vec![],
        ),
        (
            "onnx.Slice",
            vec![axes(&[1, 2, 3]), axes(&[0]), axes(&[2])],
            vec![],
        ),
    ];
    for (what, inputs, attrs) in small {
        let figure = run(what, &inputs, &attrs, 1);
        report(&format!("{what} of a few integers"), figure, "<= 100 µs");
    }
}

fn singles(shape: &[usize]) -> Tensor<'static> {
    let count: usize = shape.iter().product();
    let elements: Vec<f32> = (0..count).map(|at| (at % 1000) as f32 + 0.5).collect();
    Tensor::from_vec(DType::F32, shape.to_vec(), elements)
}

fn ints(shape: &[usize], elements: Vec<i64>) -> Tensor<'static> {
    Tensor::from_vec(DType::I64, shape.to_vec(), elements)
}

/// Measures one evaluation, per item.
fn run(name: &str, inputs: &[Tensor], attrs: &[(&'static str, i64)], items: usize) -> Figure {
    let inputs: Vec<_> = inputs.iter().map(|input| Some(input.clone())).collect();
    let attrs: Vec<_> = attrs
        .iter()
        .map(|&(name, value)| (name, EvalAttr::Int(value)))
        .collect();
    let call = Call {
        name,
        version: 21,
        inputs: &inputs,
        attrs: &attrs,
        attr_defs: &[],
        outputs: 1,
        max_bytes: 1 << 30,
    };
    measure(items, || evaluate(&call).expect("it is evaluated"))
}
