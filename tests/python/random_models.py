"""Generates small random models with operators that the standard passes handle. The same seed gives the same model.

A model is built from its inputs: each step uses existing values and knows the sizes of its results, so that every model
is valid and runs. Results are compared where they are computed: in the main graph, in a branch, in a loop's body or in a
function.
"""

import random
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, helper, numpy_helper

F32, F64, F16, I64, I32, BOOL = np.float32, np.float64, np.float16, np.int64, np.int32, np.bool_
FLOATS, INTS = (F32, F64), (I64, I32)
OPSETS = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]
# The values of symbolic dims in runs. No fixed dim has these sizes.
BINDINGS = [{"n": 2, "m": 7}, {"n": 5, "m": 1}]
SIZES = [1, 3, 4]
SPECIAL = {
    F32: [0.0, -0.0, np.nan, 1.0, -1.5, 3.0, np.inf],
    F64: [0.0, -0.0, np.nan, 2.0, 1e-300],
    F16: [0.0, -0.0, 1.0, 0.1],
    I64: [0, 1, -1, 2**53 + 1, -(2**53) - 1, 7],
    I32: [0, 1, -3, 2**31 - 1],
    BOOL: [True, False],
}
LOCAL = "local"


@dataclass(frozen=True)
class Value:
    """A value. `exact`: all runtimes compute the same, so it may be compared and rounded."""

    name: str
    dtype: type
    shape: tuple
    exact: bool = True
    random: bool = False


@dataclass
class Scope:
    """A graph under construction, which can use values of the outer scopes."""

    values: list = field(default_factory=list)
    nodes: list = field(default_factory=list)
    initializers: list = field(default_factory=list)
    outer: "Scope" = None
    depth: int = 0

    def visible(self):
        seen = list(self.values)
        return seen + self.outer.visible() if self.outer else seen


