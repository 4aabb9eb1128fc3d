"""Writes which operands and results of ONNX's operators may be float16 or bfloat16 where they may be float32: what
`relax.transform.ToMixedPrecision` goes by.

    python operator_types.py            writes ../src/precision/to_mixed_precision/operators.txt
    python operator_types.py --check    fails if operators.txt isn't what it would write

A line is an operator of ONNX's own domain from one version on:

    Resize 13 f16,bf16 x... x

Its element types, then a sign for each operand and for each result: `x` is of the type that results are computed in, so
all of them change together, `.` is of another type and stays; a `+` behind the last one says that it repeats. A version
of which nothing is said is as the one before; one with `-` takes neither.
"""

import pathlib
import sys

import onnx
from onnx import defs

DTYPES = {"f16": "tensor(float16)", "bf16": "tensor(bfloat16)"}
# Their results' types are said by attributes, by regions, or by an operand that is looked at for nothing else.
BY_OTHERS = {"BitCast", "Cast", "CastLike", "If", "Loop", "Scan", "SequenceMap", "SplitToSequence", "StringSplit"}
SAID = {"dtype", "output_dtype", "to"}


def types(schema, formal):
    """The element types that an operand or a result may have, as its variable allows."""
    named = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    return set(named.get(formal.type_str, [formal.type_str]))


def row(schema):
    """What a version takes, as it is written."""
    if schema.name in BY_OTHERS or schema.deprecated or SAID & set(schema.attributes):
        return "-"
    takes = lambda formal, dtype: {"tensor(float)", DTYPES[dtype]} <= types(schema, formal)
    formals = [*schema.outputs[:1], *schema.inputs]
    dtypes, variable = [], None
    for formal in formals:
        dtypes = [dtype for dtype in DTYPES if takes(formal, dtype)]
        if dtypes:
            variable = formal.type_str
            break
    sign = lambda formal: "x" if formal.type_str == variable else "."
    operands = "".join(map(sign, schema.inputs))
    if "x" not in operands:
        return "-"
    repeats = defs.OpSchema.FormalParameterOption.Variadic
    more = lambda all: "+" if all and all[-1].option == repeats else ""
    # One whose elements would be of what an operand is, without being a tensor.
    if any(all("tensor" not in one.split("(")[0] for one in types(schema, result)) for result in schema.outputs):
        return "-"
    results = "".join(map(sign, schema.outputs))
    return f"{','.join(dtypes)} {operands}{more(schema.inputs)} {results}{more(schema.outputs)}"


def lines():
    """All that is said."""
    schemas = [one for one in defs.get_all_schemas_with_history() if one.domain == ""]
    yield f"# onnx {onnx.__version__}, opset {defs.onnx_opset_version()}; made by operator_types.py, which says what it means"
    for name in sorted({one.name for one in schemas}):
        before = "-"
        for schema in sorted((one for one in schemas if one.name == name), key=lambda one: one.since_version):
            now = row(schema)
            if now != before:
                yield f"{name} {schema.since_version} {now}"
            before = now


def main():
    """Writes the file, or compares it."""
    path = pathlib.Path(__file__).parent.parent / "src" / "precision" / "to_mixed_precision" / "operators.txt"
    text = "\n".join(lines()) + "\n"
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
    elif path.read_text() != text:
        sys.exit(f"{path} isn't what the installed onnx says: run {__file__}")


main()
