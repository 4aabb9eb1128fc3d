"""Writes ONNX's own node test cases to a file that `tests/node_cases.rs` reads.

    python node_cases.py DIRECTORY

Cases of one op each, tensors only. The format is JSON lines: one case a line, its tensors' bytes in
`cases.bin`, so that the reader needs neither protobuf nor NumPy.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


class Blob:
    """The bytes of all tensors, one after the other."""

    def __init__(self, path):
        self.file = path.open("wb")
        self.end = 0

    def add(self, data):
        start = self.end
        self.end += self.file.write(data)
        return [start, len(data)]

    def tensor(self, value):
        """A tensor as (element type, shape, where its bytes are), or None for one left out."""
        if value is None:
            return None
        proto = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))
        if proto.data_type == onnx.TensorProto.STRING:
            strings = list(proto.string_data)
            ends = np.cumsum([0] + [len(s) for s in strings]).astype("<u8")
            data = ends.tobytes() + b"".join(strings)
        elif proto.HasField("raw_data"):
            data = proto.raw_data
        else:
            # NumPy reads each of the fields that may contain elements.
            data = numpy_helper.from_array(numpy_helper.to_array(proto)).raw_data
        return [proto.data_type, list(proto.dims), *self.add(data)]


def attribute(blob, attr):
    """An attribute as (name, kind, value)."""
    kinds = onnx.AttributeProto
    value = {
        kinds.INT: lambda: ["int", attr.i],
        kinds.FLOAT: lambda: ["float", float(attr.f)],
        kinds.STRING: lambda: ["string", list(attr.s)],
        kinds.INTS: lambda: ["ints", list(attr.ints)],
        kinds.FLOATS: lambda: ["floats", [float(f) for f in attr.floats]],
        kinds.STRINGS: lambda: ["strings", [list(s) for s in attr.strings]],
        kinds.TENSOR: lambda: ["tensor", blob.tensor(attr.t)],
    }.get(attr.type, lambda: ["other", None])()
    return [attr.name, *value]


def is_tensor(value):
    return value is None or isinstance(value, (np.ndarray, np.generic, onnx.TensorProto, int, float, bool))


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    blob = Blob(directory / "cases.bin")
    written = skipped = 0
    with warnings.catch_warnings(), (directory / "cases.jsonl").open("w") as lines:
        # The cases contain infinities and overflows, of which NumPy warns.
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            graph = case.model.graph
            node = graph.node[0] if len(graph.node) == 1 else None
            if node is None or "_expanded" in case.name or node.domain not in ("", "ai.onnx"):
                skipped += 1
                continue
            for inputs, outputs in case.data_sets:
                if not all(map(is_tensor, [*inputs, *outputs])):
                    skipped += 1
                    continue
                given = dict(zip((i.name for i in graph.input), inputs))
                wanted = dict(zip((o.name for o in graph.output), outputs))
                opsets = {o.domain: o.version for o in case.model.opset_import}
                line = {
                    "name": case.name,
                    "op": node.op_type,
                    "version": opsets.get("", 1),
                    "inputs": [blob.tensor(given.get(n)) if n else None for n in node.input],
                    "outputs": [blob.tensor(wanted.get(n)) if n else None for n in node.output],
                    "attrs": [attribute(blob, a) for a in node.attribute],
                    "rtol": case.rtol,
                    "atol": case.atol,
                }
                lines.write(json.dumps(line) + "\n")
                written += 1
    print(f"{written} cases written, {skipped} skipped")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
