#!/usr/bin/env python3
"""Runs models through random orders of the standard passes. The result must be valid whatever the order.

Each case is a seed, which determines a small model of many operators (`random_ops`) and a random list of passes, possibly
with repetitions. passdock must exit with 0 with `--verify changed`; onnx's checker must accept the result if it accepted
the model; the interface must be the same; ONNX Runtime without optimization must compute the same within the tolerances
of docs/numerics.md, also in float16 after ToMixedPrecision; and random ops must not be merged. For a failed case the
model, the result and a minimal list of passes are kept.

    properties.py --passdock CMD --work-dir DIR [--count N] [--first SEED]    N cases
    properties.py --passdock CMD --work-dir DIR --case SEED [--passes A,B]    one case
    properties.py … --models DIR [--count N]    real models: each through each pass alone, then N orders

The environment variable PASSDOCK_PROPERTIES is the default of --count. With --spoiler a pass that changes results runs
first on a few models, and must be detected.
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

# The standard passes that change the interface in a way that random orders can't allow.
OTHERS = {"BindParams", "BindSymbolicVars", "RaiseOpset"}
# Options of passes that would do nothing without them.
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
# The tolerance (see `outputs.apart`) after passes that compute differently: in float16, or with approximations, whose
# errors a model amplifies.
APART = {"ToMixedPrecision": outputs.ALLOWED["float16"], "FastMath": 1e-3}
# Used at most once, because its binding of the interface is only valid once.
BIND = "relax.transform.BindSymbolicVars"
PREFIXES = ("relax.transform.", "tir.transform.")
BOUND = 0.2
COUNT = 200
# If ONNX Runtime can't run more of the models, the generator is wrong.
UNUSABLE = 0.1
# The additional tolerance to docs/numerics.md for cancellation of large numbers.
CANCELED = 1e-4
SHOWN = 10
# The number of models for a spoiler, and how many of them must detect it.
SPOILED, NOTICED = 50, 5


class Real(Model):
    """A real model. Its runs are like those of `outputs`."""

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
    """The cases. `models` are real models; without any, random ones are generated."""

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
        """Returns the model of a seed. The first seeds of real models run one pass each."""
        if not self.models:
            created = random_model(seed)
            return Random(created.proto, created.inputs, created.outputs)
        return self.models[seed % len(self.models)]

    def alone(self):
        """Returns the number of cases with a single pass."""
        return len(self.models) * len(self.passes)

    def order(self, seed, model):
        """Returns the passes of a case in their order."""
        if seed < self.alone():
            return [self.passes[seed // len(self.models)]]
        rng = random.Random(f"passes {seed}")
        passes = [rng.choice(self.passes) for _ in range(rng.randint(1, 6))]
        if self.binds and symbols_of(model) and rng.random() < BOUND:
            passes.insert(rng.randint(0, len(passes)), BIND)
        return passes

    def case(self, seed, passes=None):
        """Runs a case and keeps it if it fails."""
        model = self.model(seed)
        path = self.work / f"{seed}.onnx"
        onnx.save(model.proto, path)
        try:
            before = model.runs(seed, path)
        except Exception as error:  # any error of ONNX Runtime
            self.counts["not run"] += 1
            return f"can't be run: {error}"
        passes = passes or self.order(seed, model)
        self.counts["cases"] += 1
        self.counts.update(f"op {node.op_type}" for node in model.proto.graph.node)
        why = self.failure(model, path, before, passes)
        if why is None:
            path.unlink()
            return None
        # Removes passes that aren't needed for the failure.
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
        """Describes what is wrong with the result of passes on a model, or returns None."""
        out = path.with_suffix(".out.onnx")
        out.unlink(missing_ok=True)
        arguments = ["run", path, "-o", out, "--passes", ",".join(passes), "-O", "4", "--verify", "changed"]
        for name, settings in OPTIONS.items():
            if name in map(last, passes):
                for setting in settings:
                    arguments += ["--config", f"relax.{name}.{setting}"]
        if BIND in passes:
            # The sizes of the first run are bound, so only that run is compared.
            before = before[:1]
            for name in symbols_of(model):
                arguments += ["--config", f"relax.BindSymbolicVars.{name}={BINDINGS[0][name]}"]
        try:
            done = self.command(*arguments)
        except subprocess.TimeoutExpired:
            return "passdock doesn't end"
        if done.returncode:
            return f"passdock exited with {done.returncode}: {done.stderr.strip()[-1500:]}"
        created = onnx.load(out)
        why = None if BIND in passes else outputs.interface_difference(model.proto, created, defaults=True, raises=True)
        allowed = max((APART.get(last(name), 0) for name in passes), default=0)
        why = why or outputs.newly_invalid(path, out) or results_differ(model, before, out, allowed)
        if why is None:
            out.unlink()
            self.counts["changed"] += created.graph != model.proto.graph
        return why


def last(name):
    """Returns the last part of a pass's name."""
    return name.split(".")[-1]


def symbols_of(model):
    return sorted({size for value in model.inputs for size in value.shape if isinstance(size, str)})


def results_differ(model, before, out, allowed):
    """Compares results. `allowed` is the tolerance if it may exceed that of docs/numerics.md."""
    try:
        runner = outputs.session(out)
    except Exception as error:  # any error of ONNX Runtime
        return f"ONNX Runtime rejects it: {error}"
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
    return x.shape == y.shape and x.dtype == y.dtype and np.allclose(x, y, rtol=0, atol=CANCELED, equal_nan=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=Path, required=True, help="the command, with the plugins next to it")
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--count", type=int, default=int(os.environ.get("PASSDOCK_PROPERTIES", COUNT)))
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--case", type=int, help="only this seed")
    parser.add_argument("--spoiler", help="a pass that changes results")
    parser.add_argument("--passes", help="a comma-separated list of passes instead of random ones")
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
