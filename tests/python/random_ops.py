"""The steps that build random models. Each adds one or a few ops if there are suitable values."""

from dataclasses import dataclass

import numpy as np
from onnx import AttributeProto, helper, numpy_helper

from random_models import BOOL, F16, F32, F64, FLOATS, I32, I64, INTS, LOCAL, Maker, Scope, Value


@dataclass(frozen=True)
class Step:
    run: object
    weight: float
    since: int
    deep: bool


STEPS = []


def step(weight=1.0, since=1, deep=True):
    """Registers a step. `deep`: also in the innermost graphs."""

    def register(run):
        STEPS.append(Step(run, weight, since, deep))
        return run

    return register


def fixed(value):
    return all(isinstance(size, int) for size in value.shape)


# --- element by element ---------------------------------------------------------------


@step(4)
def exact_unary(m):
    x = m.pick(F32)
    if x:
        op = m.rng.choice(["Relu", "Neg", "Abs", "Floor", "Ceil", "Identity", "Sign", "Reciprocal"])
        if op in ("Floor", "Ceil", "Sign") and not x.exact:
            return
        m.make(op, [x])


@step(3)
def approximate_unary(m):
    x = m.pick(F32)
    if x:
        ops = ["Tanh", "Sigmoid", "Exp", "Erf", "Softplus", "Sqrt", "Elu", "HardSigmoid", "Sin", "Atan"]
        ops += ["HardSwish"] * (m.opset >= 14) + ["Mish"] * (m.opset >= 18) + ["Gelu"] * (m.opset >= 20)
        m.make(m.rng.choice(ops), [x], exact=False)


@step(2)
def leaky(m):
    x = m.pick(F32)
    if x:
        m.make("LeakyRelu", [x], **({"alpha": m.rng.choice([0.0, 0.5])} if m.chance(0.6) else {}))


@step(5)
def binary(m):
    x = m.pick((F32, F64, I64, I32))
    if x:
        y, op = m.compatible(x), m.rng.choice(["Add", "Sub", "Mul"])
        operands = [x, y] if m.chance(0.7) else [y, x]
        m.make(op, operands, dtype=x.dtype, shape=x.shape)


@step(1.5)
def neutral(m):
    """Adds an op that may look neutral to a pass."""
    x = m.pick((F32, F64, I64))
    if x:
        op, number = m.rng.choice([("Add", 0), ("Mul", 1), ("Sub", 0), ("Mul", 0), ("Div", 1), ("Add", -0.0)])
        m.make(op, [x, m.constant(np.array(number, x.dtype))])


@step()
def divide(m):
    x = m.pick((F32, I64, I32))
    if x:
        m.make("Div", [x, m.constant(np.array(m.rng.choice([2, 3, -2]), x.dtype))])


@step(1, 10)
def modulo(m):
    x = m.pick(INTS)
    if x:
        m.make("Mod", [x, m.constant(np.array(m.rng.choice([2, 3, -3]), x.dtype))])


@step(1.5)
def variadic(m):
    x = m.pick(F32)
    if x:
        op = m.rng.choice(["Max", "Min", "Sum", "Mean"])
        operands = [x] + [m.compatible(x) for _ in range(m.rng.randint(0, 2))]
        m.make(op, operands, shape=x.shape, exact=op in ("Max", "Min"))


@step(1.5)
def clip(m):
    x = m.pick(F32)
    if not x:
        return
    if m.opset < 11:
        m.make("Clip", [x], **({"min": -0.5} if m.chance(0.5) else {}))
        return
    low, high = (m.constant(np.array(limit, F32)) if m.chance(0.6) else "" for limit in (-0.5, 0.75))
    operands = [x, low, high]
    while operands[-1] == "":
        operands.pop()
    m.make("Clip", operands)


@step(2)
def compare(m):
    x = m.pick((F32, I64, I32), test=lambda v: v.exact)
    y = x and m.compatible(x)
    if x and y.exact:
        ops = ["Less", "Greater"] + ["Equal"] * (m.opset >= 11) + ["GreaterOrEqual"] * (m.opset >= 12)
        m.make(m.rng.choice(ops), [x, y], dtype=BOOL, shape=x.shape)


@step()
def logic(m):
    x = m.pick(BOOL)
    if x:
        if m.chance(0.3):
            m.make("Not", [x])
        else:
            m.make(m.rng.choice(["And", "Or", "Xor"]), [x, m.compatible(x)], shape=x.shape)


