"""Builds ops that take parts of tensors or add elements around them: Pad, Slice, Split, Gather."""

import numpy as np

from random_values import T
from rule_graphs import Unsuited
from rule_ops import emitter, signed
from rule_views import remembered

MOST = 2**31 - 1


@emitter("Pad")
def pad(p):
    b = p.b
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    if b.rule != "pad_between_views":
        remembered(b, x)
    b.memo["padded"] = True
    rank = len(x.shape)
    pads = [0] * (2 * rank)
    zero = b.rule.startswith("pad_nothing") and b.chance(0.8)
    for at in range(rank):
        likely = 0.05 if x.shape[at] == 1 else 0.6
        if isinstance(x.shape[at], int) and not zero and b.chance(likely):
            pads[at], pads[rank + at] = b.pick([0, 1, 2]), b.pick([0, 1, -1] if x.shape[at] > 1 else [0, 1])
    mode, values = b.memo.get("fill", (b.pick([None, None, None, "constant", "reflect", "edge"]), (0.0, 1.0, -2.0)))
    wanted = b.memo.get("pads")
    pads = wanted.pop(0) if wanted else pads
    if mode in ("reflect", "edge") and (0 in x.shape or any(abs(v) >= x.shape[i % rank] for i, v in enumerate(pads) if v)):
        raise Unsuited("nothing to take for what is padded")
    return padded(p, x, pads, mode, values)


def padded(p, x, pads, mode=None, values=(0.0, 1.0, -2.0)):
    """Adds a Pad in the form of the version."""
    b, rank = p.b, len(x.shape)
    if b.opset < 11:
        if len(p.slots) > 1 and p.list_at is None and p.slots[1][0] not in ("optional", "list"):
            raise Unsuited("pads are an operand")
        value = b.pick([None, *values])
        return b.node("Pad", [x], [(x.dtype, grown(b, x, pads))], pads=pads, mode=mode, value=value)
    if not p.has(1):
        raise Unsuited("pads are an attribute")
    axes = None
    if b.opset >= 18 and p.has(3) and b.chance(0.3):
        axes = [at for at in range(rank) if pads[at] or pads[rank + at] or b.chance(0.3)] or None
    pads_arg = pads if axes is None else [pads[at] for at in axes] + [pads[rank + at] for at in axes]
    operand = p.get(1, lambda: b.ints(pads_arg), number=lambda number: p.counts(number, len(pads_arg)))
    if p.slots[1][0] == "number":
        pads = [0] * (2 * rank)
    value = p.get(2, lambda: p.number(b.pick(values), dtype=x.dtype), 0.4) if p.has(2) else None
    last = p.get(3, lambda: b.ints(signed(b, axes, rank))) if axes is not None else None
    return b.node("Pad", [x, operand, value, last], [(x.dtype, grown(b, x, pads))], mode=mode)


def grown(b, x, pads):
    rank, shape = len(x.shape), []
    for at, dim in enumerate(x.shape):
        more = pads[at] + pads[rank + at]
        shape.append(dim if not more else dim + more if isinstance(dim, int) else b.nameless())
    if any(isinstance(dim, int) and dim < 0 for dim in shape):
        raise Unsuited("less than nothing")
    return shape


def sliced(b, x, ranges):
    """Adds a Slice in the form of the version; `ranges` are (axis, start, end, step)."""
    axes, starts, ends, steps = (list(column) for column in zip(*ranges)) if ranges else ([], [], [], [])
    shape = list(x.shape)
    for axis, start, end, step in ranges:
        whole = (start, step) == (0, 1) and end >= MOST
        if not whole:
            known = isinstance(shape[axis], int)
            shape[axis] = len(range(shape[axis])[start:end:step]) if known else b.nameless()
    if b.opset < 10:
        if any(step != 1 for step in steps):
            raise Unsuited("no steps")
        default = axes == list(range(len(axes))) and b.chance(0.5)
        operands_by_name = {"starts": starts, "ends": ends, "axes": None if default else axes}
        return [x], operands_by_name, shape
    operands = [x, b.ints(starts), b.ints(ends), b.ints(signed(b, axes, len(x.shape))), b.ints(steps)]
    if all(step == 1 for step in steps) and b.chance(0.6):
        operands.pop()
        if axes == list(range(len(axes))) and b.chance(0.5):
            operands.pop()
    return operands, {}, shape


