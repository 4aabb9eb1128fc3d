"""Generates random ops with operands for constant evaluation: `case(dice, opset)` returns one.

To add an operator, add a line to `OPERATORS`, and a function if none fits.
"""

import numpy as np
import onnx
from onnx import defs, helper

import random_movement
import random_windows
from random_maker import NUMBERS, Case, Maker, signed
from random_values import FLOATS, INTEGERS, T, numpy_type


def unary(m, d):
    return m.random(m.dtype(), d.shape()).done()


def within(low, high):
    """Returns a function that draws numbers between two limits, or any floats."""

    def maker(m, d):
        dtype, shape = m.dtype(), d.shape()
        if d.chance(0.3):
            return m.random(dtype, shape, "wild").done()
        return m.tensor(dtype, np.asarray(d.rng.uniform(low, high, shape)).astype(numpy_type(dtype))).done()

    return maker


def parametric(**ranges):
    def maker(m, d):
        given = {name: float(np.float32(d.rng.uniform(*range))) for name, range in ranges.items() if d.chance(0.7)}
        return m.attribute(**given).random(m.dtype(), d.shape()).done()

    return maker


def binary(m, d, b_dtype=None, b_kind=None):
    dtype, shape = m.dtype(), d.shape()
    pair = [shape, d.broadcast(shape)]
    first, second = pair if d.chance(0.5) or b_dtype else pair[::-1]
    return m.random(dtype, first).random(b_dtype or dtype, second, b_kind).done()


def division(m, d):
    dtype, shape = m.dtype(), d.shape()
    if m.op == "Mod":
        m.attribute(fmod=1 if dtype in FLOATS else d.below(2))
    m.random(dtype, shape)
    divisor = d.tensor(dtype, d.broadcast(shape))
    if dtype in INTEGERS:
        # Not by 0, nor the minimum by -1: both crash the process.
        divisor = np.where(divisor == 0, 3, divisor)
        divisor = np.where(divisor.astype(np.int64) == -1, 2, divisor).astype(numpy_type(dtype))
    return m.tensor(dtype, divisor).done()


def power(m, d):
    base, exponent = m.dtype(), m.dtype(1)
    shape = d.shape()
    kind = "small" if base in INTEGERS or exponent in INTEGERS else None
    values = d.tensor(exponent, d.broadcast(shape), kind)
    if base in INTEGERS:
        values = np.abs(values)
    if m.case.opset < 12:
        exponent, values = base, values.astype(numpy_type(base))
    return m.random(base, shape, kind).tensor(exponent, values).done()


def shift(m, d):
    dtype, shape = m.dtype(), d.shape()
    by = d.rng.integers(0, 8 * numpy_type(dtype).itemsize, d.broadcast(shape)).astype(numpy_type(dtype))
    m.attribute(direction=d.pick(["LEFT", "RIGHT"]))
    return m.random(dtype, shape).tensor(dtype, np.asarray(by)).done()


def variadic(m, d):
    dtype, shape = m.dtype(), d.shape()
    for _ in range(d.between(1, 4)):
        m.random(dtype, d.broadcast(shape))
    return m.done()


def clip(m, d):
    dtype = m.dtype(among=NUMBERS)
    low, high = sorted([d.below(5), d.below(5)])
    if "min" in m.schema.attributes:
        return m.attribute(min=float(low), max=float(high)).random(dtype, d.shape()).done()
    m.random(dtype, d.shape())
    for limit in (low, high):
        m.tensor(dtype, np.array(limit, numpy_type(dtype))) if d.chance(0.7) else m.left_out()
    return m.done()


def where(m, d):
    dtype, shape = m.dtype(1), d.shape()
    m.random(T.BOOL, d.broadcast(shape))
    return m.random(dtype, d.broadcast(shape)).random(dtype, d.broadcast(shape)).done()


def cast(m, d):
    dtype, to = m.dtype(), m.dtype()
    if T.STRING in (dtype, to) and dtype != to:
        to = dtype
    array = d.tensor(dtype, d.shape())
    if dtype in FLOATS and to in INTEGERS:
        array = fitting(array, to)
    if to in (T.INT4, T.UINT4) and dtype not in INTEGERS:
        array = np.asarray(d.rng.integers(-9, 17, array.shape)).astype(numpy_type(dtype))
    m.tensor(dtype, array)
    if m.op == "CastLike":
        m.random(to, (1,))
    else:
        m.attribute(to=to)
    if to in (T.FLOAT8E4M3FN, T.FLOAT8E5M2) and d.chance(0.5):
        m.attribute(saturate=d.below(2))
    return m.done()


