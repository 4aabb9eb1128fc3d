"""Builds views: ops that change the shape or the position of elements, but no element."""

from random_values import T
from rule_graphs import Unsuited
from rule_ops import axes_of, emitter, signed


def ones(shape):
    return [at for at, dim in enumerate(shape) if dim == 1]


def remembered(b, value):
    """Records a shape, which later ops may return to."""
    b.memo.setdefault("shapes", []).append(value.shape)


@emitter("Reshape")
def reshape(p):
    b = p.b
    if not p.has(1):
        raise Unsuited("Reshape takes a shape")
    x = p.get(0, b.data)
    remembered(b, x)
    if b.opset < 5:
        raise Unsuited("an attribute")
    dims = list(x.shape)
    kept = [dim for dim in dims if dim != 1]
    other = list(kept)
    for _ in range(len(dims) - len(kept)):
        other.insert(b.rng.randint(0, len(other)), 1)
    more = list(dims)
    for _ in range(b.rng.randint(1, 2)):
        more.insert(b.rng.randint(0, len(more)), 1)
    choices = [dims, kept, other, other, more, [b.product(dims)]]
    if len(dims) >= 2:
        at = b.rng.randrange(len(dims) - 1)
        choices.append([*dims[:at], b.product(dims[at : at + 2]), *dims[at + 2 :]])
    for shape in b.memo.get("shapes", []):
        if b.product(shape) == b.product(dims):
            choices.append(list(shape))
    if b.rule == "pad_between_views" and b.chance(0.8):
        choices = [other, kept if b.memo.get("padded") else more]
    if b.rule == "view_of_transpose" and b.chance(0.7):
        choices = [other]
    elif b.rule.startswith("view_of_same_shape") and b.chance(0.5) or b.rule == "view_of_same_sizes":
        choices = [dims]
    wanted = b.pick(choices)
    allow_zero = p.attr("allowzero", lambda: b.pick([None, None, None, 0, 1]), since=14)
    dims_arg, has_rest = [], False
    for at, dim in enumerate(wanted):
        same = at < len(dims) and dims[at] == dim
        if isinstance(dim, int) and not (same and b.chance(0.2) and not allow_zero) and not (dim == 0 and not allow_zero):
            rest = b.chance(0.15) and not has_rest and 0 not in dims and all(isinstance(d, int) for d in dims)
            dims_arg.append(-1 if rest else dim)
            has_rest |= rest
        elif same and not allow_zero:
            dims_arg.append(0)
        elif not has_rest and 0 not in dims:
            dims_arg.append(-1)
            has_rest = True
        else:
            raise Unsuited("a shape that no constant says")
    if 0 in dims_arg and -1 in dims_arg and allow_zero:
        raise Unsuited("0 and -1")
    shape = p.get(1, lambda: b.ints(dims_arg))
    return b.node("Reshape", [x, shape], [(x.dtype, tuple(wanted))], allowzero=allow_zero)


@emitter("Squeeze")
def squeeze(p):
    b = p.b
    x = p.get(0, b.data)
    remembered(b, x)
    units = ones(x.shape)
    choices = [units]
    if units:
        choices.append(b.sample(units, 1))
    if set(b.memo.get("axes", ())) <= set(units) and b.memo.get("axes"):
        choices += [b.memo["axes"]] * 3
    axes = b.pick(choices)
    shape = [dim for at, dim in enumerate(x.shape) if at not in axes]
    if sorted(axes) == units and not any(isinstance(dim, str) for dim in x.shape) and b.chance(0.3):
        axes = None
    elif not axes:
        # Empty axes would mean all axes.
        raise Unsuited("nothing to take away")
    b.memo["axes"] = [at for at in units if at in (axes or units)]
    operand, attributes = axes_of(p, 1, axes if axes is None else signed(b, axes, len(x.shape)), 13)
    if axes is None and 1 < len(p.slots) and p.slots[1][0] != "list":
        raise Unsuited("axes are left out")
    return b.node("Squeeze", [x, operand], [(x.dtype, shape)], **attributes)


@emitter("Unsqueeze")
def unsqueeze(p):
    b = p.b
    x = p.get(0, b.data)
    remembered(b, x)
    rank = len(x.shape)
    count = b.pick([1, 1, 1, 2, 0])
    choices = [sorted(b.sample(range(rank + count), count, count))]
    again = b.memo.get("axes")
    if again and all(axis < rank + len(again) for axis in again):
        choices += [again] * 3
    axes = b.pick(choices)
    b.memo["axes"] = axes
    shape, rest = [], iter(x.shape)
    for at in range(rank + len(axes)):
        shape.append(1 if at in axes else next(rest))
    operand, attributes = axes_of(p, 1, signed(b, axes, rank + len(axes)), 13)
    return b.node("Unsqueeze", [x, operand], [(x.dtype, shape)], **attributes)