@emitter("Slice")
def slice_(p):
    b = p.b
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    rank, ranges = len(x.shape), b.memo.pop("ranges", None)
    if ranges is None:
        ranges = []
        for axis in sorted(b.sample(range(rank), 1, 2)):
            size, choice = x.shape[axis], b.rng.random()
            ends = [MOST, 2**63 - 1] + ([size, size + 3] if isinstance(size, int) else [])
            if not isinstance(size, int) and b.chance(0.3):
                ranges.append((axis, b.pick([0, 0, 1, -1]), b.pick([1, 2, -1, MOST]), 1))
            elif not isinstance(size, int) or choice < (0.6 if "slice_all" in b.rule or "whole" in b.rule else 0.2):
                ranges.append((axis, 0, b.pick(ends), 1))
            elif choice < 0.6 and size and p.op == "Slice" and b.rule == "squeeze_of_slice":
                at = b.rng.randrange(size)
                ranges.append((axis, at, at + 1, 1))
            else:
                start, end = sorted((b.rng.randint(0, size), b.rng.randint(0, size)))
                step = b.pick([1, 1, 1, 1, 2])
                start = start - size if start < size and b.chance(0.2) else start
                end = b.pick([end, end, end - size if end < size else MOST])
                ranges.append((axis, start, end, step))
                if b.chance(0.06):
                    ranges[-1] = (axis, MOST, -(2**31), -1)
        if b.rule == "squeeze_of_slice":
            ranges = ranges[:1]
    wanted = None if p.list_at is not None else len(p.slots)
    for _ in range(8):
        operands, attributes, shape = sliced(b, x, ranges)
        if wanted is None or len(operands) == wanted:
            break
    else:
        raise Unsuited("other operands")
    if wanted is not None and p.slots[-1][0] == "number":
        operands[-1] = p.counts(1, len(ranges))
        if any(step != 1 for *_, step in ranges):
            raise Unsuited("other steps")
    b.memo["axes"] = [axis for axis, *_ in ranges if shape[axis] == 1]
    return b.node("Slice", operands, [(x.dtype, shape)], **attributes)


def pieces(b, size, most=3):
    """Returns sizes with a given sum."""
    if not isinstance(size, int):
        raise Unsuited("pieces of an unknown size")
    cuts = sorted(b.rng.randint(0, size) for _ in range(b.rng.randint(0, most - 1)))
    return [end - start for start, end in zip([0, *cuts], [*cuts, size])]


@emitter("Split")
def split(p):
    b = p.b
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    if "sizes" in b.memo:
        return split_to(b, x, *b.memo.pop("sizes"), p.has(1))
    axis = b.rng.randrange(len(x.shape))
    sizes = [x.shape[axis]] if len(p.node["results"]) == 1 and b.chance(0.8) else pieces(b, x.shape[axis])
    return split_to(b, x, axis, sizes, p.has(1))


def split_to(b, x, axis, sizes, operand=True):
    rank, attributes = len(x.shape), {}
    axis_arg = axis - rank if b.opset >= 11 and b.chance(0.3) else axis
    operands, known = [x], all(isinstance(size, int) for size in sizes)
    if known and (b.chance(0.7) or len(set(sizes)) > 1 or b.opset >= 18):
        if b.opset < 13:
            attributes["split"] = sizes
        elif operand:
            operands.append(b.ints(sizes))
        else:
            raise Unsuited("sizes are an operand")
    elif b.opset >= 18:
        attributes["num_outputs"] = len(sizes)
    if 0 in sizes and len(sizes) > 1 and b.opset < 13:
        raise Unsuited("sizes of 0")
    results = [(x.dtype, [size if at == axis else dim for at, dim in enumerate(x.shape)]) for size in sizes]
    return b.node("Split", operands, results, axis=axis_arg, **attributes)


@emitter("Gather")
def gather(p):
    b = p.b
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    rank = len(x.shape)
    axis = b.rng.randrange(rank)
    size = x.shape[axis]
    if not isinstance(size, int) or not size:
        raise Unsuited("nothing to pick")
    low = -size if b.opset >= 11 else 0
    shape = b.pick([(), (), (1,), (1,), (2,), (1, 2)])
    array = np.array([b.rng.randint(low, size - 1) for _ in range(int(np.prod(shape)))]).reshape(shape)
    dtype = b.pick([T.INT64, T.INT64, T.INT32])
    at = p.get(1, lambda: b.constant(array, dtype))
    b.memo["axes"] = [axis]
    axis_arg = axis - rank if b.opset >= 11 and b.chance(0.3) else axis
    result = [*x.shape[:axis], *shape, *x.shape[axis + 1 :]]
    return b.node("Gather", [x, at], [(x.dtype, result)], axis=None if axis_arg == 0 and b.chance(0.5) else axis_arg)
