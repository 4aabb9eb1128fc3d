"""Builds sequences of tensors, and ops that take tensors from them."""

from random_values import T
from rule_graphs import Unsuited, Value
from rule_ops import emitter
from rule_pieces import pieces


@emitter("SplitToSequence")
def split_to_sequence(p):
    b = p.b
    if b.opset < 11:
        raise Unsuited("no sequences")
    x = p.get(0, lambda: b.data(shape=b.shape(1, 4)))
    axis = b.rng.randrange(len(x.shape))
    size = x.shape[axis]
    if not isinstance(size, int) or not size:
        raise Unsuited("no pieces")
    keep = p.attr("keepdims", lambda: b.pick([None, 0, 1]))
    choice = b.pick(["none", "list", "one"])
    if p.has(1) and p.known(1) is None and p.slots[1][0] == "optional" and "sizes" not in p.names:
        p.names["sizes"] = None
        if choice == "list":
            sizes = [size for size in pieces(b, size) if size]
            p.names["sizes"] = b.ints(sizes)
        elif choice == "one":
            step = b.rng.randint(1, size)
            sizes = [min(step, size - at) for at in range(0, size, step)]
            p.names["sizes"] = b.ints([step], rank=0)
    operand = p.names.get("sizes")
    if operand is None:
        sizes = [1] * size
    drops = keep == 0 and operand is None
    # With given sizes the dims are kept whatever keepdims is, except in ONNX Runtime if a scalar is 1.
    if keep == 0 and operand is not None and operand.shape == () and set(sizes) == {1}:
        raise Unsuited("ONNX Runtime takes dims away")
    parts = []
    for one in sizes:
        shape = [one if at == axis else dim for at, dim in enumerate(x.shape)]
        parts.append((x.dtype, tuple(dim for at, dim in enumerate(shape) if not (drops and at == axis))))
    axis_arg = axis - len(x.shape) if b.chance(0.3) else axis
    result = Value(b.fresh(), x.dtype, (), parts=tuple(parts))
    return b.node("SplitToSequence", [x, operand], [result], axis=p.attr("axis", lambda: axis_arg), keepdims=keep)


@emitter("SequenceAt")
def sequence_at(p):
    b = p.b
    sequence = p.get(0, lambda: None)
    count = len(sequence.parts)
    at = b.rng.randrange(count)
    position = p.get(1, lambda: b.ints([at - count if b.chance(0.3) else at], rank=0))
    results = b.node("SequenceAt", [sequence, position], [sequence.parts[at]])
    if b.chance(0.3) and b.rule == "split_of_sequence":
        other = b.rng.randrange(count)
        b.after += b.node("SequenceAt", [sequence, b.ints([other], rank=0)], [sequence.parts[other]])
    return results


@emitter("SequenceConstruct")
def sequence_construct(p):
    b = p.b
    if b.opset < 11:
        raise Unsuited("no sequences")
    shape = b.shape(1, 3)
    xs = [b.data(shape=shape) for _ in range(b.rng.randint(1, 3))]
    result = Value(b.fresh(), b.dtype, (), parts=tuple((x.dtype, x.shape) for x in xs))
    return b.node("SequenceConstruct", xs, [result])


@emitter("ConcatFromSequence")
def concat_from_sequence(p):
    b = p.b
    sequence = p.get(0, lambda: None)
    dtype, shape = sequence.parts[0]
    axis = b.rng.randrange(len(shape))
    sizes = [part[1][axis] for part in sequence.parts]
    whole = sum(sizes) if all(isinstance(size, int) for size in sizes) else sizes[0] if len(sizes) == 1 else b.nameless()
    shape = [whole if at == axis else dim for at, dim in enumerate(shape)]
    axis_arg = axis - len(shape) if b.chance(0.3) else axis
    new = p.attr("new_axis", lambda: None)
    new = None if new == 0 and b.chance(0.5) else new
    return b.node("ConcatFromSequence", [sequence], [(dtype, shape)], axis=p.attr("axis", lambda: axis_arg), new_axis=new)


@emitter("SequenceEmpty")
def sequence_empty(p):
    b = p.b
    if b.opset < 11:
        raise Unsuited("no sequences")
    default = b.dtype == T.FLOAT and b.chance(0.5)
    return b.node("SequenceEmpty", [], [Value(b.fresh(), b.dtype, (), parts=())], dtype=None if default else b.dtype)


@emitter("SequenceInsert")
def sequence_insert(p):
    b = p.b
    sequence = p.get(0, lambda: None)
    parts = list(sequence.parts)
    x = p.get(1, lambda: b.data(sequence.dtype, parts[0][1] if parts and b.chance(0.8) else None))
    at = b.rng.randint(-len(parts), len(parts))
    position = p.get(2, lambda: b.ints([at], rank=0))
    # ONNX's reference implementation inserts at the wrong position if the position is the end.
    b.kernels_only = b.kernels_only or position is not None and at == len(parts)
    parts.insert(len(parts) if position is None else at, (x.dtype, x.shape))
    results = b.node("SequenceInsert", [sequence, x, position], [Value(b.fresh(), x.dtype, (), parts=tuple(parts))])

    # Only a tensor can be an output.
    def taken():
        for at in b.sample(range(len(parts)), 1):
            b.after.extend(b.node("SequenceAt", [results[0], b.ints([at], rank=0)], [parts[at]]))

    b.later.append(taken)
    return results


@emitter("SequenceLength")
def sequence_length(p):
    sequence = p.get(0, lambda: None)
    return p.b.node("SequenceLength", [sequence], [(T.INT64, ())])
