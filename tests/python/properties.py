#!/usr/bin/env python3
"""Models through random orders of the standard passes: whatever the order, the model stays right.

Each case is a seed: a small model over many operators (`random_ops`), and some of the passes in any
order, repeats included. passdock has to end with 0 and `--verify changed`; onnx's checker accepts
what it accepted; the interface is the same; ONNX Runtime, optimising nothing, computes the same as
before, as docs/numerics.md says, also of float16 behind ToMixedPrecision, and random ops stay apart. A case that fails is kept: the model, what
was made of it, and the passes, without those that it fails without.

    properties.py --passdock CMD --work-dir DIR [--count N] [--first SEED]    N cases
    properties.py --passdock CMD --work-dir DIR --case SEED [--passes A,B]    one of them
    properties.py … --models DIR [--count N]    real models instead: each through each pass alone, then N orders

The environment variable PASSDOCK_PROPERTIES says how many where --count doesn't. With --spoiler a pass
that changes results runs first, on a few: it has to be noticed.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx

import outputs
from random_models import BINDINGS, Model, Value
from random_ops import random_model

# The standard passes that say of the interface what random orders can't keep.
OTHERS = {"BindParams", "BindSymbolicVars", "RaiseOpset"}
# What passes are told that would do nothing otherwise.
OPTIONS = {
    "FuseOpsByPattern": [
        'patterns=["npu.two: onnx.Add|onnx.Mul|onnx.Sub(onnx.Neg|onnx.Abs|onnx.Mul(%x...), %y)"]',
    ],
    "AnnotateTarget": [
        'target="npu"',
        'traits=["elementwise", "out-fusable", "reduction"]',
        'ops=["onnx.Transpose", "onnx.Concat", "onnx.Softmax"]',
    ],
    "ConvertLayout": [
        'desired_layouts={"onnx.Conv"=["NHWC", "default"], "onnx.MaxPool"=["NHWC"], "onnx.BatchNormalization"=["NHWC"]}',
    ],
}
# How far apart, as `outputs.apart` says it, results may be behind passes that compute otherwise: in float16, or
# by approximations, whose errors a model multiplies.
APART = {"ToMixedPrecision": outputs.ALLOWED["float16"], "FastMath": 1e-3}
# Chosen once at most, since what it says of the interface is true once.
BIND = "relax.transform.BindSymbolicVars"
PREFIXES = ("relax.transform.", "tir.transform.")
BOUND = 0.2
COUNT = 200
# More models than this that ONNX Runtime doesn't run, and the generator is at fault.
UNUSABLE = 0.1
# What may be lost where large numbers cancel each other, beside what docs/numerics.md allows.
CANCELLED = 1e-4
SHOWN = 10
# How many models a spoiler is tried on, and of how many it has to be noticed.
SPOILED, NOTICED = 50, 5


class Real(Model):
    """A real model, whose runs are made as `outputs` makes them."""

    def __init__(self, path):
        proto = onnx.load(path)
        super().__init__(proto, [], [Value(info.name, None, ()) for info in proto.graph.output])
        self.before = outputs.runs_of(outputs.session(path), proto, None)

    def runs(self, _seed, _path):
        return self.before


class Random(Model):
    def runs(self, seed, path):
        runner = outputs.session(path)
        return [(feed, runner.run(None, feed)) for feed in self.feeds(seed)]


class Cases:
    """`models` are real ones, in whose place random ones are made if there are none."""

    def __init__(self, passdock, work, models=()):
        self.passdock, self.work, self.models = passdock.resolve(), work, models
        listed = json.loads(self.command("list", "passes", "--json").stdout)["passes"]
        there = {each["name"] for each in listed}
        self.binds = BIND in there
        self.passes = sorted(name for name in there if name.startswith(PREFIXES) and last(name) not in OTHERS)
        self.counts, self.failures = collections.Counter(), []

    def command(self, *arguments):
        command = [self.passdock, *arguments]
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)

    def model(self, seed):
        """The model of a seed: the first passes of a real one are one each."""
        if not self.models:
            made = random_model(seed)
            return Random(made.proto, made.inputs, made.outputs)
        return self.models[seed % len(self.models)]

    def alone(self):
        """How many cases have one pass each."""
        return len(self.models) * len(self.passes)

    def order(self, seed, model):
        """Which passes, in which order."""
        if seed < self.alone():
            return [self.passes[seed // len(self.models)]]
        rng = random.Random(f"passes {seed}")
        passes = [rng.choice(self.passes) for _ in range(rng.randint(1, 6))]
        if self.binds and symbols_of(model) and rng.random() < BOUND:
            passes.insert(rng.randint(0, len(passes)), BIND)
        return passes

    def case(self, seed, passes=None):
        """Runs a case, and keeps it if it fails."""
        model = self.model(seed)
        path = self.work / f"{seed}.onnx"
        onnx.save(model.proto, path)
        try:
            before = model.runs(seed, path)
        except Exception as error:  # whatever ONNX Runtime raises
            self.counts["not run"] += 1
            return f"can't be run: {error}"
        passes = passes or self.order(seed, model)
        self.counts["cases"] += 1
        self.counts.update(f"op {node.op_type}" for node in model.proto.graph.node)
        why = self.failure(model, path, before, passes)
        if why is None:
            path.unlink()
            return None
        # What it takes to fail.
        at = 0
        while at < len(passes):
            fewer = passes[:at] + passes[at + 1 :]
            again = fewer and self.failure(model, path, before, fewer)
            if again:
                passes, why = fewer, again
            else:
                at += 1
        self.failure(model, path, before, passes)
        (self.work / f"{seed}.json").write_text(json.dumps({"seed": seed, "passes": passes, "why": why}, indent=2))
        self.failures.append((seed, passes, why))
        return why

    def failure(self, model, path, before, passes):
        """What is wrong with what the passes make of a model, or None."""
        out = path.with_suffix(".out.onnx")
        out.unlink(missing_ok=True)
        arguments = ["run", path, "-o", out, "--passes", ",".join(passes), "-O", "4", "--verify", "changed"]
        for name, settings in OPTIONS.items():
            if name in map(last, passes):
                for setting in settings:
                    arguments += ["--config", f"relax.{name}.{setting}"]
        if BIND in passes:
            # As the first of the runs has them.
            before = before[:1]
            for name in symbols_of(model):
                arguments += ["--config", f"relax.BindSymbolicVars.{name}={BINDINGS[0][name]}"]
        try:
            done = self.command(*arguments)
        except subprocess.TimeoutExpired:
            return "passdock doesn't end"
        if done.returncode:
            return f"passdock ended with {done.returncode}: {done.stderr.strip()[-1500:]}"
        made = onnx.load(out)
        why = None if BIND in passes else outputs.interface_difference(model.proto, made, defaults=True, raises=True)
        allowed = max((APART.get(last(name), 0) for name in passes), default=0)
        why = why or outputs.newly_invalid(path, out) or results_differ(model, before, out, allowed)
        if why is None:
            out.unlink()
            self.counts["changed"] += made.graph != model.proto.graph
        return why


def last(name):
    """The last part of a pass's name."""
    return name.split(".")[-1]


