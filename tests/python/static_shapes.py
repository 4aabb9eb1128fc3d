"""Checks DynamicToStatic on random shape computations: results must be the same for every size.

    python static_shapes.py --passdock FILE --work-dir DIR [--cases N] [--seed N]

Each model runs in ONNX Runtime before and after, with sizes of its dim symbols from 0. If it worked before, it must work
after, with the same results. Some models have bound symbols.
"""

import argparse
import collections
import itertools
import pathlib
import random
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper, numpy_helper

SIZES = (0, 1, 2, 3, 6)
CHANNELS = 6
PASSES = "relax.transform.DynamicToStatic,relax.transform.DeadCodeElimination"
WATCHED = {"Reshape": 1, "Expand": 1, "Slice": 2, "Tile": 1, "ConstantOfShape": 0, "Pad": 1, "Range": 1}


class Graph:
    """A graph under construction. Its only input is `x`, of n x m x CHANNELS."""

    def __init__(self, dice):
        self.dice, self.nodes, self.initializers, self.outputs = dice, [], [], []
        self.shape = self.op("Shape", ["x"])
        self.sizes = {"n": self.dim(0), "m": self.dim(1)}

    def op(self, kind, operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attributes))
        return name

    def const(self, values, dtype=np.int64):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def dim(self, axis):
        if self.dice.random() < 0.5:
            return self.op("Gather", [self.shape, self.const([axis])])
        return self.op("Slice", [self.shape, self.const([axis]), self.const([axis + 1])])

    def size(self, factors):
        """Returns a vector with one element: the product of symbols and numbers."""
        result = None
        for factor in factors:
            one = self.sizes[factor] if isinstance(factor, str) else self.const([factor])
            result = one if result is None else self.op("Mul", [result, one])
        return result or self.const([1])

    def vector(self, parts):
        if len(parts) == 1:
            return parts[0]
        return self.op("Concat", parts, axis=0)

    def give(self, value, dtype=T.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(value, dtype, None))


def reshape(g):
    factors = ["n", "m", 2, 3]
    if g.dice.random() < 0.6:
        # The common case: leading dims keep their positions.
        groups = [[factor] for factor in factors]
        while len(groups) > 1 and g.dice.random() < 0.6:
            at = g.dice.randrange(len(groups) - 1)
            groups[at : at + 2] = [groups[at] + groups[at + 1]]
    else:
        g.dice.shuffle(factors)
        groups = [[] for _ in range(g.dice.randint(1, 4))]
        for factor in factors:
            g.dice.choice(groups).append(factor)
    parts = [g.size(group) for group in groups]
    if g.dice.random() < 0.25:
        parts[g.dice.randrange(len(parts))] = g.const([-1])
    # ONNX doesn't allow -1 together with a literal 0.
    attributes = {"allowzero": 1} if g.dice.random() < 0.3 else {}
    if g.dice.random() < 0.25 and not attributes:
        parts[g.dice.randrange(len(parts))] = g.const([0])
    g.give(g.op("Reshape", ["x", g.vector(parts)], **attributes))


def expand(g):
    axes = [axis for axis in range(2) if g.dice.random() < 0.5]
    small = "x"
    for axis in axes:
        small = g.op("ReduceMax", [small], axes=[axis], keepdims=1) if g.dice.random() < 0.5 else small
    wanted = [g.size([g.dice.choice(["n", "m", 1, 2])]) for _ in range(g.dice.randint(0, 1))]
    wanted += [g.size([g.dice.choice(["n", "n", 1])]), g.size([g.dice.choice(["m", "m", 1])]), g.size([CHANNELS])]
    g.give(g.op("Expand", [small, g.vector(wanted)]))


def slice_(g):
    axes = g.dice.sample(range(3), g.dice.randint(1, 3))
    ends = []
    for axis in axes:
        size = g.size([["n", "m", CHANNELS][axis if g.dice.random() < 0.7 else g.dice.randrange(3)]])
        if g.dice.random() < 0.2:
            size = g.op("Sub", [size, g.const([1])])
        ends.append(size)
    starts = g.const([g.dice.randint(0, 2) for _ in axes])
    steps = [g.const([g.dice.choice([1, 1, 2, -1]) for _ in axes])] if g.dice.random() < 0.5 else []
    axes = g.const([axis - 3 * g.dice.randint(0, 1) for axis in axes])
    g.give(g.op("Slice", ["x", starts, g.vector(ends), axes, *steps]))


