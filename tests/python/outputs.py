"""Compares the results of two models in onnxruntime without optimization.

Inputs are random with a fixed seed. Open sizes of the interface are tried from
a short list until the original runs. The rules are the same for every model.
"""

from itertools import product

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

SEED = 7
# (size of an open first axis, size of any other open axis), in the order of the attempts.
SIZES = [(2, 8), (1, 16), (3, 64), (1, 512), (2, 576), (1, 1024)]
# Upper limits of integers: token ids first, then flags and indices.
INTEGERS = [64, 2]
# The number of bindings with which a pair of models must agree.
BINDINGS = 2
# The tolerance for smaller types, relative to an element and to the largest element.
ALLOWED = {"float16": 1e-2, "bfloat16": 2e-2}


class CannotRun(Exception):
    """The original model ran with none of the tried inputs."""


def same_outputs(path_a, path_b, inputs=None, defaults=True, raises=False):
    """Compares the outputs. `defaults`: inputs with a default belong to the interface. `raises`: `ir_version` may increase."""
    a, b = onnx.load(path_a), onnx.load(path_b)
    why = interface_difference(a, b, defaults, raises) or newly_invalid(path_a, path_b)
    if why:
        return {"why": why}
    run_a, run_b = session(path_a), session(path_b)
    runs, compared = runs_of(run_a, a, inputs), 0
    largest = 0.0
    for feed, expected in runs:
        got = run_b.run(None, feed)
        for info, x, y in zip(a.graph.output, expected, got, strict=True):
            why, error = difference(info.name, x, y)
            if why:
                return {"why": f"{why}; inputs: {shapes(feed)}"}
            largest = max(largest, error)
            compared += 1
    return {"why": None, "runs": len(runs), "outputs": compared, "largest_error": largest}


def accuracy(model, inputs, labels, at_least):
    x, y = np.load(inputs), np.load(labels)
    runner = session(model)
    scores = runner.run(None, {runner.get_inputs()[0].name: x})[0]
    if len(scores) != len(y):
        return {"why": f"{len(scores)} results for {len(y)} labels"}
    right = float((scores.argmax(-1) == y).mean())
    why = None if right >= at_least else f"{right:.4f} of the predictions are right, fewer than {at_least}"
    return {"why": why, "accuracy": right, "of": len(y)}


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


# --- interface -------------------------------------------------------------------


def interface_difference(a, b, defaults, raises=False):
    """Returns the first difference of the interfaces that matters to a caller of `a`, or None."""
    inputs = [model.graph.input if defaults else required_inputs(model) for model in (a, b)]
    known = overridable(a)
    if raises and a.ir_version < 4 <= b.ir_version:
        # Former constants are no longer inputs; otherwise they would become parameters.
        inputs[0], known = required_inputs(a), set()
    for what, xs, ys in (("input", *inputs), ("output", a.graph.output, b.graph.output)):
        for i in range(max(len(xs), len(ys))):
            x, y = (repr(side[i].name) if i < len(side) else "missing" for side in (xs, ys))
            if x != y:
                return f"{what} {i} of {len(xs)} is {y} instead of {x}"
        for x, y in zip(xs, ys):
            if x.type != y.type:
                return f"{what} {x.name!r} has the type {y.type} instead of {x.type}".replace("\n", " ")
    if defaults and known != overridable(b):
        changed = sorted(known ^ overridable(b))
        return f"which inputs have a default differs in {changed}"
    return None


def overridable(model):
    given = {v.name for v in model.graph.input}
    return {i.name for i in model.graph.initializer if i.name in given}


def newly_invalid(path_a, path_b):
    """Returns onnx.checker's message about `b`, unless it also rejects the original."""
    complaint = checker_complaint(path_b)
    return f"onnx.checker: {complaint}" if complaint and not checker_complaint(path_a) else None


def checker_complaint(path):
    try:
        onnx.checker.check_model(path)
    except onnx.checker.ValidationError as error:
        return str(error).replace("\n", " ")
    return None


# --- inputs ------------------------------------------------------------------------


