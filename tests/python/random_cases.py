"""Random ops for the evaluation, each with its operands: `case(dice, opset)` makes one.

To add an operator: a line in `OPERATORS`, and a maker if none fits.
"""

import dataclasses

import numpy as np
import onnx
from onnx import defs, helper

from random_values import FLOATS, INTEGERS, T, numpy_type, proto


@dataclasses.dataclass
class Case:
    """One op, or a few in a row."""

    opset: int
    nodes: list = dataclasses.field(default_factory=list)
    # (name, element type, array), constant.
    tensors: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)

    @property
    def op(self):
        return self.nodes[-1].op_type

    def signature(self):
        """What a runtime must have a kernel for."""
        types = tuple(dtype for _, dtype, _ in self.tensors)
        attributes = tuple((a.name, a.i) for node in self.nodes for a in node.attribute if a.name in ("to", "dtype"))
        return tuple(node.op_type for node in self.nodes), self.opset, types, attributes


class Maker:
    """Puts a case together as the operator's schema wants it."""

    def __init__(self, dice, opset, op):
        self.dice, self.op = dice, op
        self.schema = defs.get_schema(op, opset)
        self.case = Case(opset)
        self.inputs, self.attributes = [], {}

    def dtype(self, position=0, among=None):
        """One of the element types that an operand may have."""
        inputs = self.schema.inputs
        of = inputs[min(position, len(inputs) - 1)].type_str
        allowed = next((c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == of), [of])
        types = {text[7:-1].upper() for text in allowed if text.startswith("tensor(")}
        known = [getattr(T, name) for name in sorted(types) if not name.startswith("COMPLEX") and hasattr(T, name)]
        chosen = [dtype for dtype in known if dtype in (among or KINDS)]
        # The types that models are made of, more often.
        common = [dtype for dtype in chosen if dtype in (T.FLOAT, T.INT64)]
        return self.dice.pick(common if common and self.dice.chance(0.4) else chosen)

    def tensor(self, dtype, array):
        name = f"i{len(self.case.tensors)}"
        self.case.tensors.append((name, dtype, array))
        self.inputs.append(name)
        return self

    def random(self, dtype, shape, kind=None):
        return self.tensor(dtype, self.dice.tensor(dtype, shape, kind))

    def left_out(self):
        self.inputs.append("")
        return self

    def attribute(self, **attributes):
        known = self.schema.attributes
        self.attributes |= {name: value for name, value in attributes.items() if name in known}
        return self

    def ints(self, name, values):
        """An operand in new versions, an attribute in old ones."""
        position = next((i for i, entry in enumerate(self.schema.inputs) if entry.name == name), None)
        if position is None:
            return self.attribute(**{name: [int(v) for v in values]})
        while len(self.inputs) < position:
            self.left_out()
        return self.tensor(T.INT64, np.array(values, dtype=np.int64))

    def axis(self, rank, name="axis"):
        return self.attribute(**{name: self.dice.between(-rank, rank - 1)})

    def done(self, outputs=1):
        self.case.outputs = [f"o{i}" for i in range(outputs)]
        node = helper.make_node(self.op, self.inputs, self.case.outputs, **self.attributes)
        self.case.nodes.append(node)
        return self.case


KINDS = {*FLOATS, *INTEGERS, T.BOOL, T.STRING, T.INT4, T.UINT4, T.FLOAT8E4M3FN, T.FLOAT8E5M2}
NUMBERS = {*FLOATS, *INTEGERS}


def signed(dice, axes, rank):
    return [axis - rank if dice.chance(0.4) else axis for axis in axes]


def unary(m, d):
    return m.random(m.dtype(), d.shape()).done()


def within(low, high):
    """Of the reals between two, and whatever floats there are."""

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
        # Neither by nothing, nor the least by -1: both end a process that does it.
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
    """Without what the type can't hold; nobody says what comes of that."""
    info = np.iinfo(numpy_type(to))
    wide = array.astype(np.float64)
    with np.errstate(invalid="ignore"):
        inside = (wide > float(info.min)) & (wide < float(info.max)) & np.isfinite(wide)
    return np.where(inside, array, array.dtype.type(2.5)).astype(array.dtype)


def transpose(m, d):
    shape = d.shape()
    if shape and d.chance(0.8):
        m.attribute(perm=d.sample(range(len(shape)), len(shape)))
    return m.random(m.dtype(), shape).done()


