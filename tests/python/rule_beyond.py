"""Generates operands that satisfy the conditions that rules check in code, in addition to their patterns."""

import numpy as np

from random_values import T
from rule_graphs import Unsuited
from rule_ops import FLOATS, signed
from rule_pieces import MOST, pieces, sliced, split_to
from rule_views import transposed


def constants_of_chain(b, operator):
    numbers = lambda: b.constant(b.numbers(b.dtype, b.under(shape), small=b.chance(0.8)), b.dtype)
    shape = tuple(dim for dim in b.shape() if isinstance(dim, int))
    inner = [b.data(shape=shape, constants=False), numbers()]
    b.rng.shuffle(inner)
    outer = [b.one(operator, inner, b.dtype, b.join(*(value.shape for value in inner))), numbers()]
    b.inexact = True
    b.rng.shuffle(outer)
    return {"a": outer[0], "b": outer[1]}


def where_one_zero(b, _):
    """Returns a condition that isn't an input of the model, because an output can't be one."""
    shape = b.shape()
    c = b.one("And", [b.data(T.BOOL, shape, constants=False), b.data(T.BOOL, shape)], T.BOOL, shape)
    return {"c": c}


def min_of_mins(b, operator):
    x, y, z = (b.data(shape=shape) for shape in [b.shape(0, 3)] * 3)
    b.tame = True
    xs = [b.one(operator, [x, y], x.dtype, x.shape), b.pick([z, z, y])]
    b.rng.shuffle(xs)
    return {"xs": xs}


def redundant_expand(b, operator):
    shape = b.shape(1, 4)
    fixed = tuple(dim if isinstance(dim, int) else 1 for dim in shape)
    dtype = T.BOOL if operator in ("And", "Or", "Xor") else b.dtype
    if b.opset < 8:
        raise Unsuited("no Expand")
    # Runtimes compute powers with a scalar exponent differently.
    b.inexact |= operator == "Pow"
    count = 3 if operator == "Where" else 2
    wide, at = b.rng.sample(range(count), 2)
    xs = []
    for position in range(count):
        own = T.BOOL if operator == "Where" and position == 0 else dtype
        if position == at:
            under = b.under(fixed)
            x = b.data(own, under)
            if len(under) == len(fixed) and b.chance(0.5):
                times = [dim if size == 1 else 1 for size, dim in zip(under, fixed)]
                xs.append(b.one("Tile", [x, b.ints(times)], own, fixed))
            else:
                xs.append(b.one("Expand", [x, b.ints(fixed)], own, fixed))
        else:
            xs.append(b.data(own, shape if position == wide else b.under(shape)))
    return {"xs": xs}


def gemm_of_transposes(b, _):
    shape = (b.dim(), b.dim())
    names = {"a": transposed(b, b.data(shape=shape), [1, 0])[0]}
    return names


def in_pieces(b):
    """Returns a value, an axis of it, and sizes of pieces along it, sometimes including 0."""
    x = b.data(shape=b.shape(1, 4), constants=False)
    axis = b.pick(at for at, dim in enumerate(x.shape) if isinstance(dim, int) and dim > 1)
    sizes = pieces(b, x.shape[axis])
    if not b.chance(0.1):
        sizes = [size for size in sizes if size]
    if len(sizes) < 2:
        sizes = [1, x.shape[axis] - 1]
    return x, axis, sizes


def split_of_slices(b, _):
    x, axis, sizes = in_pieces(b)
    at, ranges = 0, []
    for size in sizes:
        ranges.append((axis, at, at + size, 1))
        at += size
    if b.chance(0.3):
        ranges[-1] = (axis, ranges[-1][1], 2**31 - 1, 1)
    b.rng.shuffle(ranges)
    b.memo["ranges"] = ranges[:1]

    def others():
        for one in ranges[1:]:
            operands, attributes, shape = sliced(b, x, [one])
            b.after.append(b.one("Slice", operands, x.dtype, shape, **attributes))

    b.later.append(others)
    return {"x": x}


