"""Writes ONNX's operator schemas to the file that `tests/operators.rs` compares the tables with.

    python operators.py            writes operators.txt next to this script
    python operators.py --check    fails if operators.txt isn't what it would write

A line is an operator in one or more versions of its domain with the same arity and attributes:

    onnx.Clip 11 12 13 (1, 3)
    onnx.LeakyRelu 6 16 (1, 1) alpha: float = 0.01

A version is the first for which a schema applies; in ONNX's own domain, only versions of opset 7 and later are listed.
Deprecated ones are included, because older models have them.
"""

import collections
import pathlib
import sys

import numpy as np
import onnx
from onnx import defs

OLDEST = 7

KINDS = {
    "INT": "int",
    "FLOAT": "float",
    "STRING": "string",
    "TENSOR": "tensor",
    "GRAPH": "graph",
    "TYPE_PROTO": "type",
    "INTS": "ints",
    "FLOATS": "floats",
    "STRINGS": "strings",
    "SPARSE_TENSOR": "opaque",
}


def number(value):
    """A float32 as Rust prints it."""
    return repr(float(str(np.float32(value)))).replace("e-0", "e-").replace("e+", "e")


def text(value):
    return '"' + value.decode() + '"'


def literal(kind, value):
    one = {"int": str, "float": number, "string": text}
    if kind in one:
        return one[kind](value)
    return "[" + ", ".join(one[kind.removesuffix("s")](item) for item in value) + "]"


def attribute(name, attr):
    kind = KINDS[attr.type.name]
    text = f"{name}: {'required ' if attr.required else ''}{kind}"
    if attr.default_value is not None and attr.default_value.type != 0:
        value = onnx.helper.get_attribute_value(attr.default_value)
        text += f" = {literal(kind, value)}"
    return text


def arity(least, most):
    return f"({least}, {'MANY' if most >= 2**31 - 1 else most})"


def signature(schema):
    operands = arity(schema.min_input, schema.max_input)
    results = arity(schema.min_output, schema.max_output)
    attributes = [attribute(name, attr) for name, attr in sorted(schema.attributes.items())]
    counts = operands if results == "(1, 1)" else f"{operands} -> {results}"
    return f"{counts} {', '.join(attributes)}".rstrip()


def lines():
    schemas = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        domain = schema.domain or "onnx"
        schemas[f"{domain}.{schema.name}"].append(schema)
    yield f"# onnx {onnx.__version__}, opset {defs.onnx_opset_version()}; made by operators.py"
    for name, versions in sorted(schemas.items()):
        versions.sort(key=lambda schema: schema.since_version)
        ends = [later.since_version for later in versions[1:]] + [sys.maxsize]
        alive = [schema for schema, end in zip(versions, ends) if schema.domain or end > OLDEST]
        same = collections.OrderedDict()
        for schema in alive:
            same.setdefault(signature(schema), []).append(str(schema.since_version))
        for text, since in same.items():
            yield f"{name} {' '.join(since)} {text}"


def main():
    path = pathlib.Path(__file__).with_name("operators.txt")
    result = "\n".join(lines()) + "\n"
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != result:
            sys.exit(f"{path} isn't what onnx {onnx.__version__} says; run {__file__}")
        return
    path.write_text(result)


if __name__ == "__main__":
    main()