def concat(m, d):
    shape, dtype = d.shape(1), m.dtype()
    axis = d.below(len(shape))
    for _ in range(d.between(1, 4)):
        m.random(dtype, (*shape[:axis], d.below(4), *shape[axis + 1 :]))
    return m.attribute(axis=signed(d, [axis], len(shape))[0]).done()


def slice_(m, d):
    shape = d.shape(1)
    axes = d.sample(range(len(shape)), d.between(1, len(shape)))
    edge = lambda: d.pick([-(2**63), 2**63 - 1, -(2**31), 2**31 - 1]) if d.chance(0.15) else d.between(-6, 6)
    m.random(m.dtype(), shape)
    m.ints("starts", [edge() for _ in axes]).ints("ends", [edge() for _ in axes])
    m.ints("axes", signed(d, axes, len(shape)) if m.case.opset >= 10 else axes)
    if m.case.opset >= 10 and d.chance(0.7):
        m.ints("steps", [d.pick([1, 2, 3, -1, -2, 7, -9]) for _ in axes])
    return m.done()


def expand(m, d):
    shape = d.shape()
    return m.random(m.dtype(), d.broadcast(shape)).ints("shape", d.broadcast(shape) if d.chance(0.2) else shape).done()


def tile(m, d):
    shape = d.shape(1, 4)
    return m.random(m.dtype(), shape).ints("repeats", [d.below(4) for _ in shape]).done()


def pad(m, d):
    shape, dtype = d.shape(1, 4), m.dtype()
    mode = d.pick(["constant", "reflect", "edge"] + ["wrap"] * (m.case.opset >= 19))
    limit = lambda dim: 3 if mode in ("constant", "edge") else max(dim - 1, 0)
    if mode != "constant" and 0 in shape:
        shape = tuple(max(dim, 1) for dim in shape)
    low = -1 if mode == "constant" and min(shape) > 1 else 0
    pads = [d.between(low, max(limit(dim), 0)) for dim in shape + shape]
    if min(shape) == 2 and low:
        pads = [max(p, 0) for p in pads]
    m.attribute(mode=mode).random(dtype, shape).ints("pads", pads)
    if m.case.opset >= 11 and mode == "constant" and d.chance(0.5):
        m.random(dtype, ())
    return m.done()


def gather(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(1, 4))
    axis = d.below(len(shape))
    m.attribute(axis=signed(d, [axis], len(shape))[0]).random(m.dtype(), shape)
    return m.tensor(*indices(m, d, shape[axis], d.shape(0, 3))).done()


def indices(m, d, dim, shape):
    low = -dim if m.case.opset >= 11 else 0
    dtype = d.pick([T.INT32, T.INT64])
    return dtype, np.asarray(d.rng.integers(low, dim, shape), dtype=numpy_type(dtype))


def gather_elements(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(1, 4))
    axis = d.below(len(shape))
    picked = tuple(d.below(5) if i == axis else d.between(1, dim) for i, dim in enumerate(shape))
    m.attribute(axis=signed(d, [axis], len(shape))[0]).random(m.dtype(), shape)
    return m.tensor(*indices(m, d, shape[axis], picked)).done()


def index_tuples(d, shape, batch):
    width = d.between(1, len(shape) - batch)
    outer = (*shape[:batch], *d.shape(1, 2))
    columns = [d.rng.integers(-shape[batch + i], shape[batch + i], outer) for i in range(width)]
    return np.stack(columns, axis=-1).astype(np.int64), width


def gather_nd(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(1, 4))
    batch = d.below(min(len(shape), 2)) if m.case.opset >= 12 else 0
    at, _ = index_tuples(d, shape, batch)
    return m.attribute(batch_dims=batch).random(m.dtype(), shape).tensor(T.INT64, at).done()


def reduction_of(m, d, dtype):
    known = {11: [], 16: ["add", "mul"], 18: ["add", "mul", "min", "max"]}
    words = next((known[v] for v in (18, 16, 11) if m.case.opset >= v), [])
    if words and dtype in NUMBERS and d.chance(0.6):
        m.attribute(reduction=d.pick(words))
        return True
    return False


def scatter_nd(m, d):
    shape, dtype = tuple(max(dim, 1) for dim in d.shape(1, 4)), m.dtype()
    at, width = index_tuples(d, shape, 0)
    if not reduction_of(m, d, dtype):
        at = once(at, shape[:width])
    m.random(dtype, shape).tensor(T.INT64, at)
    return m.random(dtype, (*at.shape[:-1], *shape[width:])).done()