def fitting(array, to):
    """Removes values that the type can't represent, because their conversion isn't defined."""
    info = np.iinfo(numpy_type(to))
    wide = array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        inside = (wide > float(info.min)) & (wide < float(info.max)) & np.isfinite(wide)
    return np.where(inside, array, array.dtype.type(2.5)).astype(array.dtype)


def reduce(m, d):
    shape = d.shape(0, 4)
    # Only the newest versions define reductions without elements.
    if m.op in ("ReduceMax", "ReduceMin", "ReduceMean") or m.case.opset < 18:
        shape = tuple(max(dim, 1) for dim in shape)
    m.attribute(keepdims=d.below(2)) if d.chance(0.7) else None
    kind = "plain" if m.op in ("ReduceLogSum", "ReduceLogSumExp") else None
    array = d.tensor(dtype := m.dtype(), shape, kind)
    m.tensor(dtype, np.abs(array) if m.op == "ReduceLogSum" else array)
    if shape and d.chance(0.8):
        axes = d.sample(range(len(shape)), d.between(1, len(shape)))
        m.ints("axes", signed(d, axes, len(shape)) if m.case.opset >= 11 else axes)
    elif d.chance(0.5):
        m.attribute(noop_with_empty_axes=1)
    return m.done()


def running(m, d):
    shape = d.shape(1, 4)
    m.attribute(exclusive=d.below(2), reverse=d.below(2)).random(m.dtype(), shape, "small")
    return m.tensor(T.INT64, np.array(d.between(-len(shape), len(shape) - 1))).done()


def dequantize(m, d):
    dtype, shape = m.dtype(), tuple(max(dim, 1) for dim in d.shape(1, 4))
    kind = "small" if dtype == T.INT32 else None
    axis = d.below(len(shape))
    per_axis = m.case.opset >= 13 and d.chance(0.5)
    scales = (shape[axis],) if per_axis else ()
    scale = m.dtype(1)
    if per_axis:
        m.attribute(axis=axis)
    m.random(dtype, shape, kind)
    m.tensor(scale, np.asarray(d.rng.uniform(0.1, 2, scales)).astype(numpy_type(scale)))
    if d.chance(0.6):
        m.tensor(dtype, np.zeros(scales, numpy_type(dtype))) if dtype == T.INT32 else m.random(dtype, scales, kind)
    return m.done()


def quantize(m, d):
    shape, to = tuple(max(dim, 1) for dim in d.shape(1, 4)), m.dtype(2)
    axis = d.below(len(shape))
    per_axis = m.case.opset >= 13 and d.chance(0.5)
    scales = (shape[axis],) if per_axis else ()
    if per_axis:
        m.attribute(axis=axis)
    array = d.tensor(T.FLOAT, shape)
    array = np.where(np.isfinite(array) & (np.abs(array) < 1e6), array, np.float32(-2.5))
    m.tensor(T.FLOAT, array)
    m.tensor(T.FLOAT, np.asarray(d.rng.uniform(0.1, 2, scales)).astype(np.float32))
    if to in (T.FLOAT8E4M3FN, T.FLOAT8E5M2):
        return m.tensor(to, np.zeros(scales, numpy_type(to))).done()
    return m.random(to, scales).done()


def arg(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(1, 4))
    m.axis(len(shape)) if m.case.opset >= 11 else m.attribute(axis=d.below(len(shape)))
    m.attribute(keepdims=d.below(2), select_last_index=d.below(2))
    return m.random(m.dtype(), shape, "small" if d.chance(0.6) else None).done()


def top_k(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(1, 4))
    axis = d.below(len(shape))
    k = d.between(1, shape[axis])
    m.attribute(axis=signed(d, [axis], len(shape))[0], k=k, largest=d.below(2))
    m.random(m.dtype(), shape, "small" if d.chance(0.6) else None)
    if m.case.opset >= 10:
        m.tensor(T.INT64, np.array([k]))
    return m.done(2)


def along(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(2, 4))
    axis = d.below(len(shape))
    m.attribute(axis=signed(d, [axis], len(shape))[0] if m.case.opset >= 11 else axis)
    return m.random(m.dtype(), shape, d.pick(["small", "plain"])).done()


def mat_mul(m, d):
    dtype, outer = m.dtype(), d.shape(0, 2)
    rows, inner, columns = (d.between(1, 4) for _ in range(3))
    a = (inner,) if d.chance(0.2) else (*d.broadcast(outer), rows, inner)
    b = (inner,) if d.chance(0.2) else (*d.broadcast(outer), inner, columns)
    kind = d.pick(["small", "plain"])
    return m.random(dtype, a, kind).random(dtype, b, kind).done()


