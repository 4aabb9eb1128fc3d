"""Checks that the results of folding random ops on random constants are ONNX Runtime's.

    python random_folding.py --passdock FILE --work-dir DIR [--cases N] [--seed N]
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import fields
import random_cases
from random_values import FLOATS, Dice, T, proto

# The newest versions that this ONNX Runtime supports.
OPSETS, IR_VERSION = range(7, 27), 10
PIPELINE = """
[[passes]]
name = "relax.transform.FoldConstant"
options = { allow_growth = true }
"""
# The maximum share of unfolded cases: results that ONNX doesn't define, and integers for float operands.
MOST_LEFT = 0.05
# Types that NumPy lacks are compared in a wider type without loss.
WIDER = {T.BFLOAT16: T.FLOAT, T.FLOAT8E4M3FN: T.FLOAT, T.FLOAT8E5M2: T.FLOAT, T.INT4: T.INT8, T.UINT4: T.UINT8}
# ONNX Runtime's known deviations from ONNX's definition. For these, ONNX's reference implementation must confirm the
# folded result.
DEVIATIONS = {
    **dict.fromkeys(["Clip", "Max", "Min", "Sign", "Relu"], "int64 beyond 2^31 is compared wrongly"),
    "Mod": "int64 is computed in double precision",
    **dict.fromkeys(["Cast", "CastLike"], "float8e5m2: without saturation, what rounds to infinity becomes NaN"),
    "Gather": "of strings, what indices from the back pick is empty",
    **dict.fromkeys(["Shrink", "Swish"], "float64 is computed with single precision"),
    "Softplus": "of float16 overflows: it takes the exponential itself",
    "Where": "-0.0 is chosen as 0.0: it adds both, one of them zeroed",
    **dict.fromkeys(
        [name for name in random_cases.OPERATORS if name.startswith("Reduce")],
        "int64 is summed in double precision; of a tensor without elements no axis is reduced",
    ),
}

# Operators whose result is a sum of operands, in which cancellation may occur.
ADDING = ("Reduce", "Cum", "Sum", "Mean", "Scatter", "MatMul", "Gemm", "Conv", "Average", "GlobalAverage", "Lp", "GlobalLp", "Einsum", "Resize")


def model_of(nodes, tensors, outputs, opset):
    initializers = [proto(array, dtype, name) for name, dtype, array in tensors]
    infos = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(nodes, "random", [], infos, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=max(IR_VERSION, 4))


class Runtime:
    """Runs ONNX Runtime on single cases, without constant folding and fusion."""

    def __init__(self):
        onnxruntime.set_default_logger_severity(4)
        self.options = onnxruntime.SessionOptions()
        self.options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.options.intra_op_num_threads = 1
        self.no_kernel = set()
        self.rejected = collections.Counter()

    def results(self, case):
        """Returns the outputs in types that NumPy has; None if it has no kernel for the op or rejects it."""
        signature = case.signature()
        if signature in self.no_kernel:
            return None
        try:
            return self.run(case)
        except Exception as error:
            text = str(error)
            if "NOT_IMPLEMENTED" in text or "INVALID_GRAPH" in text:
                self.no_kernel.add(signature)
            self.rejected[case.op, text[:160] if "NOT_IMPL" not in text else "no kernel"] += 1
            return None

    def run(self, case):
        nodes, outputs = list(case.nodes), []
        types = self.types(case)
        for name, dtype in zip(case.outputs, types):
            wider = WIDER.get(dtype)
            outputs.append(f"{name}w" if wider else name)
            if wider:
                nodes.append(helper.make_node("Cast", [name], [outputs[-1]], to=wider))
        model = model_of(nodes, case.tensors, outputs, case.opset)
        session = onnxruntime.InferenceSession(model.SerializeToString(), self.options)
        return session.run(None, {})

    def types(self, case):
        """Returns the element types of the outputs. For narrow types only a session knows them."""
        given = [dtype for _, dtype, _ in case.tensors]
        wanted = [a.i for a in case.nodes[-1].attribute if a.name in ("to", "dtype")]
        if not set(WIDER) & {*given, *wanted}:
            return [None] * len(case.outputs)
        model = model_of(case.nodes, case.tensors, case.outputs, case.opset)
        inferred = onnx.shape_inference.infer_shapes(model)
        return [info.type.tensor_type.elem_type for info in inferred.graph.output]


def folded(tool, work_dir, cases, opset):
    """Returns the folded outputs of each case, or None if it wasn't folded."""
    nodes, tensors, outputs = [], [], []
    for number, case in enumerate(cases):
        own = lambda name: f"c{number}{name}" if name else ""
        for node in case.nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = map(own, node.input)
            copy.output[:] = map(own, node.output)
            nodes.append(copy)
        tensors += [(own(name), dtype, array) for name, dtype, array in case.tensors]
        outputs += map(own, case.outputs)
    given, created = work_dir / f"{opset}.onnx", work_dir / f"{opset}.folded.onnx"
    onnx.save(model_of(nodes, tensors, outputs, opset), given)
    pipeline = work_dir / "fold.toml"
    pipeline.write_text(PIPELINE)
    command = [tool, "run", pipeline, given, "-o", created]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"passdock failed on {given}:\n{done.stderr}")
    model = fields.read(created)
    values = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Identity" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]]
        elif node.op_type == "Constant":
            values[node.output[0]] = node.attribute[0].t
    for number, case in enumerate(cases):
        results = [values.get(f"c{number}{name}") for name in case.outputs]
        yield None if None in results else results