def once(at, shape):
    """Each place only once: who would win isn't defined."""
    flat = at.reshape(-1, at.shape[-1])
    _, first = np.unique(np.mod(flat, shape), axis=0, return_index=True)
    return flat[np.sort(first)]


def scatter_elements(m, d):
    shape, dtype = tuple(max(dim, 1) for dim in d.shape(1, 4)), m.dtype()
    axis = d.below(len(shape))
    picked = tuple(d.between(1, dim) for dim in shape)
    rows = d.rng.random((*picked[:axis], shape[axis], *picked[axis + 1 :])).argsort(axis=axis)
    at = np.take(rows, range(picked[axis]), axis=axis).astype(np.int64)
    if reduction_of(m, d, dtype):
        at = np.minimum(at, 1)
    at = at - shape[axis] * (d.rng.random(at.shape) < 0.3) if m.case.opset >= 11 else at
    m.attribute(axis=axis).random(dtype, shape).tensor(T.INT64, at)
    return m.random(dtype, picked).done()


def compress(m, d):
    shape = d.shape(1, 4)
    axis = d.below(len(shape))
    whole = d.chance(0.3)
    m.random(m.dtype(), shape)
    if not whole:
        m.attribute(axis=axis)
    return m.random(T.BOOL, (d.below((int(np.prod(shape)) if whole else shape[axis]) + 1),)).done()


def trilu(m, d):
    m.attribute(upper=d.below(2)).random(m.dtype(), d.shape(2))
    if d.chance(0.7):
        m.tensor(T.INT64, np.array(d.between(-5, 5)))
    return m.done()


def depth(m, d):
    n, c, h, w = (d.between(1, 3) for _ in range(4))
    block = d.between(1, 3)
    m.attribute(blocksize=block, mode=d.pick(["DCR", "CRD"]))
    shape = (n, c * block * block, h, w) if m.op == "DepthToSpace" else (n, c, h * block, w * block)
    return m.random(m.dtype(), shape).done()


def reverse_sequence(m, d):
    shape = tuple(max(dim, 1) for dim in d.shape(2, 4))
    batch, time = (0, 1) if d.chance(0.5) else (1, 0)
    lengths = d.rng.integers(1, shape[time] + 1, shape[batch])
    m.attribute(batch_axis=batch, time_axis=time).random(m.dtype(), shape)
    return m.tensor(T.INT64, lengths).done()


def split(m, d):
    shape = list(d.shape(1, 4))
    axis, pieces = d.below(len(shape)), d.between(1, 3)
    lengths = [d.below(4) for _ in range(pieces)]
    if d.chance(0.4) and m.case.opset < 18:
        shape[axis] = pieces * d.between(1, 3)
        return m.attribute(axis=axis).random(m.dtype(), shape).done(pieces)
    shape[axis] = sum(lengths)
    return m.attribute(axis=axis).random(m.dtype(), tuple(shape)).ints("split", lengths).done(pieces)


def one_hot(m, d):
    shape, depth = d.shape(0, 3), d.between(1, 4)
    m.attribute(axis=d.between(-len(shape) - 1, len(shape)))
    index, size, values = m.dtype(0), m.dtype(1), m.dtype(2)
    low = -depth if index not in (T.UINT8, T.UINT16, T.UINT32, T.UINT64) else 0
    m.tensor(index, np.asarray(d.rng.integers(low, depth + 1, shape)).astype(numpy_type(index)))
    return m.tensor(size, np.array(depth).astype(numpy_type(size))).random(values, (2,)).done()


def eye_like(m, d):
    if d.chance(0.5):
        m.attribute(dtype=d.pick([T.FLOAT, T.INT64, T.DOUBLE, T.INT32]))
    return m.attribute(k=d.between(-3, 3)).random(m.dtype(among=NUMBERS), d.shape(2, 2), "small").done()


def range_(m, d):
    dtype = m.dtype()
    start, count, step = d.between(-5, 5), d.below(9), d.pick([1, 2, 3, -1, -2])
    scale = 0.25 if dtype in FLOATS else 1
    for value in (start, start + count * step, step):
        m.tensor(dtype, np.array(value * scale, numpy_type(dtype)))
    return m.done()


