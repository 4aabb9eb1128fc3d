"""Checks ONNX's node cases with frozen inputs: folded results must be ONNX's expected ones."""

import numpy as np
import onnx
from onnx import numpy_helper

import fields


def freeze(case):
    """Returns the case's model with its inputs as initializers; None if one isn't a tensor."""
    model, values = onnx.ModelProto(), case.data_sets[0][0]
    model.CopyFrom(case.model)
    for info, value in zip(model.graph.input, values, strict=True):
        if isinstance(value, onnx.TensorProto):
            tensor = onnx.TensorProto()
            tensor.CopyFrom(value)
            tensor.name = info.name
        elif isinstance(value, (np.ndarray, np.generic)):
            tensor = numpy_helper.from_array(np.asarray(value), info.name)
        else:
            return None
        model.graph.initializer.append(tensor)
    del model.graph.input[:]
    model.ir_version = max(model.ir_version, 4)  # before, initializers must also be inputs
    return model


def folded(path, case):
    """Returns the outcome for a folded model, and the reason."""
    model = fields.read(path)
    values = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Identity" and node.domain == "" and node.input[0] in values:
            values[node.output[0]] = values[node.input[0]]
        elif node.op_type == "Constant" and node.domain == "" and node.attribute[0].name == "value":
            values[node.output[0]] = node.attribute[0].t
        else:
            return "left alone", None
    if not all(info.name in values for info in model.graph.output):
        return "wrong", "an output is produced by nothing"
    for info, expected in zip(model.graph.output, case.data_sets[0][1], strict=True):
        why = difference(values[info.name], expected, case)
        if why:
            return "wrong", f"output {info.name!r} {why}"
    return "right", None


def difference(tensor, expected, case):
    if isinstance(expected, onnx.TensorProto):
        expected = numpy_helper.to_array(expected)
    got, expected = numpy_helper.to_array(tensor), np.asarray(expected)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"is {got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "fcV":
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        close = np.isclose(got.astype(wide), expected.astype(wide), case.rtol, case.atol, equal_nan=True)
    else:
        close = got == expected
    return None if np.all(close) else f"differs in {int(close.size - np.sum(close))} of {close.size} elements"
