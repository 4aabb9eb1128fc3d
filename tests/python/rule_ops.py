"""Builds each operator that rules match, with operands, constants, attributes and results.

A pattern determines some of them; the others are drawn from typical values of the operator.
"""

import numpy as np
from onnx import defs

from random_values import FLOATS, T, numpy_type
from rule_graphs import Unsuited

EMITTERS = {}


def emitter(*operators):
    def register(emit):
        EMITTERS.update(dict.fromkeys(operators, emit))
        return emit

    return register


class Place:
    """An op of a pattern under construction: its description in the pattern, and the current bindings of the names."""

    def __init__(self, builder, node, operator, names, created, attributes):
        self.b, self.node, self.op = builder, node, operator
        self.names, self.made, self.attributes = names, created, attributes
        self.slots = node["operands"]
        last = self.slots[-1] if self.slots else [""]
        self.list_at = len(self.slots) - 1 if last[0] == "list" else None

    def has(self, at):
        """Whether the op may have an operand at this position."""
        return self.list_at is not None and at >= self.list_at or at < len(self.slots)

    def listed(self):
        """Returns the values bound to the list, or None if it is unbound."""
        return self.names.get(self.slots[-1][1]) if self.list_at is not None else None

    def known(self, at):
        """Returns the operand if it is already determined."""
        if self.list_at is not None and at >= self.list_at:
            listed = self.listed()
            return None if listed is None else listed[at - self.list_at]
        slot = self.slots[at]
        if slot[0] == "result":
            return self.made[slot[1]][slot[2]]
        return self.names.get(slot[1]) if slot[0] in ("value", "optional") else None

    def get(self, at, make, optional=0.0, number=None):
        """Returns the operand if it is determined, else that of `make`. An optional one is omitted with a probability."""
        b = self.b
        if self.list_at is not None and at >= self.list_at:
            listed = self.listed()
            if listed is not None:
                return listed[at - self.list_at] if at - self.list_at < len(listed) else None
            return None if b.chance(optional) else make()
        if at >= len(self.slots):
            return None
        kind, *what = self.slots[at]
        if kind == "absent":
            return None
        if kind == "number":
            return (number or self.number)(what[0])
        if kind == "ints":
            return b.ints(self.bound(what[0], []))
        if kind == "splat":
            return (number or self.number)(self.bound(what, [b.pick([0.5, 0.25, 1e-3])])[0])
        if kind == "result":
            return self.made[what[0]][what[1]]
        if kind == "any":
            return make()
        if what[0] not in self.names:
            self.names[what[0]] = None if kind == "optional" and b.chance(max(optional, 0.5)) else make()
        return self.names[what[0]]

    def number(self, number, shape=(), dtype=None):
        dtype = self.b.dtype if dtype is None else dtype
        return self.b.constant(nearly(self.b, np.full(shape, number, np.float64), dtype), dtype)

    def bound(self, items, new):
        """Returns the items of a list of integers and names. Names that aren't bound are bound to `new`."""
        new = iter(new)
        return [self.attributes.setdefault(one, next(new, 0)) if isinstance(one, str) else one for one in items]

    def ints(self, at, name, new):
        """Returns the integers of an operand or attribute in the pattern, or None. Names in it are bound to `new`."""
        if at < len(self.slots) and self.slots[at][0] == "ints":
            return self.bound(self.slots[at][1], new)
        lists = [what for own, kind, what in self.node["attrs"] if own == name and kind == "is"]
        return self.bound(lists[0], new) if lists else None

    def counts(self, number, count):
        """Returns equal integers that parametrize an op."""
        return self.b.constant(np.full(count, number), T.INT64)

    def attr(self, name, make, since=1):
        """Returns the attribute in the pattern, or that of `make`; None omits it."""
        for own, kind, what in self.node["attrs"]:
            if own == name and kind == "is":
                return what
            if own == name:
                if what not in self.attributes:
                    self.attributes[what] = make()
                return self.attributes[what]
        return make() if self.b.opset >= since else None


