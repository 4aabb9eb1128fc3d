"""Checks the results of models that ToMixedPrecision converted.

    mixed_precision.py --passdock FILE --work-dir DIR [--models DIR] [--cases N] [--seed N]

Random models use small integers, which float16 and bfloat16 represent exactly, and random options. Their results must be
the same to the last bit, their interface unchanged unless `keep_io` is off, and no value may be cast twice to the same
type. Results of ONNX's node test cases and two small models must be within the tolerances in docs/numerics.md. float16 runs
in ONNX Runtime, bfloat16, which it doesn't support, in onnx's ReferenceEvaluator. Real models, if given, run in float16.
"""

import argparse
import collections
import pathlib
import random
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

import outputs

PASS = "relax.transform.ToMixedPrecision"
# Cases in which ReferenceEvaluator computes wrong bfloat16 results.
WRONG = {"test_maxpool_with_argmax_2d_precomputed_pads": "indices of windows that are padded: -12 for what is 12 in float32"}
OPERATORS = (
    "Conv ConvTranspose Einsum Gemm MatMul Abs Add AveragePool Ceil Clip Compress Concat DepthToSpace Div Elu Equal "
    "Erf Expand Flatten Floor Gather GatherElements GatherND Gelu GlobalAveragePool GlobalMaxPool Greater "
    "HardSigmoid HardSwish Identity LeakyRelu Less Max MaxPool Mean Min Mish Mul Neg PRelu Pad ReduceMax ReduceMin "
    "Relu Reshape Resize ReverseSequence Round ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Slice Softsign "
    "SpaceToDepth Split Squeeze Sub Sum Tanh ThresholdedRelu Tile Transpose Trilu Unsqueeze Where"
).split()


class Checker:
    """Runs passdock and counts results."""

    def __init__(self, passdock, work):
        self.passdock, self.work = passdock.resolve(), work
        self.counts, self.failures = collections.Counter(), []
        work.mkdir(parents=True, exist_ok=True)

    def convert(self, model, name, passes=(PASS,), **options):
        """Runs the pass and returns the path of the result, next to the model."""
        path, out, pipeline = (self.work / f"{name}{end}" for end in (".onnx", ".out.onnx", ".toml"))
        if isinstance(model, pathlib.Path):
            path = model
        else:
            onnx.save(model, path)
        text = ""
        for each in passes:
            text += f'[[passes]]\nname = "{each}"\n'
            own = options if each == PASS else {"to": 22}
            text += f"options = {{ {', '.join(f'{key} = {toml(value)}' for key, value in own.items())} }}\n"
        pipeline.write_text(text)
        out.unlink(missing_ok=True)
        command = [self.passdock, "run", pipeline, path, "-o", out, "--verify", "changed"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode:
            raise AssertionError(f"passdock exited with {done.returncode}: {done.stderr.strip()[-1500:]}")
        return path, out

    def fail(self, name, why):
        self.failures.append(name)
        print(f"{name}: {why}", file=sys.stderr)


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).replace("'", '"')


# --- random models ---------------------------------------------------------------------------