class Maker:
    def __init__(self, seed, steps):
        self.rng, self.steps = random.Random(seed), steps
        self.opset = self.rng.choice(OPSETS)
        # Before version 4 an initializer is also an input.
        self.ir_version = 3 if self.opset == 9 and self.rng.random() < 0.5 else 8 if self.opset < 19 else 10
        self.scope, self.functions, self.inputs, self.count = Scope(), [], [], 0
        self.overridable = set()

    # --- parts ---------------------------------------------------------------------

    def fresh(self, base="v"):
        self.count += 1
        return f"{base}{self.count}"

    def chance(self, part):
        return self.rng.random() < part

    def node(self, op, operands, results, domain="", **attributes):
        names = [operand.name if isinstance(operand, Value) else operand for operand in operands]
        name = self.fresh(f"{op}_") if self.chance(0.7) else None
        node = helper.make_node(op, names, [r.name for r in results], name=name, domain=domain, **attributes)
        self.scope.nodes.append(node)
        self.scope.values.extend(results)
        return results[0] if len(results) == 1 else results

    def make(self, op, operands, dtype=None, shape=None, exact=True, **attributes):
        """Adds an op with one result. By default the type and shape are those of the first operand."""
        given = [operand for operand in operands if isinstance(operand, Value)]
        exact = exact and all(operand.exact for operand in given)
        shape = given[0].shape if shape is None else tuple(shape)
        result = Value(self.fresh(), dtype or given[0].dtype, shape, exact)
        return self.node(op, operands, [result], **attributes)

    def constant(self, array, as_node=None):
        """Adds a constant, as an initializer or a node. Functions only have nodes."""
        array = np.asarray(array)
        value = Value(self.fresh("c"), array.dtype.type, array.shape)
        tensor = numpy_helper.from_array(array, value.name)
        in_function = self.scope.depth < 0
        if in_function or (self.chance(0.4) if as_node is None else as_node):
            return self.node("Constant", [], [value], value=tensor)
        self.scope.initializers.append(tensor)
        self.scope.values.append(value)
        return value

    def numbers(self, dtype, shape):
        if dtype == BOOL:
            drawn = [self.chance(0.5) for _ in range(int(np.prod(shape)))]
        elif self.chance(0.15):
            drawn = [self.rng.choice(SPECIAL[dtype])] * int(np.prod(shape))
        else:
            whole = dtype in INTS
            drawn = [self.rng.randint(-4, 4) if whole else self.rng.uniform(-2, 2) for _ in range(int(np.prod(shape)))]
        return np.array(drawn, dtype=dtype).reshape(shape)

    def pick(self, dtypes=None, rank=None, test=None):
        """Returns a random value, preferring recent ones; None if none is suitable."""
        dtypes = dtypes if isinstance(dtypes, (tuple, list, type(None))) else (dtypes,)
        suits = [
            value
            for value in self.scope.visible()
            if not value.random
            and (dtypes is None or value.dtype in dtypes)
            and (rank is None or len(value.shape) in rank)
            and (test is None or test(value))
        ]
        if not suits:
            return None
        return self.rng.choice(suits[-8:] if self.chance(0.6) else suits)

    def compatible(self, value):
        """Returns a value that broadcasts to another's shape."""
        if self.chance(0.4):
            shape = [size if isinstance(size, int) and self.chance(0.5) else 1 for size in value.shape]
            keep = self.rng.randint(0, len(shape))
            return self.constant(self.numbers(value.dtype, shape[len(shape) - keep :]))
        return self.pick(value.dtype, test=lambda v: broadcasts(v.shape, value.shape)) or value

    def axes(self, op, value, axes, since, name="axes"):
        """Returns the operands and attributes for axes in this version."""
        if self.opset >= since:
            return [value, self.constant(np.array(axes, I64))], {}
        return [value], {name: axes}

    # --- graphs ----------------------------------------------------------------------

    def subgraph(self, name, body, inputs=()):
        """Builds a graph for a node's attribute. `body` adds its ops and returns its outputs."""
        around, self.scope = self.scope, Scope(outer=self.scope, depth=self.scope.depth + 1)
        infos = []
        for value in inputs:
            self.scope.values.append(value)
            infos.append(info(value))
        results = body()
        given = []
        for value in results:
            # The outputs of a graph are its own values, without duplicates.
            own = {output for node in self.scope.nodes for output in node.output}
            if value.name not in own or value.name in given or (value in inputs):
                value = self.make("Identity", [value])
            given.append(value.name)
        by_name = {value.name: value for value in self.scope.values}
        outputs = [info(by_name[name], self.chance(0.7)) for name in given]
        graph = helper.make_graph(self.scope.nodes, name, infos, outputs, self.scope.initializers)
        self.scope = around
        return graph

    def model(self):
        inputs = [(F32, ("n", 3, 4)), (F32, (3, 4)), (F32, ("n", 4)), (I64, (4,)), (BOOL, ()), (F32, ("n", 3, 4, 4)), (F64, ("m", 3)), (I32, ("n",))]
        for dtype, shape in self.rng.sample(inputs, self.rng.randint(2, 5)):
            value = Value(self.fresh("x"), dtype, shape)
            self.inputs.append(value)
            self.scope.values.append(value)
        for _ in range(self.rng.randint(0, 2)):
            # An input with a default.
            shape = self.rng.choice([(3, 4), (4,), ()])
            value = Value(self.fresh("d"), F32, shape)
            self.scope.initializers.append(numpy_helper.from_array(self.numbers(F32, shape), value.name))
            self.scope.values.append(value)
            self.inputs.append(value)
            self.overridable.add(value.name)
        for _ in range(self.rng.randint(4, 18)):
            self.step()
        return self.finish()

    def step(self):
        steps = [step for step in self.steps if step.since <= self.opset and (step.deep or self.scope.depth < 2)]
        step = self.rng.choices(steps, [step.weight for step in steps])[0]
        before = len(self.scope.nodes)
        step.run(self)
        created = self.scope.nodes[before:]
        # A duplicate, for passes that merge equal ops.
        if len(created) == 1 and self.chance(0.25) and not any(a.type == AttributeProto.GRAPH for a in created[0].attribute):
            self.again(created[0])

    def again(self, node):
        copied = type(node)()
        copied.CopyFrom(node)
        copied.name = self.fresh("again_")
        by_name = {value.name: value for value in self.scope.values}
        del copied.output[:]
        for name in node.output:
            value = by_name.get(name)
            if value is None:
                copied.output.append("")
                continue
            self.scope.values.append(Value(self.fresh(), value.dtype, value.shape, value.exact, value.random))
            copied.output.append(self.scope.values[-1].name)
        if copied.op_type in ("Add", "Mul", "And", "Or") and self.chance(0.5):
            copied.input[:] = list(copied.input)[::-1]
        self.scope.nodes.append(copied)

    def finish(self):
        created = {name for node in self.scope.nodes for name in node.output}
        values = [value for value in self.scope.values if value.name in created or self.chance(0.15)]
        randoms = [value for value in values if value.random]
        others = [value for value in values if not value.random] or self.inputs[:1]
        # Most unused values become outputs; the rest is dead.
        used = {name for node in self.scope.nodes for name in node.input}
        chosen = self.rng.sample(others, min(len(others), self.rng.randint(1, 2)))
        chosen += [v for v in others if v.name not in used and v not in chosen and self.chance(0.7)]
        chosen += randoms[:3]
        initializers = {tensor.name for tensor in self.scope.initializers}
        known = [value for value in self.inputs]
        if self.ir_version < 4:
            # Initializers are inputs, too, although callers can't override them.
            listed = {value.name for value in known}
            known += [v for v in self.scope.values if v.name in initializers and v.name not in listed]
        graph = helper.make_graph(
            self.scope.nodes,
            "g",
            [info(value) for value in known],
            [info(value, self.chance(0.6)) for value in chosen],
            self.scope.initializers,
            value_info=[info(v, self.chance(0.7)) for v in self.scope.values if v.name in created and v not in chosen and self.chance(0.2)],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        if self.functions:
            opsets.append(helper.make_opsetid(LOCAL, 1))
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=self.ir_version, functions=self.functions, producer_name="passdock"
        )
        return Model(model, [v for v in self.inputs if v.name not in self.overridable], chosen)


@dataclass
class Model:
    proto: object
    inputs: list
    outputs: list

    def feeds(self, seed):
        """Yields the inputs of a run for each binding of the symbolic dims."""
        rng = np.random.default_rng(seed)
        for binding in BINDINGS:
            feed = {}
            for value in self.inputs:
                shape = [binding.get(size, size) for size in value.shape]
                if value.dtype == BOOL:
                    feed[value.name] = np.asarray(rng.integers(0, 2, shape)).astype(BOOL)
                elif value.dtype in INTS:
                    feed[value.name] = np.asarray(rng.integers(-3, 4, shape)).astype(value.dtype)
                else:
                    feed[value.name] = np.asarray(rng.uniform(-1.5, 1.5, shape)).astype(value.dtype)
            yield feed


def info(value, shaped=True):
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype))
    return helper.make_tensor_value_info(value.name, dtype, [known(size) if shaped else None for size in value.shape])


def known(size):
    """Returns a dim as in a file."""
    return size if isinstance(size, int) or size in BINDINGS[0] else None


def broadcasts(shape, to):
    """Whether a shape broadcasts to another for all values of symbols."""
    if len(shape) > len(to):
        return False
    return all(a == 1 or a == b for a, b in zip(shape[::-1], to[::-1]))