def allowed(operator, opset, position=0):
    """Returns the element types that an operand may have."""
    try:
        schema = defs.get_schema(operator, opset)
    except defs.SchemaError:
        raise Unsuited(f"no {operator}") from None
    if schema.deprecated:
        raise Unsuited(f"no {operator}")
    inputs = schema.inputs
    of = inputs[min(position, len(inputs) - 1)].type_str
    types = next((c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == of), [of])
    return {getattr(T, text[7:-1].upper(), None) for text in types if text.startswith("tensor(")}


def full(b, number, shape, dtype):
    """Returns a constant with equal elements and a shape that broadcasts to `shape`; rarely of a larger shape."""
    shape = tuple(dim if isinstance(dim, int) else 1 for dim in shape)
    choice = b.rng.random()
    if choice < 0.45:
        shape = ()
    elif choice < 0.6:
        shape = (1,) * b.rng.randint(1, max(1, len(shape)))
    elif choice < 0.93:
        shape = tuple(dim if isinstance(dim, int) else 1 for dim in b.under(shape))
    else:
        shape = (b.pick([1, 2]), *shape)
    return b.constant(nearly(b, np.full(shape, number, np.float64), dtype), dtype)


def nearly(b, array, dtype):
    """Sometimes replaces a pattern's number with a similar one: -0.0, or one different element."""
    array = array.astype(numpy_type(dtype))
    if dtype in FLOATS and not array.any() and b.chance(0.08):
        return -array
    if array.size and b.chance(0.05):
        flat = array.reshape(-1).copy()
        more = 1 if dtype not in FLOATS else b.pick([1, 2.0**-7, np.nan])
        flat[b.rng.randrange(flat.size)] += np.array(more).astype(flat.dtype)
        return flat.reshape(array.shape)
    return array


def signed(b, axes, rank):
    return [axis - rank if b.opset >= 11 and b.chance(0.3) else axis for axis in axes]


def axes_of(p, at, axes, since):
    """Returns axes as an operand in new versions, or as an attribute in old ones; both None if they are omitted."""
    b = p.b
    if axes is None:
        return None, {}
    if b.opset < since:
        if at < len(p.slots) and p.slots[at][0] not in ("list", "optional", "absent"):
            raise Unsuited("an operand that is an attribute")
        return None, {"axes": list(axes)}
    if not p.has(at):
        raise Unsuited("an attribute that is an operand")
    if any(own == "axes" for own, *_ in p.node["attrs"]):
        raise Unsuited("an attribute that is an operand")
    return p.get(at, lambda: b.ints(axes)), {}


# --- element by element ------------------------------------------------------------


def elementwise(p, count, dtypes):
    """Returns operands that broadcast to each other, and the resulting shape."""
    b = p.b
    known = [p.known(at) for at in range(count)]
    shapes = [value.shape for value in known if value is not None]
    whole = b.join(*shapes) if shapes else b.shape()
    is_number = [p.list_at is None and p.slots[at][0] in ("number", "splat") for at in range(count)]
    main = b.pick(at for at in range(count) if not is_number[at])
    operands = []
    for at in range(count):
        shape = whole if at == main or b.chance(0.5) else b.under(whole)
        make = lambda: b.data(dtypes[at], shape)
        operands.append(p.get(at, make, number=lambda number: full(b, number, whole, dtypes[at])))
    return operands, b.join(*(operand.shape for operand in operands))


@emitter("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Equal", "Less", "Greater", "Sum", "Mean", "Min", "Max")
def nary(p):
    b = p.b
    listed = p.listed()
    count = len(listed) if listed is not None else len(p.slots) if p.list_at is None else 2
    dtype = T.BOOL if p.op in ("And", "Or") else b.dtype
    if b.opset < 7 or dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    if p.op in ("Div", "Pow") and dtype not in FLOATS and p.slots[-1][0] != "number":
        raise Unsuited("integers that some of are 0")
    if p.op == "Pow":
        b.tame = True
    operands, shape = elementwise(p, count, [dtype] * count)
    result = T.BOOL if p.op in ("And", "Or", "Equal", "Less", "Greater") else dtype
    return b.node(p.op, operands, [(result, shape)])


