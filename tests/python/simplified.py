#!/usr/bin/env python3
"""Runs small models through SimplifyInference, FoldConstant and CombineParallel passes, and checks them with onnxruntime.

The models have normalizations and Dropouts of each version, cases that other folders break, and products with several
weights. After each the expected ops must be left, the results must be the same, the file may grow by at most 1 %, and a
second run must change nothing.
"""

import argparse
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import outputs

PASSES = [
    "relax.transform.SimplifyInference",
    "relax.transform.FoldConstant",
    "relax.transform.CanonicalizeBindings",
    "relax.transform.DeadCodeElimination",
]
PARALLEL = [f"relax.transform.CombineParallel{op}" for op in ("Matmul", "Conv2D", "Gemm")]
TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}
# A file may grow by 1 %, and by a few bytes for types.
GROWTH, ALLOWANCE = 1.01, 256


def model(nodes, inputs, results, constants=(), opset=17, defaults=()):
    """Returns a model. `constants` are (name, array); `defaults` are inputs with a default."""
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (*constants, *defaults)]
    info = helper.make_tensor_value_info
    given = [*inputs, *((name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in defaults)]
    graph = helper.make_graph(nodes, "g", [info(*i) for i in given], [info(*r) for r in results], tensors)
    created = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(created)
    return created


def batch_norms():
    random = np.random.default_rng(1)
    for opset, rank, dtype in itertools.product((7, 9, 14, 15, 21), (2, 3, 4, 5), TYPES):
        shape = (2, 3, 4, 2, 2)[:rank]
        params = [("s", 1), ("b", 0), ("m", 0), ("v", 2)]
        arrays = [(name, (random.random(3) + more).astype(dtype)) for name, more in params]
        node = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], epsilon=1e-3)
        tensor = TYPES[dtype]
        created = model([node], [("x", tensor, shape)], [("y", tensor, shape)], arrays, opset)
        yield f"batch_norm.{opset}.{rank}.{dtype.__name__}", created, {"Mul": 1, "Add": 1}


def dropouts():
    f32 = TensorProto.FLOAT
    x, y = [("x", f32, (2, 3))], [("y", f32, (2, 3))]
    for opset in (7, 10, 12, 13, 22):
        nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Dropout", ["a"], ["d"])]
        nodes.append(helper.make_node("Relu", ["d"], ["y"]))
        yield f"dropout.{opset}", model(nodes, x, y, (), opset), {"Neg": 1, "Relu": 1}
    flags = [("r", np.float32(0.5)), ("t", np.bool_(False))]
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Dropout", ["a", "r", "t"], ["y", "mask"])]
    with_mask = [*y, ("mask", TensorProto.BOOL, (2, 3))]
    yield "dropout.mask", model(nodes, x, with_mask, flags), {"Neg": 1, "Dropout": 1}


