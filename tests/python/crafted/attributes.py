"""Attributes: every kind, references to parameters, and the encodings of old or unusual writers."""

import onnx
from onnx import AttributeProto, TensorProto, helper

from .base import UNKNOWN, Crafted, entries, floats, graph, integer, model, node, raw_graph, raw_model, record, value
from .tensors import sparse_tensor
from .types import kinds

# For encoding by hand: the numbers of AttributeProto's fields and of its types.
NAME, F, I, S, T, G, FLOATS, INTS, STRINGS, TENSORS, GRAPHS = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
DOC, TP, TPS, TYPE, REF, SPARSE, SPARSES = 13, 14, 15, 20, 21, 22, 23


def inner(name="inner"):
    return graph([node("Neg", "x", f"{name}_out")], [], [value(f"{name}_out")], name=name)


def every_kind():
    types = [ty for _, ty in kinds()]
    return [
        helper.make_attribute("float", 0.25),
        helper.make_attribute("int", -1),
        helper.make_attribute("string", b"not \xff UTF-8"),
        helper.make_attribute("tensor", floats("", [1, 2])),
        helper.make_attribute("graph", inner()),
        helper.make_attribute("sparse_tensor", sparse_tensor("")),
        helper.make_attribute("type_proto", types[0]),
        helper.make_attribute("floats", [0.5, float("inf"), float("nan"), -0.0]),
        helper.make_attribute("ints", [1, -2, 1 << 62]),
        helper.make_attribute("strings", ["a", "", b"\xff"]),
        helper.make_attribute("tensors", [floats("", [1]), floats("named", [2])]),
        helper.make_attribute("graphs", [inner("first"), inner("second")]),
        helper.make_attribute("sparse_tensors", [sparse_tensor("a"), sparse_tensor("b", False)]),
        helper.make_attribute("type_protos", types),
    ]


def custom(*attributes, domain="acme", **more):
    """Returns a model with one custom node that has these attributes."""
    op = node("Op", "x", "y", "op", domain=domain, **more)
    op.attribute.extend(attributes)
    return model(graph([op], [value("x")], [value("y")]), domains=[domain])


def models():
    yield "attributes_all", Crafted("every kind of attribute on one node", custom(*every_kind()))
    for attribute in every_kind():
        name = f"attribute_{attribute.name}"
        yield name, Crafted(f"an attribute of kind {attribute.name}", custom(attribute))
        noted = AttributeProto()
        noted.CopyFrom(attribute)
        noted.doc_string = "a note"
        yield f"{name}_noted", Crafted(f"a doc string on a {attribute.name}", custom(noted))
    for code, kind in (
        (AttributeProto.INTS, "ints"),
        (AttributeProto.FLOATS, "floats"),
        (AttributeProto.STRINGS, "strings"),
        (AttributeProto.TENSORS, "tensors"),
        (AttributeProto.GRAPHS, "graphs"),
        (AttributeProto.TYPE_PROTOS, "type_protos"),
        (AttributeProto.SPARSE_TENSORS, "sparse_tensors"),
    ):
        empty = AttributeProto(name=kind, type=code)
        yield f"attribute_no_{kind}", Crafted(f"an empty list of {kind}", custom(empty))
    yield from references()
    yield from by_hand()