def tile(g):
    repeats = [g.size([g.dice.choice(["n", "m", 1, 2])]) for _ in range(3)]
    g.give(g.op("Tile", ["x", g.vector(repeats)]))


def filled(g):
    sizes = [g.size(g.dice.choice([["n"], ["m"], ["n", "m"], [2]])) for _ in range(g.dice.randint(1, 3))]
    g.give(g.op("ConstantOfShape", [g.vector(sizes)]))


def padded(g):
    pads = [g.size([g.dice.choice(["n", 0, 1])]) for _ in range(6)]
    g.give(g.op("Pad", ["x", g.vector(pads)]))


def counted(g):
    end = g.op("Squeeze", [g.size(g.dice.choice([["n"], ["n", "m"], [4]]))])
    g.give(g.op("Range", [g.const(0), end, g.const(1)]), T.INT64)


KINDS = [reshape, reshape, reshape, expand, slice_, tile, filled, padded, counted]


def model_of(dice):
    g = Graph(dice)
    for _ in range(dice.randint(1, 3)):
        dice.choice(KINDS)(g)
    x = helper.make_tensor_value_info("x", T.FLOAT, ["n", "m", CHANNELS])
    graph = helper.make_graph(g.nodes, "shapes", [x], g.outputs, g.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def results(session, x):
    try:
        return session.run(None, {"x": x})
    except Exception:  # the model doesn't work with these sizes
        return None


def constants(path):
    """Returns the number of constant shape operands, and of all shape operands."""
    graph = onnx.load(path).graph
    known = {tensor.name for tensor in graph.initializer}
    known.update(node.output[0] for node in graph.node if node.op_type == "Constant")
    slots = [node.input[WATCHED[node.op_type]] for node in graph.node if node.op_type in WATCHED]
    return sum(name in known for name in slots), len(slots)


def check(args, dice, number, tally):
    before, after = args.work_dir / f"{number}.onnx", args.work_dir / f"{number}.static.onnx"
    onnx.save(model_of(dice), before)
    bound = {name: dice.choice([1, 2, 3]) for name in ("n", "m") if dice.random() < 0.2}
    command = [args.passdock, "run", before, "-o", after, "--passes", PASSES]
    for name, size in bound.items():
        command += ["--bind", f"{name}={size}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        # A bound size that an op can't have is an error. Without bound sizes nothing may fail.
        tally["can't be bound"] += 1
        return None if bound and "cannot bind `" in ran.stderr else ran.stderr
    old, new = session(before), None
    for n, m in itertools.product(SIZES, SIZES):
        if bound.get("n", n) != n or bound.get("m", m) != m:
            continue
        x = np.arange(n * m * CHANNELS, dtype=np.float32).reshape(n, m, CHANNELS)
        expected = results(old, x)
        if expected is None:
            tally["doesn't work before"] += 1
            continue
        tally["compared"] += 1
        # Created late: a model that never works may be rejected on load when the error has become a constant.
        new = new or session(after)
        got = results(new, x)
        same = got is not None and all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(expected, got))
        if not same:
            return f"n = {n}, m = {m}: {[a.shape for a in expected]} became {got and [a.shape for a in got]}"
    for when, path in (("before", before), ("after", after)):
        some, all_ = constants(path)
        tally[f"constant {when}"] += some
        tally[f"operands {when}"] += all_
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", required=True)
    p.add_argument("--work-dir", type=pathlib.Path, required=True)
    p.add_argument("--cases", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    onnxruntime.set_default_logger_severity(4)
    dice, tally, wrong = random.Random(args.seed), collections.Counter(), 0
    for number in range(args.cases):
        why = check(args, dice, number, tally)
        if why:
            wrong += 1
            print(f"wrong: {args.work_dir}/{number}.onnx: {why}")
    print(f"{args.cases} models, {wrong} wrong: {dict(tally)}")
    # Some ops are folded away.
    share = {when: tally[f"constant {when}"] / max(tally[f"operands {when}"], 1) for when in ("before", "after")}
    enough = tally["compared"] > 5 * args.cases and share["after"] > 1.1 * share["before"]
    return 1 if wrong or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