def folds():
    f32, i64 = TensorProto.FLOAT, TensorProto.INT64
    x, y = [("x", f32, (2,))], [("y", f32, (2,))]
    one, large = ("one", np.float32(1)), ("large", np.array([5000, 5000]))

    nodes = [helper.make_node("Neg", ["w"], ["n"]), helper.make_node("Add", ["x", "n"], ["y"])]
    created = model(nodes, x, y, defaults=[("w", np.array([1, 2], np.float32))])
    yield "overridable", created, {"Neg": 1, "Add": 1}

    zeros = [("p", np.array([0.0, 0.0], np.float32)), ("n", np.array([-0.0, -0.0], np.float32))]
    nodes = [
        helper.make_node("Neg", ["p"], ["a"]),
        helper.make_node("Neg", ["n"], ["b"]),
        helper.make_node("Div", ["x", "a"], ["y"]),
        helper.make_node("Div", ["x", "b"], ["z"]),
    ]
    yield "zeros", model(nodes, x, [*y, ("z", f32, (2,))], zeros), {"Div": 2}

    nodes = [
        helper.make_node("Expand", ["one", "large"], ["a"]),
        helper.make_node("ReduceSum", ["a"], ["s"], keepdims=0),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    yield "expanded_and_reduced", model(nodes, x, y, [one, large]), {"Add": 1}

    nodes = [
        helper.make_node("Expand", ["one", "large"], ["a"]),
        helper.make_node("Gather", ["a", "i"], ["g"]),
        helper.make_node("Add", ["g", "a"], ["y"]),
    ]
    i = [("i", i64, ())]
    created = model(nodes, i, [("y", f32, (5000, 5000))], [one, large])
    yield "expanded", created, {"Expand": 1, "Gather": 1, "Add": 1}

    exact = [("a", np.array([2**53 + 1, -(2**62)])), ("b", np.array([2, 1]))]
    nodes = [helper.make_node("Add", ["a", "b"], ["c"]), helper.make_node("Sub", ["x", "c"], ["y"])]
    yield "exact", model(nodes, [("x", i64, (2,))], [("y", i64, (2,))], exact), {"Sub": 1}

    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(np.array([4, 9], np.float32))),
            helper.make_node("Sqrt", ["k"], ["q"]),
            helper.make_node("Add", ["v", "q"], ["w"]),
            helper.make_node("Identity", ["on"], ["still"]),
        ],
        "body",
        [info("i", i64, ()), info("on", TensorProto.BOOL, ()), info("v", f32, (2,))],
        [info("still", TensorProto.BOOL, ()), info("w", f32, (2,))],
    )
    trips = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    yield "loop", model([trips], x, y, [("n", np.int64(3))]), {"Loop": 1, "Add": 1, "Identity": 1}
    yield "no_loop", model([trips], x, y, [("n", np.int64(0))]), {"Identity": 1}

    branches = {
        f"{name}_branch": helper.make_graph([helper.make_node(op, ["x"], ["b"])], name, [], [info("b", f32, (2,))])
        for name, op in (("then", "Neg"), ("else", "Abs"))
    }
    nodes = [helper.make_node("Not", ["c"], ["d"]), helper.make_node("If", ["d"], ["y"], **branches)]
    yield "if", model(nodes, x, y, [("c", np.bool_(True))]), {"Abs": 1}

    yield "grid", grid(), {"Add": 1}

    # Before IR version 4 initializers are inputs and are kept, so that a second matrix would be added.
    weights = ("w", np.arange(4096, dtype=np.float32).reshape(64, 64))
    nodes = [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])]
    square = [("x", f32, (2, 64))], [("y", f32, (2, 64))]
    old = model(nodes, *square, defaults=[weights])
    old.ir_version = 3
    yield "kept_by_the_interface", old, {"Transpose": 1, "MatMul": 1}
    yield "not_kept", model(nodes, *square, [weights]), {"MatMul": 1}


def grid():
    """Returns the grid of a detector, which is computed from a few numbers and much smaller than the weights."""
    f32 = TensorProto.FLOAT
    constants = [
        ("zero", np.int64(0)),
        ("one", np.int64(1)),
        ("side", np.int64(64)),
        ("stride", np.float32(8)),
        ("column", np.array([64, 1])),
        ("row", np.array([1, 64])),
        ("both", np.array([64, 64])),
        ("w", np.random.default_rng(1).random((2600, 3000), np.float32)),
    ]
    nodes = [
        helper.make_node("Range", ["zero", "side", "one"], ["r"]),
        helper.make_node("Cast", ["r"], ["f"], to=f32),
        helper.make_node("Mul", ["f", "stride"], ["m"]),
        helper.make_node("Reshape", ["m", "column"], ["a"]),
        helper.make_node("Reshape", ["m", "row"], ["b"]),
        helper.make_node("Expand", ["a", "both"], ["c"]),
        helper.make_node("Expand", ["b", "both"], ["d"]),
        helper.make_node("Add", ["c", "d"], ["e"]),
        helper.make_node("Add", ["x", "e"], ["y"]),
    ]
    results = [("y", f32, (64, 64)), ("w", f32, (2600, 3000))]
    return model(nodes, [("x", f32, (64, 64))], results, constants)


