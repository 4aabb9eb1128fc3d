#!/usr/bin/env python3
"""Converts random graphs to other layouts; ONNX Runtime must compute the same.

    python random_layouts.py --passdock PASSDOCK --work-dir DIRECTORY [--count 500] [--seed N] [--models DIRECTORY]

Each graph goes through `relax.transform.ConvertLayout` with a layout that its seed chooses, including blocked ones. The
results must be the same, a second run must change nothing, and each operator must occur, and must be converted, in some
graph. Real models are converted once to channels-last and once to blocks of four. After functions are inlined and
expressions simplified, a real model must not have more ops than before, and every fourth graph must give the same results.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import defs, helper, numpy_helper, shape_inference

import outputs

PASS = "relax.transform.ConvertLayout"
BACK = ["relax.transform.InlineFunctions", "relax.transform.SimplifyExpr", "relax.transform.DeadCodeElimination"]
ASKED = {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "BatchNormalization", "GlobalAveragePool"}
OPSETS = [9, 11, 12, 13, 15, 17, 18, 19, 21]
SPATIAL = {3: "W", 4: "HW", 5: "DHW"}
UNARY = "Relu Sigmoid Tanh Abs Neg Softplus HardSigmoid LeakyRelu Elu Identity Dropout Ceil".split()
BINARY = "Add Sub Mul Max Min".split()
REDUCTIONS = "ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare".split()
# Operators that every run of a few hundred graphs converts to another layout.
HAD = set(
    "Conv ConvTranspose MaxPool AveragePool GlobalAveragePool BatchNormalization InstanceNormalization LRN Resize Relu Add"
    " Mul Where Clip PRelu Concat Split Softmax ReduceMean ReduceSum ArgMax Transpose Squeeze Unsqueeze Flatten Reshape"
    " Slice Pad Tile Expand Gather Shape DepthToSpace SpaceToDepth CumSum TopK LayerNormalization Einsum".split()
)


class Graph:
    """A graph under construction. Each step uses existing values and tracks the sizes of its results."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.opset = self.rng.choice(OPSETS)
        self.nodes, self.constants, self.types, self.count = [], {}, {}, 0
        rank = self.rng.choice([4, 4, 4, 4, 3, 5])
        batch = "n" if self.rng.random() < 0.3 else self.rng.choice([1, 2])
        channels = self.rng.choice([3, 4, 8, 8])
        self.shape = [batch, channels] + [self.rng.choice([4, 5, 6]) for _ in range(rank - 2)]
        self.values = ["x"]
        self.types["x"] = helper.make_tensor_type_proto(T.FLOAT, self.shape)
        self.rank = rank

    def pick(self, *items):
        return self.rng.choice(items)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def constant(self, array):
        name = f"c{self.name()}"
        array = np.asarray(array)
        self.constants[name] = array
        self.types[name] = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        return name

    def ints(self, values):
        return self.constant(np.array(values, np.int64))

    def floats(self, shape):
        numbers = np.random.default_rng(self.rng.getrandbits(32))
        return self.constant(numbers.uniform(-1, 1, shape).astype(np.float32))

    def dims(self, name):
        dims = self.types[name].tensor_type.shape.dim
        return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims]

    def dtype(self, name):
        return self.types[name].tensor_type.elem_type

    def add(self, op, inputs, results=1, **attributes):
        """Adds an op, unless onnx can't infer the ranks of its results; then returns None."""
        names = [self.name() for _ in range(results)]
        node = helper.make_node(op, inputs, names, name=f"{op}_{names[0]}", **attributes)
        schema = defs.get_schema(op, self.opset, "")
        types = {name: self.types[name] for name in inputs if name}
        data = {n: numpy_helper.from_array(self.constants[n], n) for n in inputs if n in self.constants}
        opsets = [helper.make_opsetid("", self.opset)]
        found = shape_inference.infer_node_outputs(schema, node, types, data, opset_imports=opsets, ir_version=8)
        if any(name not in found or not found[name].tensor_type.HasField("shape") for name in names):
            return None
        self.types.update(found)
        self.nodes.append(node)
        return names[0] if results == 1 else names

    def floats_of(self, *ranks):
        return [v for v in self.values if self.dtype(v) == T.FLOAT and len(self.dims(v)) in ranks]

    def full(self):
        """Returns a value with all axes. Recent values are more likely."""
        there = self.floats_of(self.rank)
        return there[-1] if self.rng.random() < 0.6 else self.rng.choice(there)

    # --- steps -----------------------------------------------------------------------

    def conv(self):
        x = self.full()
        n, c, *spatial = self.dims(x)
        if not all(isinstance(d, int) and d >= 1 for d in [c, *spatial]) or c > 64:
            return None
        count = len(spatial)
        kernel = [self.pick(*(k for k in (1, 2, 3) if k <= d)) for d in spatial]
        group = self.pick(*(g for g in (1, 1, 2, c) if c % g == 0))
        if self.rng.random() < 0.25:
            w = self.floats([c, self.pick(1, 2, 4), *kernel])
            return self.add("ConvTranspose", [x, w], group=group)
        w = self.floats([group * self.pick(1, 2, 4), c // group, *kernel])
        inputs = [x, w] + ([self.floats([self.dims(w)[0]])] if self.rng.random() < 0.5 else [])
        pads = [self.pick(0, 1) for _ in range(2 * count)]
        return self.add("Conv", inputs, group=group, pads=pads, strides=[self.pick(1, 1, 2)] * count)

    def pool(self):
        x = self.full()
        spatial = self.dims(x)[2:]
        if not all(isinstance(d, int) and d >= 2 for d in spatial):
            return self.add("GlobalAveragePool", [x])
        kind = self.pick("MaxPool", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")
        if kind.startswith("Global"):
            return self.add(kind, [x])
        kernel = dict(kernel_shape=[2] * len(spatial))
        if kind == "MaxPool" and self.rng.random() < 0.3:
            results = self.add(kind, [x], 2, **kernel)
            return results
        return self.add(kind, [x], **kernel)

    def normalize(self):
        x = self.full()
        c = self.dims(x)[1]
        if not isinstance(c, int):
            return None
        kind = self.pick("BatchNormalization", "InstanceNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization")
        if kind == "BatchNormalization":
            positive = self.constant(np.linspace(0.5, 1.5, c, dtype=np.float32))
            return self.add(kind, [x, self.floats([c]), self.floats([c]), self.floats([c]), positive])
        if kind == "InstanceNormalization":
            return self.add(kind, [x, self.floats([c]), self.floats([c])])
        if kind == "LRN":
            return self.add(kind, [x], size=3) if self.rank == 4 else None
        if kind == "LpNormalization":
            return self.add(kind, [x], axis=self.axis(x), p=self.pick(1, 2))
        return self.add(kind, [x], axes=sorted(self.rng.sample(range(self.rank), 2)))

    def axis(self, x):
        rank = len(self.dims(x))
        return self.rng.randrange(-rank, rank)

    def unary(self):
        x = self.pick(*self.floats_of(2, 3, 4, 5, 6))
        kind = self.pick(*UNARY, "Clip", "Cast")
        if kind == "Clip":
            if self.opset < 11:
                return self.add(kind, [x], min=-0.5, max=0.5)
            return self.add(kind, [x, self.constant(np.float32(-0.5)), self.constant(np.float32(0.5))])
        if kind == "Cast":
            return self.add(kind, [x], to=T.FLOAT)
        return self.add(kind, [x])

    def binary(self):
        x = self.full()
        shape = self.dims(x)
        kind = self.pick(*BINARY, "PRelu", "Where")
        same = [v for v in self.floats_of(self.rank) if self.dims(v) == shape]
        cut = self.rng.randrange(len(shape) + 1)
        part = [d if isinstance(d, int) and self.rng.random() < 0.6 else 1 for d in shape[cut:]]
        other = self.pick(*same, self.floats(part), self.floats(part), self.floats([]))
        if kind == "PRelu":
            return self.add(kind, [x, self.floats(part)])
        if kind == "Where":
            condition = self.add("Greater", [x, other])
            return self.add("Where", [condition, x, self.pick(*same, self.floats([]))])
        return self.add(kind, [x, other] if self.rng.random() < 0.7 else [other, x])

    def concat(self):
        x = self.full()
        axis = self.axis(x)
        shape = self.dims(x)
        fits = [v for v in self.floats_of(self.rank) if all(
            a == b or at == axis % self.rank for at, (a, b) in enumerate(zip(self.dims(v), shape)))]
        parts = [self.pick(*fits) for _ in range(self.pick(2, 3))]
        if all(isinstance(d, int) for d in shape) and self.rng.random() < 0.3:
            parts.append(self.floats(shape))
        return self.add("Concat", parts, axis=axis)

    def split(self):
        x = self.full()
        axis = self.axis(x)
        size = self.dims(x)[axis]
        if not isinstance(size, int) or size < 2:
            return None
        first = self.pick(*range(1, size))
        if self.opset < 13:
            return self.add("Split", [x], 2, axis=axis, split=[first, size - first])
        return self.add("Split", [x, self.ints([first, size - first])], 2, axis=axis)

    def softmax(self):
        x = self.pick(*self.floats_of(2, 3, 4, 5))
        return self.add(self.pick("Softmax", "LogSoftmax", "Hardmax"), [x], axis=self.axis(x))

    def reduce(self):
        x = self.full()
        kind = self.pick(*REDUCTIONS, "ArgMax", "ArgMin")
        keepdims = self.pick(0, 1)
        if kind.startswith("Arg"):
            return self.add(kind, [x], axis=self.axis(x), keepdims=keepdims)
        axes = sorted(self.rng.sample(range(self.rank), self.rng.randrange(1, self.rank)))
        moved = 13 if kind == "ReduceSum" else 18
        if self.opset < moved:
            return self.add(kind, [x], axes=axes, keepdims=keepdims)
        return self.add(kind, [x, self.ints(axes)], keepdims=keepdims)

    def transpose(self):
        x = self.pick(*self.floats_of(2, 3, 4, 5))
        perm = list(range(len(self.dims(x))))
        self.rng.shuffle(perm)
        return self.add("Transpose", [x], perm=perm)

    def reshape(self):
        x = self.full()
        shape = self.dims(x)
        if self.rng.random() < 0.3:
            return self.add("Flatten", [x], axis=self.pick(0, 1, 2))
        wanted = [0, 0, -1]
        kind = self.rng.randrange(5)
        if kind == 0:
            wanted = [0, -1]
        if kind == 1 and isinstance(shape[1], int) and shape[1] % 2 == 0:
            wanted = [0, 2, shape[1] // 2, *([0] if False else [-1])]
        if kind == 2 and all(isinstance(d, int) for d in shape):
            wanted = [shape[0], -1] + shape[2:]
        if kind == 3:
            batch = self.add("Shape", [x])
            batch = batch and self.add("Gather", [batch, self.ints([0, 1])], axis=0)
            wanted = batch and self.add("Concat", [batch, self.ints([-1])], axis=0)
            return wanted and self.forced_reshape(x, wanted)
        return self.add("Reshape", [x, self.ints(wanted)])

    def forced_reshape(self, x, shape):
        """Adds a `Reshape` to a computed shape: the rank is known, the sizes aren't."""
        name = self.name()
        self.nodes.append(helper.make_node("Reshape", [x, shape], [name], name=f"Reshape_{name}"))
        self.types[name] = helper.make_tensor_type_proto(T.FLOAT, [None, None, None])
        return name

    def dims_of_one(self):
        x = self.pick(*self.floats_of(3, 4, 5))
        shape = self.dims(x)
        ones = [at for at, d in enumerate(shape) if d == 1]
        axes = [at for at in ones if self.rng.random() < 0.7]
        if axes and self.rng.random() < 0.7:
            kind = "Squeeze"
        else:
            kind, axes = "Unsqueeze", sorted(self.rng.sample(range(len(shape) + 1), 1))
        if self.opset < 13:
            return self.add(kind, [x], axes=axes)
        return self.add(kind, [x, self.ints(axes)])

    def slice(self):
        x = self.full()
        axes = sorted(self.rng.sample(range(self.rank), self.pick(1, 2)))
        starts, ends = [self.pick(0, 1, -2) for _ in axes], [self.pick(2, 3, 100) for _ in axes]
        if self.opset < 10:
            return self.add("Slice", [x], axes=axes, starts=starts, ends=ends)
        inputs = [x, self.ints(starts), self.ints(ends)]
        if axes != list(range(len(axes))) or self.rng.random() < 0.5:
            inputs += [self.ints(axes), self.ints([1 for _ in axes])]
        return self.add("Slice", inputs)

    def pad(self):
        x = self.full()
        pads = [self.pick(0, 0, 1) for _ in range(2 * self.rank)]
        mode = self.pick("constant", "constant", "edge")
        if self.opset < 11:
            return self.add("Pad", [x], pads=pads, mode=mode)
        if self.opset >= 18 and self.rng.random() < 0.4:
            axes = [self.rank - 1, 1]
            return self.add("Pad", [x, self.ints([1, 0, 0, 1]), "", self.ints(axes)], mode=mode)
        return self.add("Pad", [x, self.ints(pads)], mode=mode)

    def repeat(self):
        x = self.full()
        if self.rng.random() < 0.5:
            return self.add("Tile", [x, self.ints([self.pick(1, 1, 2) for _ in range(self.rank)])])
        return self.add("Expand", [x, self.ints([1] * self.pick(self.rank, 2))])

    def gather(self):
        x = self.full()
        indices = self.pick(self.ints(0), self.ints([0, 0]), self.ints([[0]]))
        return self.add("Gather", [x, indices], axis=self.axis(x))

    def resize(self):
        x = self.full()
        if self.rank != 4:
            return None
        scales = self.constant(np.array([1, 1, 2, 2], np.float32))
        if self.opset < 11:
            return self.add("Upsample", [x, scales], mode="nearest") if self.opset == 9 else None
        if self.opset < 13:
            return self.add("Resize", [x, self.constant(np.zeros(0, np.float32)), scales], mode=self.pick("nearest", "linear"))
        return self.add("Resize", [x, "", scales], mode=self.pick("nearest", "linear"))

    def space(self):
        x = self.full()
        _, c, *spatial = self.dims(x)
        if self.rank != 4 or not all(isinstance(d, int) for d in [c, *spatial]):
            return None
        if c % 4 == 0 and self.rng.random() < 0.5:
            mode = {} if self.opset < 11 else {"mode": self.pick("DCR", "CRD")}
            return self.add("DepthToSpace", [x], blocksize=2, **mode)
        if all(d % 2 == 0 for d in spatial):
            return self.add("SpaceToDepth", [x], blocksize=2)
        return None

    def along(self):
        x = self.full()
        kind = self.pick("CumSum", "TopK", "LayerNormalization", "Trilu", "GatherElements")
        if kind == "CumSum":
            return self.opset >= 11 and self.add(kind, [x, self.ints(self.axis(x))]) or None
        if kind == "TopK":
            return self.add(kind, [x, self.ints([1])], 2, axis=self.axis(x))
        if kind == "Trilu":
            return self.opset >= 14 and self.add(kind, [x]) or None
        if kind == "GatherElements":
            if self.opset < 11 or not all(isinstance(d, int) for d in self.dims(x)):
                return None
            return self.add(kind, [x, self.constant(np.zeros(self.dims(x), np.int64))], axis=self.axis(x))
        axis = self.pick(1, 2, -1)
        shape = self.dims(x)[axis:]
        if self.opset < 17 or not all(isinstance(d, int) for d in shape):
            return None
        return self.add(kind, [x, self.floats(shape), self.floats(shape)], axis=axis)

    def einsum(self):
        x = self.full()
        if self.rank != 4 or self.opset < 12:
            return None
        return self.add("Einsum", [x], equation=self.pick("nchw->nhc", "abcd->adcb", "nchw->nc"))

    def shape_of(self):
        x = self.full()
        return self.add("Shape", [x], **({"start": 1, "end": 3} if self.opset >= 15 and self.rng.random() < 0.5 else {}))

    def branch(self):
        """Adds an `If` whose branches use values from outside."""
        x = self.full()
        name = self.name()
        branches = {}
        for branch, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
            created = helper.make_tensor_value_info(f"{name}_{op}", T.FLOAT, self.dims(x))
            inner = [helper.make_node(op, [x], [f"{name}_{op}"])]
            branches[branch] = helper.make_graph(inner, branch, [], [created])
        condition = self.constant(np.array(self.rng.random() < 0.5))
        self.nodes.append(helper.make_node("If", [condition], [name], name=f"If_{name}", **branches))
        self.types[name] = helper.make_tensor_type_proto(T.FLOAT, self.dims(x))
        return name

    STEPS = (
        [(conv, 8), (pool, 3), (normalize, 4), (unary, 6), (binary, 6), (concat, 3), (split, 2), (softmax, 2), (reduce, 2)]
        + [(transpose, 2), (reshape, 2), (dims_of_one, 2), (slice, 2), (pad, 2), (repeat, 2), (gather, 2), (resize, 1)]
        + [(space, 1), (along, 2), (einsum, 1), (shape_of, 1), (branch, 1)]
    )

    def make(self, steps):
        kinds, weights = zip(*self.STEPS)
        self.values.append(self.conv())
        while len(self.nodes) < steps:
            step = self.rng.choices(kinds, weights)[0]
            try:
                created = step(self)
            except (shape_inference.InferenceError, onnx.checker.ValidationError):
                continue
            for value in [created] if isinstance(created, str) else created or []:
                if all(d != 0 for d in self.dims(value)):
                    self.values.append(value)
        used = {name for node in self.nodes for name in node.input}
        results = [name for node in self.nodes for name in node.output if name not in used]
        return self.model(results + [self.pick(*self.values[1:])])

    def model(self, results):
        ports = [onnx.ValueInfoProto(name=name, type=self.types[name]) for name in dict.fromkeys(results)]
        used = {name for node in self.nodes for name in node.input}
        constants = [numpy_helper.from_array(array, name) for name, array in self.constants.items() if name in used]
        given = [onnx.ValueInfoProto(name="x", type=self.types["x"])]
        graph = helper.make_graph(self.nodes, "random", given, ports, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def desired(self):
        """Returns the desired layouts: channels-last or in blocks, and those of weights."""
        spatial = SPATIAL[self.rank]
        data = self.pick(f"N{spatial}C", f"N{spatial}C", f"NC{spatial}4c", f"NC{spatial}2c", f"N{spatial}C4c")
        weights = self.pick("default", "default", f"{spatial}IO", f"O{spatial}I", f"OI{spatial}2o")
        asked = {f"onnx.{op}": [data] for op in ASKED if op in ("Conv", "MaxPool") or self.rng.random() < 0.5}
        asked["onnx.Conv"] = [data, weights]
        return ", ".join(f'"{op}" = {layouts}' for op, layouts in sorted(asked.items())).replace("'", '"')


def run(args, passes, source, out, desired=""):
    """Runs passes. Returns the error message if they fail."""
    command = [args.passdock, "run", "-O4", "--passes", ",".join(passes), source, "-o", out]
    command += ["--config", f"relax.ConvertLayout.desired_layouts={{ {desired} }}"]
    command += [word for directory in args.plugin_dir for word in ("--plugin-dir", directory)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stderr.strip()[-2000:] if done.returncode else None


def ops(path):
    """Counts the ops of a model's graph, without Constant nodes."""
    return sum(node.op_type != "Constant" for node in onnx.load(path).graph.node)


def check_model(model, args):
    """Describes what is wrong with a real model in two layouts, or returns None."""
    for data in ("NHWC", "NCHW4c"):
        after, again, back = (args.work_dir / f"{model.stem}.{data}.{name}.onnx" for name in ("after", "again", "back"))
        desired = ", ".join(f'"onnx.{op}" = ["{data}"]' for op in ("Conv", "ConvTranspose"))
        why = run(args, [PASS], model, after, desired) or run(args, [PASS], after, again, desired)
        if not why and after.read_bytes() != again.read_bytes():
            why = "a second run changes more"
        why = why or outputs.same_outputs(model, after, raises=True)["why"]
        if not why:
            # In one run: in a file with functions, initializers that are inputs of an older version may differ.
            why = run(args, [PASS, *BACK], model, back, desired) or outputs.same_outputs(model, back, raises=True)["why"]
            inlined = args.work_dir / f"{model.stem}.inlined.onnx"
            why = why or run(args, BACK[:1], model, inlined)
            if not why and ops(back) > ops(inlined):
                why = f"led back, it has {ops(back)} ops instead of {ops(inlined)}"
        if why:
            return f"{model.name} in {data}: {why}"
    return None


def runs(model):
    """Whether ONNX Runtime runs a graph. It rejects some operators without elements, or crashes."""
    child = os.fork()
    if child == 0:
        try:
            outputs.same_outputs(model, model)
        except outputs.CannotRun:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def check(seed, args):
    """Returns what is wrong with a graph or None, its operators, and those in another layout."""
    graph = Graph(seed)
    model = graph.make(args.steps)
    before, after, again = (args.work_dir / f"{seed}.{name}.onnx" for name in ("before", "after", "again"))
    onnx.checker.check_model(model)
    onnx.save(model, before)
    desired = graph.desired()
    had = collections.Counter()
    why = run(args, [PASS], before, after, desired) or run(args, [PASS], after, again, desired)
    if not why and after.read_bytes() != again.read_bytes():
        why = "a second run changes more"
    if not why:
        if not runs(before):
            return None, had
        why = outputs.same_outputs(before, after)["why"]
    if not why and seed % 4 == 0:
        why = run(args, BACK, after, again) or outputs.same_outputs(before, again)["why"]
    if not why:
        laid = onnx.load(after)
        now = {node.name: node for node in laid.graph.node}
        makers = {name: node.op_type for node in laid.graph.node for name in node.output}
        for node in model.graph.node:
            other = now.get(node.name)
            moved = [] if other is None else [name for name in other.input if name not in node.input]
            # An unchanged op uses values that were transposed back.
            if other is None or any(makers.get(name) not in ("Transpose", "Reshape", None) for name in moved):
                had[node.op_type] += 1
    if why:
        return f"{seed}: {why} ({desired})", had
    for file in (before, after, again):
        file.unlink()
    return None, had


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--plugin-dir", type=Path, action="append", default=[], help="a directory of plugins")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    p.add_argument("--count", type=int, default=500, help="how many graphs")
    p.add_argument("--steps", type=int, default=14, help="how many ops a graph has")
    p.add_argument("--seed", type=int, default=0, help="the first seed")
    p.add_argument("--models", type=Path, help="a directory of real models")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    wrong, had = 0, collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for why, more in pool.map(check, range(args.seed, args.seed + args.count), [args] * args.count, chunksize=4):
            had += more
            if why:
                wrong += 1
                print(why, flush=True)
    for model in sorted(args.models.glob("*.onnx")) if args.models else []:
        why = check_model(model, args)
        if why:
            wrong += 1
            print(why, flush=True)
    missing = sorted(HAD - set(had)) if args.count >= 300 else []
    for op in missing:
        print(f"{op} is in no graph in another layout")
    print(f"{args.count} graphs, {wrong} wrong, {len(had)} operators in other layouts")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
