"""Functions that build crafted models."""

import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
# Fields that no version of ONNX has: a varint, eight bytes, a length encoded in five bytes, four bytes, a group.
UNKNOWN = bytes.fromhex("c03e07c13e0102030405060708c2be80008280000909c53e01020304c33e0801c43e")


class Crafted:
    """A model: its bytes, its purpose, and its external files."""

    def __init__(self, why, model, files=None, rejected=None, runs=False, like=None):
        self.why, self.files = why, files or {}
        # The reader's message if it rejects the model.
        self.rejected = rejected
        # Whether onnxruntime runs it, with the same results after optimization.
        self.runs = runs
        # The same model in topological order, if the model isn't sorted.
        self.like = like and like.SerializeToString()
        self.data = model if isinstance(model, bytes) else model.SerializeToString()


def value(name, shape=(2,), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def floats(name, values, shape=None):
    values = list(values)
    return helper.make_tensor(name, FLOAT, [len(values)] if shape is None else shape, values)


def node(op, inputs, outputs, name="", domain="", **attributes):
    """Returns a node. Inputs and outputs are names in a string; `_` is an omitted one."""
    words = [["" if word == "_" else word for word in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *words, name=name or None, domain=domain or None, **attributes)


def graph(nodes, inputs=(), outputs=(), initializers=(), name="g", **more):
    return helper.make_graph(nodes, name, list(inputs), list(outputs), list(initializers), **more)


def model(body, ir_version=10, opset=21, domains=(), **more):
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(body, ir_version=ir_version, opset_imports=imports, **more)


def relu(**more):
    """Returns a minimal model that computes something."""
    return model(graph([node("Relu", "x", "y", "r")], [value("x")], [value("y")]), **more)


def entries(**pairs):
    return [onnx.StringStringEntryProto(key=key, value=text) for key, text in pairs.items()]


# Protobuf encoded by hand.


def varint(number, idle=0):
    """Encodes a number with `idle` redundant bytes."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    for _ in range(idle):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


def integer(field, number, idle=0):
    # Parsers accept tags and lengths of at most five bytes.
    return varint(field << 3, min(idle, 3)) + varint(number, idle)


def record(field, body, idle=0):
    if isinstance(body, str):
        body = body.encode()
    body = body if isinstance(body, bytes) else body.SerializeToString()
    return varint(field << 3 | 2, idle) + varint(len(body), idle) + body


OPSET = record(8, record(1, b"") + integer(2, 21))


def raw_model(body, before=b"", after=b"", ir_version=10):
    """Returns a model with the bytes of a graph."""
    return before + integer(1, ir_version) + record(7, body) + OPSET + after


def raw_graph(*nodes, after=b"", shape=(2,)):
    """Returns a graph with the bytes of nodes, from `x` to `y`, which has this shape."""
    body = b"".join(record(1, each) for each in nodes) + record(2, "g")
    return body + record(11, value("x")) + record(12, value("y", shape)) + after