def concat_of_pieces(b, _):
    x, axis, sizes = in_pieces(b)
    if b.chance(0.5):
        xs = split_to(b, x, axis, sizes)
    else:
        at, xs = 0, []
        for size in sizes:
            operands, attributes, shape = sliced(b, x, [(axis, at, at + size, 1)])
            xs.append(b.one("Slice", operands, x.dtype, shape, **attributes))
            at += size
    if b.chance(0.3) and len(xs) > 2:
        xs = b.pick([xs[1:], xs[:-1]])
    if b.chance(0.06):
        b.rng.shuffle(xs)
    b.memo["axis"] = axis
    return {"xs": list(xs)}


def concat_of_concats(b, _):
    shape = b.shape(1, 4)
    axis = b.rng.randrange(len(shape))
    b.memo["axis"] = axis
    parts = lambda: [b.data(shape=[b.pick([1, 2]) if at == axis else d for at, d in enumerate(shape)]) for _ in range(2)]
    xs, inner = parts(), parts()
    whole = [sum(x.shape[axis] for x in inner) if at == axis else dim for at, dim in enumerate(shape)]
    axis_arg = axis - len(shape) if b.opset >= 11 and b.chance(0.3) else axis
    xs[b.rng.randrange(2)] = b.one("Concat", inner, b.dtype, whole, axis=axis_arg)
    return {"xs": xs}


def shuffled(b, rank):
    perm = list(range(rank))
    b.rng.shuffle(perm)
    return perm


def between(b, value):
    """Adds elementwise ops, or ops along axes, on a transposed value."""
    for _ in range(b.rng.randint(0, 2)):
        rank = len(value.shape)
        choice = b.pick(["Abs", "Add", "Add", "Where", "Softmax", "ReduceMax", "Slice", "Clip"])
        if choice == "Add":
            other = b.data(shape=b.under(value.shape) if b.chance(0.6) else value.shape)
            if b.chance(0.4):
                fixed = [dim if isinstance(dim, int) else 1 for dim in b.under(value.shape)]
                other = b.constant(b.numbers(b.dtype, fixed), b.dtype)
            operands = [value, other]
            b.rng.shuffle(operands)
            value = b.one("Add", operands, value.dtype, b.join(value.shape, other.shape))
        elif choice == "Where" and b.opset >= 9:
            condition = b.data(T.BOOL, b.under(value.shape))
            other = b.data(shape=b.under(value.shape))
            value = b.one("Where", [condition, value, other], value.dtype, value.shape)
        elif choice == "Softmax" and b.opset >= 13 and rank and value.dtype in FLOATS:
            b.tame = b.inexact = True
            value = b.one("Softmax", [value], value.dtype, value.shape, axis=b.rng.randint(-rank, rank - 1))
        elif choice == "ReduceMax" and b.opset >= 18 and rank and value.dtype in FLOATS and b.dim() != 0:
            axis = b.rng.randrange(rank)
            if value.shape[axis] in (0, "m"):
                continue
            b.tame = True
            shape = [1 if at == axis else dim for at, dim in enumerate(value.shape)]
            value = b.one("ReduceMax", [value, b.ints([axis])], value.dtype, shape)
        elif choice == "Slice" and rank:
            axis = b.rng.randrange(rank)
            size = value.shape[axis]
            if isinstance(size, int):
                start = b.rng.randint(0, size)
                operands, attributes, shape = sliced(b, value, [(axis, start, b.rng.randint(start, size), 1)])
                value = b.one("Slice", operands, value.dtype, shape, **attributes)
        elif choice == "Clip" and b.opset >= 11 and value.dtype in FLOATS:
            value = b.one("Clip", [value, b.constant(-1, value.dtype)], value.dtype, value.shape)
        elif value.dtype in FLOATS:
            value = b.one("Abs", [value], value.dtype, value.shape)
    return value


def transpose_of_transpose(b, _):
    x = b.data(shape=b.shape(2, 4), constants=False)
    return {"inner": between(b, transposed(b, x, shuffled(b, len(x.shape)))[0])}


