"""Types: every kind, nested in every other."""

import onnx
from onnx import TensorProto, TypeProto, helper

from .base import UNKNOWN, Crafted, graph, integer, model, node, raw_model, record, value


def tensor(dtype=TensorProto.FLOAT, shape=("n", 3)):
    return helper.make_tensor_type_proto(dtype, shape)


def kinds():
    """Yields (name, type) for each kind of type."""
    yield "tensor", tensor()
    yield "unranked", tensor(shape=None)
    yield "scalar", tensor(shape=())
    yield "sparse", helper.make_sparse_tensor_type_proto(TensorProto.DOUBLE, [3, "m"])
    yield "sequence", helper.make_sequence_type_proto(tensor())
    yield "optional", helper.make_optional_type_proto(tensor())
    yield "map", helper.make_map_type_proto(TensorProto.INT64, tensor())
    opaque = TypeProto()
    opaque.opaque_type.domain, opaque.opaque_type.name = "acme", "Handle"
    yield "opaque", opaque
    plain = TypeProto()
    plain.opaque_type.name = "Plain"
    yield "opaque_without_domain", plain
    yield "nothing", TypeProto()


def passed_on(ty):
    """Returns a model that passes a value of a type through."""
    info = [onnx.ValueInfoProto(name=name, type=ty) for name in ("x", "y", "m")]
    nodes = [node("Hand", "x", "m", domain="acme"), node("Hand", "m", "y", domain="acme")]
    return model(graph(nodes, [info[0]], [info[1]], value_info=[info[2]]), domains=["acme"])


def models():
    for name, ty in kinds():
        yield f"type_{name}", Crafted(f"a value of kind {name}", passed_on(ty))
        for outer, make in (
            ("sequence", helper.make_sequence_type_proto),
            ("optional", helper.make_optional_type_proto),
            ("map", lambda inner: helper.make_map_type_proto(TensorProto.STRING, inner)),
        ):
            held = make(ty)
            yield f"type_{outer}_of_{name}", Crafted(f"{name} in {outer}", passed_on(held))
    for name, code in TensorProto.DataType.items():
        yield f"type_of_{name.lower()}", Crafted(f"a tensor type of {name}", passed_on(tensor(code)))
    yield from denotations()
    yield from shapes()


def denotations():
    ty = tensor(shape=("n", 3, "h", "w"))
    ty.denotation = "IMAGE"
    for dim, text in zip(ty.tensor_type.shape.dim, ("DATA_BATCH", "DATA_CHANNEL", "", "DATA_FEATURE")):
        if text:
            dim.denotation = text
    yield "type_denotations", Crafted("denotations of a type and of its dims", passed_on(ty))
    for name, make in (("sequence", helper.make_sequence_type_proto), ("optional", helper.make_optional_type_proto)):
        outer = make(ty)
        outer.denotation = "LIST"
        yield f"type_denotation_of_{name}", Crafted(f"a {name} and its elements, with denotations", passed_on(outer))
    opaque = TypeProto(denotation="THING")
    opaque.opaque_type.name = "Handle"
    yield "type_denotation_of_opaque", Crafted("an opaque type with a denotation", passed_on(opaque))
    mapped = helper.make_map_type_proto(TensorProto.INT32, tensor())
    mapped.denotation = "TABLE"
    yield "type_denotation_of_map", Crafted("a map with a denotation", passed_on(mapped))
    yield "type_denotation_alone", Crafted("a denotation without a type", passed_on(TypeProto(denotation="ONLY")))


def raw_type(body):
    """Returns a model whose values have a type with these bytes."""
    info = [record(number, record(1, name) + record(2, body)) for number, name in ((11, "x"), (12, "y"), (13, "m"))]
    nodes = [node("Relu", "x", "m"), node("Relu", "m", "y")]
    return raw_model(b"".join(record(1, each) for each in nodes) + record(2, "g") + b"".join(info))


def shapes():
    dims = {
        "dim_empty": b"",
        "dim_empty_name": record(2, ""),
        "dim_minus_one": integer(1, -1),
        "dim_zero": integer(1, 0),
        "dim_huge": integer(1, (1 << 63) - 1),
        "dim_both": integer(1, 4) + record(2, "n"),
        "dim_both_the_other_way": record(2, "n") + integer(1, 4),
        "dim_name_odd": record(2, 'batch size/2 "x"'),
        "dim_unknown_fields": integer(1, 4) + UNKNOWN,
        "dim_idle_bytes": integer(1, 4, idle=3),
    }
    for name, dim in dims.items():
        body = record(1, integer(1, 1) + record(2, record(1, dim) + record(1, integer(1, 2))))
        yield f"type_{name}", Crafted(f"a dim: {name[4:].replace('_', ' ')}", raw_type(body))
    shape = record(2, record(1, integer(1, 2)))
    bodies = {
        "type_elem_missing": record(1, shape),
        "type_elem_undefined": record(1, integer(1, 0) + shape),
        "type_elem_future": record(1, integer(1, 99) + shape),
        "type_elem_negative": record(1, integer(1, -1) + shape),
        "type_shape_empty": record(1, integer(1, 1) + record(2, b"")),
        "type_shape_first": record(1, shape + integer(1, 1)),
        "type_elem_twice": record(1, integer(1, 7) + integer(1, 1) + shape),
        "type_shape_in_two_parts": record(1, integer(1, 1) + shape + shape),
        "type_unknown_fields": record(1, integer(1, 1) + shape + UNKNOWN) + UNKNOWN,
        "type_tensor_empty": record(1, b""),
        "type_denotation_empty": record(1, integer(1, 1) + shape) + record(6, ""),
        "type_denotation_first": record(6, "D") + record(1, integer(1, 1) + shape),
        "type_two_kinds": record(4, b"") + record(1, integer(1, 1) + shape),
        "type_in_two_parts": record(1, integer(1, 1)) + record(1, shape),
        "type_sequence_empty": record(4, b""),
        "type_map_without_key": record(5, record(2, record(1, integer(1, 1)))),
        "type_opaque_empty": record(7, b""),
        "type_opaque_empty_domain": record(7, record(1, "") + record(2, "H")),
    }
    for name, body in bodies.items():
        yield name, Crafted(f"a hand-encoded type: {name[5:].replace('_', ' ')}", raw_type(body))
    nested = tensor()
    for level in range(40):
        nested = helper.make_sequence_type_proto(nested) if level % 2 else helper.make_optional_type_proto(nested)
    yield "type_deep", Crafted("forty nested types", passed_on(nested))