def references():
    kinds = [(name, code) for name, code in AttributeProto.AttributeType.items() if name != "UNDEFINED"]
    refs = [
        AttributeProto(name=f"own_{name.lower()}", ref_attr_name=f"p_{name.lower()}", type=code) for name, code in kinds
    ]
    defaults = [attribute for attribute in every_kind() if attribute.name not in ("graph", "graphs")]
    for attribute in defaults:
        attribute.name = f"p_{attribute.name}"
    op = node("Op", "a", "b", domain="acme")
    op.attribute.extend(refs)
    function = helper.make_function(
        "local", "F", ["a"], ["b"], [op], [helper.make_opsetid("acme", 1)], ["p_graph", "p_graphs", "bare"], defaults
    )
    call = node("F", "x", "y", domain="local", p_int=3, bare=1.5)
    call.attribute.append(helper.make_attribute("p_graph", inner()))
    call.attribute.append(helper.make_attribute("p_graphs", [inner("first")]))
    body = graph([call], [value("x")], [value("y")])
    yield (
        "attribute_references",
        Crafted(
            "references of every kind to parameters with and without defaults",
            model(body, domains=["local", "acme"], functions=[function]),
        ),
    )
    deep = graph([node("Op", "a", "then", domain="acme")], [], [value("then")], name="then")
    deep.node[0].attribute.append(AttributeProto(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT))
    other = graph([node("Identity", "a", "else")], [], [value("else")], name="else")
    nodes = [node("If", "c", "b", then_branch=deep, else_branch=other)]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("acme", 1)]
    function = helper.make_function("local", "F", ["c", "a"], ["b"], nodes, imports, ["alpha"])
    call = node("F", "c x", "y", domain="local", alpha=1.5)
    body = graph([call], [value("c", [], TensorProto.BOOL), value("x")], [value("y")])
    yield (
        "attribute_reference_in_a_branch",
        Crafted(
            "a reference inside a branch inside a function",
            model(body, domains=["local", "acme"], functions=[function]),
        ),
    )


