#!/usr/bin/env python3
"""Runs models through passdock and checks the results with onnx and onnxruntime.

For each model: a pass that changes nothing gives the same bytes; a re-encoded
file has the same fields; renaming a node changes no other byte; after
conversion to text and back, and after optimization, the model computes the
same. Prints a line for each check.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import fields
import outputs
import wire

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples" / "models"
# Passes of plugins that leave some models unchanged.
QUIET = ["tir.transform.UnrollLoop", "hello.transform.FuseDoubleRelu"]
OPTIMIZE = [
    "relax.transform.InferType",
    "relax.transform.FoldConstant",
    "relax.transform.CanonicalizeBindings",
    "relax.transform.EliminateCommonSubexpr",
    "relax.transform.DeadCodeElimination",
]


class Failed(Exception):
    """A failed check; the message is the reason."""


class Passdock:
    """The command with its plugin directories."""

    def __init__(self, executable, renamer, plugin_dirs, work):
        self.executable, self.renamer, self.work = executable, renamer, work
        self.plugin_dirs = [word for directory in plugin_dirs for word in ("--plugin-dir", directory)]

    def run(self, model, out, *arguments):
        """Runs passes on a model and returns the report."""
        out.unlink(missing_ok=True)
        command = [self.executable, "run", *arguments, model, "-o", out, "--json", *self.plugin_dirs]
        report = json.loads(self.succeed(command))
        if not report["ok"]:
            raise Failed(f"passdock ended well but reports {report}")
        return report

    def convert(self, given, out):
        """Converts a file to another format."""
        out.unlink(missing_ok=True)
        # Text refers to the data of its model, which is in another directory.
        self.succeed([self.executable, "convert", given, out, "--allow-outside-data"])

    def rename(self, model, out, old, new):
        """Renames a node through the IR."""
        out.unlink(missing_ok=True)
        self.succeed([self.renamer, model, out, old, new])

    def succeed(self, command):
        """Runs a command that must succeed, and returns its output."""
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failed(f"{command[0].name} exited with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def pipeline(self, name, *passes):
        """Writes a pipeline file with these passes and returns its path."""
        path = self.work / f"{name}.toml"
        path.write_text("".join(f'[[passes]]\nname = "{each}"\n' for each in passes))
        return path


def identity(passdock, model, out):
    """Checks that the passes that change nothing write the same bytes, and that there is at least one."""
    quiet = []
    for name in QUIET:
        report = passdock.run(model, out, passdock.pipeline("identity", name))
        if all(entry["status"] == "unchanged" for entry in report["passes"]):
            quiet.append(name)
            if out.read_bytes() != model.read_bytes():
                raise Failed(f"{name} changed nothing, and the file isn't the same")
    if not quiet:
        raise Failed(f"none of {', '.join(QUIET)} reports that it left the model unchanged")
    return f"{model.stat().st_size} bytes after {', '.join(quiet)}"


def dropped_spans(passdock, model, out):
    """Checks that a completely re-encoded model has the same fields."""
    passdock.run(model, out, passdock.pipeline("identity", QUIET[0]), "--drop-spans")
    expect(fields.same_fields(model, out))
    return f"{out.stat().st_size} bytes for {model.stat().st_size}"


def renamed(passdock, model, out):
    """Checks that renaming a node in the middle changes no other byte."""
    nodes = [node.name for node in fields.read(model).graph.node if node.name and node.op_type != "Constant"]
    if not nodes:
        return "no node has a name"
    old = nodes[len(nodes) // 2]
    passdock.rename(model, out, old, f"renamed/{old}")
    found = expect(wire.only_renamed(model, out))
    if (found["from"], found["to"]) != (old, f"renamed/{old}"):
        raise Failed(f"{found['from']!r} became {found['to']!r}")
    return f"{old!r} among {len(nodes)}"


def as_text(passdock, model, out):
    """Checks that a model computes the same after it was printed as IR text and parsed again."""
    text = out.with_suffix(".ir")
    passdock.convert(model, text)
    passdock.convert(text, out)
    # Before ir_version 4 all constants are inputs with a default; in text they are constants.
    expect(outputs.same_outputs(model, out, defaults=fields.read(model).ir_version >= 4))
    return f"{text.stat().st_size} bytes of text"


def optimized(passdock, model, out):
    """Checks that the optimized model computes the same and has the same interface."""
    report = passdock.run(model, out, "--passes", ",".join(OPTIMIZE))
    found = expect(outputs.same_outputs(model, out))
    ops = report["model"]
    return f"{ops['ops_before']} ops to {ops['ops_after']}, error {found['largest_error']:.0e} in {found['runs']} runs"


def accurate(passdock, model, out):
    """Checks that the example model's accuracy is unchanged."""
    passdock.run(model, out, "--passes", ",".join([*OPTIMIZE, QUIET[1]]))
    test_set = EXAMPLES / "digits_inputs.npy", EXAMPLES / "digits_labels.npy"
    before, after = (expect(outputs.accuracy(path, *test_set, 0.95)) for path in (model, out))
    if before != after:
        raise Failed(f"{before['accuracy']:.4f} of the predictions were right, now {after['accuracy']:.4f}")
    return f"{after['accuracy']:.1%} of {after['of']}"


def expect(found):
    if found["why"]:
        raise Failed(found["why"])
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--renamer", type=Path, required=True, help="the example rename_node of passdock-onnx")
    p.add_argument("--plugin-dir", type=Path, action="append", default=[], help="a directory of plugins")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    p.add_argument("--models", type=Path, help="a directory of models; without it, the example model")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    passdock = Passdock(args.passdock, args.renamer, args.plugin_dir, args.work_dir)
    if args.models:
        models, checks = sorted(args.models.glob("*.onnx")), [identity, dropped_spans, renamed, as_text, optimized]
    else:
        models, checks = [EXAMPLES / "digits.onnx"], [identity, dropped_spans, renamed, as_text, optimized, accurate]
    if not models:
        print(f"there is no model in {args.models}")
        return 1
    failures = 0
    for model in models:
        for check in checks:
            start = time.monotonic()
            try:
                word, text = "ok", check(passdock, model, args.work_dir / f"{check.__name__}.onnx")
            except Exception as error:  # both failed and impossible checks are failures
                word, text = "FAILED", str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {error}"
                failures += 1
            print(f"{word:6} {model.stem:18} {check.__name__:14} {time.monotonic() - start:5.1f} s  {text}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
