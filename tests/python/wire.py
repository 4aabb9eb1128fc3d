"""Is one file another with a single node renamed, every other byte the same?

Reads protobuf's wire format by itself: neither onnx nor passdock can hide a
byte from it.
"""

GRAPH_OF_MODEL, NODE_OF_GRAPH, NAME_OF_NODE = 7, 1, 3


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
    """The bodies of the one record, of that field, in which two messages differ."""
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


def records(message):
    """(field number, the record's bytes, its body) of a message, in file order."""
    at = 0
    while at < len(message):
        start = at
        tag, at = varint(message, at)
        kind = tag & 7
        if kind == 0:
            _, end = varint(message, at)
        elif kind == 1:
            end = at + 8
        elif kind == 2:
            length, at = varint(message, at)
            end = at + length
        elif kind == 5:
            end = at + 4
        else:
            raise ValueError(f"wire type {kind} at byte {start}")
        if end > len(message):
            raise ValueError(f"the record at byte {start} is longer than its message")
        yield tag >> 3, message[start:end], message[at:end]
        at = end


def varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