class Graph:
    """A model of small integers under construction, with 4 x 4 matrices and images of 1 x 4 x 4 x 4."""

    def __init__(self, dice, large):
        self.dice, self.nodes, self.constants = dice, [], []
        self.shapes, self.large = {}, large
        self.inputs = [self.named(f"x{at}", dice.choice([(4, 4), (1, 4, 4, 4)])) for at in range(dice.randint(1, 3))]

    def named(self, name, shape):
        self.shapes[name] = shape
        return name

    def op(self, kind, operands, shape, nodes=None, **attributes):
        name = self.named(f"v{len(self.shapes)}", shape)
        (self.nodes if nodes is None else nodes).append(helper.make_node(kind, operands, [name], **attributes))
        return name

    def constant(self, shape, values=None):
        name = self.named(f"c{len(self.shapes)}", shape)
        values = np.array([self.dice.randint(-2, 2) for _ in range(int(np.prod(shape)))]) if values is None else values
        self.constants.append(numpy_helper.from_array(np.array(values, np.float32).reshape(shape), name))
        return name

    def pick(self, shape, there):
        return self.dice.choice([name for name in there if self.shapes[name] == shape] or [self.constant(shape)])

    def step(self, there, nodes, depth=0):
        """Adds one or a few ops on existing values, and returns the results."""
        dice = self.dice
        x = dice.choice(there)
        shape = self.shapes[x]
        is_image = len(shape) == 4
        kind = dice.choice(
            ["always"] * 3 + ["unary"] * 3 + ["binary"] * 3 + ["moves", "never", "constant", "casts", "shape", "if"]
        )
        if kind == "always" and is_image:
            weights = dice.choice([self.constant((4, 4, 1, 1)), self.constant((4, 4, 3, 3))])
            pads = [1, 1, 1, 1] if self.shapes[weights][2] == 3 else [0, 0, 0, 0]
            y = self.op("Conv", [x, weights], shape, nodes, pads=pads)
        elif kind == "always":
            y = self.op("MatMul", [x, self.pick(shape, there)], shape, nodes)
        elif kind == "unary":
            y = self.op(dice.choice(["Relu", "Neg", "Abs", "Identity", "Sign", "Floor"]), [x], shape, nodes)
        elif kind == "binary":
            y = self.op(dice.choice(["Add", "Sub", "Mul", "Max", "Min"]), [x, self.pick(shape, there)], shape, nodes)
        elif kind == "moves":
            order = list(range(len(shape)))
            order[-2:] = reversed(order[-2:])
            y = self.op("Transpose", [x], shape, nodes, perm=order)
        elif kind == "never":
            axis = self.axes(-1)
            y = self.op("ReduceSum", [x, axis], (*shape[:-1], 1), nodes, keepdims=1)
            y = self.op("Sub", [x, y], shape, nodes)
        elif kind == "constant":
            values = dice.choice([None, [self.large], [1.0], [1e-12]])
            y = self.op("Add", [x, self.constant((1,) if values else shape, values)], shape, nodes)
            if values and values != [1.0]:
                # Subtracted again before the value is used.
                minus = self.constant((1,), [-self.large] if values[0] > 1 else [0.0])
                y = self.op("Round", [self.op("Add", [y, minus], shape, nodes)], shape, nodes)
        elif kind == "casts":
            low = dice.choice([T.FLOAT16, T.BFLOAT16, T.DOUBLE, T.INT32])
            y = self.op("Cast", [x], shape, nodes, to=low)
            y = self.op("Cast", [y], shape, nodes, to=T.FLOAT)
        elif kind == "shape":
            size = self.op("Shape", [x], (len(shape),), nodes)
            y = self.op("Reshape", [self.pick(shape, there), size], shape, nodes)
        elif depth < 2:
            y = self.branches(there, nodes, shape, depth)
        else:
            y = self.op("Relu", [x], shape, nodes)
        least, most = self.constant((), [-8.0]), self.constant((), [8.0])
        return self.op("Clip", [y, least, most], shape, nodes)

    def axes(self, axis):
        name = self.named(f"c{len(self.shapes)}", (1,))
        self.constants.append(numpy_helper.from_array(np.array([axis], np.int64), name))
        return name

    def branches(self, there, nodes, shape, depth):
        condition = self.named(f"c{len(self.shapes)}", ())
        self.constants.append(numpy_helper.from_array(np.array(self.dice.random() < 0.5), condition))
        graphs = {}
        for branch in ("then_branch", "else_branch"):
            own, inner = list(there), []
            for _ in range(self.dice.randint(1, 3)):
                own.append(self.step(own, inner, depth + 1))
            of_shape = [name for name in own[len(there) :] if self.shapes[name] == shape]
            given = self.op("Identity", [of_shape[-1] if of_shape else self.pick(shape, there)], shape, inner)
            output = helper.make_tensor_value_info(given, T.FLOAT, shape)
            graphs[branch] = helper.make_graph(inner, branch, [], [output])
        return self.op("If", [condition], shape, nodes, **graphs)

    def model(self, opset):
        value = lambda name: helper.make_tensor_value_info(name, T.FLOAT, self.shapes[name])
        there = list(self.inputs)
        for _ in range(self.dice.randint(3, 14)):
            there.append(self.step(there, self.nodes))
        created = there[len(self.inputs) :]
        given = [created[-1], *self.dice.sample(created[:-1], self.dice.randint(0, min(2, len(created) - 1)))]
        graph = helper.make_graph(self.nodes, "g", [value(x) for x in self.inputs], [value(y) for y in given])
        graph.initializer.extend(self.constants)
        # Some exporters also declare weights.
        declared = (helper.make_tensor_value_info(c.name, c.data_type, c.dims) for c in self.constants)
        graph.value_info.extend(declared)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def cast_twice(graph, seen=()):
    """Returns a value that the pass casts more than once to the same type, or None."""
    seen = set(seen)
    for node in graph.node:
        to = next((a.i for a in node.attribute if node.op_type == "Cast" and a.name == "to"), None)
        if to in (T.FLOAT16, T.BFLOAT16):
            if (node.input[0], to) in seen:
                return node.input[0]
            seen.add((node.input[0], to))
        for attribute in node.attribute:
            found = attribute.HasField("g") and cast_twice(attribute.g, seen)
            if found:
                return found
    return None


