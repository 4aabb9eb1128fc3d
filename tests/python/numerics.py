#!/usr/bin/env python3
"""Tests the instrument `numerics` with a real ONNX Runtime, including the cases in which it is inconclusive.

The models are crafted, or with --models those of a directory. They run through
a pass that changes results, and through the standard passes, which must not.
Prints a line for each check.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STANDARD = [
    "relax.transform.InferType",
    "relax.transform.FoldConstant",
    "relax.transform.CanonicalizeBindings",
    "relax.transform.EliminateCommonSubexpr",
    "relax.transform.DeadCodeElimination",
]
WRONG, UNKNOWN, LOWER = ("bad.transform." + name for name in ("ChangeResults", "UseUnknownOp", "LowerUnknownOp"))


class Failed(Exception):
    """A failed check; the message is the reason."""


class Passdock:
    """The command with the instrument. Each run has its own directory."""

    def __init__(self, executable, work):
        self.executable, self.work = executable.resolve(), work

    def run(self, model, passes, options="", environment=None):
        """Returns the report and the instrument's part of it."""
        pipeline = self.work / "p.toml"
        listed = "".join(f'[[passes]]\nname = "{each}"\n' for each in passes)
        pipeline.write_text(f'[[instruments]]\nname = "numerics"\n{options}\n{listed}')
        command = [self.executable, "run", pipeline, model, "--json"]
        clean = {key: value for key, value in os.environ.items() if key not in ("CI", "ORT_DYLIB_PATH")}
        # The command finds this interpreter in PATH, like a user's.
        clean["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), clean["PATH"]])
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**clean, **(environment or {})}
        )
        if done.returncode < 0 or not done.stdout:
            raise Failed(f"it exited with {done.returncode}: {done.stderr.strip()[-2000:]}")
        report = json.loads(done.stdout)
        if report["exit_status"] != done.returncode:
            raise Failed(f"it exited with {done.returncode} and reports {report['exit_status']}")
        parts = [part["data"] for part in report.get("instruments", []) if part["name"] == "numerics"]
        return report, parts[0] if parts else None

    def results(self, model, passes, *arguments, **named):
        """Returns the instrument's result for each pass."""
        return [each["result"] for each in self.run(model, passes, *arguments, **named)[1]["passes"]]


def claim(holds, why):
    if not holds:
        raise Failed(str(why))


# --- models --------------------------------------------------------------------------


def save(path, nodes, inputs, outputs, initializers=(), opsets=(("", 17),), **options):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    onnx.save(model, path, **options)
    return path