def concat_of_transposes(b, _):
    shape = b.shape(1, 4)
    perm, axis = shuffled(b, len(shape)), b.rng.randrange(len(shape))
    xs = []
    for _ in range(b.rng.randint(1, 3)):
        own = [b.dim() if at == perm[axis] else dim for at, dim in enumerate(shape)]
        xs += transposed(b, b.data(shape=own, constants=False), perm)
    b.memo["axis"] = axis
    return {"xs": xs}


# --- transposes below ops ---------------------------------------------------------------


def turning(b, rank):
    """Returns a permutation that isn't the identity."""
    return b.pick([perm for perm in (shuffled(b, rank) for _ in range(8)) if perm != list(range(rank))])


def wide(b, low, high):
    """Returns a shape with few dims of 1, because other rules handle transposes that only move those."""
    return [b.pick([2, 3, 4]) if dim == 1 and b.chance(0.9) else dim for dim in b.shape(low, high)]


def transpose_of_concat(b, _):
    shape = wide(b, 2, 4)
    perm, axis = turning(b, len(shape)), b.rng.randrange(len(shape))
    back = [perm.index(at) for at in range(len(perm))]
    xs = []
    for at in range(b.rng.randint(2, 3)):
        own = [b.dim() if i == axis else dim for i, dim in enumerate(shape)]
        if at == 1 and b.chance(0.8):
            xs.append(b.data(shape=own))
        else:
            xs += transposed(b, b.data(shape=[own[i] for i in back], constants=False), perm)
    b.rng.shuffle(xs)
    b.memo |= {"axis": axis, "perm": back}
    return {"xs": xs}


def transpose_of_fewer_dims(b, operator):
    shape = wide(b, 3, 4)
    perm, at = turning(b, len(shape)), b.rng.randrange(len(shape))
    if operator == "Squeeze":
        shape[perm[at]] = 1
    b.memo |= {"keep": 0 if b.chance(0.9) else 1, "reduced": [at], "axes": [at]}
    if b.chance(0.8):
        b.memo["perm"] = turning(b, len(shape) + (1 if operator == "Unsqueeze" else -1))
    return {"x": transposed(b, b.data(shape=shape, constants=False), perm)[0]}


def op_of_transposes(b, operator):
    shape = wide(b, 2, 4)
    perm = turning(b, len(shape))
    back = [perm.index(at) for at in range(len(perm))]
    dtype = T.BOOL if operator in ("And", "Or", "Xor") else b.dtype
    count = 3 if operator == "Where" else 2
    xs = []
    for at in range(count):
        own = T.BOOL if operator == "Where" and at == 0 else dtype
        if count == 3 and at == 0 and b.chance(0.4):
            fixed = tuple(dim if isinstance(dim, int) else 1 for dim in shape)
            xs.append(b.constant(b.numbers(own, b.pick([(), fixed])), own))
            continue
        whole = [1 if b.chance(0.15) else dim for dim in shape]
        x = transposed(b, b.data(own, [whole[i] for i in back], constants=False), perm)[0]
        xs.append(b.around(x) if b.chance(0.4) else x)
    return {"xs": xs}


def matmul_of_transposes(b, _):
    batch = tuple(b.dim() for _ in range(b.pick([0, 0, 1, 2])))
    rows, inner, wide = b.dim(), b.dim(), b.dim()
    turn = [*range(len(batch)), len(batch) + 1, len(batch)]
    x = transposed(b, b.data(shape=(*batch, inner, rows), constants=False), turn)[0]
    y = transposed(b, b.data(shape=(*batch, wide, inner), constants=False), turn)[0]
    return {"a": x, "b": y}


# --- views, and what is moved -----------------------------------------------------------