def runs_of(runner, model, inputs):
    """Yields the original's runs as (feed, results), one for each working binding."""
    if inputs is not None:
        feed = {required_inputs(model)[0].name: np.load(inputs)}
        return [(feed, runner.run(None, feed))]
    runs, tried, last = [], set(), None
    for (first, other), below in product(SIZES, INTEGERS):
        feed = random_feed(model, first, other, below)
        if shapes(feed) in tried:
            continue
        try:
            runs.append((feed, runner.run(None, feed)))
        except Exception as error:  # onnxruntime has many error classes; the sizes don't suit the model
            last = error
            continue
        tried.add(shapes(feed))
        if len(runs) == BINDINGS:
            break
    if not runs:
        raise CannotRun(f"the original runs with none of the inputs that were tried; the last error: {last}")
    return runs


def required_inputs(model):
    defaults = overridable(model)
    return [v for v in model.graph.input if v.name not in defaults]


def random_feed(model, first, other, below):
    rng, bound = np.random.default_rng(SEED), {}
    return {v.name: random_tensor(v, bound, first, other, below, rng) for v in required_inputs(model)}


def random_tensor(info, bound, first, other, below, rng):
    if not info.type.HasField("tensor_type"):
        raise CannotRun(f"input {info.name!r} isn't a tensor; only tensors can be generated")
    tensor = info.type.tensor_type
    shape = []
    for axis, dim in enumerate(tensor.shape.dim):
        size = first if axis == 0 else other
        if dim.HasField("dim_value"):
            size = dim.dim_value
        elif dim.dim_param:
            size = bound.setdefault(dim.dim_param, size)
        shape.append(size)
    if tensor.elem_type == TensorProto.STRING:
        return np.full(shape, "a", dtype=object)
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return np.asarray(rng.integers(0, below, shape)).astype(dtype)
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def shapes(feed):
    return ", ".join(f"{k} {list(v.shape)}" for k, v in feed.items())


# --- comparison ----------------------------------------------------------------------


def difference(name, x, y):
    """Returns (what is wrong or None, the largest error relative to the largest value)."""
    if not isinstance(x, np.ndarray):
        return (None if x == y else f"output {name!r} differs"), 0.0
    if x.dtype != y.dtype or x.shape != y.shape:
        return f"output {name!r} is {y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}", 0.0
    if not np.issubdtype(x.dtype, np.floating):
        wrong = int((x != y).sum())
        return (f"output {name!r} differs in {wrong} of {x.size} elements" if wrong else None), 0.0
    x, y, share = x.astype(np.float64), y.astype(np.float64), 1e-2 if x.dtype.itemsize == 2 else None
    finite = np.isfinite(x)
    if not np.array_equal(np.where(finite, 0, x), np.where(np.isfinite(y), 0, y), equal_nan=True):
        return f"output {name!r} differs in which elements are infinite or NaN", 0.0
    x, y = np.where(finite, x, 0), np.where(finite, y, 0)
    scale = float(np.abs(x).max(initial=0))
    allowed = share * (scale + np.abs(x)) if share else 1e-5 * scale + 1e-4 * np.abs(x)
    error = np.abs(x - y)
    largest = float(error.max(initial=0)) / (scale or 1.0)
    wrong = int((error > allowed).sum())
    if wrong:
        return f"output {name!r} differs in {wrong} of {x.size} elements, by up to {largest:.2e} of the largest", largest
    return None, largest


def apart(expected, got, allowed):
    """Describes how two results differ by more than the tolerance, or returns None."""
    for at, (x, y) in enumerate(zip(expected, got, strict=True)):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            return f"result {at} has the shape {y.shape} instead of {x.shape}"
        if x.dtype.kind not in "fV" and x.dtype.name != "bfloat16":
            if not np.array_equal(x, y):
                return f"result {at} differs"
            continue
        x, y = x.astype(np.float64), y.astype(np.float64)
        with np.errstate(invalid="ignore"):
            distance = np.abs(x - y)
        finite = np.abs(x[np.isfinite(x)])
        most = allowed * np.abs(x) + allowed * (finite.max() if finite.size else 0) + allowed / 100
        same = (np.isnan(x) & np.isnan(y)) | (x == y) | (distance <= most)
        if not same.all():
            where = np.argwhere(~same)[0]
            return f"result {at} is {y[tuple(where)]} instead of {x[tuple(where)]} at {where}"
    return None
