"""Builds models around a rule's pattern: values, graphs, and the position of the pattern in a model."""

import random
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, helper

from random_values import FLOATS, INTEGERS, T, numpy_type, proto

# The values of symbolic dims in runs.
BINDINGS = [{"n": 2, "m": 7}, {"n": 1, "m": 0}]
LOCAL = "local"
# The tolerance of results that are rounded in another order, relative to the largest number.
EPSILON = {T.FLOAT: 2e-5, T.DOUBLE: 1e-12, T.FLOAT16: 2e-2, T.BFLOAT16: 8e-2}
# Values of constants for the operands that a pattern leaves open.
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5]


class Unsuited(Exception):
    """The combination can't be built; another one may work."""


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor, or a sequence of tensors. A dim is a size or a name: `n`, `m`, or `?1` for an unnamed one."""

    name: str
    dtype: int
    shape: tuple
    array: object = None
    parts: tuple = None


@dataclass
class Scope:
    """A graph under construction. Unless it is a function, it can use values of the outer scopes."""

    kind: str = "main"
    outer: "Scope" = None
    nodes: list = field(default_factory=list)
    initializers: list = field(default_factory=list)
    values: list = field(default_factory=list)
    # For a function: its parameters, and the arguments of its call.
    parameters: list = field(default_factory=list)
    arguments: list = field(default_factory=list)

    def visible(self):
        around = self.outer.visible() if self.outer and self.kind != "function" else []
        return self.values + around


class Builder:
    """A model under construction, and its random choices."""

    def __init__(self, words, opset, dtype):
        self.rng, self.opset, self.dtype = random.Random(words), opset, dtype
        self.scope, self.inputs, self.functions, self.count = Scope(), [], [], 0
        # Whether inputs must be numbers that every op accepts.
        self.tame = False
        # The tolerance of the coarsest dtype of a result.
        self.coarsest = 0.0
        # Whether ONNX's reference implementation is known to be wrong.
        self.kernels_only = False
        self.unknown, self.memo, self.operators = {}, {}, set()
        # Whether shapes have many dims of 1, whether they have symbols, and their rank.
        self.units, self.symbols, self.rank = self.chance(0.4), self.chance(0.3), None
        self.empty = self.chance(0.08)
        # The symbols that the file has names for.
        self.named = "nm" if self.chance(0.75) else ""

    # --- chances -------------------------------------------------------------------

    def chance(self, part):
        return self.rng.random() < part

    def pick(self, items):
        items = list(items)
        if not items:
            raise Unsuited("nothing to choose from")
        return self.rng.choice(items)

    def sample(self, items, low, high=None):
        items = list(items)
        high = len(items) if high is None else min(high, len(items))
        if low > high:
            raise Unsuited("too few to choose from")
        return self.rng.sample(items, self.rng.randint(low, high))

    def dim(self):
        if self.symbols and self.chance(0.35):
            return self.pick("nm")
        if self.empty and self.chance(0.2):
            return 0
        return 1 if self.units and self.chance(0.4) else self.pick([1, 2, 2, 3, 4])

    def shape(self, low=0, high=4):
        rank = self.rank if self.rank is not None else self.rng.randint(low, high)
        return tuple(self.dim() for _ in range(rank))

    def under(self, shape):
        """Returns a shape that broadcasts to another."""
        cut = self.rng.randint(0, len(shape)) if self.chance(0.5) else 0
        return tuple(1 if self.chance(0.3) else dim for dim in shape[cut:])

    def product(self, dims):
        """Returns the dim that is the product of many dims."""
        dims = [dim for dim in dims if dim != 1]
        if all(isinstance(dim, int) for dim in dims):
            return int(np.prod(dims, dtype=np.int64))
        return dims[0] if len(dims) == 1 else self.nameless("*", *sorted(map(str, dims)))

    def nameless(self, *key):
        key = key if key and key[0] == "*" else (len(self.unknown),)
        return self.unknown.setdefault(key, f"?{len(self.unknown)}")

    # --- values --------------------------------------------------------------------

    def fresh(self, base="v"):
        self.count += 1
        return f"{base}{self.count}"

    def node(self, op, operands, results, domain="", **attributes):
        """Adds an op. `results` are (dtype, shape), and an operand of None is omitted."""
        operands = list(operands)
        while operands and operands[-1] is None:
            operands.pop()
        created = [result if isinstance(result, Value) else Value(self.fresh(), *result) for result in results]
        names = [operand.name if operand else "" for operand in operands]
        attributes = {name: value for name, value in attributes.items() if value is not None}
        node = helper.make_node(op, names, [one.name for one in created], domain=domain)
        for name, value in attributes.items():
            kind = AttributeProto.INTS if isinstance(value, list) and not value else None
            node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
        self.operators.add(op)
        self.coarsest = max([self.coarsest, *(EPSILON.get(one.dtype, 0.0) for one in created)])
        self.scope.nodes.append(node)
        self.scope.values += [one for one in created if one.parts is None]
        return created

    def in_any(self, kind):
        scope = self.scope
        while scope and scope.kind != kind:
            scope = scope.outer
        return scope is not None

    def one(self, op, operands, dtype, shape, **attributes):
        return self.node(op, operands, [(dtype, tuple(shape))], **attributes)[0]

    def constant(self, array, dtype):
        array = np.asarray(array).astype(numpy_type(dtype))
        value = Value(self.fresh("c"), dtype, array.shape, array)
        tensor = proto(array, dtype, value.name)
        if self.in_any("function") or self.chance(0.25):
            return self.node("Constant", [], [value], value=tensor)[0]
        self.scope.initializers.append(tensor)
        return value

    def ints(self, ints, rank=1):
        """Returns integers that parametrize an op, nearly always as a constant."""
        array = np.array(ints, np.int64).reshape([-1] if rank == 1 else [])
        value = self.constant(array, T.INT64)
        return self.one("Identity", [value], T.INT64, array.shape) if self.chance(0.03) else value

    def numbers(self, dtype, shape, small=False):
        """Returns an array of small numbers, whose products are exact."""
        count = int(np.prod(shape, dtype=np.int64))
        if dtype == T.BOOL:
            drawn = [self.chance(0.5) for _ in range(count)]
        elif dtype in FLOATS:
            choice = [0.5, 1.0, 2.0, 1.5] if small else NUMBERS
            same = self.pick(choice) if self.chance(0.2) else None
            drawn = [self.pick(choice) if same is None else same for _ in range(count)]
        else:
            low = 0 if numpy_type(dtype).kind == "u" else -3
            drawn = [self.rng.randint(low, 4) for _ in range(count)]
        return np.array(drawn, dtype=np.float64).reshape(shape).astype(numpy_type(dtype))

    def input(self, dtype, shape, scope=None):
        """Adds an input of the model, and a parameter of each function around the current scope."""
        scope = scope or self.scope
        while scope and scope.kind != "function":
            scope = scope.outer
        if scope is None:
            value = Value(self.fresh("x"), dtype, tuple(shape))
            self.inputs.append(value)
            return value
        scope.arguments.append(self.input(dtype, shape, scope.outer))
        scope.parameters.append(Value(self.fresh("p"), dtype, tuple(shape)))
        return scope.parameters[-1]

    def data(self, dtype=None, shape=None, constants=True):
        """Returns a value for an operand that a pattern leaves open: new or existing, an input, a constant or a result."""
        dtype = self.dtype if dtype is None else dtype
        if shape is None and self.chance(0.15):
            there = [value for value in self.scope.visible() if value.dtype == dtype]
            if there:
                return self.pick(there)
        shape = tuple(self.shape() if shape is None else shape)
        if any(str(dim).startswith("?") for dim in shape):
            same = [value for value in self.scope.visible() if value.dtype == dtype and value.shape == shape]
            return self.pick(same)
        if constants and self.chance(0.08) and all(isinstance(dim, int) for dim in shape):
            return self.constant(self.numbers(dtype, shape), dtype)
        if self.chance(0.3):
            same = [value for value in self.scope.visible() if value.dtype == dtype and value.shape == shape]
            if same:
                return self.pick(same)
        value = self.input(dtype, shape)
        return self.around(value) if self.chance(0.4) else value

    def around(self, value):
        """Adds an op next to a pattern, whose result has the type of its operand."""
        if value.dtype == T.BOOL:
            return self.one("Not", [value], value.dtype, value.shape)
        choices = ["Identity", "Neg", "Abs", "Sum"] if value.dtype in FLOATS else ["Identity"]
        op = self.pick(choices)
        operands = [value, value] if op == "Sum" else [value]
        return self.one(op, operands, value.dtype, value.shape)

    def join(self, *shapes):
        """Returns the shape that shapes broadcast to."""
        rank, joined = max(map(len, shapes)), []
        for at in range(-rank, 0):
            dims = {shape[at] for shape in shapes if len(shape) >= -at} - {1}
            if len(dims) > 1:
                raise Unsuited("shapes that don't meet")
            joined.append(dims.pop() if dims else 1)
        return tuple(joined)

    # --- places --------------------------------------------------------------------

    def inside(self, kind, body, parameters=()):
        """Builds the graph of an attribute or a function. Returns its scope and the outputs of `body`, without duplicates."""
        around, self.scope = self.scope, Scope(kind, self.scope)
        self.scope.values += parameters
        results = []
        for value in body():
            created = {name for node in self.scope.nodes for name in node.output}
            if value.name not in created or value in results:
                value = self.one("Identity", [value], value.dtype, value.shape)
            results.append(value)
        inner, self.scope = self.scope, around
        return inner, results

    def graph(self, body, parameters=()):
        inner, results = self.inside("graph", body, parameters)
        infos = [self.info(value, self.chance(0.7)) for value in results]
        inputs = [self.info(value) for value in parameters]
        return helper.make_graph(inner.nodes, self.fresh("g"), inputs, infos, inner.initializers), results

    def in_branch(self, body):
        """Builds a body in a branch of an If. The other branch yields values of the same types."""
        created, results = self.graph(body)

        def others():
            for value in results:
                yield self.data(value.dtype, value.shape, constants=False)

        other, _ = self.graph(lambda: list(others()))
        branches = {"then_branch": created, "else_branch": other}
        if self.chance(0.5):
            branches = {"then_branch": other, "else_branch": created}
        condition = self.input(T.BOOL, ())
        return self.node("If", [condition], [(value.dtype, value.shape) for value in results], **branches)

    def in_loop(self, body):
        """Builds a body in a Loop that collects the results of all iterations and has a loop-carried value."""
        count, going = Value(self.fresh("i"), T.INT64, ()), Value(self.fresh("g"), T.BOOL, ())
        first = self.input(self.dtype, self.shape())
        state, results = Value(self.fresh("s"), first.dtype, first.shape), []

        def turn():
            results.extend(body())
            same = [value for value in results if (value.dtype, value.shape) == (state.dtype, state.shape)]
            return [self.one("Identity", [going], T.BOOL, ()), same[0] if same else state, *results]

        created, _ = self.graph(turn, [count, going, state])
        times = self.constant(np.array(self.pick([1, 2])), T.INT64)
        shapes = [(value.dtype, (times.array.item(), *value.shape)) for value in results]
        shapes.insert(0, (state.dtype, state.shape))
        return self.node("Loop", [times, self.constant(True, T.BOOL), first], shapes, body=created)

    def in_scan(self, body):
        """Builds a body in a Scan over an input."""
        if self.opset < 9:
            raise Unsuited("a Scan of batches")
        shape = self.shape()
        given, slice_ = self.input(self.dtype, (2, *shape)), Value(self.fresh("s"), self.dtype, shape)
        results = []

        def turn():
            results.extend(body())
            return results

        created, _ = self.graph(turn, [slice_])
        shapes = [(value.dtype, (2, *value.shape)) for value in results]
        return self.node("Scan", [given], shapes, body=created, num_scan_inputs=1)

    def in_function(self, body):
        """Builds a body in a function of the model."""
        if self.opset < 9:
            raise Unsuited("nothing can be a constant of integers there")
        inner, results = self.inside("function", body)
        name = self.fresh("f")
        opsets = [helper.make_opsetid("", self.opset)]
        parameters = [value.name for value in inner.parameters]
        created = helper.make_function(LOCAL, name, parameters, [v.name for v in results], inner.nodes, opsets)
        self.functions.append(created)
        shapes = [(value.dtype, value.shape) for value in results]
        return self.node(name, inner.arguments, shapes, domain=LOCAL)

    def info(self, value, shaped=True):
        shape = None
        if shaped:
            shape = [dim if isinstance(dim, int) or dim in self.named else None for dim in value.shape]
        return helper.make_tensor_value_info(value.name, value.dtype, shape)

    # --- the model -----------------------------------------------------------------

    def model(self, outputs):
        """Returns the model with these outputs. Some have no shape in the file, or other names for their dims."""
        given, infos = set(), []
        created = {name for node in self.scope.nodes for name in node.output}
        for value in outputs:
            if value.name not in created or value.name in given:
                value = self.one("Identity", [value], value.dtype, value.shape)
            given.add(value.name)
            shape = [dim if isinstance(dim, int) or dim in self.named else None for dim in value.shape]
            # The names of an output's dims have no effect.
            if self.chance(0.08):
                shape = [self.pick([dim, "n", "m", "other"]) for dim in shape]
            infos.append(helper.make_tensor_value_info(value.name, value.dtype, None if self.chance(0.2) else shape))
        inner = [v for v in self.scope.values if v.name in created - given and v.parts is None and self.chance(0.15)]
        graph = helper.make_graph(
            self.scope.nodes, "rules", [self.info(v) for v in self.inputs], infos, self.scope.initializers,
            value_info=[self.info(value) for value in inner],
        )
        opsets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(LOCAL, 1)] * bool(self.functions)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=self.functions)


def feeds(inputs, seed, tame, finite):
    """Yields the inputs of a run for each binding of the symbolic dims."""
    rng = np.random.default_rng(seed)
    for binding in BINDINGS:
        feed = {}
        for value in inputs:
            shape = [binding.get(dim, dim) for dim in value.shape]
            count = int(np.prod(shape, dtype=np.int64))
            to = numpy_type(value.dtype)
            if value.dtype == T.BOOL:
                drawn = rng.integers(0, 2, count)
            elif value.dtype in INTEGERS:
                drawn = rng.integers(0 if to.kind == "u" else -3, 5, count)
            else:
                # Multiples of 0.5, whose sums are exact; sometimes NaN and infinities.
                drawn = rng.integers(-6, 7, count) / 2
                if not tame and rng.random() < 0.6:
                    special = [np.nan, -0.0, 0.0] + ([] if finite else [np.inf, -np.inf])
                    drawn = np.where(rng.random(count) < 0.3, rng.choice(special, count), drawn)
                elif rng.random() < 0.3:
                    drawn = rng.normal(size=count)
            feed[value.name] = drawn.reshape(shape).astype(to)
        yield feed