def gemm(m, d):
    dtype = m.dtype(among=FLOATS)
    rows, inner, columns = (d.between(1, 4) for _ in range(3))
    turn_a, turn_b = d.below(2), d.below(2)
    m.attribute(transA=turn_a, transB=turn_b, alpha=d.pick([1.0, 0.5, -2.0]), beta=d.pick([1.0, 0.0, 0.25]))
    m.random(dtype, (inner, rows) if turn_a else (rows, inner), "plain")
    m.random(dtype, (columns, inner) if turn_b else (inner, columns), "plain")
    if m.case.opset < 11 or d.chance(0.7):
        m.random(dtype, d.broadcast((rows, columns)), "plain")
    return m.done()


def gelu(m, d):
    m.attribute(approximate=d.pick(["none", "tanh"]))
    return m.random(m.dtype(), d.shape(), d.pick(["small", "plain"])).done()


def prelu(m, d):
    dtype, shape = m.dtype(), d.shape()
    return m.random(dtype, shape).random(dtype, d.broadcast(shape)).done()


def bit_cast(m, d):
    dtype = m.dtype(among=NUMBERS)
    size = numpy_type(dtype).itemsize
    m.attribute(to=d.pick([t for t in sorted(NUMBERS) if numpy_type(t).itemsize == size]))
    return m.random(dtype, d.shape()).done()


def chain(dice, opset):
    """Builds a few ops, each on the result of the previous one."""
    m = Maker(dice, opset, "Add")
    dtype, shape = dice.pick([T.FLOAT, T.INT64, T.DOUBLE, T.INT32]), dice.shape(1, 4)
    value = m.random(dtype, shape).inputs[-1]
    for number in range(dice.between(2, 6)):
        op = dice.pick(["Add", "Sub", "Mul", "Neg", "Abs", "Transpose", "Concat", "Identity", "Cast", "Shape"])
        if op == "Shape" and number < 3:
            op = "Neg"
        inputs, attributes = [value], {}
        if op in ("Add", "Sub", "Mul"):
            inputs.append(m.random(dtype, ()).inputs[-1])
        elif op == "Concat":
            inputs.append(value)
            attributes = {"axis": dice.below(len(shape))}
        elif op == "Cast":
            attributes = {"to": dtype}
        value = f"v{number}"
        m.case.nodes.append(helper.make_node(op, inputs, [value], **attributes))
        if op == "Shape":
            break
    m.case.outputs = [value]
    return m.case


