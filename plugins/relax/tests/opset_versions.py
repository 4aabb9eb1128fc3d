"""Generates the table of changes between operator versions. The pass `relax.transform.RaiseOpset` reads it.

    python opset_versions.py            writes ../src/raise_opset/versions.txt
    python opset_versions.py --check    fails if versions.txt is out of date

A line is an operator of ONNX's own domain with its versions, in ascending order:

    Abs 1 6! 13

A version without a mark accepts every op of the previous version unchanged: it only adds element types, attributes
whose default keeps the previous semantics, and optional operands and results. The other versions are marked:

    13!                     the semantics or the form changed
    10x                     the operator is removed
    22?ceil_mode=0,axes     accepts the op if these attributes have these values, or are missing
    13:f16,f32              accepts the op if its first operand has one of these element types

Additions and removals come from the schemas. The tables below list what the schemas don't contain, with a reason.
"""

import collections
import pathlib
import sys

import onnx
from onnx import defs

# The schema adds or renames an attribute without a default; an op without it has the same semantics.
SAME = {
    ("Constant", 11): "other ways to write a value",
    ("Constant", 12): "other ways to write a value",
    ("MaxPool", 10): "no dilations are 1 along each axis",
    ("AveragePool", 19): "no dilations are 1 along each axis",
    ("LpPool", 18): "no dilations are 1 along each axis",
    ("Shape", 15): "no end is the last axis",
    ("Resize", 18): "no axes are all of them",
    ("DequantizeLinear", 19): "scale and result could only be float32 before",
    ("QLinearMatMul", 21): "scales could only be float32 before",
}
# The schemas are equal, but the semantics changed.
CHANGED = {
    ("PRelu", 7): "a slope of one number a channel was along axis 1, and is broadcast from the last axis",
    ("OneHot", 11): "negative indices meant nothing, and count from the end",
    ("Resize", 11): "coordinates were asymmetric",
    ("Resize", 13): "a mode is removed, and sizes and scales exclude each other",
    ("RoiAlign", 16): "coordinates were those of `output_half_pixel`, and the default is another mode",
    ("GroupNormalization", 21): "scale and bias were one number a group, and are one a channel",
}
# The same, but for ops that have these attributes with other values.
EXCEPT = {
    ("ConvTranspose", 11): ("auto_pad=NOTSET", "output_shape"),  # The odd element went to the other side.
    ("GridSample", 20): ("mode=nearest",),  # `bilinear`, the default, is called `linear`.
    # Windows that would start in the padding at the end count no more.
    ("AveragePool", 22): ("ceil_mode=0",),
    ("LpPool", 22): ("ceil_mode=0",),
    ("MaxPool", 22): ("ceil_mode=0",),
}
# The same for these element types of the first operand: it lost the others.
NARROWED = {("Erf", 13), ("ReduceLogSum", 28), ("ReduceLogSumExp", 28), ("QuantizeLinear", 19)}
# These changed in another way than by their element types.
ONLY_FLOAT32 = {("QuantizeLinear", 19)}  # Operand and scale have one type now, and scales were float32.

DTYPES = {
    "float": "f32",
    "double": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}


def types(formal):
    return set(formal.types) or {formal.type_str}


def default(attribute):
    value = attribute.default_value
    return None if value is None or value.type == 0 else onnx.helper.get_attribute_value(value)


def formals_stay(old, new, may_be_optional):
    """Whether each formal parameter is still there and takes what it took; new ones may be left out."""
    for before, after in zip(old, new):
        loosened = may_be_optional and (before.option.name, after.option.name) == ("Single", "Optional")
        if before.option != after.option and not loosened:
            return False
        if not types(before) <= types(after) or after.min_arity > before.min_arity:
            return False
        if after.is_homogeneous and not before.is_homogeneous:
            return False
    return len(new) >= len(old) and all(more.option.name == "Optional" for more in new[len(old) :])


def tied(schema, inputs, outputs):
    """The pairs of formal parameters that have to be of one type, of those that the older version has."""
    formals = [("in", i, formal) for i, formal in enumerate(schema.inputs[:inputs])]
    formals += [("out", i, formal) for i, formal in enumerate(schema.outputs[:outputs])]
    pairs = ((a, b) for at, a in enumerate(formals) for b in formals[at + 1 :])
    return {(a[:2], b[:2]) for a, b in pairs if a[2].type_str == b[2].type_str}


def stays(old, new):
    """Whether the schemas say that every op of the old version is one of the new."""
    if not formals_stay(old.inputs, new.inputs, True) or not formals_stay(old.outputs, new.outputs, False):
        return False
    count = len(old.inputs), len(old.outputs)
    formal = {("in", i): x for i, x in enumerate(old.inputs)} | {("out", i): x for i, x in enumerate(old.outputs)}
    for a, b in tied(new, *count) - tied(old, *count):
        if types(formal[a]) != types(formal[b]) or len(types(formal[a])) > 1:
            return False
    for name, before in old.attributes.items():
        after = new.attributes.get(name)
        if after is None or after.type != before.type or (after.required and not before.required):
            return False
        if default(after) != default(before):
            return False
    added = (attribute for name, attribute in new.attributes.items() if name not in old.attributes)
    return all(not attribute.required and default(attribute) is not None for attribute in added)


def mark(name, old, new):
    since = new.since_version
    key = (name, since)
    if new.deprecated:
        return f"{since}x"
    if key in ONLY_FLOAT32:
        return f"{since}:f32"
    if key in NARROWED:
        kept = types(old.inputs[0]) & types(new.inputs[0])
        names = (one.removeprefix("tensor(").removesuffix(")") for one in kept)
        return f"{since}:{','.join(sorted(DTYPES[one] for one in names if one in DTYPES))}"
    if key in EXCEPT:
        return f"{since}?{','.join(EXCEPT[key])}"
    if key in CHANGED or not (stays(old, new) or key in SAME):
        return f"{since}!"
    return str(since)


def lines():
    schemas = collections.defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            schemas[schema.name].append(schema)
    opset = defs.onnx_opset_version()
    yield f"# onnx {onnx.__version__}, opset {opset}; generated by opset_versions.py"
    for name, versions in sorted(schemas.items()):
        versions.sort(key=lambda schema: schema.since_version)
        marks = [mark(name, old, new) for old, new in zip(versions, versions[1:])]
        yield " ".join([name, str(versions[0].since_version), *marks])


def main():
    path = pathlib.Path(__file__).parent.parent / "src" / "raise_opset" / "versions.txt"
    created = "\n".join(lines()) + "\n"
    if sys.argv[1:] == ["--check"]:
        if path.read_text() != created:
            sys.exit(f"{path} is out of date with onnx {onnx.__version__}; run {__file__}")
        return
    path.write_text(created)


if __name__ == "__main__":
    main()
