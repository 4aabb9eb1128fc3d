"""Writes the element types that ONNX's operators accept, in the format of `plugins/onnx-ops/src/operands.txt`.

    python operand_types.py > plugins/onnx-ops/src/operands.txt
    python operand_types.py --check

The file starts with a line for each set of types: `1 = bf16 f16`. Then each operator has a line, with the domain version at
which its operands changed: `onnx.Add 1 T T; T 3`. Operands with the same letter have the same type, `*` is any number
of operands of one type, `~` any number of operands of several types. A letter is followed by its set of types, which holds
for all versions with these operands.
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
    """Returns an element type's spelling in IR text."""
    name = name.upper()
    short = re.sub(r"^(FLOAT|INT|UINT|COMPLEX)(?=\d)", lambda word: word[1][0], name).lower()
    return TensorProto.DataType.Value(name), SPELT.get(name, short)


def tensors(types):
    """Returns the element types of the tensor types in a list."""
    found = (re.search(r"tensor\((\w+)\)\)?$", ty) for ty in types if not ty.startswith(("seq", "map", "sparse")))
    return {spelt(one[1]) for one in found if one}


def operands(schema):
    """Returns the letters of the operands, and the types of each letter."""
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
    """Yields operator, version, pattern and types for each change of the pattern."""
    schemas = [one for one in defs.get_all_schemas_with_history() if one.domain in DOMAINS and not one.deprecated]
    result = []
    for schema in sorted(schemas, key=lambda one: (DOMAINS[one.domain], one.name, one.since_version)):
        name = f"{DOMAINS[schema.domain]}.{schema.name}"
        pattern, types = operands(schema)
        same = result and result[-1][0] == name
        # A version that only adds operands isn't a change.
        if same and pattern[: len(result[-1][2])] == result[-1][2]:
            result[-1][2] = pattern
            for letter, more in types.items():
                result[-1][3].setdefault(letter, set()).update(more)
        else:
            result.append([name, schema.since_version, pattern, types])
    return [row for row in result if any(row[3].values())]


def text():
    """Returns the content of the file."""
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
