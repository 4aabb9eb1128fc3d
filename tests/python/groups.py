#!/usr/bin/env python3
"""Models with their ops in groups: fused, partitioned, and given back.

Each model goes through `FuseOps`, and through `AnnotateTarget`, `MergeRegions` and `PartitionGraph`: onnx's checker
accepts what it accepted, and ONNX Runtime, optimising nothing, computes the same. What was fused, written and
read goes through `DefuseOps`: its text is the model's again, but for the `ir_version`, what
`extra` says of the order of records, and where constants stand. With `--models` the directory of real models.

And each goes through `deploy` with its convolutions in another layout, and with `examples/npu-partition`, which writes its
partitions to files: as many as the model calls, each a model that onnx's checker accepts. The accelerator takes tensors of
known sizes only, so of some models nothing.
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
        raise RuntimeError(f"passdock {words[0]} ended with {done.returncode}: {done.stderr.strip()[-1500:]}")


def lines(path):
    """The lines of a text, without what may differ; constants apart, in the order of their names."""
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


def given_back(args, model, fused):
    """What of a model isn't as it was."""
    before, after = args.work_dir / f"{model.stem}.ir", args.work_dir / f"{model.stem}.back.ir"
    passdock(args, "convert", model, before)
    passdock(args, "run", fused, "-o", after, "--passes", "DefuseOps")
    old, new = lines(before), lines(after)
    if old == new:
        return None
    differing = [f"{a}\n  {b}" for a, b in zip(old, new) if a != b]
    return f"{len(old)} and {len(new)} lines; the first that differ:\n  " + "\n  ".join(differing[:2])[:600]


def deployed(args, model, made):
    """What is wrong with a model made ready for the accelerator of `examples/npu-partition`."""
    parts, text = args.work_dir / f"{model.stem}.parts", made.with_suffix(".ir")
    shutil.rmtree(parts, ignore_errors=True)
    settings = [
        'relax.AnnotateTarget.target="npu"',
        'relax.ConvertLayout.desired_layouts={"onnx.Conv"=["NHWC","default"]}',
        f"npu.WritePartitions.dir={json.dumps(str(parts))}",
    ]
    settings = [word for setting in settings for word in ("--config", setting)]
    passdock(args, "run", "deploy", model, "-o", made, "-O3", "--plugin-dir", args.plugin_dir, *settings)
    passdock(args, "convert", made, text)
    called = set(re.findall(r'global_symbol = "(\w+)"', text.read_text()))
    written = {file.stem: file for file in parts.glob("*.onnx")}
    if called != set(written):
        return f"{len(called)} partitions, and {len(written)} files"
    for file in written.values():
        onnx.checker.check_model(file, full_check=True)
    args.partitions += len(written)
    return judged(model, made)


def judged(model, made):
    return outputs.newly_invalid(model, made) or outputs.same_outputs(model, made, raises=True)["why"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the command, the plugins beside it")
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
            "fused": judged(model, fused),
            "given back": given_back(args, model, fused),
            "partitioned": judged(model, parted),
            "deployed": deployed(args, model, ready),
        }
        for name, why in checks.items():
            print(f"{'FAILED' if why else 'ok':6} {model.stem:18} {name:12} {why or ''}", flush=True)
            failures += bool(why)
    print(f"{len(models)} models, {args.partitions} partitions for the accelerator")
    # It takes only tensors of known sizes, which the example model hasn't.
    is_enough = models and (args.partitions or not args.models)
    return 0 if is_enough and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
