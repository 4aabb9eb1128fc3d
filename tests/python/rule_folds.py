"""Generates operators with weights and channels, for folding passes."""

import numpy as np

from rule_graphs import Unsuited
from rule_ops import EMITTERS, FLOATS, allowed, emitter, weights
from rule_pieces import padded


# --- channels ------------------------------------------------------------------------


def image(b, low=2, dims=None):
    """Returns a value with a batch dim, channels and one or two spatial dims."""
    dims = b.pick([1, 2]) if dims is None else dims
    batch = b.pick([1, 2, "n"])
    return b.data(shape=(batch, b.pick([1, 2, 4]), *(b.rng.randint(low, 5) for _ in range(dims))), constants=False)


def window(b, x, kernel, likely=0.4):
    """Returns the attributes of a window over an image, and the sizes of the result."""
    dims = len(kernel)
    pads, strides = [0] * (2 * dims), [1] * dims
    if b.chance(likely):
        pads = [b.rng.randint(0, max(0, kernel[at % dims] - 1)) for at in range(2 * dims)]
    if b.chance(0.3):
        strides = [b.pick([1, 2]) for _ in range(dims)]
    sizes = []
    for at, size in enumerate(x.shape[2:]):
        whole = size + pads[at] + pads[dims + at] - kernel[at]
        if whole < 0 or size <= 0:
            raise Unsuited("a window that is too large")
        sizes.append(whole // strides[at] + 1)
    attributes = {"pads": pads if any(pads) or b.chance(0.3) else None}
    attributes["strides"] = strides if set(strides) != {1} or b.chance(0.3) else None
    if not any(pads) and b.chance(0.2):
        attributes |= {"auto_pad": b.pick(["VALID", "NOTSET"]), "pads": None}
    return attributes, sizes


def with_channels(p, at=0):
    b = p.b
    x = p.get(at, lambda: image(b))
    if len(x.shape) < 3 or not all(isinstance(dim, int) for dim in x.shape[1:]) or x.dtype not in FLOATS:
        raise Unsuited("no image")
    b.inexact = True
    b.tame = b.tame or not b.rule.startswith("pad")
    return x


@emitter("Conv")
def conv(p):
    b = p.b
    x = with_channels(p)
    kernel = [b.pick([k for k in (1, 1, 2, 3) if k <= size + 1]) for size in x.shape[2:]]
    groups = b.pick([1, 1, x.shape[1]])
    created = groups * b.pick([1, 2])
    w = p.get(1, lambda: weights(b, (created, x.shape[1] // groups, *kernel)))
    bias = p.get(2, lambda: weights(b, (created,)), 0.4)
    attributes, sizes = window(b, x, kernel)
    attributes |= {"group": groups if groups != 1 else None, "kernel_shape": kernel if b.chance(0.5) else None}
    return b.node("Conv", [x, w, bias], [(x.dtype, (x.shape[0], created, *sizes))], **attributes)


@emitter("ConvTranspose")
def conv_transpose(p):
    b = p.b
    x = with_channels(p)
    kernel = [b.pick([1, 2]) for _ in x.shape[2:]]
    groups = b.pick([1, 1, x.shape[1]])
    each = b.pick([1, 2])
    w = p.get(1, lambda: weights(b, (x.shape[1], each, *kernel)))
    bias = p.get(2, lambda: weights(b, (groups * each,)), 0.4)
    # ONNX's reference implementation adds the first group's bias to all groups.
    b.kernels_only = True
    strides = [b.pick([1, 2]) for _ in kernel]
    sizes = [(size - 1) * step + k for size, step, k in zip(x.shape[2:], strides, kernel)]
    shape = (x.shape[0], groups * each, *sizes)
    return b.node("ConvTranspose", [x, w, bias], [(x.dtype, shape)], group=groups if groups != 1 else None, strides=strides)


@emitter("MaxPool", "AveragePool")
def pool(p):
    b = p.b
    x = with_channels(p)
    if x.dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    kernel = [b.pick([k for k in (1, 2, 2, 2, 3, 3, 3) if k <= size]) for size in x.shape[2:]]
    attributes, sizes = window(b, x, kernel, 0.15 if b.rule.startswith("pad") else 0.4)
    if p.op == "AveragePool" and b.opset >= 7:
        attributes["count_include_pad"] = b.pick([None, 0, 1, 1, 1])
    # ONNX's reference implementation reads beyond the padding, and the result for NaN isn't defined.
    b.kernels_only = True
    b.tame = b.tame or p.op == "MaxPool"
    pads = attributes.get("pads") or []
    if any(pad >= kernel[at % len(kernel)] for at, pad in enumerate(pads)):
        raise Unsuited("a window of nothing")
    return b.node(p.op, [x], [(x.dtype, (*x.shape[:2], *sizes))], kernel_shape=kernel, **attributes)


@emitter("BatchNormalization")
def batch_norm(p):
    b = p.b
    x = p.get(0, lambda: image(b) if b.chance(0.8) else b.data(shape=(b.pick([1, 2]), b.pick([1, 2, 4]))))
    if len(x.shape) < 2 or not isinstance(x.shape[1], int) or x.dtype not in FLOATS or b.opset < 7:
        raise Unsuited("no channels")
    if x.dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    b.inexact = b.tame = True
    size = (x.shape[1],)
    params = [p.get(at, lambda: b.constant(b.numbers(x.dtype, size), x.dtype)) for at in (1, 2, 3)]
    var = p.get(4, lambda: b.constant(np.abs(b.numbers(x.dtype, size, small=True)), x.dtype))
    epsilon = b.pick([None, 1e-3, 0.25])
    # ONNX's reference implementation treats old versions as training.
    b.kernels_only = b.kernels_only or b.opset < 14
    return b.node("BatchNormalization", [x, *params, var], [(x.dtype, x.shape)], epsilon=epsilon)


def is_product(b):
    return "product" in b.rule or "matmul" in b.rule


def per_channel(b, shape, dtype):
    """Returns a constant with a number per channel or one for all, which broadcasts to a shape."""
    axis = len(shape) - (2 if "left" in b.rule else 1) if is_product(b) else 1
    if len(shape) < 2 or not isinstance(shape[axis], int) or not shape[axis]:
        raise Unsuited("no channels")
    small = b.numbers(dtype, (shape[axis],), small=True) * b.pick([1, 1, -1])
    if b.chance(0.3):
        return b.constant(small[:1].reshape(b.pick([(), (1,), (1,) * len(shape)])), dtype)
    small = small.reshape([1] * (axis - 1) + [-1] + [1] * (len(shape) - axis - 1))
    return b.constant(small[None] if b.chance(0.5) else small, dtype)


def scaled(p):
    """Adds channel-wise arithmetic with constants."""
    b = p.b
    known = p.known(0)
    x = known or (b.data(shape=(b.dim(), b.pick([1, 2, 4]))) if is_product(b) else image(b))
    if x.dtype not in FLOATS:
        raise Unsuited("dtype")
    b.inexact = b.tame = True
    c = per_channel(b, x.shape, x.dtype)
    operands = [x, c] if p.op in ("Div", "Sub") or b.chance(0.6) else [c, x]
    if p.op == "Sub" and b.chance(0.2):
        operands.reverse()
    if b.join(x.shape, c.shape) != x.shape:
        raise Unsuited("stretched")
    return b.node(p.op, operands, [(x.dtype, x.shape)])


def pad_space(p):
    """Adds a Pad of an image's spatial dims."""
    b = p.b
    x = with_channels(p)
    rank = len(x.shape)
    pads = [0 if at % rank < 2 else b.pick([0, 1] if "conv" not in b.rule else [0, 1, 1, 2]) for at in range(2 * rank)]
    lowest = [-np.inf] if b.rule.startswith("pad_max") and b.chance(0.7) else [0.0]
    return padded(p, x, pads, b.pick([None, "constant"]), lowest if b.chance(0.9) else [1.0])


def emit(place):
    """Adds an op of a pattern, in the form that folding passes or rules match."""
    if place.b.folds and place.op in ("Mul", "Div", "Add", "Sub"):
        return scaled(place)
    if place.b.folds and place.op == "Pad":
        return pad_space(place)
    if place.op not in EMITTERS:
        raise NotImplementedError(f"tests/python/rule_ops.py doesn't know how to make {place.op}")
    return EMITTERS[place.op](place)
