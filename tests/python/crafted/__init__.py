"""Small models, made by hand: each shows something that tools lose, reorder or break.

`models` has them all; `never_set` says which fields of ONNX none of them has.
"""

import onnx

from . import attributes, encodings, graphs, header, tensors, types
from .base import Crafted

__all__ = ["Crafted", "models", "never_set"]

SUBJECTS = (tensors, types, attributes, graphs, header, encodings)


def models():
    """The models, by name."""
    found = {}
    for subject in SUBJECTS:
        for name, crafted in subject.models():
            if name in found:
                raise ValueError(f"two crafted models are called {name}")
            found[name] = crafted
    return found


def never_set(crafted):
    """Fields of ModelProto, and of all in it, that no readable model sets.

    Training information counts as one: the host carries it along as bytes, so
    what is set inside shows nothing.
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
        if each.refused is None:
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