def taken_or_given(b, operator, x, axes, shape):
    """Adds a Squeeze or an Unsqueeze in the form of the version."""
    axes_arg = signed(b, axes, max(len(x.shape), len(shape)))
    if b.opset < 13:
        return b.one(operator, [x], x.dtype, shape, axes=axes_arg)
    return b.one(operator, [x, b.ints(axes_arg)], x.dtype, shape)


def viewed(b, x):
    """Adds a view that only adds or removes dims of 1. The original shape is recorded."""
    units = [at for at, dim in enumerate(x.shape) if dim == 1]
    b.memo.setdefault("shapes", []).append(x.shape)
    if units and b.chance(0.5):
        b.memo["axes"] = units
        shape = [dim for dim in x.shape if dim != 1]
        return taken_or_given(b, "Squeeze", x, units, shape)
    at = b.rng.randint(0, len(x.shape))
    shape = [*x.shape[:at], 1, *x.shape[at:]]
    symbols = sum(isinstance(dim, str) for dim in shape)
    if b.chance(0.5) or symbols > 1 or 0 in shape:
        b.memo["axes"] = [at]
        return taken_or_given(b, "Unsqueeze", x, [at], shape)
    dims = b.ints([-1 if isinstance(dim, str) else dim for dim in shape])
    return b.one("Reshape", [x, dims], x.dtype, shape)


def regrouped(b, x, shape):
    """Adds a view with another shape. At most one of its dims may be symbolic."""
    b.memo.setdefault("shapes", []).append(x.shape)
    dims = b.ints([-1 if isinstance(dim, str) else dim for dim in shape])
    return b.one("Reshape", [x, dims], x.dtype, shape)


