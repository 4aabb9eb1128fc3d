"""Measures the error of FastMath's approximations with ONNX Runtime, for functions and for models.

    fast_math.py --passdock FILE --work-dir DIR [--models DIR] [--step N]

Each function runs on every Nth float32 number, including NaN and infinities, and must keep the bounds in
docs/passes.md. Softmax runs along several axes in two opsets, with masked rows. Results of real models must stay within
the tolerance.
"""

import argparse
import math
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper

import outputs

PASS = "relax.transform.FastMath"
CHUNK = 1 << 20
# A little more than half of the smallest number.
SMALLEST = 1.5e-45


def erf(x):
    """Computes erf with the C library where it isn't 1."""
    result = np.sign(x)
    near = np.abs(x) < 6
    result[near] = [math.erf(each) for each in x[near]]
    return result


def sigmoid(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


# The exact function, and the allowed relative and absolute errors of results.
FUNCTIONS = {
    "Exp": (np.exp, 2e-7, SMALLEST),
    "Tanh": (np.tanh, 0, 4e-7),
    "Erf": (erf, 0, 5e-7),
    "Sigmoid": (sigmoid, 4e-7, 3e-39),
}


def approximated(passdock, work, name, nodes, opset, dims):
    """Runs the pass on a model with these ops on `x`, and returns a session for the result."""
    value = lambda name: helper.make_tensor_value_info(name, T.FLOAT, dims)
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")])
    path, out = work / f"{name}.onnx", work / f"{name}.out.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), path)
    run(passdock, path, out)
    created = onnx.load(out)
    onnx.checker.check_model(created, full_check=True)
    if not all(node.domain == "passdock.fast" for node in created.graph.node):
        sys.exit(f"{name}: {[node.op_type for node in created.graph.node]}")
    return outputs.session(out)


def run(passdock, path, out):
    out.unlink(missing_ok=True)
    command = [passdock, "run", path, "-o", out, "--passes", PASS, "-O", "4", "--verify", "changed"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        sys.exit(f"passdock exited with {done.returncode}: {done.stderr.strip()[-1500:]}")


def check_function(passdock, work, operator, step):
    """Checks every `step`th number and the special ones."""
    exact, relative, absolute = FUNCTIONS[operator]
    session = approximated(passdock, work, operator, [helper.make_node(operator, ["x"], ["y"])], 17, ["n"])
    bits = np.arange(0, 1 << 32, step, dtype=np.uint64).astype(np.uint32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, np.float32(88.722839), 88.73, -104, -87.4], np.float32)
    numbers = np.concatenate([special, bits.view(np.float32)])
    worst = (0, None)
    for start in range(0, len(numbers), CHUNK):
        x = numbers[start : start + CHUNK]
        y = session.run(None, {"x": x})[0].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = exact(x.astype(np.float64))
            # Results beyond float32 are infinite.
            expected[expected > np.finfo(np.float32).max] = np.inf
            off = np.abs(y - expected) / (relative * np.abs(expected) + absolute)
        same = (y == expected) | (np.isnan(y) & np.isnan(x))
        # Close to the largest number, rounding may go either way.
        same |= np.isinf(y) & (expected > np.finfo(np.float32).max * (1 - 3e-7))
        off = np.where(same, 0, off)
        at = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        if not off[at] <= 1:
            sys.exit(f"{operator}({x[at]!r}) is {y[at]!r} instead of {expected[at]!r}, {off[at]} of what is allowed")
        worst = max(worst, (float(off[at]), float(x[at])))
    print(f"{operator}: {len(numbers)} numbers, at most {worst[0]:.2f} of what is allowed, at {worst[1]!r}")


def check_softmax(passdock, work):
    dice = np.random.default_rng(5)
    for opset in (13, 18):
        for axis in (-1, 0, 1, -2):
            node = helper.make_node("Softmax", ["x"], ["y"], axis=axis)
            session = approximated(passdock, work, f"softmax{opset}{axis}", [node], opset, ["a", "b", "c"])
            for scale in (1, 30, 1000):
                x = dice.normal(0, scale, (3, 5, 7)).astype(np.float32)
                x[dice.random(x.shape) < 0.2] = -np.inf
                x[:, :, 0], x[0], x[:, 2] = 0.5, 0.25, 0.125
                y = session.run(None, {"x": x})[0].astype(np.float64)
                e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis, keepdims=True))
                expected = e / e.sum(axis, keepdims=True)
                # Sums have up to seven terms.
                off = np.abs(y - expected) - 5e-7 - 7 * 6e-8 * expected
                if not (off <= 0).all():
                    sys.exit(f"Softmax of opset {opset} along {axis} is {off.max()} too far away")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=pathlib.Path, required=True, help="the command, with the plugins next to it")
    parser.add_argument("--work-dir", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--step", type=int, default=1009)
    args = parser.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    passdock = args.passdock.resolve()
    for operator in FUNCTIONS:
        check_function(passdock, args.work_dir, operator, args.step)
    check_softmax(passdock, args.work_dir)
    for model in sorted(args.models.glob("*.onnx") if args.models else []):
        out = args.work_dir / model.name
        run(passdock, model, out)
        # Below 1e-4 ONNX Runtime's own Sigmoid is less exact than the pass's result.
        compare = [passdock, "compare", model, out, "--runs", "1", "--sizes", "2", "--quiet"]
        # The command searches for ONNX Runtime in PATH.
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            compare, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env={**os.environ, "PATH": path}
        )
        if done.returncode:
            sys.exit(f"{model.name}: {done.stdout}{done.stderr}")
        print(f"{model.name}: the same")


main()