# For each operator: the function that generates a case, and its accuracy: exact to the bit, or the allowed error as a
# multiple of the element type's rounding error.
EXACT, ROUNDED, TRANSCENDENTAL = 0, 4, 16
OPERATORS = {
    **dict.fromkeys(["Abs", "Neg", "Sign", "Ceil", "Floor", "Round", "IsNaN", "IsInf", "Relu"], (unary, EXACT)),
    **dict.fromkeys(["Not", "BitwiseNot", "Identity", "NonZero"], (unary, EXACT)),
    **dict.fromkeys(["Sqrt", "Reciprocal"], (unary, EXACT)),
    **dict.fromkeys(["Exp", "Log", "Sigmoid", "Tanh", "Softplus", "Softsign"], (within(-9, 9), TRANSCENDENTAL)),
    **dict.fromkeys(["Sin", "Cos", "Tan", "Atan", "Asinh", "Sinh", "Cosh"], (within(-3, 3), TRANSCENDENTAL)),
    **dict.fromkeys(["Asin", "Acos", "Atanh"], (within(-1, 1), TRANSCENDENTAL)),
    "Acosh": (within(1, 9), TRANSCENDENTAL),
    "LeakyRelu": (parametric(alpha=(-1, 2)), EXACT),
    "HardSigmoid": (parametric(alpha=(0, 1), beta=(0, 1)), ROUNDED),
    **dict.fromkeys(["Add", "Sub", "Mul", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"], (binary, EXACT)),
    **dict.fromkeys(["And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor"], (binary, EXACT)),
    **dict.fromkeys(["Div", "Mod"], (division, EXACT)),
    "Pow": (power, TRANSCENDENTAL),
    "PRelu": (prelu, EXACT),
    "BitShift": (shift, EXACT),
    "BitCast": (bit_cast, EXACT),
    **dict.fromkeys(["Min", "Max"], (variadic, EXACT)),
    **dict.fromkeys(["Sum", "Mean"], (variadic, ROUNDED)),
    "Clip": (clip, EXACT),
    "Where": (where, EXACT),
    **dict.fromkeys(["Cast", "CastLike"], (cast, EXACT)),
    "Transpose": (random_movement.transpose, EXACT),
    "Concat": (random_movement.concat, EXACT),
    "Slice": (random_movement.slice_, EXACT),
    "Expand": (random_movement.expand, EXACT),
    "Tile": (random_movement.tile, EXACT),
    "Pad": (random_movement.pad, EXACT),
    "Gather": (random_movement.gather, EXACT),
    "GatherElements": (random_movement.gather_elements, EXACT),
    "GatherND": (random_movement.gather_nd, EXACT),
    "ScatterND": (random_movement.scatter_nd, ROUNDED),
    "ScatterElements": (random_movement.scatter_elements, ROUNDED),
    "Compress": (random_movement.compress, EXACT),
    "Trilu": (random_movement.trilu, EXACT),
    **dict.fromkeys(["DepthToSpace", "SpaceToDepth"], (random_movement.depth, EXACT)),
    "ReverseSequence": (random_movement.reverse_sequence, EXACT),
    "Split": (random_movement.split, EXACT),
    "OneHot": (random_movement.one_hot, EXACT),
    "EyeLike": (random_movement.eye_like, EXACT),
    "Range": (random_movement.range_, EXACT),
    "ConstantOfShape": (random_movement.constant_of_shape, EXACT),
    **dict.fromkeys(["Shape", "Size"], (random_movement.shape_, EXACT)),
    "Reshape": (random_movement.reshape, EXACT),
    "Squeeze": (random_movement.squeeze, EXACT),
    "Unsqueeze": (random_movement.unsqueeze, EXACT),
    "Flatten": (random_movement.flatten, EXACT),
    **dict.fromkeys(["ReduceMax", "ReduceMin"], (reduce, EXACT)),
    **dict.fromkeys(["ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceSumSquare"], (reduce, ROUNDED)),
    **dict.fromkeys(["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"], (reduce, TRANSCENDENTAL)),
    **dict.fromkeys(["CumSum", "CumProd"], (running, ROUNDED)),
    "DequantizeLinear": (dequantize, EXACT),
    "QuantizeLinear": (quantize, EXACT),
    **dict.fromkeys(["ArgMax", "ArgMin"], (arg, EXACT)),
    "TopK": (top_k, EXACT),
    "Hardmax": (along, EXACT),
    **dict.fromkeys(["Softmax", "LogSoftmax"], (along, TRANSCENDENTAL)),
    "Conv": (random_windows.conv, ROUNDED),
    "MaxPool": (random_windows.pool, EXACT),
    "GlobalMaxPool": (random_windows.global_pool, EXACT),
    **dict.fromkeys(["AveragePool", "LpPool"], (random_windows.pool, TRANSCENDENTAL)),
    **dict.fromkeys(["GlobalAveragePool", "GlobalLpPool"], (random_windows.global_pool, TRANSCENDENTAL)),
    "Einsum": (random_windows.einsum, ROUNDED),
    **dict.fromkeys(["BlackmanWindow", "HammingWindow", "HannWindow"], (random_windows.window, ROUNDED)),
    "Resize": (random_windows.resize, TRANSCENDENTAL),
    "MatMul": (mat_mul, ROUNDED),
    "Gemm": (gemm, ROUNDED),
    **dict.fromkeys(["Erf", "HardSwish", "Mish"], (within(-6, 6), TRANSCENDENTAL)),
    **dict.fromkeys(["Elu", "Celu"], (parametric(alpha=(0.5, 2)), TRANSCENDENTAL)),
    "Selu": (parametric(alpha=(0.5, 2), gamma=(0.5, 2)), TRANSCENDENTAL),
    "Swish": (parametric(alpha=(0.5, 2)), TRANSCENDENTAL),
    "ThresholdedRelu": (parametric(alpha=(0.5, 2)), EXACT),
    "Shrink": (parametric(lambd=(0.5, 2), bias=(0, 1)), EXACT),
    "Gelu": (gelu, TRANSCENDENTAL),
    "StringConcat": (binary, EXACT),
}


def case(dice, opset):
    """Returns a case with an op of this version, or with a few ops in a chain."""
    if dice.chance(0.05):
        return chain(dice, opset)
    while True:
        op = dice.pick(sorted(OPERATORS))
        try:
            if not defs.get_schema(op, opset).deprecated:
                return OPERATORS[op][0](Maker(dice, opset, op), dice)
        except onnx.defs.SchemaError:
            continue