def random_cases(checker, count, seed):
    """Checks random models whose numbers all types represent exactly."""
    for number in range(count):
        name = f"random-{seed + number}"
        dice = random.Random(name)
        is_half = dice.random() < 0.6
        # A model that overflows in float16. For bfloat16 no sum that overflows is exact in float32.
        model = Graph(dice, 100000.0 if is_half else 64.0).model(18 if is_half else 22)
        options = {
            "dtype": "float16" if is_half else "bfloat16",
            "keep_io": dice.random() < 0.7,
            "accumulate_float32": dice.random() < 0.3,
        }
        for category in dice.sample(["always", "follow", "never"], dice.choice([0, 0, 1])):
            options[category] = dice.sample(["onnx.Add", "onnx.ReduceSum", "onnx.Conv", "onnx.Relu", "onnx.Clip"], 2)
        run = (lambda path: outputs.session(path)) if is_half else (lambda path: ReferenceEvaluator(str(path)))
        try:
            path, out = checker.convert(model, name, **options)
            feed = {
                x.name: np.array([dice.randint(-3, 3) for _ in range(4 ** len(x.type.tensor_type.shape.dim))], np.float32)
                for x in model.graph.input
            }
            for x in model.graph.input:
                shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
                feed[x.name] = feed[x.name][: int(np.prod(shape))].reshape(shape)
            expected = run(path).run(None, feed)
            created = onnx.load(out)
            onnx.checker.check_model(created, full_check=True)
            if options["keep_io"]:
                why = outputs.interface_difference(model, created, defaults=True)
                if why:
                    raise AssertionError(why)
            types = {x.name: helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type) for x in created.graph.input}
            got = run(out).run(None, {name: value.astype(types[name]) for name, value in feed.items()})
            why = outputs.apart(expected, got, 0.0) or (twice := cast_twice(created.graph)) and f"{twice} is cast twice"
            if why and "cast twice" in why and cast_twice(model.graph):
                why = None
            if why:
                raise AssertionError(f"{why}; {options}")
            checker.counts["random"] += 1
            checker.counts["changed"] += created.graph != model.graph
            for file in (path, out, path.with_suffix(".toml")):
                file.unlink()
        except Exception as error:  # includes the runtimes' errors
            checker.fail(name, error)


# --- ONNX's own cases, small models, real ones ----------------------------------------------


def node_cases(checker, dtype):
    """Checks each operator's test cases in the smaller type."""
    for case in collect_testcases(None):
        nodes = case.model.graph.node
        operator = nodes[0].op_type
        floats = [x for x in case.model.graph.input if x.type.tensor_type.elem_type == T.FLOAT]
        if len(nodes) != 1 or operator not in OPERATORS or not floats:
            continue
        is_half = dtype == "float16"
        if not is_half and case.name in WRONG:
            continue
        passes = (PASS,) if is_half else ("relax.transform.RaiseOpset", PASS)
        try:
            path, out = checker.convert(case.model, f"{case.name}-{dtype}", passes, dtype=dtype, always=[f"onnx.{operator}"])
        except AssertionError as error:
            checker.fail(case.name, error)
            continue
        created = onnx.load(out)
        if not any(node.op_type == "Cast" for node in created.graph.node):
            checker.counts[f"nodes of {dtype} that stay"] += 1
            continue
        names = [x.name for x in case.model.graph.input]
        run = outputs.session if is_half else lambda path: ReferenceEvaluator(str(path))
        for inputs, _ in case.data_sets:
            feed = dict(zip(names, map(np.asarray, inputs)))
            try:
                # The reference is the same runtime, whose results may differ from the case's.
                expected = run(path).run(None, feed)
            except Exception as error:  # the runtime may have no kernel
                checker.counts[f"nodes of {dtype} not run"] += 1
                print(f"{case.name} isn't run: {str(error)[:200]}", file=sys.stderr)
                continue
            try:
                got = run(out).run(None, feed)
            except Exception as error:
                checker.fail(f"{case.name} of {dtype}", f"it runs in float32 alone: {str(error)[:200]}")
                continue
            why = outputs.apart(expected, got, outputs.ALLOWED[dtype])
            checker.counts[f"nodes of {dtype}"] += 1
            if why:
                checker.fail(f"{case.name} of {dtype}", why)
        for file in (path, out, path.with_suffix(".toml")):
            file.unlink()


