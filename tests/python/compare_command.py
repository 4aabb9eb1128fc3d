#!/usr/bin/env python3
"""Tests `compare`, `run --verify-outputs` and `--test numerics` with a real ONNX Runtime.

The crafted models differ in ways that the command must detect. With --models, a rule changes the results of one op in the
middle of each model of a directory: `bisect` must name the rule's pass, and `reduce` must leave few ops. The README's
commands run as printed. Prints a line for each check.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from numerics import F16, F32, I64, STRING, Failed, claim, save, tensor
from output_schema import misfit

ROOT = Path(__file__).resolve().parents[2]
F64 = TensorProto.DOUBLE

# The maximum number of pipeline runs of `reduce`, and of remaining ops.
RUNS, LEFT = 60, 20

WRONG = "rule wrong { onnx.Selu(%x) => onnx.Mul(%x, 300) }\n"
PIPELINE = 'passes = ["FoldConstant", { rules = "wrong.rules" }, "DeadCodeElimination"]\n'


class Passdock:
    """The command, with a working directory."""

    def __init__(self, executable, work):
        self.executable, self.work = executable.resolve(), work

    def run(self, *words, environment=None):
        clean = {key: value for key, value in os.environ.items() if key not in ("CI", "ORT_DYLIB_PATH")}
        # The command finds this interpreter in PATH, like a user's.
        clean["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), str(self.executable.parent), clean["PATH"]])
        return subprocess.run(
            [self.executable, *map(str, words)],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.work, env={**clean, **(environment or {})},
        )

    def compare(self, a, b, *words, environment=None):
        """Returns the exit status and the JSON output."""
        done = self.run("compare", a, b, "--json", *words, environment=environment)
        claim(done.stdout, done.stderr)
        report = json.loads(done.stdout)
        claim(report["exit_status"] == done.returncode, report)
        claim(misfit("compare", report) is None, misfit("compare", report))
        return done.returncode, report

    def status(self, a, b, *words):
        return self.compare(a, b, *words)[0]


# --- models ------------------------------------------------------------------------------


def binary_model(work, name, value, dtype=F32, shape=("n", 4), op="Add", outputs=None):
    """Writes a model of y = x op value."""
    constant = helper.make_tensor("c", dtype, [], [value]) if dtype != STRING else helper.make_tensor("c", STRING, [1], [value])
    nodes = [helper.make_node(op, ["x", "c"], ["y"])]
    return save(work / f"{name}.onnx", nodes, [tensor("x", dtype, shape)], outputs or [tensor("y", dtype, shape)], [constant])


def constant(work, name, array):
    """Writes a model whose output is a constant. Its input is unused."""
    nodes = [helper.make_node("Identity", ["c"], ["y"]), helper.make_node("Relu", ["x"], ["z"])]
    dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
    outputs = [tensor("y", dtype, array.shape), tensor("z", F32, [2])]
    return save(work / f"{name}.onnx", nodes, [tensor("x", F32, [2])], outputs, [numpy_helper.from_array(array, "c")])


# --- compare -----------------------------------------------------------------------------


def reports_the_largest_difference(passdock, work):
    a, b = binary_model(work, "a", 1.0), binary_model(work, "b", 1.5)
    status, same = passdock.compare(a, a)
    claim(status == 0 and same["same"] and same["ok"] and same["difference"] is None, same)
    claim([size["inputs"]["x"] for size in same["sizes"]] == ["f32[2,4]", "f32[1,4]", "f32[3,4]"], same["sizes"])
    claim(all(size["runs"] == 2 for size in same["sizes"]), same["sizes"])
    status, report = passdock.compare(a, b)
    output = report["outputs"][0]
    claim(status == 1 and report["ok"] and not report["same"], report)
    claim(abs(output["max_abs"]["value"] - 0.5) < 1e-6 and output["mismatched"] == output["elements"] == 48, output)
    index, before, after = (output["max_abs"][key] for key in ("index", "before", "after"))
    claim(len(index) == 2 and abs(float(after) - float(before) - 0.5) < 1e-6, output)
    claim(0 < output["max_rel"]["value"] <= 2, output)
    text = passdock.run("compare", a, b)
    claim(text.returncode == 1 and "DIFFERENT" in text.stdout and "different: output `y`[" in text.stdout, text.stdout)
    quiet = passdock.run("compare", a, a, "-q")
    claim((quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", ""), quiet)


def applies_tolerances_per_dtype(passdock, work):
    for dtype, near, far in ((F64, 1 + 1e-8, 1 + 1e-4), (F32, 1 + 1e-5, 1.01), (F16, 1.004, 1.1)):
        a, b, c = (binary_model(work, name, value, dtype) for name, value in (("a", 1.0), ("b", near), ("c", far)))
        claim(passdock.status(a, b) == 0, (dtype, near))
        claim(passdock.status(a, c) == 1, (dtype, far))
    a, b = binary_model(work, "a", 1.0), binary_model(work, "b", 1.01)
    claim(passdock.status(a, b, "--rtol", "0", "--atol", "0.02") == 0, "atol")
    claim(passdock.status(a, a, "--rtol", "0", "--atol", "0") == 0, "nothing is allowed")
    claim(passdock.status(binary_model(work, "a", 1, I64), binary_model(work, "b", 2, I64)) == 1, "integers")
    texts = [constant(work, name, np.array([b"x", text], dtype=object)) for name, text in (("a", b"y"), ("b", b"z"))]
    claim(passdock.status(texts[0], texts[0]) == 0 and passdock.status(*texts) == 1, "strings")
    bools = [constant(work, name, np.array([True, last])) for name, last in (("a", True), ("b", False))]
    claim(passdock.status(bools[0], bools[0]) == 0 and passdock.status(*bools) == 1, "bools")
    # Tiny differences are tolerated, however large they are relative to the value.
    tiny = [constant(work, name, np.array([value, 0], np.float32)) for name, value in (("a", 1e-12), ("b", 3e-12))]
    claim(passdock.status(*tiny) == 0, "tiny")
    nan, other = (constant(work, name, np.array(v, np.float32)) for name, v in (("a", [np.nan, 1]), ("b", [1, np.nan])))
    claim(passdock.status(nan, nan) == 0 and passdock.status(nan, other) == 1, "NaN")


def skips_rejected_sizes(passdock, work):
    """Checks that sizes are skipped with which a model fails: the Reshape needs 8 columns."""
    shape = numpy_helper.from_array(np.array([-1, 2, 4]), "s")
    nodes = [helper.make_node("Reshape", ["x", "s"], ["y"])]
    model = save(work / "r.onnx", nodes, [tensor("x", F32, ["n", "m"])], [tensor("y", F32, [None, 2, 4])], [shape])
    status, report = passdock.compare(model, model)
    rejected = [size["inputs"]["x"] for size in report["sizes"] if size["rejected"]]
    claim(status == 0 and rejected == ["f32[2,3]"], report["sizes"])
    claim("skipped, rejected by the model before: x: f32[2,3]" in passdock.run("compare", model, model).stdout, "said")
    status, report = passdock.compare(model, model, "--dim", "m=3", "--dim", "n=1")
    claim(status == 2 and report["diagnostics"][0]["code"] == "not-checked", report)
    claim("of any tried size" in report["diagnostics"][0]["message"], report)
    status, report = passdock.compare(model, model, "--dim", "k=3")
    claim(status == 2 and report["diagnostics"][0]["code"] == "config", report)
    claim(report["diagnostics"][0]["message"].endswith("the symbols m, n"), report)


def reports_interface_differences(passdock, work):
    a = binary_model(work, "a", 1.0)
    two = [tensor("y", F32, ["n", 4]), tensor("x2", F32, ["n", 4])]
    nodes = [helper.make_node("Add", ["x", "c"], ["y"]), helper.make_node("Relu", ["x"], ["x2"])]
    more = save(work / "b.onnx", nodes, [tensor("x", F32, ["n", 4])], two, [helper.make_tensor("c", F32, [], [1.0])])
    status, report = passdock.compare(a, more)
    claim(status == 1 and report["difference"] == "output `x2` (f32[n,4]) was added", report["difference"])
    claim(report["outputs"][0]["same"], "what both have is compared all the same")
    claim(passdock.compare(a, binary_model(work, "c", 1.0, F16))[1]["difference"] == "input `x` changed from f32[n,4] to f16[n,4]", "dtype")
    claim(passdock.compare(a, binary_model(work, "d", 1.0, shape=("n", 5)))[1]["interface"][0]["property"] == "dims", "dims")
    status, report = passdock.compare(a, binary_model(work, "e", 1.0, shape=(1, 4)))
    claim(status == 0 and [each["breaking"] for each in report["interface"]] == [False, False], report)
    claim(report["sizes"] == [{"inputs": {"x": "f32[1,4]"}, "runs": 2, "rejected": None}], report["sizes"])


def varies_inconsistent_symbols(passdock, work):
    """Checks that sizes with the same symbol are also tried separately: the removed `Expand` only has an effect then."""

    def pair(symbol):
        inputs = [tensor(name, F32, [symbol, 4]) for name in ("x", "w")]
        output = [tensor("y", F32, [None, 4])]
        nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Expand", ["w", "s"], ["y"])]
        replaced = [helper.make_node("Identity", ["w"], ["y"])]
        return save(work / "a.onnx", nodes, inputs, output), save(work / "b.onnx", replaced, inputs, output)

    a, b = pair("n")
    status, report = passdock.compare(a, b)
    claim(status == 0 and report["same"], report)
    claim([each["symbol"] for each in report["inconsistent_symbols"]] == ["n"], report["inconsistent_symbols"])
    inconsistent = report["inconsistent_symbols"][0]
    claim(inconsistent["inputs"]["x"] != inconsistent["inputs"]["w"] and "`y`" in inconsistent["difference"], inconsistent)
    claim("differs only with several sizes of `n`, which the model declares as one size" in passdock.run("compare", a, b).stdout, "text")
    # A size from the user applies to all dims with the symbol.
    status, report = passdock.compare(a, b, "--dim", "n=3")
    claim(status == 0 and "inconsistent_symbols" not in report, report)
    claim("inconsistent_symbols" not in passdock.compare(a, a)[1], "the same model")
    (work / "wrong.rules").write_text("rule wrong keeps_type { onnx.Expand(%w, %s) => %w }\n")
    (work / "p.toml").write_text('passes = [{ rules = "wrong.rules" }]\n')
    verified = passdock.run("run", "p.toml", "a.onnx", "-o", "out.onnx", "--verify-outputs")
    claim(verified.returncode == 0 and "differs only with several sizes of `n`" in verified.stdout + verified.stderr, verified)
    # Exporters write these for unknown sizes.
    for symbol in ("unk__7", "?", "None"):
        a, b = pair(symbol)
        status, report = passdock.compare(a, b)
        claim(status == 1 and not report["same"] and "inconsistent_symbols" not in report, (symbol, report))
        apart = [size["inputs"] for size in report["sizes"] if size.get("inconsistent_symbol") == symbol]
        claim(apart and all(inputs["x"] != inputs["w"] for inputs in apart), report["sizes"])
        claim(f"1 run with several sizes of `{symbol}`: " in passdock.run("compare", a, b).stdout, "text")
        verified = passdock.run("run", "p.toml", "a.onnx", "-o", "out.onnx", "--verify-outputs")
        claim(verified.returncode == 1, (symbol, verified))


def reports_inconclusive_comparisons(passdock, work):
    a = binary_model(work, "a", 1.0)
    unknown = save(work / "u.onnx", [helper.make_node("Nothing", ["x"], ["y"], domain="no")], [tensor("x", F32, ["n", 4])],
                   [tensor("y", F32, ["n", 4])], opsets=(("", 17), ("no", 1)))
    status, report = passdock.compare(unknown, a)
    claim(status == 2 and "model before: ONNX Runtime rejected" in report["diagnostics"][0]["message"], report)
    status, report = passdock.compare(a, unknown)
    claim(status == 1 and report["failure"]["loaded"] is False, report)
    random = save(work / "random.onnx", [helper.make_node("RandomNormalLike", ["x"], ["y"])], [tensor("x", F32, [4])],
                  [tensor("y", F32, [4])])
    claim("not reproducible" in passdock.compare(random, random)[1]["diagnostics"][0]["message"], "random")
    for environment in ({"PATH": "/usr/nothing"}, {"ORT_DYLIB_PATH": "/nowhere/libonnxruntime.so"}):
        status, report = passdock.compare(a, a, environment=environment)
        claim(status == 2 and "pip install onnxruntime" in report["diagnostics"][0]["help"], report)


def reads_inputs_from_files(passdock, work):
    a, b = binary_model(work, "a", 1.0), binary_model(work, "b", 1.0, op="Add")
    inputs = work / "inputs"
    inputs.mkdir(exist_ok=True)
    np.save(inputs / "x.npy", np.ones((7, 4), np.float32))
    status, report = passdock.compare(a, b, "--inputs", inputs)
    claim(status == 0 and report["seed"] is None and report["sizes"][0]["inputs"] == {"x": "f32[7,4]"}, report)
    claim(passdock.compare(a, b, "--inputs", work / "none")[0] == 2, "not there")
    first, second = (passdock.compare(a, binary_model(work, "c", 2.0), "--seed", seed)[1]["outputs"][0] for seed in (1, 2))
    claim(first["max_abs"]["before"] != second["max_abs"]["before"], "another seed, other inputs")


# --- run, bisect, reduce ---------------------------------------------------------------------


def planted(model, to, place=0.5):
    """Returns a model with a Selu after an op in its middle, which the rule rewrites incorrectly."""
    model = onnx.load(model) if not isinstance(model, onnx.ModelProto) else model
    graph = shape_inference.infer_shapes(model).graph
    floats = {value.name for value in graph.value_info if value.type.tensor_type.elem_type == F32}
    nodes = model.graph.node
    where = [at for at, node in enumerate(nodes) if node.op_type in ("Add", "Mul", "Conv") and node.output[0] in floats]
    at = where[int(len(where) * place)]
    out = nodes[at].output[0]
    nodes[at].output[0] = f"{out}/planted"
    nodes.insert(at + 1, helper.make_node("Selu", [f"{out}/planted"], [out]))
    onnx.save(model, to)
    return to


def residual(work, blocks=60):
    """Writes a generated model: residual blocks, each with a computed shape."""
    rng = np.random.default_rng(0)
    weights, nodes, last = [], [], "x"
    for block in range(blocks):
        weights.append(numpy_helper.from_array((rng.standard_normal((8, 8)) / 4).astype(np.float32), f"w{block}"))
        nodes += [
            helper.make_node("MatMul", [last, f"w{block}"], [f"m{block}"]),
            helper.make_node("Shape", [f"m{block}"], [f"s{block}"]),
            helper.make_node("Reshape", [f"m{block}", f"s{block}"], [f"r{block}"]),
            helper.make_node("Tanh", [f"r{block}"], [f"t{block}"]),
            helper.make_node("Add", [last, f"t{block}"], [f"b{block}"]),
        ]
        last = f"b{block}"
    nodes.append(helper.make_node("Identity", [last], ["y"]))
    return save(work / "residual.onnx", nodes, [tensor("x", F32, ["n", 8])], [tensor("y", F32, ["n", 8])], weights)


def prepare(work, model):
    (work / "wrong.rules").write_text(WRONG)
    (work / "pipeline.toml").write_text(PIPELINE)
    return planted(model, work / "model.onnx")


def verifies_outputs_of_a_run(passdock, work):
    model = prepare(work, residual(work))
    mixed = ["--passes", "ToMixedPrecision", "residual.onnx", "-o", "mixed.onnx"]
    half = passdock.run("run", *mixed, "--verify-outputs")
    claim(half.returncode == 0 and "tolerance of f16" in half.stdout + half.stderr, half)
    exact = passdock.run("run", *mixed, "--instrument", "verify-outputs={rtol=0.0, atol=0.0}")
    claim(exact.returncode == 1 and "error[numerics]" in exact.stderr, exact)
    (work / "out.onnx").write_text("as it was")
    good = passdock.run("run", "residual.onnx", "-o", "good.onnx", "--verify-outputs", "--json")
    report = json.loads(good.stdout)
    found = next(each["data"] for each in report["instruments"] if each["name"] == "verify-outputs")
    claim(good.returncode == 0 and found["same"] and found["outputs"], good.stderr)
    for mode in ([], ["--in-process"]):
        bad = passdock.run("run", "pipeline.toml", model.name, "-o", "out.onnx", "--verify-outputs", *mode)
        claim(bad.returncode == 1 and "error[numerics]" in bad.stderr and "tolerance" in bad.stderr, bad.stderr)
        claim((work / "out.onnx").read_text() == "as it was", "OUT was replaced")
        claim("DIFFERENT" in bad.stdout, bad.stdout)
    # The suggested command runs as printed.
    command = re.search(r"`passdock (bisect [^`]*)` finds the pass", bad.stderr)
    claim(command, bad.stderr)
    found = passdock.run(*command[1].split())
    claim(found.returncode == 0 and "rules.wrong breaks the model" in found.stdout, found.stderr)
    bound = passdock.run("run", "pipeline.toml", model.name, "-o", "out.onnx", "--verify-outputs", "--bind", "n=3")
    claim("--bind n=3" in bound.stderr and bound.returncode == 1, bound.stderr)
    bound = passdock.run("run", "residual.onnx", "-o", "bound.onnx", "--verify-outputs", "--bind", "n=3")
    claim(bound.returncode == 0, bound.stderr)
    nothing = passdock.run("run", "residual.onnx", "-o", "none.onnx", "--verify-outputs", environment={"PATH": "/usr/nothing"})
    claim(nothing.returncode == 1 and not (work / "none.onnx").exists(), nothing)
    claim("pip install onnxruntime" in nothing.stderr, nothing.stderr)


def finds_pass_and_ops(passdock, work):
    model = prepare(work, residual(work))
    return shrunk(passdock, work, model)


def runs_the_guide(passdock, work):
    prepare(work, residual(work))
    lines = (ROOT / "docs/guides/debug-a-model.md").read_text().splitlines()
    commands = [line.split("#")[0].split() for line in lines if "--test numerics" in line or line.startswith("passdock compare")]
    claim(len(commands) >= 3, commands)
    shutil.copy(work / "residual.onnx", work / "before.onnx")
    shutil.copy(work / "residual.onnx", work / "out.onnx")
    for command in commands:
        done = passdock.run(*command[1:])
        expected = 1 if command[1] == "compare" else 0
        claim(command[0] == "passdock" and done.returncode == expected, (command, done.stdout, done.stderr))


def shrunk(passdock, work, model):
    """Checks that `bisect` finds the pass, and that `reduce` leaves few ops."""
    start = time.monotonic()
    found = passdock.run("bisect", "pipeline.toml", model.name, "--test", "numerics", "--json")
    claim(found.returncode == 0, found.stderr)
    claim(misfit("bisect", json.loads(found.stdout)) is None, misfit("bisect", json.loads(found.stdout)))
    claim([each["pass"] for each in json.loads(found.stdout)["suspects"]] == ["rules.wrong"], found.stdout)
    small = work / "small.onnx"
    words = ["reduce", "pipeline.toml", model.name, "--test", "numerics", "--max-runs", RUNS, "-o", small.name, "--json"]
    done = passdock.run(*words)
    claim(done.returncode == 0, done.stderr)
    report = json.loads(done.stdout)
    claim(misfit("reduce", report) is None, misfit("reduce", report))
    claim(report["ops_after"] <= LEFT and report["runs"] <= RUNS, report)
    again = passdock.run("bisect", "pipeline.toml", small.name, "--test", "numerics")
    claim(again.returncode == 0, again.stderr)
    took = time.monotonic() - start
    return f"{report['ops_before']} → {report['ops_after']} ops after {report['runs']} runs, {took:.1f} s"


CHECKS = [
    reports_the_largest_difference,
    applies_tolerances_per_dtype,
    skips_rejected_sizes,
    reports_interface_differences,
    varies_inconsistent_symbols,
    reports_inconclusive_comparisons,
    reads_inputs_from_files,
    verifies_outputs_of_a_run,
    finds_pass_and_ops,
    runs_the_guide,
]

# Real models with features that make shrinking hard: computed shapes, thousands of ops, branches, and rejected sizes.
# In the other models, normalizations hide the wrong factor.
REAL = ["ts_bert_micro", "ts_swin_micro", "light_densenet121", "silero_16k_op15"]


def real(passdock, work, model):
    return shrunk(passdock, work, prepare(work, model))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=Path, required=True, help="the command, with the plugins next to it")
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="a directory of real models")
    parser.add_argument("--only", help="only checks whose names contain this")
    args = parser.parse_args()
    models = [args.models / f"{name}.onnx" for name in REAL] if args.models else []
    checks = [(check.__name__.replace("_", " "), check, ()) for check in CHECKS]
    checks += [(model.stem, real, (model,)) for model in models if model.exists()]
    if not models:
        print("skipped real models: PASSDOCK_MODELS names no directory of them", flush=True)
    failed = 0
    for name, check, more in checks:
        if args.only and args.only not in name:
            continue
        work = args.work_dir.resolve() / name.replace(" ", "-")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            note = check(Passdock(args.passdock, work), work, *more)
            print(f"ok      {name}{f': {note}' if note else ''}", flush=True)
        except Failed as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
