"""Tensors: every element type in every position, and unusual encodings."""

import math

import onnx
from onnx import TensorProto, helper

from .base import UNKNOWN, Crafted, entries, floats, graph, integer, model, node, raw_graph, raw_model, record, value

BITS = {
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 32),
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 64),
    **dict.fromkeys(("FLOAT16", "BFLOAT16", "INT16", "UINT16"), 16),
    **dict.fromkeys(("UINT4", "INT4", "FLOAT4E2M1"), 4),
    **dict.fromkeys(("UINT2", "INT2"), 2),
    **dict.fromkeys(("FLOAT6E2M3", "FLOAT6E3M2"), 6),
    "COMPLEX128": 128,
}
DTYPES = [(name, code) for name, code in TensorProto.DataType.items() if name not in ("UNDEFINED", "STRING")]
# Elements in each tensor. Packed types thus end within a byte.
COUNT = 5


def models():
    for name, code in DTYPES:
        yield from of_type(name, code)
    yield from strings()
    yield from external()
    yield from sparse()
    yield from odd()


def data_of(name):
    """Returns the bytes of five elements. Padding bits are 0, and a bool is 0 or 1."""
    bits = BITS.get(name, 8) * COUNT
    data = bytearray((37 * i + 11) % (2 if name == "BOOL" else 251) for i in range(math.ceil(bits / 8)))
    if bits % 8:
        data[-1] &= (1 << bits % 8) - 1
    return bytes(data)


def typed(tensor):
    """Returns the tensor with its elements in the field of their type."""
    array = onnx.numpy_helper.to_array(tensor)
    return helper.make_tensor(tensor.name, tensor.data_type, tensor.dims, array.flatten())


def of_type(name, code):
    raw = TensorProto(name="w", data_type=code, dims=[COUNT], raw_data=data_of(name))
    for form, tensor in (("raw", raw), ("typed", typed(raw))):
        scalar = TensorProto(name="none", data_type=code, dims=[0, 3])
        if form == "raw":
            scalar.raw_data = b""
        held = TensorProto()
        held.CopyFrom(tensor)
        held.ClearField("name")
        nodes = [
            node("Constant", "", "c", "held", value=held),
            node("Concat", "w c", "y", axis=0),
            node("Identity", "none", "z"),
        ]
        outputs = [value("y", [2 * COUNT], code), value("z", [0, 3], code)]
        body = graph(nodes, [], outputs, [tensor, scalar])
        yield (
            f"tensor_{name.lower()}_{form}",
            Crafted(
                f"{name} as {form} data: an initializer, an empty one, and a Constant's value",
                model(body, ir_version=14, opset=28),
            ),
        )
    body = graph([node("Identity", "w", "y")], [], [value("y", [COUNT], code)], [outside("w", raw, f"{name}.bin")])
    yield (
        f"tensor_{name.lower()}_external",
        Crafted(f"{name} as external data", model(body, ir_version=14, opset=28), {f"{name}.bin": data_of(name)}),
    )


def outside(name, tensor, location, **more):
    """Returns a tensor with external data."""
    result = TensorProto(name=name, data_type=tensor.data_type, dims=tensor.dims)
    result.data_location = TensorProto.EXTERNAL
    result.external_data.extend(entries(location=location, **more))
    return result


def strings():
    texts = [b"plain", b"", "größer".encode(), b"\xff\xfe not UTF-8", b"with \0 inside"]
    tensor = TensorProto(name="w", data_type=TensorProto.STRING, dims=[5], string_data=texts)
    body = graph([node("Identity", "w", "y")], [], [value("y", [5], TensorProto.STRING)], [tensor])
    yield "strings_not_utf8", Crafted("strings that aren't UTF-8, and one with a zero byte", model(body))
    none = TensorProto(name="w", data_type=TensorProto.STRING, dims=[0])
    body = graph([node("Identity", "w", "y")], [], [value("y", [0], TensorProto.STRING)], [none])
    yield "strings_none", Crafted("an empty tensor of strings", model(body))


def external():
    weight = floats("w", [1, 2, 3])
    data = bytes(4096) + bytes.fromhex("0000803f 00000040 00004040") + b"tail"
    tensors = [
        outside("w", weight, "parts.bin", offset="4096", length="12", checksum="0" * 40),
        outside("v", weight, "parts.bin", length="12", offset="4096", basepath="", unknown="kept"),
    ]
    body = graph([node("Add", "w v", "y")], [], [value("y", [3])], tensors)
    yield (
        "external_parts",
        Crafted(
            "two tensors that share a part of a file, with unknown keys", model(body), {"parts.bin": data}
        ),
    )
    held = outside("", weight, "held.bin")
    nodes = [node("Constant", "", "c", value=held), node("Relu", "c", "y")]
    yield (
        "external_in_a_constant",
        Crafted(
            "a Constant with external data", model(graph(nodes, [], [value("y", [3])])), {"held.bin": data[4096:4108]}
        ),
    )
    nested = outside("w", weight, "sub folder/w.bin")
    body = graph([node("Relu", "w", "y")], [], [value("y", [3])], [nested])
    yield (
        "external_in_a_folder",
        Crafted("external data in a folder with a space", model(body), {"sub folder/w.bin": data[4096:4108]}),
    )


