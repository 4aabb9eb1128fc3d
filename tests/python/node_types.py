"""Writes ONNX's own node test cases as models without types, and the results of ONNX's shape inference for them.

    python node_types.py DIRECTORY

`tests/tests/node_types.rs` reads them. Each case has several variants: all inputs are values of known type; short lists
are constants; short lists are constants and all other dims are symbols, for example `s5` for 5. `types.jsonl` has a line
for each model: the types of its outputs in a run, and how much of each ONNX infers. The models' bytes are in
`models.bin`.
"""

import json
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference
from onnx.backend.test.case.node import collect_testcases

VARIANTS = ("values", "constants", "symbols")


def as_tensor(value, name=""):
    """Converts a value to a TensorProto."""
    if isinstance(value, onnx.TensorProto):
        proto = onnx.TensorProto()
        proto.CopyFrom(value)
        proto.name = name
        return proto
    return numpy_helper.from_array(np.asarray(value), name)


def merged(types):
    """Merges several types into one. Parts that differ are None, which means unknown."""
    first, *others = types
    for other in others:
        dims = None
        if first[2] is not None and other[2] is not None and len(first[2]) == len(other[2]):
            dims = [a if a == b else None for a, b in zip(first[2], other[2])]
        first = ["tensor", first[1], dims]
    return first


def type_of(declared, value):
    """Returns the type of a value: ["tensor", element type, dims], ["sequence", item] or ["optional", item].

    Without a value it is the declared type, whose dims are None.
    """
    kind = declared.WhichOneof("value")
    if kind == "tensor_type":
        if value is None:
            return ["tensor", declared.tensor_type.elem_type, None]
        tensor = as_tensor(value)
        return ["tensor", tensor.data_type, list(tensor.dims)]
    item = getattr(declared, kind).elem_type
    if kind == "optional_type":
        return ["optional", type_of(item, value)]
    return ["sequence", merged([type_of(item, one) for one in value]) if value else type_of(item, None)]


def describe(ty, symbolic):
    """Returns a TypeProto for a model's input."""
    proto = onnx.TypeProto()
    kind, *rest = ty
    if kind != "tensor":
        getattr(proto, kind + "_type").elem_type.CopyFrom(describe(rest[0], symbolic))
        return proto
    proto.tensor_type.elem_type = rest[0]
    if rest[1] is not None:
        proto.tensor_type.shape.SetInParent()
        for size in rest[1]:
            dim = proto.tensor_type.shape.dim.add()
            if size is not None and size > 1 and symbolic:
                dim.dim_param = f"s{size}"
            elif size is not None:
                dim.dim_value = size
    return proto


def is_constant(variant, index, ty):
    """Whether an input is constant in a variant: short lists are, and the first input if it has integers."""
    if variant == "values" or ty[0] != "tensor" or len(ty[2]) > 1 or np.prod(ty[2]) > 16:
        return False
    return variant == "constants" or index > 0 or ty[1] in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


def variant_of(case, variant):
    """Returns the model with the inputs of a variant, and without the types to be inferred."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    inputs, _ = case.data_sets[0]
    declared = list(graph.input)
    del graph.input[:], graph.value_info[:]
    for index, (value_info, value) in enumerate(zip(declared, inputs)):
        ty = type_of(value_info.type, value)
        if is_constant(variant, index, ty):
            graph.initializer.append(as_tensor(value, value_info.name))
        else:
            graph.input.add(name=value_info.name).type.CopyFrom(describe(ty, variant == "symbols"))
    for output in graph.output:
        output.ClearField("type")
    if variant == "symbols":
        for body in (attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")):
            for value_info in (*body.input, *body.output, *body.value_info):
                rename_sizes(value_info.type.tensor_type.shape)
    return model


def rename_sizes(shape):
    """Renames the sizes that a body declares to the symbols of the inputs' sizes."""
    for dim in shape.dim:
        if dim.dim_value > 1:
            dim.dim_param = f"s{dim.dim_value}"


def verdict(inferred, wanted):
    """Describes how much of a type ONNX infers."""
    kind, *rest = wanted
    if inferred.WhichOneof("value") is None:
        return "none"
    if inferred.WhichOneof("value") != kind + "_type":
        return "wrong"
    if kind != "tensor":
        return verdict(getattr(inferred, kind + "_type").elem_type, rest[0])
    tensor = inferred.tensor_type
    if tensor.elem_type == 0:
        return "none"
    if tensor.elem_type != rest[0]:
        return "wrong"
    if rest[1] is None:
        return "exact"
    if not tensor.HasField("shape"):
        return "general"
    if len(tensor.shape.dim) != len(rest[1]):
        return "wrong"
    known = True
    for dim, size in zip(tensor.shape.dim, rest[1]):
        symbol = re.fullmatch(r"s(\d+)", dim.dim_param)
        found = dim.dim_value if dim.HasField("dim_value") else int(symbol[1]) if symbol else None
        if found is not None and found != size and size is not None:
            return "wrong"
        known &= found is not None or size is None
    return "exact" if known else "general"


def verdicts(model, wanted):
    """Returns how much ONNX infers of each output."""
    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # all of its errors mean that it infers nothing
        return ["none"] * len(wanted)
    return [verdict(output.type, ty) for output, ty in zip(inferred.graph.output, wanted)]


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # The cases have infinities and overflows, and NumPy warns about each.
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    operators = {}
    for case in cases:
        if "_expanded" not in case.name:
            node = case.model.graph.node[0]
            operators[case.name] = f"{node.domain or 'onnx'}.{node.op_type}"
    written = 0
    with (directory / "types.jsonl").open("w") as lines, (directory / "models.bin").open("wb") as models:
        for case in cases:
            # `_expanded` means that the operator is replaced with others.
            name, expanded, _ = case.name.partition("_expanded")
            wanted = [type_of(o.type, v) for o, v in zip(case.model.graph.output, case.data_sets[0][1])]
            for variant in VARIANTS:
                model = variant_of(case, variant)
                start = models.tell()
                line = {
                    "name": case.name,
                    "op": operators[name] + (" as others" if expanded else ""),
                    "variant": variant,
                    "model": [start, models.write(model.SerializeToString())],
                    "outputs": wanted,
                    "onnx": verdicts(model, wanted),
                }
                lines.write(json.dumps(line) + "\n")
                written += 1
    print(f"{len(cases)} cases, {written} models written")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