@emitter("Where")
def where(p):
    b = p.b
    if b.opset < 9:
        raise Unsuited("no Where")
    dtype = T.BOOL if b.rule == "where_one_zero" and b.chance(0.9) else b.dtype
    operands, shape = elementwise(p, 3, [T.BOOL, dtype, dtype])
    return b.node("Where", operands, [(dtype, shape)])


UNARY = ["Not", "Neg", "Abs", "Relu", "Ceil", "Floor", "Round", "Sign", "Erf", "Gelu", "Identity", "LeakyRelu"]
GROWING = ["Exp", "Sigmoid", "Softplus", "Softmax", "Sqrt", "Reciprocal"]


@emitter(*UNARY, *GROWING)
def unary(p):
    b = p.b
    b.tame = b.tame or p.op in GROWING
    b.inexact = b.inexact or p.op in GROWING
    dtype = T.BOOL if p.op == "Not" else b.dtype
    if dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    x = p.get(0, lambda: b.data(dtype))
    # The sign of a NaN isn't defined, and ONNX Runtime's float16 kernels differ.
    b.tame = b.tame or p.op == "Sign" and dtype == T.FLOAT16
    attributes = {"alpha": b.pick([None, 0.5, 0.25])} if p.op == "LeakyRelu" else {}
    return b.node(p.op, [x], [(x.dtype, x.shape)], **attributes)


@emitter("Clip")
def clip(p):
    b = p.b
    if b.dtype not in allowed("Clip", b.opset):
        raise Unsuited("dtype")
    x = p.get(0, b.data)
    low, high = b.pick([(None, None), (0, 6), (0, None), (-1, 1), (None, 2), (0.5, 0.5), (1, 3), (-2, 0), (2, 1)])
    if b.opset < 11:
        bounds = {"min": low, "max": high}
        bounds = {name: None if bound is None else float(bound) for name, bound in bounds.items()}
        return b.node("Clip", [x], [(x.dtype, x.shape)], **bounds)
    bounds = []
    for at, bound in ((1, low), (2, high)):
        make = lambda: None if bound is None else p.number(bound)
        bounds.append(p.get(at, make) if p.has(at) else None)
    return b.node("Clip", [x, *bounds], [(x.dtype, x.shape)])


WIDER = {
    T.BOOL: [T.INT64, T.FLOAT, T.INT32, T.UINT8], T.INT32: [T.INT64, T.DOUBLE, T.FLOAT], T.INT64: [T.DOUBLE, T.INT32, T.FLOAT],
    T.FLOAT16: [T.FLOAT, T.DOUBLE], T.BFLOAT16: [T.FLOAT, T.DOUBLE], T.FLOAT: [T.DOUBLE, T.FLOAT16, T.INT64],
    T.DOUBLE: [T.FLOAT, T.INT64], T.UINT8: [T.INT32, T.FLOAT, T.INT64], T.INT8: [T.INT16, T.FLOAT, T.UINT8],
}


@emitter("Cast", "CastLike")
def cast(p):
    b = p.b
    if "other" not in b.memo:
        b.memo["other"] = b.pick([b.dtype, b.dtype, T.BOOL, T.INT32, T.UINT8, T.INT8, T.FLOAT16, T.BFLOAT16])
    x = p.get(0, lambda: b.data(b.memo["other"]))
    choices = [x.dtype, b.memo["other"], b.dtype, *WIDER.get(x.dtype, [T.FLOAT]), T.FLOAT, T.INT32]
    to = p.attr("to", lambda: b.pick(b.memo.get("casts", choices)))
    if x.dtype not in allowed("Cast", b.opset) or to not in allowed("Cast", b.opset):
        raise Unsuited("dtype")
    # Converting NaN or 1e30 to an integer isn't defined, nor is converting a negative number to an unsigned type.
    b.tame = b.tame or to not in FLOATS
    if p.op == "CastLike":
        if not p.has(1) or b.opset < 15:
            raise Unsuited("CastLike takes two")
        like = p.get(1, lambda: b.data(to, b.shape(0, 2)))
        return b.node("CastLike", [x, like], [(to, x.shape)])
    return b.node("Cast", [x], [(to, x.shape)], to=to)