def tensor(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


F32, F16, I64, BOOL, STRING = (
    getattr(TensorProto, name) for name in ("FLOAT", "FLOAT16", "INT64", "BOOL", "STRING")
)


def relu(path, dtype=F32, **options):
    """Writes a model of Relu(x @ w) with a weight of 64 KiB."""
    weight = np.sin(np.arange(128 * 128)).reshape(128, 128).astype(helper.tensor_dtype_to_np_dtype(dtype))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    given, created = [tensor("x", dtype, ["n", 128])], [tensor("y", dtype, ["n", 128])]
    return save(path, nodes, given, created, [numpy_helper.from_array(weight, "w")], **options)


# --- checks ----------------------------------------------------------------------------


def names_the_pass(passdock, work):
    model = relu(work / "relu.onnx")
    report, found = passdock.run(model, ["relax.transform.FoldConstant", WRONG, "relax.transform.CanonicalizeBindings"])
    claim(report["exit_status"] == 1 and not report["ok"], report)
    last = [each for each in report["diagnostics"] if each["code"] != "reproducer"][-1]
    claim((last["code"], last["severity"], last["pass"]) == ("numerics", "error", WRONG), last)
    claim("misbehaving" in last["file"] and "output `y`[" in last["message"], last)
    claim([each["result"] for each in found["passes"]] == ["unchanged", "different"], found)
    claim(found["onnxruntime"]["version"] == onnxruntime.__version__, found)
    claim(found["samples"] == [{"x": "f32[2,128]"}] * 2, found)


def continues_with_a_warning(passdock, work):
    model = relu(work / "warn.onnx")
    report, found = passdock.run(model, [WRONG, UNKNOWN, LOWER], 'on_difference = "warn"')
    claim(report["exit_status"] == 0, report)
    claim([each["severity"] for each in report["diagnostics"]] == ["warning"], report["diagnostics"])
    claim([each["result"] for each in found["passes"]] == ["different", "same", "unchanged"], found)


def checks_unrunnable_passes_with_the_next(passdock, work):
    model = relu(work / "unknown.onnx")
    report, found = passdock.run(model, [UNKNOWN, LOWER])
    claim(report["exit_status"] == 0, report)
    first, second = found["passes"]
    claim(first["result"] == "not checked" and "bad:FastRelu" in first["reason"], first)
    claim(second["result"] == "same" and second["reason"] == f"together with {UNKNOWN}", second)
    for how in ({"options": "required = true"}, {"environment": {"CI": "true"}}):
        report, _ = passdock.run(model, [UNKNOWN, LOWER], **how)
        claim(report["exit_status"] == 1, (how, report))


def supports_every_dtype(passdock, work):
    for dtype in (F32, F16, TensorProto.DOUBLE, TensorProto.BFLOAT16, I64, TensorProto.INT8, TensorProto.UINT16):
        one = numpy_helper.from_array(np.array(1), "one")
        nodes = [
            helper.make_node("Cast", ["x"], ["f"], to=F32),
            helper.make_node("Relu", ["f"], ["r"]),
            helper.make_node("Cast", ["r"], ["y"], to=dtype),
        ]
        io = [tensor("x", dtype, ["n", 40])], [tensor("y", dtype, ["n", 40])]
        model = save(work / "typed.onnx", nodes, *io, [one])
        results = passdock.results(model, [WRONG])
        claim(results == ["different"], (dtype, results))
    nodes = [
        helper.make_node("Identity", ["s"], ["t"]),
        helper.make_node("Not", ["b"], ["c"]),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    given = [tensor("s", STRING, [3]), tensor("b", BOOL, [3]), tensor("x", F32, [3])]
    created = [tensor("t", STRING, [3]), tensor("c", BOOL, [3]), tensor("y", F32, [3])]
    model = save(work / "strings.onnx", nodes, given, created)
    report, found = passdock.run(model, ["relax.transform.CanonicalizeBindings", WRONG])
    claim(found["passes"][-1]["result"] == "different", found)
    claim("output `y`" in found["passes"][-1]["reason"], found)


def compares_sequences_and_maps(passdock, work):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("SplitToSequence", ["r"], ["s"], axis=0),
    ]
    sequence = helper.make_tensor_sequence_value_info("s", F32, None)
    model = save(work / "sequence.onnx", nodes, [tensor("x", F32, ["n", 4])], [sequence])
    report, found = passdock.run(model, [WRONG])
    claim(found["passes"][0]["result"] == "different" and "`s[0]`" in found["passes"][0]["reason"], found)
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("ZipMap", ["r"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[5, 6, 7]),
    ]
    maps = helper.make_value_info("z", helper.make_sequence_type_proto(helper.make_map_type_proto(I64, helper.make_tensor_type_proto(F32, []))))
    model = save(work / "map.onnx", nodes, [tensor("x", F32, ["n", 3])], [maps], opsets=[("", 17), ("ai.onnx.ml", 3)])
    report, found = passdock.run(model, [WRONG])
    claim(found["passes"][0]["result"] == "different" and "`z[1].values`" in found["passes"][0]["reason"], found)


def reports_inconclusive_checks(passdock, work):
    def reason(model, *arguments):
        report, found = passdock.run(model, [WRONG], *arguments)
        claim(report["exit_status"] == 0, report)
        claim([each["result"] for each in found["passes"]] == ["not checked"], found)
        codes = [each["code"] for each in report["diagnostics"] if each["code"] != "unknown-operators"]
        claim(codes == ["not-checked"], report["diagnostics"])
        return found["not_checked"]

    like = [helper.make_node("RandomNormalLike", ["x"], ["r"]), helper.make_node("Relu", ["r"], ["y"])]
    io = [tensor("x", F32, [8])], [tensor("y", F32, [8])]
    claim("not reproducible" in reason(save(work / "random.onnx", like, *io)), "random")

    known = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Odd", ["r"], ["y"], domain="acme")]
    model = save(work / "odd.onnx", known, *io, opsets=[("", 17), ("acme", 1)])
    claim("rejected the model" in reason(model), "unknown op")

    nan = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Sub", ["r", "i"], ["s"]), helper.make_node("Sqrt", ["s"], ["y"])]
    model = save(work / "nan.onnx", nan, *io, [numpy_helper.from_array(np.array(np.inf, np.float32), "i")])
    claim("NaN" in reason(model), "NaN")

    concat = [helper.make_node("ConcatFromSequence", ["s"], ["r"], axis=0), helper.make_node("Relu", ["r"], ["y"])]
    sequence = helper.make_tensor_sequence_value_info("s", F32, None)
    model = save(work / "given.onnx", concat, [sequence], [tensor("y", F32, None)])
    claim("input `s`: expected a tensor, found a sequence" in reason(model), "sequence input")

    shape = numpy_helper.from_array(np.array([7, 11]), "shape")
    fixed = [helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("Relu", ["r"], ["y"])]
    model = save(work / "sizes.onnx", fixed, [tensor("x", F32, ["n"])], [tensor("y", F32, [7, 11])], [shape])
    claim("with inputs of any tried size" in reason(model), "sizes")
    report, _ = passdock.run(model, [WRONG], 'dims = { m = 77 }')
    [diagnostic] = report["diagnostics"]
    claim((report["exit_status"], diagnostic["code"]) == (2, "config") and "unknown symbol `m`" in diagnostic["message"], report)
    claim(diagnostic["snippet"]["text"] == "dims = { m = 77 }" and diagnostic["snippet"]["start"] == 9, diagnostic)
    results = passdock.results(model, [WRONG], 'dims = { n = 77 }')
    claim(results == ["different"], results)


def tries_smaller_integers(passdock, work):
    table = numpy_helper.from_array(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "ids"], ["g"]), helper.make_node("Relu", ["g"], ["r"]), helper.make_node("Mul", ["r", "r"], ["y"])]
    model = save(work / "gather.onnx", nodes, [tensor("ids", I64, ["n", "m"])], [tensor("y", F32, None)], [table])
    report, found = passdock.run(model, STANDARD, "required = true")
    claim(report["exit_status"] == 0, report)
    claim(found["samples"][0] == {"ids": "i64[2,3]"}, found)


