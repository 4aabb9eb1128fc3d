"""Generates cases of ops that move, select or create elements, or read shapes."""

import numpy as np

from random_maker import NUMBERS, signed
from random_values import FLOATS, T, numpy_type, proto


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
    """Returns unique positions, because the result of duplicates isn't defined."""
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
    created = []
    while count > 1:
        divisor = d.pick([n for n in range(2, count + 1) if count % n == 0])
        created.append(divisor)
        count //= divisor
    return created


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