@emitter("DequantizeLinear", "QuantizeLinear")
def quantize(p):
    b = p.b
    b.tame = True
    if b.opset < 10:
        raise Unsuited("no such op")
    dequantizes = p.op == "DequantizeLinear"
    if dequantizes and "integer" not in b.memo:
        b.memo["integer"] = b.pick([T.INT8, T.UINT8] + [T.INT16, T.UINT16] * (b.opset >= 21))
    integer = b.memo.setdefault("integer", T.UINT8)
    x = p.get(0, lambda: b.data(integer if dequantizes else T.FLOAT, b.shape(1, 4)))
    axis = p.attr("axis", lambda: b.pick([None, *range(-len(x.shape), len(x.shape))]), since=13)
    at = 1 if axis is None else axis
    size = x.shape[at] if -len(x.shape) <= at < len(x.shape) else None
    per_axis = b.opset >= 13 and isinstance(size, int) and size != 1 and b.chance(0.5)
    if p.known(1) is not None:
        shape = p.known(1).shape
    else:
        shape = (size,) if per_axis else ()
    scale = p.get(1, lambda: b.constant(np.abs(b.numbers(T.FLOAT, shape, small=True)), T.FLOAT))
    zero = None
    if p.has(2):
        zero = p.get(2, lambda: b.constant(b.numbers(integer, shape), integer))
    if zero is None and not dequantizes:
        if p.has(2) and integer != T.UINT8:
            raise Unsuited("without a zero point it is uint8")
    result = T.FLOAT if dequantizes else zero.dtype if zero else T.UINT8
    return b.node(p.op, [x, scale, zero], [(result, x.shape)], axis=axis)


# --- reductions and products ---------------------------------------------------------


REDUCTIONS = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2")
REDUCTIONS += ("ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")


@emitter(*REDUCTIONS)
def reduce(p):
    b = p.b
    if b.dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    if p.op.startswith(("ReduceLog", "ReduceL2", "ReduceMean")) and b.dtype not in FLOATS:
        raise Unsuited("integers that are divided")
    b.tame = True
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    rank = len(x.shape)
    axes = sorted(b.sample(range(rank), 1, 3)) if b.chance(0.85) else list(range(rank))
    axes = b.memo.get("reduced", axes)
    given = p.ints(1, "axes", signed(b, axes, rank))
    if given and not all(-rank <= axis < rank for axis in given):
        raise Unsuited("axes of a larger rank")
    axes = [axis % rank for axis in given] if given else axes
    # ONNX Runtime keeps all axes of a tensor without elements.
    if 0 in x.shape or "m" in x.shape:
        raise Unsuited("nothing to reduce")
    keep = p.attr("keepdims", lambda: b.memo.get("keep", b.pick([None, 0, 0, 1])))
    shape = [1 if at in axes else dim for at, dim in enumerate(x.shape) if keep != 0 or at not in axes]
    b.memo["axes"] = axes
    b.memo.setdefault("shapes", []).append(tuple(1 if at in axes else dim for at, dim in enumerate(x.shape)))
    axes_arg = None if axes == list(range(rank)) and b.chance(0.3) else signed(b, axes, rank)
    axes_arg = given or axes_arg
    operand, attributes = axes_of(p, 1, axes_arg, 13 if p.op == "ReduceSum" else 18)
    return b.node(p.op, [x, operand], [(x.dtype, shape)], keepdims=keep, **attributes)