@emitter("Flatten")
def flatten(p):
    b = p.b
    x = p.get(0, b.data)
    remembered(b, x)
    rank = len(x.shape)
    axis = 1 if b.rule.startswith("view_of_same_shape") and rank == 2 else b.rng.randint(0, rank)
    shape = (b.product(x.shape[:axis]), b.product(x.shape[axis:]))
    axis_arg = axis - rank if b.opset >= 11 and axis < rank and b.chance(0.3) else axis
    return b.node("Flatten", [x], [(x.dtype, shape)], axis=None if axis_arg == 1 and b.chance(0.5) else axis_arg)


@emitter("Expand")
def expand(p):
    b = p.b
    if b.opset < 8:
        raise Unsuited("no Expand")
    x = p.get(0, b.data)
    fixed = [dim if isinstance(dim, int) else 1 for dim in x.shape]
    wider = [b.pick([1, 2, 3]) if dim == 1 and isinstance(own, int) else dim for dim, own in zip(fixed, x.shape)]
    to = b.pick([fixed, fixed, [1] * len(fixed), wider, [b.pick([1, 2]), *wider], fixed[1:]])
    shape = p.get(1, lambda: b.ints(to))
    return b.node("Expand", [x, shape], [(x.dtype, b.join(x.shape, tuple(to)))])


@emitter("Transpose")
def transpose(p):
    b = p.b
    x = p.get(0, b.data)
    rank = len(x.shape)
    perm = list(range(rank))
    choice = b.rng.random()
    if choice < 0.75:
        b.rng.shuffle(perm)
    elif choice < 0.9:
        perm.reverse()
    # A perm that only moves dims of 1.
    if b.rule == "transpose_of_unit_dims" and b.chance(0.7):
        kept = [at for at in range(rank) if x.shape[at] != 1]
        perm = kept
        for at in ones(x.shape):
            perm.insert(b.rng.randint(0, len(perm)), at)
    wanted = b.memo.pop("perm", None)
    perm = perm if wanted is None or len(wanted) != rank else wanted
    return transposed(b, x, p.attr("perm", lambda: perm))


def transposed(b, x, perm):
    backwards = list(reversed(range(len(x.shape))))
    perm = backwards if perm is None else perm
    perm_arg = None if perm == backwards and b.chance(0.15) else perm
    return b.node("Transpose", [x], [(x.dtype, [x.shape[at] for at in perm])], perm=perm_arg)


@emitter("Tile")
def tile(p):
    b = p.b
    if b.opset < 6:
        raise Unsuited("Tile of before")
    x = p.get(0, b.data)
    rank = len(x.shape)
    repeats = p.get(1, lambda: b.ints([1] * rank), number=lambda number: p.counts(number, rank))
    return b.node("Tile", [x, repeats], [(x.dtype, x.shape)])


@emitter("Concat")
def concat(p):
    b = p.b
    listed = p.listed()
    if listed is not None:
        axis = b.memo["axis"]
    else:
        first = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
        axis = b.rng.randrange(len(first.shape)) if first.shape else None
        if axis is None:
            raise Unsuited("nothing to put together")
        listed = [first]
        for at in range(1, b.rng.randint(2, 3) if p.list_at is not None else len(p.slots)):
            shape = [b.dim() if i == axis else dim for i, dim in enumerate(first.shape)]
            listed.append(p.get(at, lambda: b.data(first.dtype, shape)))
    rank = len(listed[0].shape)
    sizes = [value.shape[axis] for value in listed]
    whole = sum(sizes) if all(isinstance(size, int) for size in sizes) else sizes[0] if len(sizes) == 1 else b.nameless()
    shape = [whole if at == axis else dim for at, dim in enumerate(listed[0].shape)]
    axis_arg = axis - rank if b.opset >= 11 and b.chance(0.3) else axis
    return b.node("Concat", listed, [(listed[0].dtype, shape)], axis=p.attr("axis", lambda: axis_arg))


@emitter("Shape")
def shape_of(p):
    b = p.b
    x = p.get(0, b.data)
    rank = len(x.shape)
    start = p.attr("start", lambda: b.pick([None, None, 0, 1, -1]), since=15)
    end = p.attr("end", lambda: b.pick([None, None, rank, 1, -1]), since=15)
    if b.opset < 15:
        start = end = None
    return b.node("Shape", [x], [(T.INT64, (len(range(rank)[start:end]),))], start=start, end=end)