def in_blocks(b, x):
    """Adds a view that splits a dim in two or joins two dims."""
    shape = list(x.shape)
    is_size = lambda dim: isinstance(dim, int) and dim > 0
    cuts = [at for at, dim in enumerate(shape) if is_size(dim) and dim > 2 and dim % 2 == 0]
    joins = [at for at in range(len(shape) - 1) if is_size(shape[at]) and is_size(shape[at + 1])]
    if not cuts + joins or 0 in shape or sum(isinstance(dim, str) for dim in shape) > 1:
        return viewed(b, x)
    if cuts and b.chance(0.6) or not joins:
        at = b.pick(cuts)
        shape[at : at + 1] = b.pick([[2, shape[at] // 2], [shape[at] // 2, 2]])
    else:
        at = b.pick(joins)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    return regrouped(b, x, shape)


def concat_of_views(b, _):
    shape = [b.pick([1, 2, 3, 4]) for _ in range(b.rng.randint(2, 4))]
    axis, cut = b.rng.randrange(len(shape)), b.chance(0.5)
    after = axis if axis + 1 < len(shape) and b.chance(0.8) else b.rng.randrange(len(shape) - 1)
    xs = []
    for _ in range(b.rng.randint(2, 3)):
        own = [b.pick([1, 2, 3]) if at == axis else dim for at, dim in enumerate(shape)]
        joined = [*own[:after], own[after] * own[after + 1], *own[after + 2 :]]
        source, view = (joined, own) if cut else (own, joined)
        xs.append(regrouped(b, b.data(shape=source, constants=False), view))
    b.memo["axis"] = min(axis, len(xs[0].shape) - 1)
    rest = [dim for at, dim in enumerate(xs[0].shape) if at != b.memo["axis"]]
    if any([dim for at, dim in enumerate(x.shape) if at != b.memo["axis"]] != rest for x in xs):
        b.memo["axis"] = after
    return {"xs": xs}


def view_after_ops(b, _):
    view = b.pick([viewed, in_blocks])
    value = view(b, b.data(shape=b.shape(1, 3), constants=False))
    for _ in range(b.rng.randint(1, 3)):
        if b.opset < 7 or b.chance(0.4):
            value = b.around(value)
        elif b.chance(0.4):
            operands = [value, b.data(value.dtype, b.under(value.shape))]
            b.rng.shuffle(operands)
            value = b.one("Add", operands, value.dtype, value.shape)
        elif b.chance(0.3):
            operands = [value, b.around(value)]
            b.rng.shuffle(operands)
            value = b.one("Add", operands, value.dtype, value.shape)
        else:
            operands = [value, b.data(value.dtype, ())]
            b.rng.shuffle(operands)
            value = b.one("Add", operands, value.dtype, value.shape)
    return {"inner": value}


# --- pieces and pads ----------------------------------------------------------------------


def squeezes_of_split(b, _):
    rank = b.rng.randint(1, 4)
    axis, count = b.rng.randrange(rank), b.rng.randint(2, 4)
    shape = [count if at == axis else b.dim() for at in range(rank)]
    xs = split_to(b, b.data(shape=shape, constants=False), axis, [1] * count)
    less = [dim for at, dim in enumerate(shape) if at != axis]
    b.rng.shuffle(xs)
    b.memo["axes"] = [axis]
    others = b.sample(xs[1:], 0)
    b.later.append(lambda: b.after.extend(taken_or_given(b, "Squeeze", x, [axis], less) for x in others))
    return {"piece": xs[0]}


def parts_of_concat(count):
    """Returns a generator of operands for a Concat that is split into `count` parts, mostly at ends of its operands."""

    def beyond(b, _):
        shape = list(b.shape(1, 4))
        axis = b.rng.randrange(len(shape))
        least = 0 if b.opset >= 13 and b.chance(0.2) else 1
        wholes = [[b.rng.randint(least, 3) for _ in range(b.pick([1, 1, 2]))] for _ in range(count)]
        sizes = [sum(sizes) for sizes in wholes]
        # In some cases a part ends within an operand.
        if b.chance(0.1) and sizes[0] > 1:
            sizes = [sizes[0] - 1, sizes[1] + 1, *sizes[2:]]
        own = lambda size: [size if at == axis else dim for at, dim in enumerate(shape)]
        b.memo |= {"axis": axis, "sizes": (axis, sizes)}
        return {"xs": [b.data(shape=own(size)) for sizes in wholes for size in sizes]}

    return beyond


def slice_of_concat(b, _):
    shape = list(b.shape(1, 4))
    axis = b.rng.randrange(len(shape))
    sizes = [b.rng.randint(1, 4) for _ in range(b.rng.randint(2, 3))]
    ends = [sum(sizes[:at]) for at in range(len(sizes) + 1)]
    start, end = sorted(b.rng.sample(ends, 2))
    if b.chance(0.4):
        at = b.rng.randrange(len(sizes))
        start, end = sorted(b.rng.sample(range(ends[at], ends[at + 1] + 1), 2))
    elif b.chance(0.2):
        start, end = sorted(b.rng.sample(range(ends[-1] + 1), 2))
    b.memo |= {"axis": axis, "ranges": [(axis, start, MOST if end == ends[-1] and b.chance(0.3) else end, 1)]}
    return {"xs": [b.data(shape=[size if at == axis else dim for at, dim in enumerate(shape)]) for size in sizes]}


def fixed(b):
    """Returns a value of a known shape."""
    symbols, b.symbols = b.symbols, False
    x = b.data(shape=b.shape(1, 4), constants=False)
    b.symbols = symbols
    return x


def adding(b, rank):
    return [b.pick([0, 1, 2]) for _ in range(2 * rank)]


def pad_of_pad(b, _):
    x = b.data(shape=b.shape(1, 4), constants=False)
    known = [isinstance(dim, int) for dim in x.shape] * 2
    first, then = adding(b, len(x.shape)), adding(b, len(x.shape))
    if b.chance(0.3):
        then = [0 if pad else -1 if own and b.chance(0.5) else pad for pad, own in zip(then, first)]
    b.memo["pads"] = [[pad if is_known else 0 for pad, is_known in zip(pads, known)] for pads in (first, then)]
    b.memo["fill"] = b.pick([(None, (0.0,)), ("constant", (1.0,)), ("edge", (0.0,))])
    return {"x": x}


def slice_of_pad(b, _):
    x = fixed(b)
    rank = len(x.shape)
    pads, ranges = adding(b, rank), []
    for axis in b.sample(range(rank), 1, 2):
        size, before = x.shape[axis], pads[axis]
        start, end = b.rng.randint(0, before), b.rng.randint(before + size, before + size + pads[rank + axis])
        if b.chance(0.5):
            start, end = sorted((b.rng.randint(before, before + size), b.rng.randint(before, before + size)))
        if b.chance(0.2):
            end = MOST
        ranges.append((axis, start, end, 1))
    b.memo |= {"pads": [pads], "ranges": sorted(ranges), "fill": b.pick([(None, (0.0, 1.0)), ("edge", (0.0,))])}
    return {"x": x}


def pad_of_slice(b, _):
    x = fixed(b)
    rank = len(x.shape)
    pads, ranges = adding(b, rank), []
    for axis in b.sample(range(rank), 1, 2):
        start, end = sorted((b.rng.randint(0, x.shape[axis]), b.rng.randint(0, x.shape[axis])))
        if b.chance(0.5):
            start = 0
        if b.chance(0.9):
            pads[axis] = 0 if start else pads[axis]
            pads[rank + axis] = 0 if end < x.shape[axis] else pads[rank + axis]
        ranges.append((axis, start, end, 1))
    b.memo |= {"pads": [pads], "ranges": sorted(ranges), "fill": (b.pick([None, "constant"]), (0.0, 1.0))}
    return {"x": x}


def nameless_sizes(b, _):
    """Returns an input with unnamed sizes in the file, so that a view with the same sizes has another type."""
    b.named = ""
    shape = [b.pick(["n", "m", 2, 3]) for _ in range(b.rng.randint(1, 3))]
    shape[b.rng.randrange(len(shape))] = "n"
    return {"x": b.input(b.dtype, tuple(shape))}


def norm(b, operator):
    """Returns a value with parameters for its last dim. A Cast precedes the normalization of 16-bit floats."""
    dtype = b.memo.setdefault("other", b.pick([T.FLOAT16, T.BFLOAT16])) if operator == "Cast" else b.dtype
    if operator == "Cast" and b.dtype != T.FLOAT:
        raise Unsuited("dtype")
    size = b.pick([1, 2, 4])
    shape = (*b.shape(0, 2), size)
    b.memo |= {"reduced": [len(shape) - 1], "casts": [dtype, dtype, dtype, T.FLOAT]}
    b.inexact = True
    return {"x": b.data(dtype, shape, constants=False), "scale": b.data(dtype, (size,)), "bias": b.data(dtype, (size,))}


BEYOND = {
    "layer_norm": norm,
    "rms_norm": norm,
    "view_of_same_sizes": nameless_sizes,
    "constants_of_chain": constants_of_chain,
    "where_one_zero": where_one_zero,
    "min_of_mins": min_of_mins,
    "redundant_expand": redundant_expand,
    "gemm_of_transposes": gemm_of_transposes,
    "split_of_slices": split_of_slices,
    "concat_of_pieces": concat_of_pieces,
    "concat_of_concats": concat_of_concats,
    "transpose_of_transpose": transpose_of_transpose,
    "reduction_of_transpose": transpose_of_transpose,
    "concat_of_transposes": concat_of_transposes,
    "concat_of_views": concat_of_views,
    "transpose_of_concat": transpose_of_concat,
    "transpose_of_fewer_dims": transpose_of_fewer_dims,
    "op_of_transposes": op_of_transposes,
    "matmul_of_transposes": matmul_of_transposes,
    "view_after_ops": view_after_ops,
    "squeezes_of_split": squeezes_of_split,
    "pad_of_pad": pad_of_pad,
    "slice_of_pad": slice_of_pad,
    "pad_of_slice": pad_of_slice,
    "slice_of_concat": slice_of_concat,
    "split_of_concat": parts_of_concat(2),
    "three_of_concat": parts_of_concat(3),
    "four_of_concat": parts_of_concat(4),
}