@step(1.5)
def where(m):
    x = m.pick((F32, I64))
    if x:
        condition = m.pick(BOOL, test=lambda v: v.shape == x.shape or v.shape == ()) or m.constant(np.array(m.chance(0.5)))
        y = m.compatible(x)
        m.make("Where", [condition, x, y], dtype=x.dtype, shape=x.shape, exact=x.exact and y.exact)


@step(2)
def cast(m):
    x = m.pick((F32, F64, I64, I32, BOOL))
    if x:
        to = {
            F32: [F64, F16, F32],
            F64: [F32],
            I64: [F32, I32, F64],
            I32: [I64, F32],
            BOOL: [F32, I64],
        }[x.dtype]
        to = m.rng.choice(to)
        result = m.make("Cast", [x], dtype=to, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
        if to == F16:
            m.make("Cast", [result], dtype=F32, to=1)


# --- movement -------------------------------------------------------------------------


@step(2)
def transpose(m):
    x = m.pick(rank=(2, 3, 4))
    if x:
        perm = m.rng.sample(range(len(x.shape)), len(x.shape))
        reversed_ = m.chance(0.3)
        perm = list(range(len(x.shape)))[::-1] if reversed_ else perm
        attributes = {} if reversed_ and m.chance(0.5) else {"perm": perm}
        m.make("Transpose", [x], shape=[x.shape[axis] for axis in perm], **attributes)


@step(2)
def unsqueeze(m):
    x = m.pick(rank=(0, 1, 2, 3))
    if x:
        axis = m.rng.randint(0, len(x.shape))
        operands, attributes = m.axes("Unsqueeze", x, [axis], 13)
        shape = x.shape[:axis] + (1,) + x.shape[axis:]
        created = m.make("Unsqueeze", operands, shape=shape, **attributes)
        if m.chance(0.3):
            operands, attributes = m.axes("Squeeze", created, [axis], 13)
            m.make("Squeeze", operands, shape=x.shape, **attributes)


@step()
def flatten(m):
    x = m.pick(F32, rank=(3, 4), test=lambda v: all(isinstance(size, int) for size in v.shape[1:]))
    if x:
        m.make("Flatten", [x], shape=(x.shape[0], int(np.prod(x.shape[1:]))))


@step(2)
def reshape(m):
    x = m.pick((F32, I64), rank=(2, 3, 4), test=lambda v: all(isinstance(size, int) for size in v.shape[1:]))
    if x:
        rest = int(np.prod(x.shape[1:]))
        target, shape = m.rng.choice(
            [([0, -1], (x.shape[0], rest)), ([-1, rest], (x.shape[0], rest)), ([0, 1, rest], (x.shape[0], 1, rest))]
        )
        m.make("Reshape", [x, m.constant(np.array(target, I64))], shape=shape)


@step(2)
def concat(m):
    x = m.pick((F32, I64), rank=(1, 2, 3), test=fixed)
    if x:
        axis = m.rng.randrange(len(x.shape))
        y = m.pick(x.dtype, test=lambda v: fixed(v) and len(v.shape) == len(x.shape) and drop(v.shape, axis) == drop(x.shape, axis)) or x
        shape = x.shape[:axis] + (x.shape[axis] + y.shape[axis],) + x.shape[axis + 1 :]
        if shape[axis] <= 16:
            m.make("Concat", [x, y], shape=shape, axis=axis - len(shape) * m.chance(0.3))


def drop(shape, axis):
    return shape[:axis] + shape[axis + 1 :]


@step(1.5)
def slice_(m):
    x = m.pick((F32, I64), rank=(1, 2, 3, 4), test=lambda v: isinstance(v.shape[-1], int) and v.shape[-1] >= 3)
    if x:
        axis, start, end = len(x.shape) - 1, 1, m.rng.choice([3, 2**63 - 1, -1])
        size = len(range(x.shape[-1])[start:end])
        shape = x.shape[:-1] + (size,)
        if size == 0:
            return
        if m.opset < 10:
            m.make("Slice", [x], shape=shape, axes=[axis], starts=[start], ends=[end])
            return
        operands = [m.constant(np.array([number], I64)) for number in (start, end, axis)]
        m.make("Slice", [x, *operands], shape=shape)


@step(1.5)
def split(m):
    x = m.pick(F32, rank=(2, 3, 4), test=lambda v: v.shape[-1] == 4)
    if x:
        results = [Value(m.fresh(), x.dtype, x.shape[:-1] + (2,), x.exact) for _ in range(2)]
        attributes, operands = {"axis": len(x.shape) - 1}, [x]
        if m.opset < 13:
            attributes["split"] = [2, 2]
        else:
            operands.append(m.constant(np.array([2, 2], I64)))
        m.node("Split", operands, results, **attributes)


@step(1.5)
def gather(m):
    x = m.pick((F32, I64), rank=(1, 2, 3), test=lambda v: isinstance(v.shape[-1], int) and v.shape[-1] >= 3)
    if x:
        axis = len(x.shape) - 1
        index = m.constant(np.array(m.rng.choice([0, 2, [0, 2], [1]] + [-1] * (m.opset >= 11)), I64))
        m.make("Gather", [x, index], shape=x.shape[:-1] + index.shape, axis=axis)


@step()
def tile(m):
    x = m.pick((F32, I64), rank=(1, 2), test=fixed)
    if x and max(x.shape) <= 8:
        repeats = [m.rng.choice([1, 2]) for _ in x.shape]
        m.make("Tile", [x, m.constant(np.array(repeats, I64))], shape=[a * b for a, b in zip(x.shape, repeats)])


@step()
def pad(m):
    x = m.pick(F32, rank=(2, 3), test=lambda v: isinstance(v.shape[-1], int) and v.shape[-1] <= 12)
    if x:
        pads = [0] * (len(x.shape) - 1) + [1] + [0] * (len(x.shape) - 1) + [2]
        shape = x.shape[:-1] + (x.shape[-1] + 3,)
        if m.opset < 11:
            m.make("Pad", [x], shape=shape, pads=pads, value=0.5)
        else:
            operands = [x, m.constant(np.array(pads, I64))] + [m.constant(np.array(0.5, F32))] * m.chance(0.5)
            m.make("Pad", operands, shape=shape)


# --- shapes -----------------------------------------------------------------------------


def size_of(m, x, axis):
    """Computes [x.shape[axis]] in one of the ways that exporters use."""
    shape = m.make("Shape", [x], dtype=I64, shape=(len(x.shape),))
    how = m.rng.randrange(3)
    if how == 0:
        return m.make("Gather", [shape, m.constant(np.array([axis], I64))], shape=(1,), axis=0)
    one = m.make("Gather", [shape, m.constant(np.array(axis, I64))], shape=(), axis=0)
    if how == 1:
        one = m.make("Add", [m.make("Mul", [one, m.constant(np.array(2, I64))]), m.constant(np.array(0, I64))])
        one = m.make("Div", [one, m.constant(np.array(2, I64))])
    operands, attributes = m.axes("Unsqueeze", one, [0], 13)
    return m.make("Unsqueeze", operands, shape=(1,), **attributes)


@step(4)
def reshape_by_shape(m):
    x = m.pick(F32, rank=(2, 3, 4), test=lambda v: all(isinstance(size, int) for size in v.shape[1:]))
    if x:
        rest = int(np.prod(x.shape[1:]))
        last = m.constant(np.array([m.rng.choice([rest, -1])], I64))
        target = m.make("Concat", [size_of(m, x, 0), last], shape=(2,), axis=0)
        m.make("Reshape", [x, target], shape=(x.shape[0], rest))


@step(2)
def expand_by_shape(m):
    x = m.pick(F32, rank=(1, 2, 3))
    if x:
        shape = m.make("Shape", [x], dtype=I64, shape=(len(x.shape),))
        if m.chance(0.5):
            m.make("Expand", [m.constant(np.array(1.5, F32)), shape], shape=x.shape)
        else:
            filled = numpy_helper.from_array(np.array([m.rng.choice([0.0, -0.0, 2.0])], F32))
            m.make("ConstantOfShape", [shape], dtype=F32, shape=x.shape, **({"value": filled} if m.chance(0.7) else {}))


@step()
def shape_facts(m):
    x = m.pick(F32, rank=(1, 2, 3, 4))
    if x:
        if m.chance(0.5):
            m.make("Size", [x], dtype=I64, shape=())
        else:
            m.make("Cast", [m.make("Shape", [x], dtype=I64, shape=(len(x.shape),))], dtype=F32, to=1)


@step(0.7, 11)
def count_up(m):
    x = m.pick(F32, rank=(1, 2, 3))
    if x:
        shape = m.make("Shape", [x], dtype=I64, shape=(len(x.shape),))
        end = m.make("Gather", [shape, m.constant(np.array(0, I64))], shape=(), axis=0)
        m.make("Range", [m.constant(np.array(0, I64)), end, m.constant(np.array(1, I64))], shape=(x.shape[0],))


# --- reductions, matrices, networks ---------------------------------------------------


@step(2)
def reduce(m):
    x = m.pick(F32, rank=(1, 2, 3, 4))
    if x:
        op = m.rng.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"])
        keep, axis = m.chance(0.5), m.rng.randrange(len(x.shape))
        operands, attributes = m.axes(op, x, [axis], 13 if op == "ReduceSum" else 18)
        if not keep or m.chance(0.3):
            attributes["keepdims"] = int(keep)
        shape = x.shape[:axis] + (1,) * keep + x.shape[axis + 1 :]
        m.make(op, operands, shape=shape, exact=op in ("ReduceMax", "ReduceMin"), **attributes)


@step()
def arg_max(m):
    x = m.pick(F32, rank=(1, 2, 3), test=lambda v: v.exact)
    if x:
        m.make("ArgMax", [x], dtype=I64, shape=x.shape[:-1], axis=len(x.shape) - 1, keepdims=0)


@step()
def softmax(m):
    x = m.pick(F32, rank=(1, 2, 3))
    if x:
        m.make("Softmax", [x], exact=False, axis=len(x.shape) - 1)


@step(1.5)
def matmul(m):
    x = m.pick(F32, rank=(2, 3), test=lambda v: isinstance(v.shape[-1], int))
    if x:
        w = m.constant(m.numbers(F32, (x.shape[-1], 3)))
        if len(x.shape) == 2 and m.chance(0.5):
            bias = [m.constant(m.numbers(F32, (3,)))] if m.opset < 11 or m.chance(0.5) else []
            m.make("Gemm", [x, w, *bias], shape=(x.shape[0], 3), exact=False)
        else:
            m.make("MatMul", [x, w], shape=x.shape[:-1] + (3,), exact=False)


def is_image(value):
    return isinstance(value.shape[1], int) and all(isinstance(size, int) and size >= 3 for size in value.shape[2:])


@step(2)
def network(m):
    x = m.pick(F32, rank=(4,), test=is_image)
    if not x:
        return
    channels = x.shape[1]
    how = m.rng.randrange(4)
    if how == 0:
        operands = [x, m.constant(m.numbers(F32, (3, channels, 3, 3)))]
        if m.chance(0.5):
            operands.append(m.constant(m.numbers(F32, (3,))))
        m.make("Conv", operands, shape=(x.shape[0], 3) + x.shape[2:], exact=False, pads=[1, 1, 1, 1])
    elif how == 1:
        parts = [np.abs(m.numbers(F32, (channels,))) + F32(0.5) for _ in range(4)]
        m.make("BatchNormalization", [x] + [m.constant(np.nan_to_num(part, posinf=1)) for part in parts], exact=False)
    elif how == 2:
        m.make("GlobalAveragePool", [x], shape=x.shape[:2] + (1, 1), exact=False)
    else:
        shape = x.shape[:2] + tuple(size - 1 for size in x.shape[2:])
        m.make("MaxPool", [x], shape=shape, kernel_shape=[2, 2])


@step(1.5)
def dropout(m):
    x = m.pick(F32)
    if not x:
        return
    operands, attributes = [x], {}
    if m.opset < 12:
        attributes = {"ratio": 0.3} if m.chance(0.5) else {}
    elif m.chance(0.6):
        operands.append(m.constant(np.array(0.3, F32)))
        if m.chance(0.5):
            operands.append(m.constant(np.array(False)))
    results = [Value(m.fresh(), F32, x.shape, x.exact)]
    if m.opset >= 10 and m.chance(0.3):
        results.append(Value(m.fresh(), BOOL, x.shape, x.exact))
    m.node("Dropout", operands, results, **attributes)


@step(0.7, 17)
def layer_normalization(m):
    x = m.pick(F32, rank=(2, 3), test=lambda v: isinstance(v.shape[-1], int) and v.shape[-1] > 1)
    if x:
        m.make("LayerNormalization", [x, m.constant(m.numbers(F32, (x.shape[-1],)))], exact=False)


@step(1.5)
def copies(m):
    x = m.pick()
    for _ in range(m.rng.randint(1, 3)):
        x = x and m.make("Identity", [x])


@step(1)
def alone(m):
    """Adds ops that only depend on constants."""
    x = m.constant(m.numbers(m.rng.choice([F32, I64, F64]), m.rng.choice([(), (4,), (3, 4)])))
    y = m.constant(m.numbers(x.dtype, x.shape[-1:]))
    m.make(m.rng.choice(["Add", "Mul", "Sub"]), [x, y])


@step(0.7)
def random_numbers(m):
    # ONNX Runtime lacks kernels for newer versions.
    if m.scope.depth != 0 or m.opset >= 22:
        return
    x = m.pick(F32, rank=(1, 2, 3))
    for _ in range(m.rng.randint(1, 2)):
        if x and m.chance(0.5):
            result = Value(m.fresh("r"), F32, x.shape, False, True)
            m.node("RandomUniformLike", [x], [result])
        else:
            result = Value(m.fresh("r"), F32, (3, 4), False, True)
            m.node("RandomUniform", [], [result], shape=[3, 4])


# --- control flow, functions --------------------------------------------------------------


def some(m, like):
    """Adds a few ops that end with a value of the same type as another."""
    for _ in range(m.rng.randint(0, 3)):
        m.step()
    x = m.pick(like.dtype, test=lambda v: v.shape == like.shape) or like
    if like.dtype == F32 and m.chance(0.8):
        return m.make(m.rng.choice(["Relu", "Neg", "Abs"]), [x])
    return x


@step(1.5, 11, deep=False)
def branches(m):
    like = m.pick((F32, I64))
    if not like or m.scope.depth < 0:
        return
    condition = m.pick(BOOL, rank=(0,)) if m.chance(0.5) else None
    condition = condition or m.constant(np.array(m.chance(0.5)))
    ends = []

    def branch():
        ends.append(some(m, like))
        return ends[-1:]

    graphs = {name: m.subgraph(name, branch) for name in ("then_branch", "else_branch")}
    exact = all(end.exact for end in ends)
    m.node("If", [condition], [Value(m.fresh(), like.dtype, like.shape, exact)], **graphs)


@step(1, 13, deep=False)
def loop(m):
    start = m.pick(F32, rank=(0, 1, 2, 3))
    if not start or m.scope.depth < 0:
        return
    trips = m.constant(np.array(m.rng.choice([0, 1, 3]), I64))
    go = m.constant(np.array(True)) if m.chance(0.5) else ""
    count, on = Value(m.fresh("i"), I64, ()), Value(m.fresh("on"), BOOL, ())
    carried = Value(m.fresh("s"), F32, start.shape, False)
    scans = m.chance(0.4)

    def body():
        still = m.make("Identity", [on])
        following = m.make("Add", [m.make("Mul", [carried, m.constant(np.array(0.5, F32))]), some(m, carried)])
        return [still, following] + ([m.make("Cast", [count], dtype=F32, to=1)] if scans else [])

    graph = m.subgraph("body", body, [count, on, carried])
    results = [Value(m.fresh(), F32, start.shape, False)]
    if scans:
        results.append(Value(m.fresh(), F32, ("?",), True))
    m.node("Loop", [trips, go, start], results, body=graph)


@step(1.5, 15)
def call(m):
    """Adds a call of a new or an existing function."""
    x = m.pick(F32)
    if not x or m.ir_version < 8 or m.scope.depth < 0:
        return
    if not m.functions or m.chance(0.5):
        add_function(m)
    function = m.rng.choice(m.functions)
    operands = [x] + [m.compatible(x) if m.chance(0.5) else x]
    attributes = {"slope": 0.25} if "slope" in function.attribute else {}
    m.make(function.name, operands, shape=x.shape, exact=False, domain=LOCAL, **attributes)


def add_function(m):
    around, m.scope = m.scope, Scope(depth=-1)
    a, b = (Value(name, F32, ("?",)) for name in ("a", "b"))
    m.scope.values += [a, b]
    x = m.make("Add", [a, b])
    for _ in range(m.rng.randint(0, 2)):
        x = m.make(m.rng.choice(["Relu", "Neg", "Tanh"]), [x])
    if m.functions and m.chance(0.4):
        inner = m.rng.choice([f for f in m.functions])
        attributes = {"slope": 0.5} if "slope" in inner.attribute else {}
        x = m.make(inner.name, [x, b], domain=LOCAL, **attributes)
    if m.chance(0.5):
        x = m.make("Mul", [x, m.constant(np.array(2, F32))])
    names = []
    if m.chance(0.4):
        node = helper.make_node("LeakyRelu", [x.name], [m.fresh()])
        node.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
        m.scope.nodes.append(node)
        x, names = Value(node.output[0], F32, ("?",)), ["slope"]
    opsets = [helper.make_opsetid("", m.opset), helper.make_opsetid(LOCAL, 1)]
    created = helper.make_function(LOCAL, f"F{len(m.functions)}", ["a", "b"], [x.name], m.scope.nodes, opsets, names)
    m.functions.append(created)
    m.scope = around


def random_model(seed):
    return Maker(seed, STEPS).model()
