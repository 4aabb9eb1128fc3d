#!/usr/bin/env python3
"""Checks rules on random models of their patterns: the same results, no more ops, and each rule applied.

Each case is a seed. The pattern of a rule is taken from its pass, and becomes ops of random types and sizes between other
ops, in a model's graph, a branch, a loop or a function. passdock rewrites all models in one process (`passdock-rules`).
ONNX Runtime runs them here without optimization; where it has no kernel, ONNX's reference implementation does. For a
failed case the model, the result and the reason are kept.

    random_rules.py --tool EXE --work-dir DIR [--count N] [--seed FIRST] [--least N]
    random_rules.py --tool EXE --work-dir DIR --only SEED      repeats one case
"""

import argparse
import collections
import json
import random
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

import rule_beyond
import rule_folds
import rule_resized  # registers the functions that build its ops
import rule_sequences  # noqa: F401
from random_values import T
from rule_graphs import EPSILON, Builder, Unsuited, feeds
from rule_ops import Place

HERE = Path(__file__).resolve().parent
FILES = [*sorted((HERE.parents[1] / "examples/rules").glob("*.rules")), HERE / "folds.rules"]
SIMPLIFY = "relax.transform.SimplifyExpr"
# The passes of those patterns that aren't rules.
FOLDS = "rules.folds"
FOLDING = {
    "norm": "relax.transform.FoldBatchNorm",
    "scale": "relax.transform.BackwardFoldScaleAxis",
    "scales": "relax.transform.BackwardFoldScaleAxis",
    "neg": "relax.transform.BackwardFoldScaleAxis",
    "before": "relax.transform.ForwardFoldScaleAxis",
    "pad": "relax.transform.FoldExplicitPadding",
}
DTYPES = [T.FLOAT] * 7 + [T.DOUBLE, T.FLOAT16, T.BFLOAT16] * 2 + [T.INT64, T.INT64, T.INT32, T.INT32]
OPSETS = [7, 8, 9, 10, 11, 12, *range(13, 24), *range(13, 24)]
# Rules with one rounding fewer, or in another order. All others give the same bits.
ROUNDING = {
    "constants_of_chain", "gemm_of_matmul", "gemm_of_transposes", "sum_with_gemm", "reduction_of_transpose",
    "transpose_of_transpose", "layer_norm", "rms_norm", "erf_gelu", "mul_reciprocal",
}
# Rules about numbers that exporters write with few digits.
TYPED = {"erf_gelu"}
# Rules that remove casts: the result has the roundings of another dtype.
RECAST = {"layer_norm", "rms_norm"}
# Rules that create an operator of a newer version.
SINCE = {"erf_gelu": 20, "layer_norm": 17, "rms_norm": 23}
# Patterns that random sizes and axes match rarely, and how many times more models of them are generated.
REPEATED = {
    "unsqueeze_of_transpose": 4, "pad_between_views": 5, "slice_whole": 4, "squeeze_of_slice": 3,
    "scale_before_product": 3, "reduction_of_transpose": 2, "split_of_slices": 2, "scale_of_product": 2,
    "norm_of_product": 2, "transpose_twice": 2, "pad_max": 2, "cast_of_same_dtype": 2, "concat_of_transposes": 2,
    "view_of_transpose": 3, "clip_of_clip": 2, "slice_of_slice": 2, "reduction_of_kept_dims": 2, "view_of_gather": 2,
    "erf_gelu": 5, "scale_before_more": 2, "transpose_of_transpose": 2,
    "redundant_expand": 2, "matmul_of_transposes": 2, "pad_of_slice": 2,
    "four_of_concat": 2, "concat_of_one": 2, "slice_of_pad": 2,
}
# Messages of ONNX's reference implementation if it lacks an op, a Pad that removes elements, or a Mean that broadcasts its
# first operand.
UNABLE = ["No implementation was found", "index can't contain negative values", "non-broadcastable output operand"]
# The share of models with a second pattern of the same pass after the first one.
TWO = 0.25
# The maximum number of rounds through all patterns for rules that were rarely applied.
MORE = 30
# The maximum number of attempts to generate a model of a pattern that runs.
TRIES = 400
SHOWN = 20


def is_made(operator):
    return operator.removeprefix("onnx.") in rule_folds.EMITTERS


def resolved(pattern, pick):
    """Chooses alternatives of a pattern. Returns its ops in order, with operands that have none."""
    nodes, indices, chosen = [], {}, {}

    def operand(one):
        kind, *what = one
        if kind == "choice":
            at = what[0]
            if at not in chosen:
                chosen[at] = operand(pick(pattern["alternatives"][at]))
            return chosen[at]
        return ["result", node(what[0]), what[1]] if kind == "result" else one

    def node(at):
        if at not in indices:
            own = pattern["nodes"][at]
            nodes.append(own | {"operands": [operand(one) for one in own["operands"]]})
            indices[at] = len(nodes) - 1
        return indices[at]

    operand(pattern["root"])
    return nodes


