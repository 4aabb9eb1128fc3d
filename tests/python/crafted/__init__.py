"""Small crafted models. Each has a feature that tools lose, reorder or break.

`models` returns all of them. `never_set` returns the fields of ONNX that none
of them sets.
"""

import onnx

from . import attributes, encodings, graphs, header, tensors, types
from .base import Crafted

__all__ = ["Crafted", "models", "never_set"]

SUBJECTS = (tensors, types, attributes, graphs, header, encodings)


def models():
    """Returns the models by name."""
    found = {}
    for subject in SUBJECTS:
        for name, crafted in subject.models():
            if name in found:
                raise ValueError(f"two crafted models are called {name}")
            found[name] = crafted
    return found


def never_set(crafted):
    """Returns the fields of ModelProto and its messages that no readable model sets.

    Training information counts as one field, because the host copies it as
    bytes.
    """
    wanted, pending = set(), [onnx.ModelProto.DESCRIPTOR]
    while pending:
        message = pending.pop()
        for field in message.fields:
            if field.full_name not in wanted:
                wanted.add(field.full_name)
                if field.message_type:
                    pending.append(field.message_type)
    for each in crafted.values():
        if each.rejected is None:
            wanted -= fields_of(onnx.ModelProto.FromString(each.data))
    return sorted(wanted)


def fields_of(model):
    found, pending = set(), [model]
    while pending:
        message = pending.pop()
        opaque = message.DESCRIPTOR.name == "TrainingInfoProto"
        for field, value in message.ListFields():
            found.add(field.full_name)
            if field.message_type and not opaque:
                pending.extend(value if field.is_repeated else [value])
    return found