def by_hand():
    tensor, ty = floats("", [1.0]), next(kinds())[1]
    packed_floats = bytes.fromhex("0000803f 00000040")
    bodies = {
        "int_without_type": record(NAME, "a") + integer(I, 3),
        "float_without_type": record(NAME, "a") + b"\x15\0\0\x80\x3f",
        "ints_without_type": record(NAME, "a") + integer(INTS, 3) + integer(INTS, 4),
        "tensor_without_type": record(NAME, "a") + record(T, tensor),
        "int_without_value": record(NAME, "a") + integer(TYPE, 2),
        "float_without_value": record(NAME, "a") + integer(TYPE, 1),
        "string_without_value": record(NAME, "a") + integer(TYPE, 3),
        "tensor_without_value": record(NAME, "a") + integer(TYPE, 4),
        "type_without_value": record(NAME, "a") + integer(TYPE, 13),
        "sparse_without_value": record(NAME, "a") + integer(TYPE, 11),
        "nothing_but_a_name": record(NAME, "a"),
        "empty_name": record(NAME, "") + integer(I, 3) + integer(TYPE, 2),
        "type_undefined": record(NAME, "a") + integer(TYPE, 0),
        "type_future": record(NAME, "a") + integer(77, 1) + integer(TYPE, 99),
        "type_not_its_value's": record(NAME, "a") + integer(I, 3) + integer(TYPE, 1),
        "two_values": record(NAME, "a") + integer(I, 3) + record(S, "s") + integer(TYPE, 2),
        "int_twice": record(NAME, "a") + integer(I, 3) + integer(I, 4) + integer(TYPE, 2),
        "tensor_in_two_parts": record(NAME, "a") + record(T, tensor) + record(T, integer(1, 1)) + integer(TYPE, 4),
        "ints_packed": record(NAME, "a") + record(INTS, b"\1\2\x81\1") + integer(TYPE, 7),
        "ints_packed_and_not": record(NAME, "a") + record(INTS, b"\1") + integer(INTS, 2) + integer(TYPE, 7),
        "ints_with_idle_bytes": record(NAME, "a") + integer(INTS, 5, idle=4) + integer(TYPE, 7),
        "floats_packed": record(NAME, "a") + record(FLOATS, packed_floats) + integer(TYPE, 6),
        "type_first": integer(TYPE, 2) + integer(I, 3) + record(NAME, "a"),
        "name_twice": record(NAME, "old") + record(NAME, "a") + integer(I, 3) + integer(TYPE, 2),
        "empty_reference": record(NAME, "a") + integer(I, 3) + integer(TYPE, 2) + record(REF, ""),
        "reference_without_type": record(NAME, "a") + record(REF, "p"),
        "reference_and_value": record(NAME, "a") + record(REF, "p") + integer(I, 3) + integer(TYPE, 2),
        "empty_doc_string": record(NAME, "a") + integer(I, 3) + integer(TYPE, 2) + record(DOC, ""),
        "unknown_fields": record(NAME, "a") + integer(I, 3) + UNKNOWN + integer(TYPE, 2) + UNKNOWN,
        "idle_bytes": record(NAME, "a", idle=2) + integer(I, 3, idle=5) + integer(TYPE, 2, idle=1),
        "value_of_another_wire_type": record(NAME, "a") + record(I, "bytes") + integer(TYPE, 2),
        "types_one_by_one": record(NAME, "a") + record(TPS, ty) + record(TPS, b"") + integer(TYPE, 14),
        "sparse_empty": record(NAME, "a") + record(SPARSE, b"") + integer(TYPE, 11),
        "sparses_of_nothing": record(NAME, "a") + record(SPARSES, b"") + integer(TYPE, 12),
        "big_int": record(NAME, "a") + integer(I, -(1 << 63)) + integer(TYPE, 2),
    }
    op = node("Op", "x", "y", "op", domain="acme").SerializeToString()
    for name, body in bodies.items():
        yield (
            f"attribute_{name}",
            Crafted(f"a hand-encoded attribute: {name.replace('_', ' ')}", raw_model(raw_graph(op + record(5, body)))),
        )
    twice = [record(5, record(NAME, "a") + integer(I, number) + integer(TYPE, 2)) for number in (1, 2)]
    yield "attribute_names_twice", Crafted("two attributes with one name", raw_model(raw_graph(op + b"".join(twice))))
    body = record(NAME, "a") + record(G, inner()) + integer(I, 3) + integer(TYPE, 5)
    yield (
        "attribute_graph_and_value",
        Crafted(
            "a graph next to a value, which would hide the values that the graph uses",
            raw_model(raw_graph(op + record(5, body))),
            rejected="the attribute has a graph and another value",
        ),
    )
    yield (
        "attribute_without_name",
        Crafted(
            "an attribute without a name",
            raw_model(raw_graph(op + record(5, integer(I, 3) + integer(TYPE, 2)))),
            rejected="an attribute has no name",
        ),
    )
    constants = {
        "value_int": 3,
        "value_ints": [1, -2],
        "value_float": 0.5,
        "value_floats": [0.5, -0.0],
        "value_string": b"\xff",
        "value_strings": ["a", b"\xff"],
    }
    nodes = [node("Constant", "", f"c{at}", **{name: held}) for at, (name, held) in enumerate(constants.items())]
    for op in nodes[::2]:
        op.doc_string = "a constant"
        op.attribute[0].doc_string = "its value"
        op.metadata_props.extend(entries(from_="here"))
    nodes.append(node("Sum", "x c3 c3", "y"))
    yield (
        "constants_plain",
        Crafted("Constants of every simple kind, some with notes", model(graph(nodes, [value("x")], [value("y")]))),
    )
    bad = (
        record(2, "c")
        + record(4, "Constant")
        + record(5, record(NAME, "value_int") + record(S, "s") + integer(TYPE, 3))
    )
    relu = node("Relu", "x", "y").SerializeToString()
    yield (
        "constant_of_another_kind",
        Crafted("a Constant whose value has another kind than its name", raw_model(raw_graph(bad, relu))),
    )
    two = (
        record(2, "c")
        + record(4, "Constant")
        + record(5, helper.make_attribute("value_int", 1))
        + record(5, helper.make_attribute("value_float", 1.0))
    )
    yield "constant_of_two_values", Crafted("a Constant with two values", raw_model(raw_graph(two, relu)))
