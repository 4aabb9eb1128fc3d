"""Finds the record in which two files differ. All other bytes must be the same.

Parses protobuf's wire format itself, so that neither onnx nor passdock can hide
a difference.
"""

GRAPH_OF_MODEL, NODE_OF_GRAPH, NAME_OF_NODE = 7, 1, 3
# The messages that are searched for a smaller record that differs.
INSIDE = {
    ("model", 7): "graph",
    ("model", 25): "function",
    ("graph", 1): "node",
    ("function", 7): "node",
    ("node", 5): "attribute",
    ("attribute", 6): "graph",
    ("attribute", 11): "graph",
}


def only_renamed(path_a, path_b):
    a, b = read(path_a), read(path_b)
    for what, field in (("model", GRAPH_OF_MODEL), ("graph", NODE_OF_GRAPH)):
        (a, b), why = only_changed(what, field, a, b)
        if why:
            return {"why": why}
    (old, new), why = only_changed("node", NAME_OF_NODE, a, b)
    return {"why": why} if why else {"why": None, "from": old.decode(), "to": new.decode()}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def only_changed(what, field, a, b):
    """Returns the bodies of the only record in which two messages differ; it must have the given field."""
    xs, ys = list(records(a)), list(records(b))
    if len(xs) != len(ys):
        return (a, b), f"the {what} has {len(ys)} records instead of {len(xs)}"
    changed = [(x, y) for x, y in zip(xs, ys) if x[1] != y[1]]
    if len(changed) != 1:
        return (a, b), f"the {what} differs in {len(changed)} records instead of one"
    x, y = changed[0]
    if (x[0], y[0]) != (field, field):
        return (a, b), f"the {what} differs in field {x[0]} instead of {field}"
    return (x[2], y[2]), None


def changes(a, b):
    """Returns [(kind of message, records only in `a`, records only in `b`)], the smallest message last.

    Descends while the difference is a single record that is a nested message.
    """
    found, kind = [], "model"
    while kind:
        xs, ys = differing(list(records(a)), list(records(b)))
        found.append((kind, xs, ys))
        kind = None
        if len(xs) == len(ys) == 1 and xs[0][0] == ys[0][0]:
            kind = INSIDE.get((found[-1][0], xs[0][0]))
            a, b = xs[0][2], ys[0][2]
    return found


def differing(xs, ys):
    """Removes the common prefix and suffix of two lists of records."""
    start = 0
    while start < min(len(xs), len(ys)) and xs[start][1] == ys[start][1]:
        start += 1
    end = 0
    while end < min(len(xs), len(ys)) - start and xs[-1 - end][1] == ys[-1 - end][1]:
        end += 1
    return xs[start : len(xs) - end], ys[start : len(ys) - end]


def records(message):
    """Yields (field number, the record's bytes, its body) for each record of a message, in file order."""
    at = 0
    while at < len(message):
        start = at
        tag, at = varint(message, at)
        at, end = value(message, tag, at)
        yield tag >> 3, message[start:end], message[at:end]
        at = end


def value(message, tag, at):
    """Returns the start and end of the value after a tag."""
    start, kind = at, tag & 7
    if kind == 0:
        _, end = varint(message, at)
    elif kind == 1:
        end = at + 8
    elif kind == 2:
        length, start = varint(message, at)
        end = start + length
    elif kind == 3:
        end = group(message, tag, at)
    elif kind == 5:
        end = at + 4
    else:
        raise ValueError(f"wire type {kind} before byte {at}")
    if end > len(message):
        raise ValueError(f"the record before byte {at} is longer than its message")
    return start, end


def group(message, tag, at):
    """Returns the end of a group, including its end tag."""
    while True:
        inner, at = varint(message, at)
        if inner == tag + 1:
            return at
        _, at = value(message, inner, at)


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
