"""Protobuf encodings that no library writes and every parser reads."""

from onnx import helper

from .base import OPSET, UNKNOWN, Crafted, floats, graph, integer, node, raw_graph, raw_model, record, relu, value

RELU = node("Relu", "x", "y", "r").SerializeToString()
BIG = (1 << 29) - 1


def models():
    created = relu()
    yield "wire_idle_bytes", Crafted("numbers with redundant bytes", idle(created))
    yield "wire_unknown_everywhere", Crafted("unknown fields in every message", unknown())
    big = integer(BIG, 7) + record(BIG - 1, "text")
    yield (
        "wire_big_numbers",
        Crafted("the largest field numbers", raw_model(raw_graph(RELU + big, after=big), big, big)),
    )
    groups = b"\xc3\x3e" * 50 + b"\xc4\x3e" * 50
    yield "wire_groups", Crafted("nested groups", raw_model(raw_graph(RELU + groups, after=groups), groups, groups))
    yield (
        "wire_graph_first",
        Crafted("the graph before the versions", record(7, raw_graph(RELU)) + OPSET + integer(1, 10)),
    )
    yield (
        "wire_opset_first",
        Crafted("the imports before the graph", OPSET + integer(1, 10) + record(7, raw_graph(RELU))),
    )
    twice = integer(1, 3) + record(2, "old") + record(2, "new") + integer(5, 1) + integer(5, 2)
    yield (
        "wire_header_twice",
        Crafted("duplicate fields of the header, of which the last one counts", raw_model(raw_graph(RELU), twice)),
    )
    negative = integer(1, 10) + integer(5, -7) + record(7, raw_graph(RELU)) + OPSET
    yield "wire_negative_version", Crafted("a negative model_version", negative)
    mixed = record(12, value("y")) + record(11, value("x")) + record(1, RELU) + record(2, "g")
    yield "wire_graph_backwards", Crafted("outputs before inputs before nodes", raw_model(mixed))
    neg = node("Neg", "h", "y", "n").SerializeToString()
    first = node("Relu", "x", "h", "r").SerializeToString()
    scattered = (
        record(1, first)
        + record(11, value("x"))
        + record(5, floats("w", [1]))
        + UNKNOWN
        + record(1, neg)
        + record(13, value("h"))
        + record(2, "a")
        + record(12, value("y"))
        + record(5, floats("v", [2]))
        + record(2, "g")
    )
    yield "wire_graph_scattered", Crafted("nodes, initializers and names interleaved", raw_model(scattered))
    fields = {
        "outputs_first": record(2, "y") + record(4, "Relu") + record(1, "x"),
        "type_twice": record(1, "x") + record(2, "y") + record(4, "Old") + record(4, "Relu"),
        "name_twice": record(1, "x") + record(2, "y") + record(3, "old") + record(3, "r") + record(4, "Relu"),
        "empty_texts": record(1, "x")
        + record(2, "y")
        + record(3, "")
        + record(4, "Relu")
        + record(7, "")
        + record(8, ""),
        "domain_twice": record(1, "x") + record(2, "y") + record(4, "Relu") + record(7, "acme") + record(7, ""),
        "inputs_apart": record(1, "x") + record(2, "y") + record(4, "Add") + record(1, "x"),
        "another_wire_type": record(1, "x") + record(2, "y") + record(4, "Relu") + integer(3, 5) + integer(1, 7),
        "without_type": record(1, "x") + record(2, "y"),
        "idle_bytes": record(1, "x", idle=3) + record(2, "y", idle=1) + record(4, "Relu", idle=4),
        "unknown_between": UNKNOWN + record(1, "x") + UNKNOWN + record(2, "y") + UNKNOWN + record(4, "Relu") + UNKNOWN,
    }
    for name, body in fields.items():
        yield f"wire_node_{name}", Crafted(f"a hand-encoded node: {name.replace('_', ' ')}", raw_model(raw_graph(body)))
    infos = {
        "type_first": record(2, value("x").type) + record(1, "x"),
        "name_twice": record(1, "old") + record(1, "x") + record(2, value("x").type),
        "empty_type": record(1, "x") + record(2, b""),
        "unknown_fields": record(1, "x") + UNKNOWN + record(2, value("x").type) + UNKNOWN,
        "empty_doc": record(1, "x") + record(2, value("x").type) + record(3, ""),
    }
    for name, body in infos.items():
        whole = record(1, RELU) + record(2, "g") + record(11, body) + record(12, value("y"))
        yield f"wire_input_{name}", Crafted(f"a hand-encoded input: {name.replace('_', ' ')}", raw_model(whole))
    imports = {
        "version_first": integer(2, 21) + record(1, ""),
        "no_domain": integer(2, 21),
        "no_version": record(1, ""),
        "unknown_fields": record(1, "") + integer(2, 21) + UNKNOWN,
        "version_twice": integer(2, 7) + integer(2, 21),
        "long_name": record(1, "ai.onnx") + integer(2, 21),
    }
    for name, body in imports.items():
        data = integer(1, 10) + record(7, raw_graph(RELU)) + record(8, body)
        yield f"wire_import_{name}", Crafted(f"a hand-encoded opset import: {name.replace('_', ' ')}", data)
    both = integer(1, 10) + record(7, raw_graph(RELU)) + OPSET + record(8, integer(2, 20) + record(1, "ai.onnx"))
    yield "wire_import_twice", Crafted("ONNX's own domain imported under both of its names", both)
    yield from sparse()
    yield from rejected()