def parallel():
    """Yields models with products of one value, for each kind of op and variant, with the ops after them."""
    random = np.random.default_rng(3)
    kinds = ("MatMul", "Conv", "Conv.strided", "Conv.1", "Gemm", "Gemm.transposed")
    opsets, biases = itertools.cycle((11, 13, 21)), itertools.cycle((False, True))
    for kind, following in itertools.product(kinds, ("", "Relu", "Mul Relu", "Add")):
        opset, count = next(opsets), 2 if following else 3
        op, _, how = kind.partition(".")
        has_bias = op != "MatMul" and next(biases)
        shape = {"MatMul": (2, 3, 4), "Gemm": (3, 4), "Conv": (2, 3, 6) if how == "1" else (2, 3, 6, 7)}[op]
        attributes = {"strided": {"strides": [2, 1], "pads": [1, 0, 1, 2]}, "transposed": {"transB": 1, "alpha": 0.5}}.get(how, {})
        nodes, constants, results = [], [], []
        for at in range(count):
            channels = at + 1
            if op == "Conv":
                weights = (channels, 3, 3, 2)[: len(shape)]
            else:
                weights = (channels, 4) if how == "transposed" else (4, channels)
            operands = ["x", f"w{at}"] + ([f"b{at}"] if has_bias else [])
            constants.append((f"w{at}", random.random(weights).astype(np.float32)))
            if has_bias:
                constants.append((f"b{at}", random.random(channels).astype(np.float32)))
            last = f"p{at}"
            nodes.append(helper.make_node(op, operands, [last], **attributes))
            for step, name in enumerate(following.split()):
                more = [] if name == "Relu" else [f"c{at}_{step}"]
                if more:
                    each = (channels,) + (1,) * (len(shape) - 2 if op == "Conv" else 0)
                    constants.append((more[0], (random.random(each) - 0.5).astype(np.float32)))
                nodes.append(helper.make_node(name, [last, *more], [f"p{at}_{step}"]))
                last = f"p{at}_{step}"
            nodes[-1].output[0] = f"y{at}"
            results.append((f"y{at}", TensorProto.FLOAT, [None] * len(shape)))
        steps = following.split()
        created = model(nodes, [("x", TensorProto.FLOAT, shape)], results, constants, opset)
        expected = {node.op_type: 0 for node in nodes}
        for name in [op, *steps]:
            expected[name] += 1
        expected["Split"] = 1
        if count * (1 + len(steps)) <= 2 + len(steps):
            expected = {name: [node.op_type for node in nodes].count(name) for name in expected if name != "Split"}
        yield f"parallel.{opset}.{kind}.{count}.{has_bias}.{'_'.join(following.split())}", created, expected


def ops_of(graph):
    for node in graph.node:
        if node.op_type != "Constant":
            yield node.op_type
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from ops_of(attribute.g)


def check(run, name, given, expected, work):
    before, after, again = (work / f"{name}{end}.onnx" for end in ("", ".out", ".again"))
    onnx.save(given, before)
    run(before, after)
    run(after, again)
    if after.read_bytes() != again.read_bytes():
        return "a second run changes more"
    left = sorted(ops_of(onnx.load(after).graph))
    if left != sorted(op for op, count in expected.items() for _ in range(count)):
        return f"these ops are left: {', '.join(left)}"
    size, limit = after.stat().st_size, before.stat().st_size * GROWTH + ALLOWANCE
    if size > limit:
        return f"{before.stat().st_size} bytes became {size}"
    return outputs.same_outputs(before, after)["why"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--plugin-dir", type=Path, action="append", default=[], help="a directory of plugins")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)

    def run(model, out):
        passes = PARALLEL if model.name.startswith("parallel.") else PASSES
        command = [args.passdock, "run", "-O", "4", "--passes", ",".join(passes), model, "-o", out, "--json"]
        command += ["--config", "relax.SimplifyInference.batch_norm=true"]
        command += [word for directory in args.plugin_dir for word in ("--plugin-dir", directory)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-2000:] or json.loads(done.stdout)["diagnostics"])

    wrong = count = 0
    for name, given, expected in itertools.chain(batch_norms(), dropouts(), folds(), parallel()):
        count += 1
        why = check(run, name, given, expected, args.work_dir)
        if why:
            wrong += 1
            print(f"{name}: {why}")
    print(f"{count} models, {wrong} wrong")
    return 1 if wrong or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