def can_be_made(pattern):
    """Whether the generator supports an operator for each op of a pattern."""
    return all(any(map(is_made, node["operators"])) for node in pattern["nodes"])


class Case:
    """A model with a rule's pattern."""

    def __init__(self, seed, pattern, attempt, others):
        self.seed, self.pattern = seed, pattern
        words = f"{seed}/{attempt}"
        rng = random.Random(f"case {words}")
        opset, dtype = rng.choice(OPSETS), rng.choice(DTYPES)
        if pattern["rule"] in SINCE and rng.random() < 0.8:
            opset = max(opset, SINCE[pattern["rule"]])
        if dtype == T.BFLOAT16 and opset < 13:
            raise Unsuited("bfloat16 is of opset 13")
        b = self.builder = Builder(words, opset, dtype)
        b.folds, b.inexact = pattern["pass"] == FOLDS, False
        if pattern["rule"] == "view_of_same_shape_by_attribute":
            b.rank = 2
        if b.folds and b.symbols and rng.random() < 0.7:
            b.symbols = False
        second = rng.choice(others) if rng.random() < TWO else None
        body = lambda: self.body(pattern) + (self.body(second) if second else [])
        for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 1, 2])):
            body = self.place(rng, body)
        self.model = b.model(body())
        self.operators = b.operators
        self.pass_, self.passes, self.keeps = self.pick_passes(rng)

    def place(self, rng, body):
        b = self.builder
        # A function can't use outer values, and the model is built from the inside out.
        around = rng.choice([b.in_branch, b.in_branch, b.in_loop, b.in_scan, b.in_function])
        return lambda: around(body)

    def body(self, pattern):
        """Builds a pattern and its surroundings."""
        b, nodes = self.builder, resolved(pattern, self.builder.pick)
        b.rule, b.memo, b.after, b.later = pattern["rule"], {}, [], []
        operators = [self.pick_operator(node["operators"]) for node in nodes]
        names, attributes, created = {}, {}, []
        beyond = rule_beyond.BEYOND.get(b.rule)
        if beyond and b.chance(0.85):
            names.update(beyond(b, operators[0]))
        for node, operator in zip(nodes, operators):
            created.append(rule_folds.emit(Place(b, node, operator, names, created, attributes)))
        for later in b.later:
            later()
        results = [value for value in created[-1] if value.parts is None]
        if b.chance(0.5):
            results = [b.around(value) for value in results]
        shared = [value for values in created[:-1] for value in values if value.parts is None and b.chance(0.08)]
        return results + [b.around(value) if b.chance(0.5) else value for value in shared] + b.after

    def pick_operator(self, operators):
        # Prefers Reshape, the view that can replace all others.
        operators = [one for one in operators if is_made(one)]
        likely = ["onnx.Reshape"] if "onnx.Reshape" in operators and self.builder.chance(0.3) else operators
        return self.builder.pick(likely).removeprefix("onnx.")

    def pick_passes(self, rng):
        name, rule = self.pattern["pass"], self.pattern["rule"]
        if name == FOLDS:
            word = rule.split("_")[0]
            name = FOLDING["before" if "scale_before" in rule else word]
        if not name.startswith("rules.") and rng.random() < 0.25:
            return name, ["default"], False
        return name, [name], name == SIMPLIFY and rng.random() < 0.3

    def feeds(self):
        b = self.builder
        return list(feeds(b.inputs, self.seed, b.tame, b.folds))


class Runtime:
    """ONNX Runtime, with ONNX's reference implementation as a fallback for missing kernels."""

    def __init__(self):
        onnxruntime.set_default_logger_severity(4)
        self.options = onnxruntime.SessionOptions()
        self.options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.options.intra_op_num_threads = 1
        self.options.log_severity_level = 4

    def by_kernels(self, data, runs):
        session = onnxruntime.InferenceSession(data, self.options, providers=["CPUExecutionProvider"])
        return [session.run(None, feed) for feed in runs]

    def by_definition(self, data, runs):
        with np.errstate(all="ignore"):
            evaluator = ReferenceEvaluator(onnx.ModelProto.FromString(data))
            return [evaluator.run(None, feed) for feed in runs]


def has_bfloat(case):
    # ONNX Runtime doesn't support arrays of this type.
    values = [*case.model.graph.input, *case.model.graph.output]
    return any(value.type.tensor_type.elem_type == T.BFLOAT16 for value in values)


def no_kernel(error):
    return "NOT_IMPLEMENTED" in str(error)


# --- comparison ----------------------------------------------------------------------