def idle(created):
    body = record(1, RELU, idle=2) + record(2, "g", idle=1) + record(11, created.graph.input[0], idle=3)
    body += record(12, created.graph.output[0], idle=4)
    return (
        integer(1, 10, idle=6)
        + record(7, body, idle=4)
        + record(8, record(1, "", idle=2) + integer(2, 21, idle=3), idle=2)
    )


def unknown():
    tensor = floats("w", [1, 2]).SerializeToString() + UNKNOWN
    attribute = helper.make_attribute("alpha", 0.5).SerializeToString() + UNKNOWN
    inner = (
        record(1, node("Neg", "x", "z").SerializeToString() + UNKNOWN)
        + record(2, "t")
        + record(12, value("z"))
        + UNKNOWN
    )
    branches = [
        record(5, record(1, name) + UNKNOWN + record(6, inner) + integer(20, 5))
        for name in ("then_branch", "else_branch")
    ]
    held = record(1, "value") + record(5, floats("", [1]).SerializeToString() + UNKNOWN) + integer(20, 4) + UNKNOWN
    nodes = [
        node("Elu", "x", "a").SerializeToString() + record(5, attribute) + UNKNOWN,
        node("Constant", "", "k").SerializeToString() + record(5, held) + UNKNOWN,
        node("If", "c", "b").SerializeToString() + b"".join(branches) + UNKNOWN,
        node("F", "a b w k", "y", domain="local").SerializeToString() + UNKNOWN,
    ]
    body = raw_graph(*nodes, after=record(5, tensor) + record(11, value("c", [], 9).SerializeToString() + UNKNOWN))
    body += record(13, value("a").SerializeToString() + UNKNOWN) + UNKNOWN
    function = helper.make_function("local", "F", list("pqrs"), ["o"], [], [helper.make_opsetid("", 21)])
    function = (
        function.SerializeToString() + record(7, node("Sum", "p q r s", "o").SerializeToString() + UNKNOWN) + UNKNOWN
    )
    imports = record(8, record(1, "local") + integer(2, 1) + UNKNOWN)
    return raw_model(body + UNKNOWN, UNKNOWN, imports + record(25, function) + UNKNOWN)


def sparse():
    whole = helper.make_sparse_tensor(floats("s", [1]), helper.make_tensor("", 7, [1], [2]), [4])
    values, places = whole.values.SerializeToString(), whole.indices.SerializeToString()
    forms = {
        "values_last": integer(3, 4) + record(2, places) + record(1, values),
        "dims_packed": record(1, values) + record(2, places) + record(3, b"\4"),
        "unknown_fields": record(1, values + UNKNOWN) + record(2, places + UNKNOWN) + integer(3, 4) + UNKNOWN,
    }
    for name, body in forms.items():
        relu = node("Relu", "s", "y").SerializeToString()
        yield (
            f"wire_sparse_{name}",
            Crafted(
                f"a hand-encoded sparse initializer: {name.replace('_', ' ')}",
                raw_model(raw_graph(relu, after=record(15, body), shape=(4,))),
            ),
        )


def rejected():
    whole = raw_graph(RELU)
    refusals = {
        "two_graphs": (raw_model(whole, record(7, b"")), "the model has two graphs"),
        "no_graph": (integer(1, 10) + OPSET, "no graph"),
        "empty_file": (b"", "found an empty file"),
        "cut_off": (raw_model(whole)[:-3], "truncated, or not an ONNX model"),
        "name_not_utf8": (
            raw_model(raw_graph(record(1, b"x\xff") + record(2, "y") + record(4, "Relu"))),
            "is not UTF-8",
        ),
        "undefined": (raw_model(raw_graph(node("Relu", "nowhere", "y").SerializeToString())), "undefined name"),
        "defined_twice": (raw_model(raw_graph(RELU, RELU)), "duplicate definition"),
        "in_a_circle": (
            raw_model(
                raw_graph(node("Neg", "b", "a").SerializeToString(), node("Neg", "a", "b").SerializeToString(), RELU)
            ),
            "the node depends on its own result",
        ),
        "too_little_data": (
            raw_model(
                raw_graph(RELU, after=record(5, integer(1, 3) + integer(2, 1) + record(8, "w") + record(9, b"1234")))
            ),
            "expected 12 bytes of data for the tensor's shape, found 4",
        ),
        "field_zero": (raw_model(whole, b"\0\1"), "invalid field number"),
    }
    for name, (data, why) in refusals.items():
        yield f"refused_{name}", Crafted(f"not a model: {name.replace('_', ' ')}", data, rejected=why)
