"""Compares two model files field by field, as the onnx package reads them.

Fields that this version of onnx doesn't know are included.
"""

import onnx
from google.protobuf.unknown_fields import UnknownFieldSet

GROUP = 3


def same_fields(path_a, path_b):
    why = first_difference(read(path_a), read(path_b))
    return {"why": why}


def read(path):
    with open(path, "rb") as file:
        return onnx.ModelProto.FromString(file.read())


def first_difference(a, b):
    """Returns the path of the first field that differs, or None.

    Uses an explicit stack, because subgraphs may be nested deeper than Python's recursion limit.
    """
    pending = [("model", a, b)]
    while pending:
        path, x, y = pending.pop()
        if unknown(x) != unknown(y):
            return f"{path} differs in fields that onnx doesn't know"
        xs, ys = dict(by_name(x)), dict(by_name(y))
        children = []
        for name in [*xs, *(n for n in ys if n not in xs)]:
            here = f"{path}.{name}"
            if name not in xs or name not in ys:
                return f"{here} is only in the {'first' if name in xs else 'second'} file"
            message, why = compare(here, xs[name], ys[name])
            if why:
                return why
            children.extend(message)
        pending.extend(reversed(children))
    return None


def compare(path, x, y):
    """Compares one field. Returns the messages that are still to be compared, and the difference or None."""
    if hasattr(x, "ListFields"):
        return [(path, x, y)], None
    if isinstance(x, (str, bytes, int, float)):
        return [], None if same(x, y) else f"{path} differs: {brief(x)} and {brief(y)}"
    if len(x) != len(y):
        return [], f"{path} has {len(x)} entries in the first file and {len(y)} in the second"
    if len(x) and hasattr(x[0], "ListFields"):
        return [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(x, y))], None
    at = next((i for i, pair in enumerate(zip(x, y)) if not same(*pair)), None)
    return [], None if at is None else f"{path}[{at}] differs: {brief(x[at])} and {brief(y[at])}"


def same(x, y):
    return x == y or (x != x and y != y)


def by_name(message):
    return ((field.name, value) for field, value in message.ListFields())


def unknown(message):
    return unknown_in(UnknownFieldSet(message))


def unknown_in(found):
    """Returns the number, wire type and value of each unknown field. The value of a group is a list of its fields."""
    return [(f.field_number, f.wire_type, unknown_in(f.data) if f.wire_type == GROUP else f.data) for f in found]


def brief(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