def difference(before, after, exact, signed, least=0.0):
    """Describes how two results differ, or returns None; `least` is the minimum tolerance for any dtype."""
    before, after = np.asarray(before), np.asarray(after)
    if before.dtype != after.dtype or before.shape != after.shape:
        return f"is {after.dtype}{list(after.shape)} instead of {before.dtype}{list(before.shape)}"
    dtype = onnx.helper.np_dtype_to_tensor_dtype(before.dtype) if before.dtype != object else None
    same = before == after
    if dtype in EPSILON:
        x, y = before.astype(np.float64), after.astype(np.float64)
        nan = np.isnan(x) & np.isnan(y)
        same = (x == y) | nan
        if signed:
            same &= (np.signbit(x) == np.signbit(y)) | nan
        if not exact:
            finite = np.abs(x[np.isfinite(x)])
            near = max(EPSILON[dtype], least) * max(1.0, float(finite.max(initial=0.0)))
            with np.errstate(all="ignore"):
                same |= np.abs(x - y) <= near
    if np.all(same):
        return None
    at = tuple(np.argwhere(~np.atleast_1d(same))[0])
    return f"has {np.atleast_1d(after)[at]!r} instead of {np.atleast_1d(before)[at]!r} at {[int(i) for i in at]}"


class Checker:
    def __init__(self, tool, work, patterns):
        self.work, self.patterns, self.runtime = work, patterns, Runtime()
        self.slots = [one for one in patterns for _ in range(REPEATED.get(one["rule"], 1))]
        self.fired, self.made, self.unsuited = collections.Counter(), collections.Counter(), collections.Counter()
        self.failures, self.waiting, self.responses, self.keeps_all = [], {}, collections.deque(), False
        rules = [path for path in FILES if path.stem != "folds"]
        self.process = subprocess.Popen(
            [tool, "run", *rules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        self.responses.extend(json.loads(line) for line in self.process.stdout)

    def case(self, seed):
        """Generates a case that runs, and sends it to passdock."""
        pattern = self.slots[seed % len(self.slots)]
        others = [other for other in self.patterns if other["pass"] == pattern["pass"]]
        key = pattern["pass"], pattern["rule"]
        for attempt in range(TRIES):
            try:
                case = Case(seed, pattern, attempt, others)
            except (Unsuited, IndexError, ValueError) as why:
                self.unsuited[key, str(why)[:60]] += 1
                continue
            if self.runs(case, key):
                break
        else:
            self.failures.append((seed, key, "no model of this pattern runs"))
            return
        path = self.work / f"{seed}.onnx"
        onnx.save(case.model, path)
        out = self.work / f"{seed}.out.onnx"
        request = {"model": str(path), "out": str(out), "passes": case.passes, "keep_negative_zero": case.keeps}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        self.made[key] += 1
        self.waiting[str(path)] = case

    def runs(self, case, key):
        data, case.runs = case.model.SerializeToString(), case.feeds()
        ways = [] if has_bfloat(case) else [self.runtime.by_kernels]
        ways += [] if case.builder.kernels_only else [self.runtime.by_definition]
        for case.way in ways:
            try:
                case.results = case.way(data, case.runs)
                return True
            except Exception as error:  # both raise many kinds of errors
                self.unsuited[key, f"{case.way.__name__}: {str(error)[:200]}"] += 1
                if not no_kernel(error):
                    return False
        return False

    def check_responses(self):
        while self.responses:
            response = self.responses.popleft()
            case = self.waiting.pop(response["model"])
            why = self.why_wrong(case, response)
            if why:
                self.keep(case, response, why)
            elif not self.keeps_all:
                Path(response["model"]).unlink()
                Path(response["model"]).with_suffix(".out.onnx").unlink()

    def settle(self):
        """Waits for all results."""
        while self.waiting and self.process.poll() is None:
            self.check_responses()
            time.sleep(0.01)

    def rare(self, least):
        """Returns the rules that were applied fewer times than `least`."""
        keys = [(pattern["pass"], pattern["rule"]) for pattern in self.patterns]
        return [key for key in keys if self.fired[key] < least]

    def more(self, seed, least):
        """Generates more models, from a seed, for the rules that were applied too rarely."""
        for number in range(seed, seed + MORE * len(self.slots)):
            if number % len(self.slots) == seed % len(self.slots):
                self.settle()
            slot = self.slots[number % len(self.slots)]
            if (slot["pass"], slot["rule"]) in self.rare(least):
                self.case(number)

    def finish(self):
        self.process.stdin.close()
        self.reader.join()
        self.check_responses()
        if self.process.wait() or self.waiting:
            sys.exit(f"passdock-rules exited with {self.process.returncode}; {len(self.waiting)} models have no result")

    def why_wrong(self, case, response):
        if "error" in response:
            return f"passdock: {response['error']}"
        applied = {(name, rule): times for name, rules in response["rewrites"].items() for rule, times in rules.items()}
        self.fired.update(applied.keys())
        if case.pattern["pass"] == FOLDS and response["after"] < response["before"] and case.passes != ["default"]:
            self.fired[FOLDS, case.pattern["rule"]] += 1
        for name, before, after in response["ops"]:
            if after > before:
                return f"{name} made {after} ops of {before}"
        data = (self.work / f"{case.seed}.out.onnx").read_bytes()
        try:
            results = case.way(data, case.runs)
        except Exception as error:  # both raise many kinds of errors
            if case.way == self.runtime.by_kernels and no_kernel(error):
                case.way = self.runtime.by_definition
                try:
                    case.results = case.way(case.model.SerializeToString(), case.runs)
                    results = case.way(data, case.runs)
                except Exception:  # there is no reference
                    return None
            elif case.way == self.runtime.by_definition and any(why in str(error) for why in UNABLE):
                return None
            else:
                return f"the result doesn't run: {str(error)[:400]}"
        rules = {rule for _, rule in applied}
        exact = not case.builder.inexact and case.passes != ["default"] and not ROUNDING & rules
        # ONNX Runtime's Where turns -0.0 into 0.0: it adds both operands, one of them zeroed. ONNX's own Sum starts with 0.0.
        chooses = "Where" in case.operators
        signed = exact and case.keeps and case.way == self.runtime.by_kernels and not chooses
        for number, (before, after) in enumerate(zip(case.results, results)):
            for info, x, y in zip(case.model.graph.output, before, after, strict=True):
                least = 1e-5 if TYPED & rules else case.builder.coarsest if RECAST & rules else 0.0
                why = difference(x, y, exact, signed, least)
                if why:
                    return f"{info.name} of run {number} {why}; rules: {sorted(rules)}"
        return None

    def keep(self, case, response, why):
        key = case.pattern["pass"], case.pattern["rule"]
        self.failures.append((case.seed, key, why))
        report = {"seed": case.seed, "rule": key, "passes": case.passes, "keep_negative_zero": case.keeps, "why": why}
        report |= {"rewrites": response.get("rewrites"), "by": case.way.__name__}
        (self.work / f"{case.seed}.json").write_text(json.dumps(report, indent=2))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tool", type=Path, required=True, help="passdock-rules")
    p.add_argument("--work-dir", type=Path, required=True)
    p.add_argument("--count", type=int, default=3000)
    p.add_argument("--seed", type=int, default=0, help="the number of the first case")
    p.add_argument("--least", type=int, default=5, help="the minimum number of applications of each rule")
    p.add_argument("--only", type=int, help="one case")
    p.add_argument("--rule", help="only patterns of this rule")
    p.add_argument("--details", action="store_true", help="print why models couldn't be generated")
    given = p.parse_args()
    warnings.simplefilter("ignore")
    given.work_dir.mkdir(parents=True, exist_ok=True)
    for old in given.work_dir.glob("*"):
        old.unlink()
    tool = given.tool.resolve()
    listed = subprocess.run([tool, "patterns", *FILES], capture_output=True, text=True, encoding="utf-8")
    if listed.returncode:
        sys.exit(listed.stderr)
    patterns, unmade = [], []
    for pattern in json.loads(listed.stdout):
        (patterns if can_be_made(pattern) else unmade).append(pattern)
    checker = Checker(tool, given.work_dir, patterns)
    checker.keeps_all = given.only is not None
    seeds = [given.only] if given.only is not None else range(given.seed, given.seed + given.count)
    for seed in seeds:
        if given.rule is None or checker.slots[seed % len(checker.slots)]["rule"] == given.rule:
            checker.case(seed)
        checker.check_responses()
    is_whole = given.rule is None and given.only is None
    if is_whole:
        checker.more(given.seed + given.count, given.least)
    checker.finish()
    for pattern in patterns:
        key = pattern["pass"], pattern["rule"]
        if checker.made[key] or is_whole:
            print(f"{key[0]:38} {key[1]:32} {checker.fired[key]:6} in {checker.made[key]:5} of its models")
    rare = [rule for _, rule in checker.rare(given.least)] if is_whole else []
    if is_whole and unmade:
        print(f"not tried, for want of their operators: {', '.join(one['rule'] for one in unmade)}")
    if given.details:
        for (key, why), count in checker.unsuited.most_common(150):
            print(f"{count:6} {key[1]:32} {why}")
    for seed, key, why in sorted(checker.failures)[:SHOWN]:
        print(f"case {seed} ({key[1]}): {why}")
    print(f"{sum(checker.made.values())} models, {len(checker.failures)} failed; see {given.work_dir}")
    if rare:
        print(f"applied fewer than {given.least} times: {', '.join(rare)}")
    return 1 if checker.failures or rare else 0


if __name__ == "__main__":
    sys.exit(main())
