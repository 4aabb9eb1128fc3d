#!/usr/bin/env python3
"""Prints a verdict on a tool's result as JSON. It is a separate process, because runtimes crash on some results.

    verdict.py GIVEN [MADE]

Ops are counted in all graphs, and in a function's body for each call, without Constant, which needs no work. Results are
those of the original model in ONNX Runtime without optimization.
"""

import json
import statistics
import sys
import time
from pathlib import Path

import onnx
import onnxruntime

import outputs

# The maximum number of inputs of different sizes for the comparison of results.
BINDINGS = 3
# The maximum seconds for timing a pair of models, and the maximum number of runs of each.
SECONDS, RUNS = 4.0, 400
# A difference is rounding if it is at most this multiple of the difference by ONNX Runtime's own optimizations.
ROUNDING = 2


def count(model):
    """Counts the ops of a model."""
    bodies = {(f.domain, f.name): f.node for f in model.functions}
    known = {}

    def of_call(key):
        if key not in known:
            known[key] = of_nodes(bodies[key])
        return known[key]

    def of_nodes(nodes):
        return sum(of_node(node) for node in nodes)

    def of_node(node):
        inner = [a.g for a in node.attribute if a.HasField("g")] + [g for a in node.attribute for g in a.graphs]
        own = int(node.op_type != "Constant")
        if (node.domain, node.op_type) in bodies:
            own = of_call((node.domain, node.op_type))
        return own + sum(of_nodes(graph.node) for graph in inner)

    return of_nodes(model.graph.node)


def file_size(path):
    """Returns the bytes of a model, including external data."""
    model = onnx.load(path, load_external_data=False)
    names = {e.value for t in model.graph.initializer for e in t.external_data if e.key == "location"}
    return sum((Path(path).parent / name).stat().st_size for name in {Path(path).name, *names})


def complaint(path):
    """Returns the message of onnx's checker with type inference, or None."""
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:  # the checker's, the inference's or protobuf's errors
        return str(error).replace("\n", " ")[:200]
    return None


def optimized(path):
    """Returns a session with optimization, like a user's."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def farthest(model, runs, runner):
    """Returns (why the results differ or None, the largest difference relative to the largest result)."""
    why, largest = None, 0.0
    for feed, expected in runs:
        got = runner.run(None, feed)
        for info, x, y in zip(model.graph.output, expected, got):
            reason, error = outputs.difference(info.name, x, y)
            why, largest = why or reason, max(largest, error)
    return why, largest


def latency(runners, feed):
    """Returns the median milliseconds of two models, and the median ratio of the second to the first in alternating runs.

    The sessions only use this thread, whose CPU time is measured, so that other load matters less.
    """
    pairs = []
    end = time.perf_counter() + SECONDS
    for at in range(RUNS + 1):
        taken = [0.0, 0.0]
        # Alternates, so that neither always profits from the other's data in the caches.
        for which in (at % 2, 1 - at % 2):
            start = time.thread_time()
            runners[which].run(None, feed)
            taken[which] = 1e3 * (time.thread_time() - start)
        # The first run is discarded, because it allocates memory.
        pairs += [taken] if at else []
        if pairs and time.perf_counter() > end:
            break
    before, after = zip(*pairs)
    return [statistics.median(before), statistics.median(after), statistics.median(b / a for a, b in pairs)]


def sizes(model):
    """Returns sizes to try for open dims: the usual ones, then those of weights."""
    own = {dim: None for tensor in model.graph.initializer for dim in tensor.dims if 1 < dim < 2000}
    usual = [(1, side) for side in (32, 96, 224, 320, 640)]
    return [*outputs.SIZES, *[(3, dim) for dim in list(own)[:30]], *usual]


def verdict(given, created):
    a = onnx.load(given)
    if created is None:
        return {"ops": count(a), "bytes": file_size(given)}
    b = onnx.load(created)
    invalid = complaint(created)
    found = {
        "ops": count(b),
        "bytes": file_size(created),
        "invalid": invalid if invalid and not complaint(given) else None,
        "interface": outputs.interface_difference(a, b, True),
    }
    outputs.BINDINGS, outputs.SIZES = BINDINGS, sizes(a)
    try:
        runs = outputs.runs_of(outputs.session(given), a, None)
    except Exception:  # onnxruntime has many error classes; the sizes don't suit, or a requirement is missing
        return found
    try:
        why, found["error"] = farthest(a, runs, outputs.session(created))
        pair = [optimized(given), optimized(created)]
    except Exception as error:  # onnxruntime has many error classes; the result doesn't run
        return {**found, "different": str(error).replace("\n", " ")[:200]}
    if why and found["error"] > 0:
        # For example, a sigmoid of large numbers amplifies rounding differences.
        noise = farthest(a, runs, pair[0])[1]
        why = why if found["error"] > ROUNDING * noise else None
    return {**found, "different": why, "latency": latency(pair, runs[0][0])}


if __name__ == "__main__":
    print(json.dumps(verdict(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)))