def attention():
    """Returns a small transformer block."""
    dice = np.random.default_rng(1)
    constants = {name: dice.normal(0, 0.2, (16, 16)) for name in ("q", "k", "v", "o")}
    constants |= {"scale": np.array(0.25), "one": np.ones(16), "zero": np.zeros(16)}
    make = helper.make_node
    nodes = [make("MatMul", ["x", name], [f"x{name}"]) for name in ("q", "k", "v")]
    nodes += [
        make("Transpose", ["xk"], ["kt"], perm=[0, 2, 1]),
        make("MatMul", ["xq", "kt"], ["scores"]),
        make("Mul", ["scores", "scale"], ["scaled"]),
        make("Softmax", ["scaled"], ["weights"]),
        make("MatMul", ["weights", "xv"], ["mixed"]),
        make("MatMul", ["mixed", "o"], ["out"]),
        make("Add", ["x", "out"], ["sum"]),
        make("LayerNormalization", ["sum", "one", "zero"], ["y"]),
    ]
    shape = ["n", 5, 16]
    ends = [helper.make_tensor_value_info(name, T.FLOAT, shape) for name in ("x", "y")]
    tensors = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "attention", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, {"x": dice.normal(0, 1, (2, 5, 16)).astype(np.float32)}


def small_models(checker):
    """Checks two models in both types with onnx's ReferenceEvaluator."""
    examples = pathlib.Path(__file__).parents[2] / "examples" / "models"
    digits = onnx.load(examples / "digits.onnx")
    images = np.load(examples / "digits_inputs.npy")[:32]
    models = {"digits": (digits, {digits.graph.input[0].name: images}), "attention": attention()}
    for name, (model, feed) in models.items():
        for dtype in ("float16", "bfloat16"):
            passes = ("relax.transform.RaiseOpset", PASS)
            path, out = checker.convert(model, f"{name}-{dtype}", passes, dtype=dtype)
            expected = ReferenceEvaluator(str(path)).run(None, feed)
            got = ReferenceEvaluator(str(out)).run(None, feed)
            why = outputs.apart(expected, got, outputs.ALLOWED[dtype])
            kinds = {tensor.data_type for tensor in onnx.load(out).graph.initializer}
            if why or {"float16": T.FLOAT16, "bfloat16": T.BFLOAT16}[dtype] not in kinds:
                checker.fail(f"{name} of {dtype}", why or "no constant is converted")
            checker.counts["small models"] += 1


def real_models(checker, models):
    """Checks real models in float16 with ONNX Runtime. Without `keep_io` inputs and outputs may be float16."""
    for model in sorted(models.glob("*.onnx")):
        proto = onnx.load(model)
        runs = outputs.runs_of(outputs.session(model), proto, None)
        for options in ({}, {"accumulate_float32": True}, {"keep_io": False}):
            _, out = checker.convert(model, model.stem, **options)
            created = onnx.load(out)
            types = {x.name: helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type) for x in created.graph.input}
            for feed, expected in runs:
                got = outputs.session(out).run(None, {name: value.astype(types[name]) for name, value in feed.items()})
                why = outputs.apart(expected, got, outputs.ALLOWED["float16"])
                checker.counts["runs of real models"] += 1
                if why:
                    checker.fail(f"{model.stem} {options}", why)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=pathlib.Path, required=True, help="the command, with the plugins next to it")
    parser.add_argument("--work-dir", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    checker = Checker(args.passdock, args.work_dir)
    random_cases(checker, args.cases, args.seed)
    node_cases(checker, "float16")
    node_cases(checker, "bfloat16")
    small_models(checker)
    if args.models:
        real_models(checker, args.models)
    print(", ".join(f"{count} {what}" for what, count in sorted(checker.counts.items())))
    if checker.failures:
        sys.exit(f"{len(checker.failures)} failed: {', '.join(checker.failures[:10])}")
    # Fails if too few node cases ran.
    for dtype in outputs.ALLOWED:
        if checker.counts[f"nodes of {dtype} not run"] * 5 > checker.counts[f"nodes of {dtype}"]:
            sys.exit(f"too few node cases of {dtype} could be run")


main()