def reads_inputs(passdock, work):
    model = relu(work / "given_inputs.onnx")
    data = work / "data" / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    given = numpy_helper.from_array(np.full((5, 128), -1, np.float32), "x")
    (data / "input_0.pb").write_bytes(given.SerializeToString())
    report, found = passdock.run(model, [WRONG], 'inputs = "data"')
    claim(found["samples"] == [{"x": "f32[5,128]"}] and found["passes"][0]["result"] == "different", found)
    report, _ = passdock.run(model, [WRONG], 'inputs = "nothing"')
    [diagnostic] = report["diagnostics"]
    claim((report["exit_status"], diagnostic["code"]) == (2, "config") and "no such file" in diagnostic["message"], report)
    (work / "empty").mkdir(exist_ok=True)
    report, found = passdock.run(model, [WRONG], 'inputs = "empty"')
    claim(report["exit_status"] == 2 and "invalid sample inputs" in found["not_checked"], found)


def finds_data_files(passdock, work):
    place = work / "external"
    place.mkdir(exist_ok=True)
    model = relu(
        place / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0
    )
    for passes, expected in (([WRONG], ["different"]), (["relax.transform.InferType", LOWER], ["same", "unchanged"])):
        results = passdock.results(model, passes)
        claim(results == expected, results)
    claim(sorted(path.name for path in place.iterdir()) == ["m.data", "m.onnx"], list(place.iterdir()))


def finds_the_library(passdock, work):
    model = relu(work / "library.onnx")
    library = next(Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.*[0-9]*"))
    _, found = passdock.run(model, [WRONG])
    claim(Path(found["onnxruntime"]["library"]).resolve() == library.resolve(), found)
    _, found = passdock.run(model, [WRONG], environment={"ORT_DYLIB_PATH": str(library)})
    claim(found["passes"][0]["result"] == "different", found)
    _, found = passdock.run(model, [WRONG], environment={"PATH": "/usr/nothing"})
    claim("no `python3` in PATH" in found["not_checked"], found)


def allows_rounding_of_smaller_types(passdock, work):
    mixed = "relax.transform.ToMixedPrecision"
    # InferType runs before both passes.
    model = relu(work / "mixed.onnx")
    report, found = passdock.run(model, [mixed])
    claim(report["exit_status"] == 0, report["diagnostics"])
    claim([each["compute_dtype"] for each in found["passes"]] == [None, "f16"], found)
    claim(found["passes"][1]["reason"] == "tolerance of f16", found)
    # A type that the model already uses isn't a change.
    report, found = passdock.run(relu(work / "half.onnx", F16), [WRONG])
    claim(report["exit_status"] == 1 and found["passes"][0]["compute_dtype"] is None, found)
    claim(passdock.results(model, [WRONG], "rtol = 0.0\natol = 1e9") == ["same"], "atol")
    claim(passdock.results(model, [mixed], "rtol = 0.0\natol = 0.0")[1] == "different", "rtol, atol")


CHECKS = [
    allows_rounding_of_smaller_types,
    names_the_pass,
    continues_with_a_warning,
    checks_unrunnable_passes_with_the_next,
    supports_every_dtype,
    compares_sequences_and_maps,
    reports_inconclusive_checks,
    tries_smaller_integers,
    reads_inputs,
    finds_data_files,
    finds_the_library,
]


def standard_passes(passdock, model):
    """Checks that the instrument checks all changes of the standard passes, and that none changes results."""
    start = time.monotonic()
    report, found = passdock.run(model, STANDARD, "required = true")
    claim(report["exit_status"] == 0, report["diagnostics"])
    total = max((each["total"] or 0 for each in found["passes"]), default=0)
    checked = sum(each["result"] == "same" for each in found["passes"])
    return f"{checked} passes checked, error {total:.4f} of what is allowed, {time.monotonic() - start:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passdock", type=Path, required=True, help="the command, with the plugins next to it")
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--models", type=Path, help="a directory of real models")
    args = parser.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    passdock, failed = Passdock(args.passdock, args.work_dir), 0
    models = sorted(args.models.glob("*.onnx")) if args.models else []
    checks = [(check.__name__.replace("_", " "), lambda check=check: check(passdock, args.work_dir)) for check in CHECKS]
    checks += [(model.name, lambda model=model: standard_passes(passdock, model)) for model in models]
    for name, check in checks:
        try:
            note = check()
            print(f"ok      {name}{f': {note}' if note else ''}", flush=True)
        except Failed as error:
            failed += 1
            print(f"FAILED  {name}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
