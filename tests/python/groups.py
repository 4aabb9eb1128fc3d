#!/usr/bin/env python3
"""Checks models whose ops are fused into groups, partitioned, and inlined again.

Each model goes through `FuseOps`, and through `AnnotateTarget`, `MergeRegions` and `PartitionGraph`. onnx's checker must
accept a result if it accepted the model, and ONNX Runtime without optimization must compute the same. A fused model that
was written and read goes through `DefuseOps`: its text must be the model's, except for the `ir_version`, the order of
records in `extra`, and the position of constants. `--models` is a directory of real models.

Each model also goes through `deploy`, with its convolutions in another layout and with `examples/npu-partition`, which
writes partitions to files. There must be a file for each partition that the model calls, and onnx's checker must accept
each file. The accelerator only supports tensors of known sizes, so some models have no partitions.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import outputs

ROOT = Path(__file__).resolve().parent.parent.parent
FUSE = ["--passes", "FuseOps"]
PARTITION = [
    *("--passes", "AnnotateTarget,MergeRegions,PartitionGraph"),
    *("--config", 'relax.AnnotateTarget.target="npu"'),
    *("--config", 'relax.AnnotateTarget.traits=["elementwise", "out-fusable"]'),
    *("--config", 'relax.AnnotateTarget.dtypes=["f32"]'),
]


def passdock(args, *words):
    done = subprocess.run([args.passdock, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"passdock {words[0]} exited with {done.returncode}: {done.stderr.strip()[-1500:]}")


def lines(path):
    """Returns the lines of a text without parts that may differ, starting with the constants, sorted by name."""
    constants, others, last = [], [], []
    for line in path.read_text().splitlines():
        line = re.sub(r' (external|extra)\("[^)]*\)', "", line)
        line = re.sub(r"blob\(\d+\)", "blob", line)
        if re.match(r' *(metadata "onnx.ir_version"|blob \d)|module', line):
            continue
        if not re.match(r" +(meta|doc) ?[{(]", line):
            last = constants if " = const " in line else others
            last.append("")
        last[-1] += line
    return sorted(constants) + others


def inlined_again(args, model, fused):
    """Describes how a model differs after it was fused and inlined again, or returns None."""
    before, after = args.work_dir / f"{model.stem}.ir", args.work_dir / f"{model.stem}.back.ir"
    passdock(args, "convert", model, before)
    passdock(args, "run", fused, "-o", after, "--passes", "DefuseOps")
    old, new = lines(before), lines(after)
    if old == new:
        return None
    differing = [f"{a}\n  {b}" for a, b in zip(old, new) if a != b]
    return f"{len(old)} and {len(new)} lines; the first that differ:\n  " + "\n  ".join(differing[:2])[:600]


def deployed(args, model, created):
    """Describes what is wrong with a model after the pipeline `deploy` for `examples/npu-partition`, or returns None."""
    parts, text = args.work_dir / f"{model.stem}.parts", created.with_suffix(".ir")
    shutil.rmtree(parts, ignore_errors=True)
    settings = [
        'relax.AnnotateTarget.target="npu"',
        'relax.ConvertLayout.desired_layouts={"onnx.Conv"=["NHWC","default"]}',
        f"npu.WritePartitions.dir={json.dumps(str(parts))}",
    ]
    settings = [word for setting in settings for word in ("--config", setting)]
    passdock(args, "run", "deploy", model, "-o", created, "-O3", "--plugin-dir", args.plugin_dir, *settings)
    passdock(args, "convert", created, text)
    called = set(re.findall(r'global_symbol = "(\w+)"', text.read_text()))
    written = {file.stem: file for file in parts.glob("*.onnx")}
    if called != set(written):
        return f"{len(called)} partitions, and {len(written)} files"
    for file in written.values():
        onnx.checker.check_model(file, full_check=True)
    args.partitions += len(written)
    return check(model, created)


def check(model, created):
    return outputs.newly_invalid(model, created) or outputs.same_outputs(model, created, raises=True)["why"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the command, with the plugins next to it")
    p.add_argument("--work-dir", type=Path, required=True)
    p.add_argument("--plugin-dir", type=Path, required=True, help="the directory of examples/npu-partition, built")
    p.add_argument("--models", type=Path, help="a directory of models; without it, the example model")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)
    models = sorted((args.models or ROOT / "examples" / "models").glob("*.onnx"))
    args.partitions = failures = 0
    for model in models:
        words = ("fused", "parted", "deployed")
        fused, parted, ready = (args.work_dir / f"{model.stem}.{word}.onnx" for word in words)
        passdock(args, "run", model, "-o", fused, *FUSE)
        passdock(args, "run", model, "-o", parted, *PARTITION)
        checks = {
            "fused": check(model, fused),
            "given back": inlined_again(args, model, fused),
            "partitioned": check(model, parted),
            "deployed": deployed(args, model, ready),
        }
        for name, why in checks.items():
            print(f"{'FAILED' if why else 'ok':6} {model.stem:18} {name:12} {why or ''}", flush=True)
            failures += bool(why)
    print(f"{len(models)} models, {args.partitions} partitions for the accelerator")
    # The accelerator only takes tensors of known sizes, and the example model has none.
    is_enough = models and (args.partitions or not args.models)
    return 0 if is_enough and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