def constant_of_shape(m, d):
    if d.chance(0.8):
        dtype = d.pick([T.FLOAT, T.INT64, T.INT32, T.BOOL, T.DOUBLE, T.FLOAT16, T.UINT8])
        m.attribute(value=proto(d.tensor(dtype, (1,)), dtype, ""))
    shape = d.shape()
    return m.tensor(T.INT64, np.array(shape, dtype=np.int64)).done()


def shape_(m, d):
    if m.op == "Shape" and d.chance(0.6):
        m.attribute(start=d.between(-6, 6))
        m.attribute(end=d.between(-6, 6)) if d.chance(0.5) else None
    return m.random(m.dtype(), d.shape()).done()


def reshape(m, d):
    shape = d.shape()
    count = int(np.prod(shape))
    wanted = [int(dim) for dim in factors(d, count)] if count else [0, *d.shape(0, 2)]
    if count and wanted and d.chance(0.5):
        wanted[d.below(len(wanted))] = -1
    allow = m.case.opset >= 14 and d.chance(0.5)
    if 0 in wanted and not allow:
        wanted = list(shape)
    if allow:
        m.attribute(allowzero=1)
    return m.random(m.dtype(), shape).ints("shape", wanted).done()


def factors(d, count):
    made = []
    while count > 1:
        divisor = d.pick([n for n in range(2, count + 1) if count % n == 0])
        made.append(divisor)
        count //= divisor
    return made


def squeeze(m, d):
    shape = tuple(d.pick([1, 1, 2, 3]) for _ in range(d.below(6)))
    ones = [i for i, dim in enumerate(shape) if dim == 1]
    m.random(m.dtype(), shape)
    if ones and d.chance(0.8):
        chosen = d.sample(ones, d.between(1, len(ones)))
        m.ints("axes", signed(d, chosen, len(shape)) if m.case.opset >= 11 else chosen)
    return m.done()


def unsqueeze(m, d):
    shape, new = d.shape(0, 3), d.between(1, 3)
    rank = len(shape) + new
    axes = d.sample(range(rank), new)
    m.random(m.dtype(), shape)
    return m.ints("axes", signed(d, axes, rank) if m.case.opset >= 11 else axes).done()


def flatten(m, d):
    shape = d.shape(1)
    low = -len(shape) if m.case.opset >= 11 else 0
    return m.attribute(axis=d.between(low, len(shape))).random(m.dtype(), shape).done()


def reduce(m, d):
    shape = d.shape(0, 4)
    # What is reduced of no elements at all, only the newest versions say.
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
    """A few ops, each of the one before."""
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


# Of each: who makes a case, and how exactly it is defined: to the bit, or how many times the
# rounding error of the element type a result may be off.
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
    "Transpose": (transpose, EXACT),
    "Concat": (concat, EXACT),
    "Slice": (slice_, EXACT),
    "Expand": (expand, EXACT),
    "Tile": (tile, EXACT),
    "Pad": (pad, EXACT),
    "Gather": (gather, EXACT),
    "GatherElements": (gather_elements, EXACT),
    "GatherND": (gather_nd, EXACT),
    "ScatterND": (scatter_nd, ROUNDED),
    "ScatterElements": (scatter_elements, ROUNDED),
    "Compress": (compress, EXACT),
    "Trilu": (trilu, EXACT),
    **dict.fromkeys(["DepthToSpace", "SpaceToDepth"], (depth, EXACT)),
    "ReverseSequence": (reverse_sequence, EXACT),
    "Split": (split, EXACT),
    "OneHot": (one_hot, EXACT),
    "EyeLike": (eye_like, EXACT),
    "Range": (range_, EXACT),
    "ConstantOfShape": (constant_of_shape, EXACT),
    **dict.fromkeys(["Shape", "Size"], (shape_, EXACT)),
    "Reshape": (reshape, EXACT),
    "Squeeze": (squeeze, EXACT),
    "Unsqueeze": (unsqueeze, EXACT),
    "Flatten": (flatten, EXACT),
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
    """One op that this version has, or a few in a row."""
    if dice.chance(0.05):
        return chain(dice, opset)
    while True:
        op = dice.pick(sorted(OPERATORS))
        try:
            if not defs.get_schema(op, opset).deprecated:
                return OPERATORS[op][0](Maker(dice, opset, op), dice)
        except onnx.defs.SchemaError:
            continue
