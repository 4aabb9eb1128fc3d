"""The element types that ONNX's operators take, as `plugins/onnx-ops/src/operands.txt` has them.

    python operand_types.py > plugins/onnx-ops/src/operands.txt
    python operand_types.py --check

A line for each set of types, `1 = bf16 f16`; then one for each operator, from the version of its domain on
at which its operands changed: `onnx.Add 1 T T; T 3`. Operands of one letter have one type, `*` are any number of
one type, `~` any number of several types. A letter is followed by the set of its types, which is that of all versions
with these operands.
"""

import re
import sys
from pathlib import Path

from onnx import TensorProto, defs

FILE = Path(__file__).resolve().parents[2] / "plugins/onnx-ops/src/operands.txt"
DOMAINS = {"": "onnx", "ai.onnx.ml": "ai.onnx.ml", "ai.onnx.preview": "ai.onnx.preview"}
LETTERS = "TUVWXYZABCDEFGHIJKLMNOPQRS"
SPELT = {"FLOAT": "f32", "DOUBLE": "f64", "BFLOAT16": "bf16", "STRING": "str", "BOOL": "bool"}


def spelt(name):
    """An element type as the IR spells it."""
    name = name.upper()
    short = re.sub(r"^(FLOAT|INT|UINT|COMPLEX)(?=\d)", lambda word: word[1][0], name).lower()
    return TensorProto.DataType.Value(name), SPELT.get(name, short)


def tensors(types):
    """The element types among types of tensors."""
    found = (re.search(r"tensor\((\w+)\)\)?$", ty) for ty in types if not ty.startswith(("seq", "map", "sparse")))
    return {spelt(one[1]) for one in found if one}


def operands(schema):
    """The letters of the operands, and the types of each letter."""
    constraints = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    letters, pattern, types = {}, [], {}
    for index, operand in enumerate(schema.inputs):
        name = operand.type_str
        letter = letters.setdefault(name if name in constraints else index, LETTERS[len(letters)])
        option = ""
        if operand.option == defs.OpSchema.FormalParameterOption.Variadic:
            option = "*" if operand.is_homogeneous else "~"
        pattern.append(letter + option)
        types[letter] = tensors(constraints.get(name, [name]))
    return pattern, types


def rows():
    """Operator, version, pattern and types, one each time that the pattern changes."""
    schemas = [one for one in defs.get_all_schemas_with_history() if one.domain in DOMAINS and not one.deprecated]
    made = []
    for schema in sorted(schemas, key=lambda one: (DOMAINS[one.domain], one.name, one.since_version)):
        name = f"{DOMAINS[schema.domain]}.{schema.name}"
        pattern, types = operands(schema)
        same = made and made[-1][0] == name
        # One that only has more operands than before is the same.
        if same and pattern[: len(made[-1][2])] == made[-1][2]:
            made[-1][2] = pattern
            for letter, more in types.items():
                made[-1][3].setdefault(letter, set()).update(more)
        else:
            made.append([name, schema.since_version, pattern, types])
    return [row for row in made if any(row[3].values())]


def text():
    """The whole file."""
    numbers, lines = {}, []
    for name, since, pattern, types in rows():
        sets = []
        for letter, members in sorted(types.items()):
            key = " ".join(word for _, word in sorted(members))
            sets.append(f"{letter} {numbers.setdefault(key, len(numbers))}")
        lines.append(f"{name} {since} {' '.join(pattern)}; {' '.join(sets)}")
    sets = [f"{number} = {key}".rstrip() for key, number in numbers.items()]
    return "\n".join([*sets, *lines]) + "\n"


def main():
    if sys.argv[1:] != ["--check"]:
        print(text(), end="")
    elif FILE.read_text() != text():
        sys.exit(f"{FILE.name} isn't of this onnx: write it again")


if __name__ == "__main__":
    main()
