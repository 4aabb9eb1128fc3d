"""Compares results after ops are decomposed, and after graphs are lifted and functions inlined.

    python decomposing.py --passdock PASSDOCK --work-dir DIRECTORY

ONNX's own node cases of function operators go through `relax.transform.DecomposeOps`. None of these ops may be left,
and ONNX Runtime must compute ONNX's expected results. The number of such cases must not decrease. Cases whose nodes
have graphs go through `relax.transform.LambdaLift` and then `InlineFunctions`. So do functions of two consecutive
nodes, which a test plugin outlines.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import defs, numpy_helper

# Cases whose ops are decomposed, and those of them that ONNX Runtime runs, with correct results.
REPLACED = 429
COMPARED = 344
# Cases with lifted graphs or outlined nodes, with correct results in ONNX Runtime before and after inlining.
LIFTED = 15
# ONNX Runtime's functions don't support optional values.
OPTIONAL = "test_loop16_seq_none"

# Results that can't be compared.
RANDOM = {"Bernoulli"}


def functions():
    """Returns the operators of ONNX's own domain that are functions."""
    schemas = defs.get_all_schemas_with_history()
    return {s.name for s in schemas if s.domain == "" and (s.has_function or s.has_context_dependent_function)}


def node_cases():
    """Returns ONNX's node cases, except those whose operators are already expanded into functions."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return [case for case in found if case.model is not None and "_expanded" not in case.name]


def cases():
    """Yields ONNX's node cases with a single function operator."""
    names = functions()
    for case in node_cases():
        nodes = [node for node in case.model.graph.node if node.domain in ("", "ai.onnx")]
        if len(nodes) == 1 and nodes[0].op_type in names:
            yield nodes[0].op_type, case


def all_ops(graph):
    for node in graph.node:
        yield node.op_type
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                yield from all_ops(inner)


def run(path, inputs):
    """Returns ONNX Runtime's outputs; None and the reason if it has no kernel for a node."""
    import onnxruntime

    model = onnx.load(path)
    # ONNX Runtime rejects newer IR versions, although its kernels support the operators' versions.
    model.ir_version = min(model.ir_version, 13)
    model = model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return session.run(None, inputs), None
    except Exception as error:  # each kind of error has its own class
        return None, str(error)


def array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def difference(got, expected, case):
    got, expected = np.asarray(got), array(expected)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind in "fV":
        a, b = got.astype(np.float64), expected.astype(np.float64)
        return None if np.allclose(a, b, max(case.rtol, 1e-3), max(case.atol, 1e-5), equal_nan=True) else "other numbers"
    return None if np.array_equal(got, expected) else "other numbers"


def transformed(arguments, passes, model):
    """Returns the path of a model after passes, or why they failed."""
    before, after = arguments.work_dir / "before.onnx", arguments.work_dir / "after.onnx"
    onnx.save(model, before)
    command = [arguments.passdock, "run", "--passes", passes, before, "-o", after]
    done = subprocess.run(command, capture_output=True, text=True)
    return (str(after), None) if done.returncode == 0 else (None, done.stderr.strip())


def lifted(arguments):
    """Returns the number of cases whose graphs are lifted and inlined correctly, and the errors."""
    count, wrong = 0, []
    lift, outline = "relax.transform.LambdaLift", "outliner.transform.OutlineEvery"
    inline = "relax.transform.InlineFunctions"
    for case in node_cases():
        if not any(attribute.HasField("g") for node in case.model.graph.node for attribute in node.attribute):
            continue
        inputs, expected = case.data_sets[0]
        named = {info.name: value for info, value in zip(case.model.graph.input, inputs)}
        original = arguments.work_dir / "original.onnx"
        onnx.save(case.model, original)
        if run(original, named)[0] is None:
            continue
        for passes in (lift, f"{lift},{inline}", outline, f"{outline},{inline}"):
            after, why = transformed(arguments, passes, case.model)
            if after is None:
                wrong.append(f"{case.name}: {passes}: {why}")
                continue
            functions = len(onnx.load(after).functions)
            if functions > 0 and passes.endswith(inline):
                wrong.append(f"{case.name}: {functions} functions are left")
            outputs, why = run(after, named)
            if outputs is None and case.name == OPTIONAL and not passes.endswith(inline):
                continue
            if outputs is None:
                wrong.append(f"{case.name}: ONNX Runtime runs it, but not after {passes}: {why}")
                continue
            for info, got, value in zip(case.model.graph.output, outputs, expected, strict=True):
                got, value = (got, value) if isinstance(got, list) else ([got], [value])
                for one, other in zip(got, value, strict=True):
                    different = difference(one, other, case)
                    if different:
                        wrong.append(f"{case.name}: {info.name} after {passes}: {different}")
        count += 1
    return count, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--passdock", required=True)
    parser.add_argument("--work-dir", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"
    arguments.work_dir.mkdir(parents=True, exist_ok=True)
    replaced, compared, whole, rejected, wrong = 0, 0, collections.Counter(), collections.Counter(), []
    for op, case in cases():
        after, why = transformed(arguments, "relax.transform.DecomposeOps", case.model)
        if after is None:
            wrong.append(f"{case.name}: {why}")
            continue
        model = onnx.load(after)
        if op in all_ops(model.graph):
            whole[op] += 1
            continue
        replaced += 1
        if op in RANDOM:
            continue
        inputs, expected = case.data_sets[0]
        named = {info.name: array(value) for info, value in zip(case.model.graph.input, inputs)}
        outputs, why = run(after, named)
        if outputs is None:
            if run(arguments.work_dir / "before.onnx", named)[0] is not None:
                wrong.append(f"{case.name}: ONNX Runtime runs it whole, but not decomposed: {why}")
            rejected[op] += 1
            continue
        compared += 1
        for info, got, value in zip(case.model.graph.output, outputs, expected, strict=True):
            different = difference(got, value, case)
            if different:
                wrong.append(f"{case.name}: {info.name}: {different}")
    print(f"{replaced} node cases replaced by their bodies, {compared} of them compared in ONNX Runtime")
    print("left whole:", dict(whole))
    print("no kernels:", dict(rejected))
    count, more = lifted(arguments)
    print(f"{count} node cases with graphs lifted to functions and inlined again")
    for line in wrong + more:
        print("wrong:", line)
    if wrong or more or replaced < REPLACED or compared < COMPARED or count < LIFTED:
        sys.exit(f"expected {REPLACED} replaced, {COMPARED} compared, {LIFTED} lifted, none wrong")


if __name__ == "__main__":
    main()
