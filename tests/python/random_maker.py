"""Builds random cases from the operands and attributes in an operator's schema."""

import dataclasses

import numpy as np
from onnx import defs, helper

from random_values import FLOATS, INTEGERS, T


@dataclasses.dataclass
class Case:
    """An op, or a few in a chain."""

    opset: int
    nodes: list = dataclasses.field(default_factory=list)
    # (name, element type, array); constants.
    tensors: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)

    @property
    def op(self):
        return self.nodes[-1].op_type

    def signature(self):
        """Returns the operator and types that a runtime needs a kernel for."""
        types = tuple(dtype for _, dtype, _ in self.tensors)
        attributes = tuple((a.name, a.i) for node in self.nodes for a in node.attribute if a.name in ("to", "dtype"))
        return tuple(node.op_type for node in self.nodes), self.opset, types, attributes


class Maker:
    """Builds a case that matches the operator's schema."""

    def __init__(self, dice, opset, op):
        self.dice, self.op = dice, op
        self.schema = defs.get_schema(op, opset)
        self.case = Case(opset)
        self.inputs, self.attributes = [], {}

    def dtype(self, position=0, among=None):
        """Returns a random element type that an operand may have."""
        inputs = self.schema.inputs
        of = inputs[min(position, len(inputs) - 1)].type_str
        allowed = next((c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == of), [of])
        types = {text[7:-1].upper() for text in allowed if text.startswith("tensor(")}
        known = [getattr(T, name) for name in sorted(types) if not name.startswith("COMPLEX") and hasattr(T, name)]
        chosen = [dtype for dtype in known if dtype in (among or KINDS)]
        # Prefers the most common types in models.
        common = [dtype for dtype in chosen if dtype in (T.FLOAT, T.INT64)]
        return self.dice.pick(common if common and self.dice.chance(0.4) else chosen)

    def tensor(self, dtype, array):
        name = f"i{len(self.case.tensors)}"
        self.case.tensors.append((name, dtype, array))
        self.inputs.append(name)
        return self

    def random(self, dtype, shape, kind=None):
        return self.tensor(dtype, self.dice.tensor(dtype, shape, kind))

    def left_out(self):
        self.inputs.append("")
        return self

    def attribute(self, **attributes):
        known = self.schema.attributes
        self.attributes |= {name: value for name, value in attributes.items() if name in known}
        return self

    def ints(self, name, values):
        """Adds an operand in new versions, an attribute in old ones."""
        position = next((i for i, entry in enumerate(self.schema.inputs) if entry.name == name), None)
        if position is None:
            return self.attribute(**{name: [int(v) for v in values]})
        while len(self.inputs) < position:
            self.left_out()
        return self.tensor(T.INT64, np.array(values, dtype=np.int64))

    def axis(self, rank, name="axis"):
        return self.attribute(**{name: self.dice.between(-rank, rank - 1)})

    def done(self, outputs=1):
        self.case.outputs = [f"o{i}" for i in range(outputs)]
        node = helper.make_node(self.op, self.inputs, self.case.outputs, **self.attributes)
        self.case.nodes.append(node)
        return self.case


KINDS = {*FLOATS, *INTEGERS, T.BOOL, T.STRING, T.INT4, T.UINT4, T.FLOAT8E4M3FN, T.FLOAT8E5M2}
NUMBERS = {*FLOATS, *INTEGERS}


def signed(dice, axes, rank):
    return [axis - rank if dice.chance(0.4) else axis for axis in axes]
