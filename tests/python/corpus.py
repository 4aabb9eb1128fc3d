#!/usr/bin/env python3
"""ONNX's own test cases as judge: some 1,900 small models with known results.

Each model keeps its bytes through a pass that changes nothing, and its fields
with all byte spans dropped. Then its inputs become initializers and it is
folded: what is folded completely must be what ONNX expects; what isn't
supported must be left alone.
"""

import argparse
import collections
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import fields

QUIET = "tir.transform.UnrollLoop"
FOLD = "relax.transform.InferType,relax.transform.FoldConstant,relax.transform.CanonicalizeBindings,relax.transform.DeadCodeElimination"
SHOWN = 20


class Passdock:
    """The command; a run gives None, or why it failed."""

    def __init__(self, executable, work):
        self.executable, self.work = executable, work

    def run(self, model, out, *arguments):
        out.unlink(missing_ok=True)
        command = [self.executable, "run", model, "-o", out, "--json", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return None if done.returncode == 0 else f"exit status {done.returncode}: {done.stderr.strip()[:300]}"


def judge(passdock, case):
    """[(check, what came of it, why)] for one of ONNX's cases."""
    given, out = (passdock.work / f"{case.name}.{end}.onnx" for end in ("in", "out"))
    try:
        given.write_bytes(case.model.SerializeToString())
        why = passdock.run(given, out, "--passes", QUIET)
        if why is None and out.read_bytes() != given.read_bytes():
            why = "other bytes"
        verdicts = [("same bytes", "wrong" if why else "right", why)]
        why = passdock.run(given, out, "--passes", QUIET, "--drop-spans") or fields.same_fields(given, out)["why"]
        verdicts.append(("same fields", "wrong" if why else "right", why))
        frozen = freeze(case)
        if frozen is None:
            return [*verdicts, ("folded", "left alone", None)]
        given.write_bytes(frozen.SerializeToString())
        why = passdock.run(given, out, "--passes", FOLD)
        return [*verdicts, ("folded", "wrong", why) if why else ("folded", *folded(out, case))]
    finally:
        given.unlink(missing_ok=True)
        out.unlink(missing_ok=True)


def freeze(case):
    """The case's model with its inputs as initializers; None if one isn't a tensor."""
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
    model.ir_version = max(model.ir_version, 4)  # before, initializers had to be inputs too
    return model


def folded(path, case):
    """(What came of it, why) of a folded model."""
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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--work-dir", type=Path, required=True, help="for what it writes")
    p.add_argument("--only", default="", help="cases whose name contains this")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")  # making the cases overflows and divides by zero on purpose
    from onnx.backend.test.case.node import collect_testcases  # slow: it computes all expected results

    cases = [case for case in collect_testcases() if args.only in case.name]
    passdock = Passdock(args.passdock, args.work_dir)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: judge(passdock, case), cases))

    counts = collections.Counter((check, word) for verdicts in found for check, word, _ in verdicts)
    wrong = [(c.name, check, why) for c, verdicts in zip(cases, found) for check, word, why in verdicts if word == "wrong"]
    for name, check, why in wrong[:SHOWN]:
        print(f"{name}: {check}: {why}")
    if len(wrong) > SHOWN:
        print(f"and {len(wrong) - SHOWN} more")
    for check in ("same bytes", "same fields", "folded"):
        words = ", ".join(f"{counts[check, word]} {word}" for word in ("right", "wrong", "left alone"))
        print(f"{check:12} of {len(cases)} cases: {words}")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
