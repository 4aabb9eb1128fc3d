#!/usr/bin/env python3
"""Converts models to later opsets and checks them with onnxruntime and onnx.checker.

There are small models of each operator whose form changes in later versions, from each version to each target. Results
must stay the same. If an op can't be converted, the error must name the operator and nothing is written. --models adds
real models.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import outputs

TARGETS = (13, 17, 18, 20, 21, 23)
REAL_TARGET = 20
F32, F64, I64, BOOL = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL


def of_dtype(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def model(nodes, opset, x=(2, 3, 4), result=F32, constants=(), dtype=F32, functions=(), results=("y",)):
    """Returns a model whose nodes compute `results` from `x` and `constants`, which are (name, array)."""
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants]
    given = [helper.make_tensor_value_info("x", dtype, x)]
    created = [helper.make_empty_tensor_value_info(name) for name in results]
    for info in created:
        info.type.tensor_type.elem_type = result
    imports = [helper.make_opsetid("", opset)]
    if functions:
        imports.append(helper.make_opsetid("own", 1))
    graph = helper.make_graph(nodes, "g", given, created, tensors)
    model = helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=8)
    # Outputs must have a shape.
    for info, inferred in zip(created, onnx.shape_inference.infer_shapes(model).graph.output):
        info.CopyFrom(inferred)
        if not info.type.tensor_type.HasField("shape"):
            info.type.tensor_type.shape.CopyFrom(given[0].type.tensor_type.shape)
    del model.graph.output[:]
    model.graph.output.extend(created)
    return model


def one(op, opset, operands=("x",), constants=(), x=(2, 3, 4), result=F32, dtype=F32, **attributes):
    node = helper.make_node(op, list(operands), ["y"], **attributes)
    return model([node], opset, x, result, constants, dtype)


# Each case is (name, model, the first target that is rejected or None).


def axes():
    for opset in (7, 11, 12):
        some = [[1], [1, 3]] if opset < 11 else [[1], [-1, 1]]
        for at, chosen in enumerate(some):
            yield f"squeeze.{opset}.{at}", one("Squeeze", opset, x=(2, 1, 3, 1), axes=chosen), None
            yield f"unsqueeze.{opset}.{at}", one("Unsqueeze", opset, axes=chosen), None
        yield f"squeeze.{opset}.all", one("Squeeze", opset, x=(2, 1, 3, 1)), None
    new = [("a", np.array([1]))]
    yield "squeeze.13", one("Squeeze", 13, ("x", "a"), new, (2, 1, 3)), None
    yield "unsqueeze.13", one("Unsqueeze", 13, ("x", "a"), new), None


def reductions():
    kinds = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
    for kind in kinds:
        name = f"Reduce{kind}"
        positive = [helper.make_node("Abs", ["x"], ["p"])]
        for opset in (7, 12, 17):
            if kind == "Sum" and opset >= 13:
                continue
            cases = [{"axes": [1]}, {"axes": [0, 2], "keepdims": 0}, {}, {"keepdims": 0}]
            for at, attributes in enumerate(cases + ([{"axes": [-1]}] if opset >= 11 else [])):
                node = helper.make_node(name, ["p"], ["y"], **attributes)
                yield f"{name}.{opset}.{at}", model([*positive, node], opset), None
    yield "ReduceSum.13", one("ReduceSum", 13, ("x", "a"), [("a", np.array([1]))], keepdims=0), None
    yield "ReduceSum.13.noop", one("ReduceSum", 13, noop_with_empty_axes=1), None


def splits():
    for opset in (7, 11, 12):
        for axis, lengths in ((0, [1, 3]), (1, [2, 4]), (2, None)):
            attributes = {"axis": axis} | ({"split": lengths} if lengths else {})
            node = helper.make_node("Split", ["x"], ["y", "z"], **attributes)
            yield f"split.{opset}.{axis}", model([node], opset, (4, 6, 8), results=("y", "z")), None
    for opset in (13, 17):
        node = helper.make_node("Split", ["x"], ["y", "z"], axis=-1)
        yield f"split.{opset}", model([node], opset, (4, 6, 8), results=("y", "z")), None
        node = helper.make_node("Split", ["x", "n"], ["y", "z"], axis=1)
        lengths = [("n", np.array([1, 5]))]
        yield f"split.{opset}.n", model([node], opset, (4, 6, 8), constants=lengths, results=("y", "z")), None


def pads():
    pads = [0, 1, 0, 0, 2, 1]
    for opset in (7, 10):
        for mode in (None, "constant", "reflect", "edge"):
            named = {} if mode is None else {"mode": mode}
            yield f"pad.{opset}.{mode}", one("Pad", opset, pads=pads, **named), None
        for dtype in (F32, F64):
            created = one("Pad", opset, pads=pads, value=1.5, dtype=dtype, result=dtype)
            yield f"pad.{opset}.value.{dtype}", created, None
        yield f"pad.{opset}.less", one("Pad", opset, pads=[0, -1, 0, 0, 0, -2], value=-np.inf), None
    new = [("p", np.array(pads)), ("v", np.float32(2))]
    for opset in (11, 13, 18):
        yield f"pad.{opset}", one("Pad", opset, ("x", "p", "v"), new), None


def clips():
    for opset in (7, 10):
        for at, bounds in enumerate(({"min": -0.5, "max": 0.25}, {"min": 0.0}, {"max": 0.1}, {})):
            yield f"clip.{opset}.{at}", one("Clip", opset, **bounds), None
    new = [("a", np.float32(-0.5)), ("b", np.float32(0.5))]
    for opset in (11, 12, 13):
        yield f"clip.{opset}", one("Clip", opset, ("x", "a", "b"), new), None
        yield f"clip.{opset}.max", one("Clip", opset, ("x", "", "b"), new[1:]), None


def slices():
    for opset in (7, 9):
        for at, (starts, ends, axes) in enumerate(
            (([1], [3], None), ([0, 1], [-1, 2**31 - 1], None), ([-2], [100], [2]), ([1, 0], [2, 3], [1, 2]))
        ):
            named = {} if axes is None else {"axes": axes}
            yield f"slice.{opset}.{at}", one("Slice", opset, starts=starts, ends=ends, **named), None
    new = [("s", np.array([3])), ("e", np.array([0])), ("a", np.array([2])), ("d", np.array([-2]))]
    for opset in (10, 11):
        yield f"slice.{opset}", one("Slice", opset, ("x", "s", "e", "a", "d"), new), None


def softmaxes():
    shapes = ((5,), (2, 3), (2, 3, 4), (2, 1, 4, 1), (2, 0, 3), (2, 3, 0), (1, 1, 1), ("n", 3, 4), ("n", "m", 1))
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for opset in (7, 11, 12):
            for at, shape in enumerate(shapes):
                if op != "Softmax" and opset < 12:
                    continue
                for axis in (None, *range(-len(shape) if opset >= 11 else 0, len(shape))):
                    if axis is None and len(shape) < 2:
                        continue
                    named = {} if axis is None else {"axis": axis}
                    yield f"{op}.{opset}.{at}.{axis}", one(op, opset, x=shape, **named), None
        yield f"{op}.13", one(op, 13), None
        yield f"{op}.13.0", one(op, 13, axis=0), None


def dropouts():
    for opset in (7, 10, 11):
        yield f"dropout.{opset}", one("Dropout", opset), None
        yield f"dropout.{opset}.ratio", one("Dropout", opset, ratio=0.25), None
        node = helper.make_node("Dropout", ["x"], ["y", "mask"], ratio=0.5)
        unused = model([node], opset)
        yield f"dropout.{opset}.unused", unused, None
        if opset >= 10:
            used = model([node, helper.make_node("Not", ["mask"], ["z"])], opset, result=BOOL, results=("z",))
            yield f"dropout.{opset}.mask", used, 12
    node = helper.make_node("Dropout", ["x"], ["d", "mask"])
    used = model([node, helper.make_node("Add", ["d", "mask"], ["y"])], 7)
    yield "dropout.7.mask", used, 10
    ratio = [("r", np.float32(0.5))]
    yield "dropout.12", one("Dropout", 12, ("x", "r"), ratio), None


def batch_norms():
    arrays = [(name, np.linspace(low, 2, 3, dtype=np.float32)) for name, low in zip("sbmv", (1, -1, 0, 0.5))]
    operands = ("x", *"sbmv")
    for opset in (7, 8, 9, 13, 14):
        yield f"batch_norm.{opset}", one("BatchNormalization", opset, operands, arrays, epsilon=1e-3), None
    yield "batch_norm.7.spatial", one("BatchNormalization", 7, operands, arrays, spatial=1), None
    by_element = [(name, np.ones((3, 4), np.float32)) for name in "sbmv"]
    yield "batch_norm.7.elements", one("BatchNormalization", 7, operands, by_element, spatial=0), 9
    node = helper.make_node("BatchNormalization", list(operands), ["y", "m1", "v1", "m2", "v2"])
    yield "batch_norm.9.training", model([node], 9, constants=arrays), 14


def regions():
    info = helper.make_tensor_value_info
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node("Squeeze", ["x"], [name], axes=[1])], name, [], [info(name, F32, (2, 3))]
        )
        for name in ("then", "else")
    }
    node = helper.make_node("If", ["c"], ["y"], **branches)
    yield "if", model([node], 11, (2, 1, 3), constants=[("c", np.bool_(True))]), None
    body = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["v"], ["s"], axes=[1], keepdims=1),
            helper.make_node("Sub", ["v", "s"], ["w"]),
            helper.make_node("Identity", ["on"], ["still"]),
        ],
        "body",
        [info("i", I64, ()), info("on", BOOL, ()), info("v", F32, (2, 3))],
        [info("still", BOOL, ()), info("w", F32, (2, 3))],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    yield "loop", model([node], 11, (2, 3), constants=[("n", np.int64(3))]), None
    own = [helper.make_opsetid("", 14)]
    nodes = [helper.make_node("ReduceMean", ["a"], ["m"], axes=[-1]), helper.make_node("Sub", ["a", "m"], ["b"])]
    function = helper.make_function("own", "Center", ["a"], ["b"], nodes, own)
    call = helper.make_node("Center", ["x"], ["y"], domain="own")
    yield "function", model([call], 14, functions=[function]), None


def resizes():
    image = (1, 2, 5, 7)
    factors = {
        "longer": [1, 1, 2, 2.5],
        "shorter": [1, 1, 0.5, 0.4],
        "same": [1, 1, 1, 1],
        "shorter.third": [1, 1, 0.7, 1],
    }
    for mode in ("nearest", "linear"):
        for name, each in factors.items():
            scales = [("s", np.array(each, np.float32))]
            yield f"resize.10.{mode}.{name}", one("Resize", 10, ("x", "s"), scales, image, mode=mode), None
    both = [("s", np.array([1, 1, 0.5, 2], np.float32))]
    yield "resize.10.both", one("Resize", 10, ("x", "s"), both, image), 11
    yield "resize.10.linear.both", one("Resize", 10, ("x", "s"), both, image, mode="linear"), None
    region, scales = ("r", np.zeros(0, np.float32)), ("s", np.array([1, 1, 2, 3], np.float32))
    none, sizes = ("s", np.zeros(0, np.float32)), ("z", np.array([1, 2, 4, 9]))
    for mode in ("nearest", "linear", "cubic"):
        by_scales = one("Resize", 11, ("x", "r", "s"), [region, scales], image, mode=mode)
        yield f"resize.11.{mode}", by_scales, None
        by_sizes = one("Resize", 11, ("x", "r", "s", "z"), [region, none, sizes], image, mode=mode)
        yield f"resize.11.{mode}.sizes", by_sizes, None
    for way in ("asymmetric", "align_corners", "pytorch_half_pixel"):
        of_way = one("Resize", 11, ("x", "r", "s"), [region, scales], image, coordinate_transformation_mode=way)
        yield f"resize.11.{way}", of_way, None
    way = "tf_half_pixel_for_nn"
    removed = one("Resize", 11, ("x", "r", "s"), [region, scales], image, coordinate_transformation_mode=way)
    yield "resize.11.gone", removed, 13


def others():
    image = (1, 2, 8, 8)
    yield "max_pool", one("MaxPool", 7, x=image, kernel_shape=[3, 3], strides=[2, 2]), None
    ceiled = one("MaxPool", 10, x=image, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    yield "max_pool.ceil", ceiled, 22
    for opset in (7, 10, 11):
        pooled = one("AveragePool", opset, x=image, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
        yield f"average_pool.{opset}", pooled, None
    weights = [("w", np.ones((2, 3, 3, 3), np.float32))]
    yield "conv_transpose", one("ConvTranspose", 7, ("x", "w"), weights, image, pads=[1, 1, 1, 1]), None
    same = one("ConvTranspose", 7, ("x", "w"), weights, image, auto_pad="SAME_UPPER", strides=[2, 2])
    yield "conv_transpose.same", same, 11
    yield "erf", one("Erf", 9), None
    new = [("s", np.float32(0.1)), ("z", np.uint8(128))]
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    nodes.append(helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]))
    for opset in (10, 13, 19):
        yield f"quantize.{opset}", model(nodes, opset, constants=new), None
    grid = [("g", np.random.default_rng(3).uniform(-1, 1, (1, 5, 5, 2)).astype(np.float32))]
    yield "grid_sample", one("GridSample", 16, ("x", "g"), grid, image), None
    yield "grid_sample.bicubic", one("GridSample", 16, ("x", "g"), grid, image, mode="bicubic"), 20
    scales = [("s", np.array([1, 1, 2, 2], np.float32))]
    yield "resize.13", one("Resize", 13, ("x", "", "s"), scales, image), None
    yield "upsample", one("Upsample", 9, ("x", "s"), scales, image), 10
    groups = [(name, np.ones(2, np.float32)) for name in "sb"]
    yield "group_norm", one("GroupNormalization", 18, ("x", *"sb"), groups, image, num_groups=2), 21
    yield "shape", one("Shape", 7, result=I64), None
    yield "cast", one("Cast", 7, result=I64, to=I64), None
    yield "opset.19.on", one("Identity", 19), None


CASES = (axes, reductions, splits, pads, clips, slices, softmaxes, dropouts, batch_norms, resizes, regions, others)


class Checker:
    def __init__(self, args):
        self.args = args
        self.count = self.rejected = self.wrong = 0

    def run(self, before, after, to):
        after.unlink(missing_ok=True)
        # In process, because other tests cover the supervision of child processes.
        command = [self.args.passdock, "run", "--in-process", "--passes", "relax.transform.InferType"]
        command.append(f"--raise-opset={to}")
        command += [word for directory in self.args.plugin_dir for word in ("--plugin-dir", directory)]
        command += [before, "-o", after, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        try:
            return done.returncode, json.loads(done.stdout)["diagnostics"]
        except json.JSONDecodeError:
            raise RuntimeError(done.stderr.strip()[-2000:])

    def why(self, before, after, to, refused_from, ops):
        status, diagnostics = self.run(before, after, to)
        errors = [one["message"] for one in diagnostics if one["severity"] == "error"]
        if status:
            expected = refused_from is not None and to >= refused_from
            if not expected:
                return f"is rejected: {errors}"
            if after.exists():
                return "is rejected, and something is written"
            self.rejected += 1
            named = any(f"onnx.{op} of opset" in error and f"opset {to}" in error for op in ops for error in errors)
            return None if named else f"the op isn't named: {errors}"
        if refused_from is not None and to >= refused_from:
            return "isn't rejected"
        raised = onnx.load(after)
        found = {one.version for one in raised.opset_import if not one.domain}
        found |= {one.version for f in raised.functions for one in f.opset_import if not one.domain}
        if found != {to}:
            return f"it has the opsets {found}"
        error = complaint(after)
        if error and not complaint(before):
            return f"onnx.checker: {error}"
        return outputs.same_outputs(before, after)["why"]

    def check(self, name, before, after, to, refused_from, ops):
        self.count += 1
        try:
            why = self.why(before, after, to, refused_from, ops)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        if why:
            self.wrong += 1
            print(f"{name} to {to}: {why}"[:600], flush=True)


def complaint(path):
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:  # inference has its own error classes
        return str(error)
    return None


def version_of(created):
    return next(one.version for one in created.opset_import if not one.domain)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--plugin-dir", type=Path, action="append", default=[], help="a directory of plugins")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    p.add_argument("--models", type=Path, help="a directory of real models")
    p.add_argument("--only", default="", help="only cases whose names contain this")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    checker = Checker(args)

    def raise_small(case):
        name, created, refused_from = case
        before, after = args.work_dir / f"{name}.onnx", args.work_dir / f"{name}.out.onnx"
        onnx.save(created, before)
        ops = [node.op_type for node in created.graph.node]
        for to in TARGETS:
            if to > version_of(created):
                checker.check(name, before, after, to, refused_from, ops)

    # Most of the time is spent waiting for files to be synced.
    cases = (case for cases in CASES for case in cases() if args.only in case[0])
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(raise_small, cases))
    small = checker.count
    for path in sorted(args.models.glob("*.onnx")) if args.models else ():
        if version_of(onnx.load(path, load_external_data=False)) < REAL_TARGET:
            checker.check(path.stem, path, args.work_dir / path.name, REAL_TARGET, None, [])
    real = checker.count - small
    print(f"{small} raises of small models, {checker.rejected} rejected as they have to be")
    print(f"{real} real models; {checker.wrong} wrong")
    return 1 if checker.wrong or (small < 1000 and not args.only) else 0


if __name__ == "__main__":
    sys.exit(main())
