"""Checks models with functions that have the names of operators: passes must keep the meaning of an op.

    python own_functions.py --passdock FILE --work-dir DIR

ONNX lets the runtime choose. ONNX Runtime and onnx's reference evaluator use the operator; the evaluator also runs with the
function. All must compute the same results before and after.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSETS = [helper.make_opsetid("", 20)]
PASSES = (
    "InferType FoldConstant CanonicalizeBindings EliminateCommonSubexpr SimplifyInference DynamicToStatic "
    "InlineFunctions DecomposeOps InferType FoldConstant DeadCodeElimination"
)
INPUT = np.array([-1.5, -0.5, 0.5, 2.0], np.float32)


def model(nodes, name, operands=1, constants=()):
    """Returns a graph from `x` to `y`, and a function with a name that negates the sum of its operands."""
    operands = [f"p{index}" for index in range(operands)]
    body = [helper.make_node("Sum", operands, ["s"]), helper.make_node("Neg", ["s"], ["r"])]
    function = helper.make_function("", name, operands, ["r"], body, OPSETS)
    value = [helper.make_tensor_value_info(each, T.FLOAT, INPUT.shape) for each in "xy"]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:], list(constants))
    return helper.make_model(graph, opset_imports=OPSETS, functions=[function], ir_version=9)


def models():
    node = helper.make_node
    c = numpy_helper.from_array(INPUT[::-1].copy(), "c")
    yield "folded", model([node("Relu", ["c"], ["h"]), node("Add", ["x", "h"], ["y"])], "Relu", 1, [c])
    yield "copied", model([node("Identity", ["x"], ["h"]), node("Exp", ["h"], ["y"])], "Identity")
    yield "inlined", model([node("Relu", ["x"], ["y"])], "Relu")
    yield "dropped", model([node("Dropout", ["x"], ["h"]), node("Exp", ["h"], ["y"])], "Dropout")
    yield "decomposed", model([node("Gelu", ["x"], ["y"])], "Gelu")
    yield "made", model([node("Gelu", ["x"], ["y"])], "Mul", 2)


def computed(path):
    """Returns the results of ONNX Runtime, of the evaluator with ONNX's operators, and of the evaluator with the functions."""
    read = onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options)
    yield session.run(None, {"x": INPUT})[0]
    yield ReferenceEvaluator(read).run(None, {"x": INPUT})[0]
    # In its own domain, each call means the function.
    for function in read.functions:
        for node in read.graph.node:
            if (node.domain, node.op_type) == (function.domain, function.name):
                node.domain = "own"
        function.domain = "own"
    read.opset_import.append(helper.make_opsetid("own", 1))
    yield ReferenceEvaluator(read).run(None, {"x": INPUT})[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=pathlib.Path, required=True)
    parser.add_argument("--work-dir", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    passes = ",".join(f"relax.transform.{name}" for name in PASSES.split())
    wrong, count = [], 0
    for name, created in models():
        before, after = (options.work_dir / f"{name}.{which}.onnx" for which in ("before", "after"))
        onnx.save(created, before)
        arguments = ["run", before, "-o", after, "--passes", passes, "-O", "3"]
        run = subprocess.run([options.passdock.resolve(), *arguments], capture_output=True, text=True)
        if run.returncode != 0:
            wrong.append(f"{name}: {run.stderr}")
            continue
        for runner, was, is_now in zip(("ONNX Runtime", "onnx", "the function"), computed(before), computed(after)):
            count += 1
            if not np.array_equal(was, is_now):
                wrong.append(f"{name}: {runner} computed {was}, and now {is_now}")
    for each in wrong:
        print(each)
    print(f"own functions: {count} results compared, {len(wrong)} wrong")
    return 1 if wrong or count < 18 else 0


if __name__ == "__main__":
    sys.exit(main())
