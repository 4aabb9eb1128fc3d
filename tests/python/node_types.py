"""Writes ONNX's own node test cases as models without types, and what ONNX's shape inference makes of them.

    python node_types.py DIRECTORY

For `tests/tests/node_types.rs`. Each case is there in several variants: all inputs are values of which
the type is known; short lists are constants; short lists are constants and all other dims symbols,
`s5` for 5. `types.jsonl` has one model a line: the types that its outputs have, by what comes out
when it is run, and how much of each ONNX's inference knows. The models' bytes are in `models.bin`.
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
    """A tensor as ONNX writes it."""
    if isinstance(value, onnx.TensorProto):
        proto = onnx.TensorProto()
        proto.CopyFrom(value)
        proto.name = name
        return proto
    return numpy_helper.from_array(np.asarray(value), name)


def merged(types):
    """One type for several: what they don't agree on is None, which is nothing to be known."""
    first, *others = types
    for other in others:
        dims = None
        if first[2] is not None and other[2] is not None and len(first[2]) == len(other[2]):
            dims = [a if a == b else None for a, b in zip(first[2], other[2])]
        first = ["tensor", first[1], dims]
    return first


def type_of(declared, value):
    """The type of a value: ["tensor", element type, dims], ["sequence", item], ["optional", item].

    Where there is no value, what was declared; its dims are None."""
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
    """A type for a model's input."""
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
    """Whether an input is one in a variant: short lists are, the first if it has integers."""
    if variant == "values" or ty[0] != "tensor" or len(ty[2]) > 1 or np.prod(ty[2]) > 16:
        return False
    return variant == "constants" or index > 0 or ty[1] in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


def variant_of(case, variant):
    """The model with other inputs, and without the types that are to be found."""
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
    """Gives the sizes that a body declares the symbols that the inputs' sizes have."""
    for dim in shape.dim:
        if dim.dim_value > 1:
            dim.dim_param = f"s{dim.dim_value}"


def verdict(said, wanted):
    """How much of a type ONNX knows."""
    kind, *rest = wanted
    if said.WhichOneof("value") is None:
        return "none"
    if said.WhichOneof("value") != kind + "_type":
        return "wrong"
    if kind != "tensor":
        return verdict(getattr(said, kind + "_type").elem_type, rest[0])
    tensor = said.tensor_type
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
    """What ONNX's inference knows of each output."""
    try:
        inferred = shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # It raises many kinds; any of them means that it knows nothing.
        return ["none"] * len(wanted)
    return [verdict(output.type, ty) for output, ty in zip(inferred.graph.output, wanted)]


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # The cases are made of infinities and overflows; NumPy says so each time.
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
            # A case that ends so is the operator written with others.
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