def deviates(case, created, times):
    """Whether this is a known deviation of ONNX Runtime, and ONNX's reference implementation confirms the folded result."""
    if case.op not in DEVIATIONS:
        return False
    try:
        model = model_of(case.nodes, case.tensors, case.outputs, case.opset)
        results = ReferenceEvaluator(model).run(None, {})
    except Exception:
        return False
    return not any(difference(x, y, case, times) for x, y in zip(created, results))


def difference(tensor, wanted, case, times):
    """Describes how a folded tensor differs by more than `times` its type's rounding error, or returns None."""
    got = numpy_helper.to_array(tensor)
    if tensor.data_type == T.STRING:
        got = np.array([s.decode() if isinstance(s, bytes) else s for s in got.ravel()], object).reshape(got.shape)
    epsilon = 2.0 ** -{T.FLOAT: 23, T.DOUBLE: 52, T.FLOAT16: 10, T.BFLOAT16: 7}.get(tensor.data_type, 0)
    if tensor.data_type in WIDER:
        got = got.astype(helper.tensor_dtype_to_np_dtype(WIDER[tensor.data_type]))
    wanted = np.asarray(wanted)
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"is {got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    same = got == wanted
    if got.dtype.kind == "f":
        both_nan = np.isnan(got) & np.isnan(wanted)
        same = (same & (np.signbit(got) == np.signbit(wanted))) | both_nan
        if times and tensor.data_type in FLOATS:
            same |= np.isclose(got, wanted, rtol=times * epsilon, atol=4 * epsilon * scale(case)) | both_nan
    if np.all(same):
        return None
    at = np.argwhere(~np.atleast_1d(same))[0]
    return f"has {np.atleast_1d(got)[tuple(at)]!r} instead of {np.atleast_1d(wanted)[tuple(at)]!r} at {at.tolist()}"


def scale(case):
    """Returns the reference of relative errors: the terms of a sum, or 1 where ONNX Runtime approximates a function."""
    if not case.op.startswith(ADDING):
        return 1
    arrays = [array.astype(np.float64) for _, _, array in case.tensors]
    sizes = [float(np.sum(np.abs(array[np.isfinite(array)]))) for array in arrays]
    return np.prod(sizes[:2]) + sum(sizes[2:]) if case.op in ("MatMul", "Gemm", "Conv") else sum(sizes)


def show(case):
    attributes = [f"{a.name}={helper.get_attribute_value(a)}" for n in case.nodes for a in n.attribute]
    tensors = [f"{T.DataType.Name(t)}{list(a.shape)} {str(a.ravel()[:24].tolist())[:300]}" for _, t, a in case.tensors]
    return f"{case.op} of opset {case.opset} {attributes}\n    " + "\n    ".join(tensors)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--passdock", type=pathlib.Path, required=True)
    arguments.add_argument("--work-dir", type=pathlib.Path, required=True)
    arguments.add_argument("--cases", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--details", action="store_true")
    given = arguments.parse_args()
    given.work_dir.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    runtime, wrong, left = Runtime(), [], collections.Counter()
    right, deviating = collections.Counter(), collections.Counter()
    for opset in OPSETS:
        dice = Dice([given.seed, opset])
        cases, results = [], []
        while len(cases) < -(-given.cases // len(OPSETS)):
            case = random_cases.case(dice, opset)
            result = runtime.results(case)
            if result is not None:
                cases.append(case)
                results.append(result)
        for case, result, created in zip(cases, results, folded(given.passdock, given.work_dir, cases, opset)):
            if created is None:
                left[case.op] += 1
                if given.details:
                    print("left:", show(case))
                continue
            times = random_cases.OPERATORS[case.op][1]
            whys = [why for x, y in zip(created, result) if (why := difference(x, y, case, times))]
            if whys and deviates(case, created, times):
                deviating[case.op] += 1
                continue
            right[case.op] += not whys
            wrong += [f"{show(case)}\n  {why}" for why in whys[:1]]
    if given.details:
        for (op, why), count in sorted(runtime.rejected.items()):
            print(f"ONNX Runtime rejects {count} {op}: {why}")
    print("\n".join(wrong[: 200 if given.details else 20]))
    print("left alone:", dict(left))
    print("ONNX Runtime deviates:", dict(deviating))
    counts = f"{right.total() + deviating.total()} right, {left.total()} left alone, {len(wrong)} wrong"
    print(f"{counts}, seed {given.seed}")
    if left.total() > given.cases * MOST_LEFT:
        sys.exit(f"more than {MOST_LEFT:.0%} were left alone")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