def symbols_of(model):
    return sorted({size for value in model.inputs for size in value.shape if isinstance(size, str)})


def results_differ(model, before, out, allowed):
    """`allowed` says how far apart results may be, where they may be further than docs/numerics.md says."""
    try:
        runner = outputs.session(out)
    except Exception as error:  # whatever ONNX Runtime raises
        return f"ONNX Runtime refuses it: {error}"
    for feed, expected in before:
        try:
            got = runner.run(None, feed)
        except Exception as error:
            return f"ONNX Runtime can't run it: {error}"
        for value, x, y in zip(model.outputs, expected, got, strict=True):
            if value.random:
                if x.shape != y.shape or x.dtype != y.dtype:
                    return f"output {value.name!r} is {y.dtype}{list(y.shape)} instead of {x.dtype}{list(x.shape)}"
                continue
            if allowed:
                why = outputs.apart([x], [y], allowed)
                why = why or (x.dtype != y.dtype and f"it is of {y.dtype} instead of {x.dtype}")
                if why:
                    return f"output {value.name!r}: {why}; inputs: {outputs.shapes(feed)}"
                continue
            why, _ = outputs.difference(value.name, x, y)
            if why and (value.exact or not nearly(x, y)):
                return f"{why}; inputs: {outputs.shapes(feed)}"
        randoms = [y for value, y in zip(model.outputs, got) if value.random and y.size >= 3]
        for at, one in enumerate(randoms):
            if any(np.array_equal(one, other) for other in randoms[:at]):
                return "two random outputs are the same"
    return None


def nearly(x, y):
    return x.shape == y.shape and x.dtype == y.dtype and np.allclose(x, y, rtol=0, atol=CANCELLED, equal_nan=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=Path, required=True, help="the command, the plugins beside it")
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--count", type=int, default=int(os.environ.get("PASSDOCK_PROPERTIES", COUNT)))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--case", type=int, help="only this seed")
    parser.add_argument("--spoiler", help="a pass that changes results")
    parser.add_argument("--passes", help="these passes instead of random ones, with commas")
    parser.add_argument("--models", type=Path, help="a directory of real models")
    args = parser.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    if args.spoiler:
        spoiled = Cases(args.passdock, args.work_dir)
        for seed in range(SPOILED):
            spoiled.case(seed, [args.spoiler])
        if len(spoiled.failures) < NOTICED:
            print(f"only {len(spoiled.failures)} of {SPOILED} models that {args.spoiler} spoiled were noticed")
            return 1
    started = time.monotonic()
    models = [Real(path) for path in sorted(args.models.glob("*.onnx"))] if args.models else []
    cases = Cases(args.passdock, args.work_dir, models)
    passes = args.passes and args.passes.split(",")
    if args.case is not None:
        print(cases.case(args.case, passes) or "right")
        return 1 if cases.failures else 0
    for seed in range(args.first, args.first + args.count + cases.alone()):
        cases.case(seed, passes)
    seen = sum(key.startswith("op ") for key in cases.counts)
    print(
        f"{cases.counts['cases']} models of {seen} operators through {len(cases.passes)} passes in any order: "
        f"{len(cases.failures)} wrong, {cases.counts['changed']} changed, {cases.counts['not run']} not run, "
        f"{time.monotonic() - started:.0f} s"
    )
    for seed, passes, why in cases.failures[:SHOWN]:
        print(f"seed {seed}, --passes {','.join(passes)}: {why}")
    if cases.failures:
        print(f"The models are in {args.work_dir}.")
    if cases.counts["not run"] > UNUSABLE * args.count:
        print("too many models can't be run")
        return 1
    return 1 if cases.failures else 0


if __name__ == "__main__":
    sys.exit(main())