@emitter("ArgMax", "ArgMin")
def arg(p):
    b = p.b
    if b.dtype not in allowed(p.op, b.opset):
        raise Unsuited("dtype")
    b.tame = True
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    rank = len(x.shape)
    axis = b.memo.get("reduced", [b.rng.randrange(rank)])[0]
    # ONNX Runtime keeps all axes of a tensor without elements.
    if 0 in x.shape or "m" in x.shape:
        raise Unsuited("nothing to find")
    keep = b.memo.get("keep", b.pick([None, 0, 0, 1]))
    last = b.pick([None, None, 1]) if b.opset >= 12 else None
    shape = [1 if at == axis else dim for at, dim in enumerate(x.shape) if keep != 0 or at != axis]
    b.memo["axes"] = [axis]
    axis_arg = axis - rank if b.opset >= 11 and b.chance(0.3) else axis
    axis_arg = None if axis_arg == 0 and b.chance(0.5) else axis_arg
    return b.node(p.op, [x], [(T.INT64, shape)], axis=axis_arg, keepdims=keep, select_last_index=last)


@emitter("MatMul")
def matmul(p):
    b = p.b
    if b.dtype not in allowed("MatMul", b.opset):
        raise Unsuited("dtype")
    b.tame = True
    inner = b.dim()
    rank = b.pick([2, 2, 2, 2, 3])
    batch = [b.dim()] if rank == 3 else []
    if "left" in b.rule:
        y = p.get(1, lambda: b.data(shape=(*batch, inner, b.dim()), constants=False))
        if len(y.shape) < 2:
            raise Unsuited("vectors")
        x = p.get(0, lambda: weights(b, (b.dim(), y.shape[-2])))
    else:
        x = p.get(0, lambda: b.data(shape=(*b.shape()[:0], *batch, b.dim(), inner)))
        if len(x.shape) < 2:
            raise Unsuited("vectors")
        y = p.get(1, lambda: weights(b, (x.shape[-1], b.dim())))
    inner = x.shape[-1]
    if inner == 0:
        # ONNX Runtime leaves a batch of such products uninitialized.
        raise Unsuited("sums of nothing")
    if len(y.shape) < 2 or y.shape[-2] != inner:
        raise Unsuited("sizes that don't meet")
    shape = (*b.join(x.shape[:-2] or (1,), y.shape[:-2] or (1,)), x.shape[-2], y.shape[-1])
    shape = shape if max(len(x.shape), len(y.shape)) > 2 else shape[-2:]
    return b.node("MatMul", [x, y], [(x.dtype, shape)])


@emitter("Gemm")
def gemm(p):
    b = p.b
    if b.opset < 7 or b.dtype not in allowed("Gemm", b.opset):
        raise Unsuited("dtype")
    b.tame = True
    a_turns, b_turns = b.chance(0.4), b.chance(0.4)
    x = p.get(0, lambda: b.data(shape=(b.dim(), b.dim())))
    if len(x.shape) != 2:
        raise Unsuited("no matrix")
    inner, rows = (x.shape[0], x.shape[1]) if a_turns else (x.shape[1], x.shape[0])
    wide = b.dim()
    y = p.get(1, lambda: weights(b, (wide, inner) if b_turns else (inner, wide)))
    own, wide = (y.shape[1], y.shape[0]) if b_turns else y.shape
    if own != inner:
        raise Unsuited("sizes that don't meet")
    shape, more = (rows, wide), None
    if p.has(2):
        more = p.get(2, lambda: weights(b, b.under(shape)), 0.4)
    if more is None and b.opset < 11:
        raise Unsuited("C isn't optional")
    attributes = {"transA": b.pick([None, 0]) if not a_turns else 1, "transB": b.pick([None, 0]) if not b_turns else 1}
    if b.dtype in FLOATS:
        attributes |= {"alpha": b.pick([None, None, 0.5]), "beta": b.pick([None, None, 2.0])}
    return b.node("Gemm", [x, y, more], [(x.dtype, shape)], **attributes)


def weights(b, shape):
    """Returns weights: a constant if passes are to fold something into it."""
    if b.folds and all(isinstance(dim, int) for dim in shape) and b.chance(0.95):
        return b.constant(b.numbers(b.dtype, shape), b.dtype)
    return b.data(shape=shape)
