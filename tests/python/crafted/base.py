"""What crafted models are made with."""

import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
# What no version of ONNX has: a varint, eight bytes, a length written in five bytes, four bytes, a group.
UNKNOWN = bytes.fromhex("c03e07c13e0102030405060708c2be80008280000909c53e01020304c33e0801c43e")


class Crafted:
    """A model: its bytes, why it is there, and the files beside it."""

    def __init__(self, why, model, files=None, refused=None, runs=False, like=None):
        self.why, self.files = why, files or {}
        # What the reader says instead of reading it.
        self.refused = refused
        # Whether onnxruntime computes it, with the same results when it is optimised.
        self.runs = runs
        # The same with its nodes in order, for a model whose nodes aren't.
        self.like = like and like.SerializeToString()
        self.data = model if isinstance(model, bytes) else model.SerializeToString()


def value(name, shape=(2,), dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def floats(name, values, shape=None):
    values = list(values)
    return helper.make_tensor(name, FLOAT, [len(values)] if shape is None else shape, values)


def node(op, inputs, outputs, name="", domain="", **attributes):
    """A node; inputs and outputs are words in a string, `_` one left out."""
    words = [["" if word == "_" else word for word in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *words, name=name or None, domain=domain or None, **attributes)


def graph(nodes, inputs=(), outputs=(), initializers=(), name="g", **more):
    return helper.make_graph(nodes, name, list(inputs), list(outputs), list(initializers), **more)


def model(body, ir_version=10, opset=21, domains=(), **more):
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(body, ir_version=ir_version, opset_imports=imports, **more)


def relu(**more):
    """The smallest model that computes something."""
    return model(graph([node("Relu", "x", "y", "r")], [value("x")], [value("y")]), **more)


def entries(**pairs):
    return [onnx.StringStringEntryProto(key=key, value=text) for key, text in pairs.items()]


# Protobuf by hand.


def varint(number, idle=0):
    """A number, with `idle` bytes more than it needs."""
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
    # Parsers read tags and lengths of five bytes at most.
    return varint(field << 3, min(idle, 3)) + varint(number, idle)


def record(field, body, idle=0):
    if isinstance(body, str):
        body = body.encode()
    body = body if isinstance(body, bytes) else body.SerializeToString()
    return varint(field << 3 | 2, idle) + varint(len(body), idle) + body


OPSET = record(8, record(1, b"") + integer(2, 21))


def raw_model(body, before=b"", after=b"", ir_version=10):
    """A model around a graph's bytes."""
    return before + integer(1, ir_version) + record(7, body) + OPSET + after


def raw_graph(*nodes, after=b"", shape=(2,)):
    """A graph from `x` to a `y` of this shape around nodes' bytes."""
    body = b"".join(record(1, each) for each in nodes) + record(2, "g")
    return body + record(11, value("x")) + record(12, value("y", shape)) + after