def sparse_tensor(name, linear=True):
    values = floats(name, [1.5, -2])
    places = [1, 5] if linear else [0, 1, 1, 2]
    indices = helper.make_tensor("", TensorProto.INT64, [2] if linear else [2, 2], places)
    return helper.make_sparse_tensor(values, indices, [2, 3])


def sparse():
    for form in ("linear", "coordinates"):
        body = graph([node("Identity", "s", "y")], [], [value("y", [2, 3])])
        body.sparse_initializer.append(sparse_tensor("s", form == "linear"))
        yield f"sparse_initializer_{form}", Crafted(f"a sparse initializer with its indices as {form}", model(body))
    body = graph([node("Add", "s t", "y")], [], [value("y", [2, 3])], [floats("d", [1])])
    body.sparse_initializer.extend([sparse_tensor("s"), sparse_tensor("t")])
    yield "sparse_initializers_shared", Crafted("two sparse initializers with the same content", model(body))
    nodes = [node("Constant", "", "y", sparse_value=sparse_tensor(""))]
    yield "sparse_constant", Crafted("a Constant that is sparse", model(graph(nodes, [], [value("y", [2, 3])])))


def odd():
    noted = floats("w", [1, 2])
    noted.doc_string = "weights"
    noted.metadata_props.extend(entries(made="by hand"))
    body = graph([node("Add", "x w", "y")], [value("x")], [value("y")], [noted])
    yield "tensor_notes", Crafted("an initializer with a doc string and metadata", model(body), runs=True)
    part = floats("w", [1, 2])
    part.segment.begin, part.segment.end = 0, 2
    body = graph([node("Add", "x w", "y")], [value("x")], [value("y")], [part])
    yield "tensor_segment", Crafted("a tensor that is a segment", model(body))
    scalar = helper.make_tensor("w", TensorProto.FLOAT, [], [3.0])
    body = graph([node("Mul", "x w", "y")], [value("x")], [value("y")], [scalar])
    yield "tensor_scalar", Crafted("a tensor without dims", model(body), runs=True)
    negative = [helper.make_tensor(name, TensorProto.FLOAT, [1], [zero]) for name, zero in (("p", 0.0), ("n", -0.0))]
    nodes = [node("Div", "x p", "a"), node("Div", "x n", "b"), node("Sub", "a b", "y")]
    body = graph(nodes, [value("x")], [value("a"), value("b"), value("y")], negative)
    yield "tensor_signed_zeros", Crafted("0.0 and -0.0 aren't the same constant", model(body))
    nan = TensorProto(name="w", data_type=1, dims=[2], raw_data=bytes.fromhex("0100807f ffffffff"))
    body = graph([node("Add", "x w", "y")], [value("x")], [value("y")], [nan])
    yield "tensor_nan_payload", Crafted("NaNs with payloads", model(body))
    future = TensorProto(name="w", data_type=99, dims=[3], raw_data=b"abc")
    body = graph([node("Future", "x w", "y", domain="acme")], [value("x")], [value("y")], [future])
    yield "tensor_future_type", Crafted("an element type of a later ONNX, raw", model(body, domains=["acme"]))
    future = TensorProto(name="w", data_type=99, dims=[3], int32_data=[1, 2, 3])
    body = graph([node("Future", "x w", "y", domain="acme")], [value("x", (2,), 77)], [value("y")], [future])
    yield (
        "tensor_future_typed",
        Crafted("an element type of a later ONNX, in a typed field", model(body, domains=["acme"])),
    )
    # Encoded by hand: packed and unpacked dims, an empty name, fields in reverse order, unknown fields.
    add = node("Add", "x w", "y")
    for form, dims in (("packed", record(1, b"\x02\x01")), ("in_both_forms", integer(1, 2) + record(1, b"\x01"))):
        tensor = dims + integer(2, 1) + record(8, "w") + record(9, bytes(8)) + UNKNOWN
        yield (
            f"tensor_dims_{form}",
            Crafted(
                f"a tensor's dims {form.replace('_', ' ')}",
                raw_model(raw_graph(add.SerializeToString(), after=record(5, tensor), shape=(2, 2))),
            ),
        )
    backwards = (
        UNKNOWN + record(9, bytes(8)) + record(8, "") + record(8, "w") + integer(2, 7) + integer(2, 1) + integer(1, 2)
    )
    yield (
        "tensor_backwards",
        Crafted(
            "a tensor's fields in another order, some of them duplicate",
            raw_model(raw_graph(add.SerializeToString(), after=record(5, backwards))),
        ),
    )
    loose = integer(1, 3) + integer(2, 1) + record(8, "w") + b"".join(b"\x25" + bytes([i] * 4) for i in range(3))
    body = raw_graph(add.SerializeToString(), after=record(5, loose))
    yield "tensor_data_not_packed", Crafted("unpacked float_data, like old writers'", raw_model(body))
    both = integer(1, 2) + integer(2, 1) + record(8, "w") + record(9, bytes(8)) + record(4, b"\1" * 8)
    yield (
        "tensor_data_twice",
        Crafted(
            "raw_data next to float_data, which is ambiguous",
            raw_model(raw_graph(add.SerializeToString(), after=record(5, both))),
        ),
    )
    located = integer(1, 1) + integer(2, 1) + record(8, "w") + record(9, bytes(4)) + integer(14, 0)
    yield (
        "tensor_default_location",
        Crafted(
            "an explicit default location",
            raw_model(raw_graph(add.SerializeToString(), after=record(5, located))),
        ),
    )
