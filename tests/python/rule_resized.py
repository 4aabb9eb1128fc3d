"""Builds recurrent ops with their initial states, and ops that resize images."""

import numpy as np

from random_values import T
from rule_graphs import Unsuited
from rule_ops import allowed, emitter, nearly

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def state(b, x, shape):
    """Returns an initial state: zeros like exporters', or numbers."""
    batch = shape[1]
    choice = b.pick(["constant", "shape", "expand", "data"] + ["shape", "expand"] * isinstance(batch, str))
    if choice == "data" or choice == "constant" and isinstance(batch, str):
        return b.data(x.dtype, shape, constants=False)
    if choice == "constant":
        return b.constant(nearly(b, np.zeros(shape), x.dtype), x.dtype)
    if isinstance(batch, str) or b.chance(0.4):
        dims = b.one("Shape", [x], T.INT64, (3,))
        batch = b.one("Gather", [dims, b.ints([1])], T.INT64, (1,), axis=0)
        to = b.one("Concat", [b.ints([shape[0]]), batch, b.ints([shape[2]])], T.INT64, (3,), axis=0)
    else:
        to = b.ints(shape)
    if choice == "shape" and b.opset >= 9 and x.dtype == T.FLOAT:
        return b.one("ConstantOfShape", [to], x.dtype, shape)
    own = b.pick([(), (1,), (1, 1, shape[2])])
    return b.one("Expand", [b.constant(nearly(b, np.zeros(own), x.dtype), x.dtype), to], x.dtype, shape)


@emitter(*GATES)
def recurrent(p):
    b = p.b
    if b.opset < 8:
        raise Unsuited("no Expand")
    b.tame = b.kernels_only = True
    # ONNX Runtime only has kernels of this type.
    dtype = T.FLOAT
    turns, batch = (b.pick([1, 2, 3] + ["n"] * b.symbols) for _ in range(2))
    direction = b.pick([None, "forward", "reverse", "bidirectional"])
    ways, size, hidden = 2 if direction == "bidirectional" else 1, b.rng.randint(1, 3), b.rng.randint(1, 3)
    rows = GATES[p.op] * hidden
    learned = lambda shape: b.constant(b.numbers(dtype, shape, small=True), dtype)
    x = p.get(0, lambda: b.data(dtype, (turns, batch, size), constants=False))
    operands = [x, p.get(1, lambda: learned((ways, rows, size))), p.get(2, lambda: learned((ways, rows, hidden)))]
    operands.append(p.get(3, lambda: learned((ways, 2 * rows)), 0.4))
    has_lengths = isinstance(turns, int) and isinstance(batch, int) and b.chance(0.2)
    operands.append(b.constant([b.rng.randint(1, turns) for _ in range(batch)], T.INT32) if has_lengths else None)
    whole = (ways, batch, hidden)
    operands.append(p.get(5, lambda: state(b, x, whole), 0.1))
    if p.op == "LSTM":
        operands.append(p.get(6, lambda: state(b, x, whole), 0.2))
        operands.append(p.get(7, lambda: learned((ways, 3 * hidden)), 0.8))
    results = [(dtype, (turns, ways, batch, hidden)), (dtype, whole), (dtype, whole)]
    return b.node(p.op, operands, results[: len(p.node["results"])], hidden_size=hidden, direction=direction)


WAYS = [None, None, None, "asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel", "tf_crop_and_resize"]


@emitter("Resize", "Upsample")
def resize(p):
    b = p.b
    if b.dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    rank = len(x.shape)
    if not rank or 0 in x.shape or "m" in x.shape:
        raise Unsuited("nothing to resize")
    # ONNX's reference implementation multiplies neighboring elements by 0.
    b.kernels_only = True
    fixed = all(isinstance(dim, int) for dim in x.shape)
    times = [2 if isinstance(dim, int) and b.chance(0.07) else 1 for dim in x.shape]
    shape = [dim * time if isinstance(dim, int) else dim for dim, time in zip(x.shape, times)]
    mode = b.pick([None, "nearest"] + ["linear"] * (rank in (2, 4)))
    scales = np.array(times, np.float32)
    if b.opset < 9:
        return b.node(p.op, [x], [(x.dtype, shape)], mode=mode, scales=scales.tolist())
    if b.opset < 11:
        return b.node(p.op, [x, b.constant(scales, T.FLOAT)], [(x.dtype, shape)], mode=mode)
    way = b.pick(WAYS)
    crops = way == "tf_crop_and_resize"
    nothing = b.constant(np.zeros(0), T.FLOAT) if b.opset < 13 or b.chance(0.3) else None
    ends = [b.pick([1.0, 1.0, 0.5]) for _ in range(rank)]
    roi = b.constant(np.array([0.0] * rank + ends), T.FLOAT) if crops else nothing
    by_sizes = fixed and b.chance(0.4)
    given = [nothing, b.ints(shape)] if by_sizes else [b.constant(scales, T.FLOAT)]
    return b.node(p.op, [x, roi, *given], [(x.dtype, shape)], mode=mode, coordinate_transformation_mode=way)
