#!/usr/bin/env python3
"""Checks that ONNX Runtime runs results with as many fused and quantized kernels as the originals.

    python fusions.py --passdock PASSDOCK --work-dir DIRECTORY [--models DIRECTORY]

Transformer blocks, QDQ models and the models of a directory go through the pipeline `default`. ONNX Runtime
optimizes each model and its result. A fused kernel may only disappear if another kernel of its kind replaces it, or if
the number of ops that it replaces doesn't increase. A kernel that includes an additional op may also disappear if the
graph has one node fewer elsewhere. The result must not have more nodes than the original. Its nodes keep the metadata of
the original's nodes, and a second run changes nothing.
"""

import argparse
import collections
import itertools
import subprocess
import sys
from pathlib import Path

import onnx
import onnxruntime

import fusible
import checks

LEVELS = ("EXTENDED", "ALL")
# Each kind: kernels that may replace each other, and the ops that remain without any of them.
KINDS = [
    ("Gelu BiasGelu FastGelu QuickGelu Swish", "Erf Tanh Sigmoid"),
    ("LayerNormalization SkipLayerNormalization SimplifiedLayerNormalization SkipSimplifiedLayerNormalization "
     "RMSNormalization EmbedLayerNormalization", "ReduceMean ReduceSum Pow Sqrt Div Reciprocal"),
    ("Attention MultiHeadAttention GroupQueryAttention", "Softmax"),
    ("QGemm QLinearMatMul MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul MatMulNBits", "Gemm MatMul FusedMatMul"),
    ("QLinearConv ConvInteger", "Conv FusedConv"),
]
EXPECTED = [
    "Attention", "BiasGelu", "FastGelu", "QuickGelu", "SkipLayerNormalization", "SimplifiedLayerNormalization", "FusedMatMul",
    "QGemm", "QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearGlobalAveragePool", "QLinearConcat", "QLinearWhere",
]
# Like `KINDS`, for kernels that include an additional op. Losing one is fine if the graph has one node fewer for it.
WIDER = [
    ("BiasGelu", "Add"),
    ("SkipLayerNormalization SkipSimplifiedLayerNormalization", "Add"),
    ("FusedMatMul", "Transpose Mul Div"),
    ("FusedGemm FusedConv", "Relu LeakyRelu Sigmoid Tanh HardSigmoid Clip"),
    ("BiasSoftmax", "Add"),
]


def optimized(path, level, work):
    """Counts the nodes of ONNX Runtime's optimized graph by operator, including subgraphs; None if it fails."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    options.optimized_model_filepath = str(work / "optimized.onnx")
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime has many error classes; its optimizer fails on some models
        return None
    found = collections.Counter()
    graphs = [onnx.load(work / "optimized.onnx", load_external_data=False).graph]
    while graphs:
        for node in graphs.pop().node:
            found[node.op_type] += 1
            for attribute in node.attribute:
                graphs += [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]
    return found


def lost(before, after):
    """Describes a kernel that the second graph lost, or None."""
    if before is None or after is None:
        return None if before is None else "ONNX Runtime optimizes the original and not this"
    alone = {name: name.removeprefix("QLinear") for name in sorted(before) if name.startswith("QLinear")}
    saved = before.total() - after.total()
    kinds = [(*kind, 0) for kind in [*KINDS, *alone.items()]] + [(*kind, max(saved, 0)) for kind in WIDER]
    for kernels, parts, spare in kinds:
        fused, ops = ([sum(graph[name] for name in names.split()) for graph in (before, after)] for names in (kernels, parts))
        if fused[0] - fused[1] > spare and ops[1] > ops[0]:
            return f"{fused[1]} instead of {fused[0]} of {kernels}, and {ops[1]} instead of {ops[0]} of {parts}"
    if saved < 0:
        return f"{after.total()} nodes instead of {before.total()}: more of {dict(after - before)}, fewer of {dict(before - after)}"
    return None


def changed(first, second):
    """Describes the changes of a second run."""
    first, second = (collections.Counter(node.op_type for node in checks.nodes_of(model)) for model in (first, second))
    return f"fewer of {dict(first - second)}, more of {dict(second - first)}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    p.add_argument("--models", type=Path, help="a directory of real models")
    p.add_argument("--only", default="", help="only models whose names contain this")
    args = p.parse_args()
    given, created, again = (args.work_dir / name for name in ("given", "made", "again"))
    for directory in (given, created, again):
        directory.mkdir(parents=True, exist_ok=True)
        for old in directory.iterdir():
            old.unlink()
    real = ((path.stem, onnx.load(path)) for path in (sorted(args.models.glob("*.onnx")) if args.models else []))
    chosen = {}
    for name, model in itertools.chain(fusible.all_models(), real):
        if args.only in name:
            chosen[name] = given / f"{name}.onnx"
            onnx.save(checks.with_sources(model), chosen[name])
    for models, out in ((chosen.values(), created), ([created / path.name for path in chosen.values()], again)):
        command = [args.passdock, "batch", *models, "-o", out, "--no-resume", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(done.stderr.strip()[-2000:])
    wrong, kernels = 0, collections.Counter()
    for name, path in chosen.items():
        first, second = (directory / path.name for directory in (created, again))
        given_model, made_model = onnx.load(path), onnx.load(first)
        found = {"metadata": checks.sources_kept(given_model, made_model)}
        # Before version 4 an unused initializer is kept, and the second run may use it.
        if given_model.ir_version >= 4 and first.read_bytes() != second.read_bytes():
            found["second run"] = changed(made_model, onnx.load(second))
        for what, why in found.items():
            if why:
                wrong += 1
                print(f"{name}, {what}: {why}")
        for level in LEVELS:
            before, after = (optimized(each, level, args.work_dir) for each in (path, created / f"{name}.onnx"))
            kernels += before or {}
            why = lost(before, after)
            if why:
                wrong += 1
                print(f"{name}, {level.lower()}: {why}")
    print(f"{len(chosen)} models, {wrong} wrong")
    # The models must cover these kernels of ONNX Runtime.
    missing = [names for names in EXPECTED if not any(kernels[name] for name in names.split())]
    if missing and not args.only:
        print(f"ONNX Runtime makes none of {missing}")
    return 1 if wrong or missing and not args.only else 0


if __name__ == "__main__":
    sys.exit(main())
