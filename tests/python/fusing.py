#!/usr/bin/env python3
"""Checks the fusion of decomposed operators: results in ONNX Runtime must be the same.

    python fusing.py --passdock PASSDOCK --work-dir DIRECTORY

Small models, written in the ways of different exporters, go through
`relax.transform.FuseOperators`. After each the expected ops must be left, and
a second run must change nothing.
"""

import argparse
import collections
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper, parser

import outputs

PASS = "relax.transform.FuseOperators"
ARRAYS = {"float": np.float32, "float16": np.float16, "double": np.float64}
# Operators that are only created if options name them, or in more cases then. Mish is created from a Softplus.
NAMED = {
    "Attention", "LayerNormalization", "Mish", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
    "ReduceSumSquare", "Softmax", "Softplus", "Swish",
}
SHORT = {"float": "f32", "float16": "f16", "double": "f64"}

# Each case: the name, the opset, the element types, the remaining ops, the body. `T` is the element type. `x` is the input
# and `y` the output, both of the same shape. Other undefined names are constants. In cases whose names start with
# `named.`, the operators are only created if options name them.
ACTIVATIONS = [
    ("gelu.torchscript", 20, "float float16", "Gelu",
     "a = Div(x, root2) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)"),
    ("gelu.half_first", 20, "float float16", "Gelu",
     "h = Mul(half, x) a = Mul(x, root_half) b = Erf(a) c = Add(one, b) y = Mul(h, c)"),
    ("gelu.half_inside", 20, "float", "Gelu", "a = Mul(x, root_half) b = Erf(a) c = Add(b, one) d = Mul(c, half) y = Mul(x, d)"),
    ("gelu.distributed", 20, "float", "Gelu", "a = Mul(x, root_half) b = Erf(a) h = Mul(x, half) c = Mul(h, b) y = Add(h, c)"),
    ("gelu.of_a_product", 20, "float", "Mul Gelu",
     "z = Mul(x, three) a = Div(z, root2) b = Erf(a) c = Add(b, one) d = Mul(z, c) y = Div(d, two)"),
    ("gelu.tanh.pow", 20, "float float16 double", "Gelu",
     "p = Pow(x, three) q = Mul(p, cube) s = Add(x, q) u = Mul(s, factor) t = Tanh(u) v = Add(t, one) h = Mul(x, half) y = Mul(h, v)"),
    ("gelu.tanh.muls", 20, "float", "Gelu",
     "p = Mul(x, x) p3 = Mul(p, x) q = Mul(cube, p3) s = Add(x, q) u = Mul(factor, s) t = Tanh(u) v = Add(one, t) w = Mul(half, v) y = Mul(x, w)"),
    ("gelu.tanh.fast", 20, "float", "Gelu",
     "p = Mul(x, cube) q = Mul(p, x) s = Add(q, one) f = Mul(x, factor) u = Mul(f, s) t = Tanh(u) v = Add(t, one) w = Mul(v, half) y = Mul(w, x)"),
    ("gelu.old", 19, "float", "Div Erf Add Mul Mul",
     "a = Div(x, root2) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)"),
    ("gelu.other_number", 20, "float", "Mul Erf Add Mul Mul",
     "a = Mul(x, half) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half)"),
    ("named.swish", 24, "float float16 double", "Swish", "s = Sigmoid(x) y = Mul(x, s)"),
    ("named.swish.quick_gelu", 24, "float float16 double", "Swish", "a = Mul(x, quick) s = Sigmoid(a) y = Mul(s, x)"),
    ("mish", 18, "float float16", "Mish", "p = Softplus(x) t = Tanh(p) y = Mul(x, t)"),
    ("named.mish.all", 18, "float", "Mish", "e = Exp(x) o = Add(e, one) p = Log(o) t = Tanh(p) y = Mul(t, x)"),
    ("named.softplus", 13, "float", "Softplus", "e = Exp(x) o = Add(e, one) y = Log(o)"),
    ("named.softplus.22", 22, "float float16", "Softplus", "e = Exp(x) o = Add(one, e) y = Log(o)"),
    ("named.softmax.elsewhere", 13, "float double", "Softmax", "e = Exp(x) s = ReduceSum(e, middle) y = Div(e, s)"),
    ("hard_swish", 14, "float float16", "HardSwish", "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)"),
    ("hard_swish.divided", 14, "float float16", "HardSwish",
     "a = Add(x, three) c = Clip(a, zero, six) d = Div(c, six) y = Mul(x, d)"),
    ("hard_swish.sixth", 14, "float", "HardSwish", "a = Add(x, three) c = Clip(a, zero, six) d = Mul(c, sixth) y = Mul(d, x)"),
    ("hard_swish.sigmoid", 14, "float float16", "HardSwish",
     "s = HardSigmoid<alpha=0.1666666716337204, beta=0.5>(x) y = Mul(x, s)"),
    ("hard_swish.old", 13, "float", "Add Clip Mul Div", "a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)"),
    ("hard_sigmoid", 13, "float float16", "HardSigmoid", "a = Add(x, three) c = Clip(a, zero, six) y = Div(c, six)"),
    ("softmax", 13, "float float16 double", "Softmax", "e = Exp(x) s = ReduceSum<keepdims=1>(e, last) y = Div(e, s)"),
    ("softmax.shifted", 18, "float float16 double", "Softmax",
     "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) y = Div(e, s)"),
    ("softmax.attribute", 13, "float", "Softmax",
     "m = ReduceMax<axes=[2]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) y = Div(e, s)"),
    ("softmax.elsewhere", 13, "float", "Exp ReduceSum Div", "e = Exp(x) s = ReduceSum(e, middle) y = Div(e, s)"),
    ("softmax.of_other_sum", 13, "float", "Exp ReduceSum Div", "e = Exp(x) s = ReduceSum(x, last) y = Div(e, s)"),
    ("log_softmax", 11, "float float16 double", "LogSoftmax", "s = Softmax<axis=1>(x) y = Log(s)"),
    ("log_softmax.all", 18, "float", "LogSoftmax",
     "m = ReduceMax(x, last) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Sub(d, l)"),
    ("attention", 23, "float float16", "Attention",
     "t = Transpose<perm=[0, 2, 1]>(x) a = MatMul(x, t) b = Mul(a, quick) p = Softmax(b) y = MatMul(p, x)"),
    ("attention.scaled_before", 23, "float", "Attention",
     "q = Div(x, two) t = Transpose<perm=[0, 2, 1]>(x) k = Mul(t, half) a = MatMul(q, k) p = Softmax(a) y = MatMul(p, x)"),
    ("attention.heads", 23, "float float16", "Unsqueeze Attention Squeeze",
     "u = Unsqueeze(x, middle) t = Transpose<perm=[0, 1, 3, 2]>(u) a = MatMul(u, t) b = Div(a, two) p = Softmax(b) z = MatMul(p, u) y = Squeeze(z, middle)"),
    ("named.attention.mask", 23, "float float16", "Unsqueeze Attention Squeeze",
     "u = Unsqueeze(x, middle) t = Transpose<perm=[0, 1, 3, 2]>(u) a = MatMul(u, t) b = Add(mask, a) p = Softmax(b) z = MatMul(p, u) y = Squeeze(z, middle)"),
    ("attention.mask", 23, "float", "Unsqueeze Transpose MatMul Add Softmax MatMul Squeeze",
     "u = Unsqueeze(x, middle) t = Transpose<perm=[0, 1, 3, 2]>(u) a = MatMul(u, t) b = Add(a, mask) p = Softmax(b) z = MatMul(p, u) y = Squeeze(z, middle)"),
    ("attention.of_weights", 23, "float", "MatMul Softmax MatMul", "a = MatMul(x, square) p = Softmax(a) y = MatMul(p, square)"),
    ("hard_sigmoid.line", 13, "float float16", "HardSigmoid", "m = Mul(x, fifth) a = Add(m, half) y = Clip(a, zero, one)"),
]
MEANS = {
    "attribute": ("ReduceMean<axes=[-1], keepdims=1>({})", 17),
    "operand": ("ReduceMean<keepdims=1>({}, last)", 18),
    "from_front": ("ReduceMean<axes=[2]>({})", 17),
}
DEVIATIONS = {
    "div": "w = Sqrt(e) n = Div(d, w)",
    "reciprocal": "w = Sqrt(e) i = Reciprocal(w) n = Mul(d, i)",
    "one_over": "w = Sqrt(e) i = Div(one, w) n = Mul(i, d)",
    "pow": "w = Pow(e, half) n = Div(d, w)",
    "minus_half": "i = Pow(e, minus_half) n = Mul(d, i)",
}
TAILS = {
    "plain": "y = Identity(n)",
    "scale": "y = Mul(n, scale)",
    "both": "s = Mul(scale, n) y = Add(s, bias)",
    "bias": "y = Add(n, bias)",
    "wide": "s = Mul(n, scale_wide) y = Add(bias_wide, s)",
}
CONSTANTS = {
    "half": 0.5, "minus_half": -0.5, "one": 1, "two": 2, "three": 3, "six": 6, "zero": 0, "sixth": 1 / 6, "fifth": 0.2,
    "root2": 2**0.5, "root_half": 0.5**0.5, "cube": 0.044715, "factor": 0.7978845608028654, "quick": 1.702,
    "epsilon": 1e-5, "infinity": np.inf,
}


# Like the above, but the result is added to the input.
REDUCTIONS = [
    ("sum_square", "ReduceSumSquare", "q = Mul(x, x) r = {sum}"),
    ("sum_square.pow", "ReduceSumSquare", "q = Pow(x, two) r = {sum}"),
    ("l2", "ReduceL2", "q = Mul(x, x) s = {sum} r = Sqrt(s)"),
    ("l2.pow", "ReduceL2", "q = Pow(x, two) s = {sum} r = Sqrt(s)"),
    ("l1", "ReduceL1", "q = Abs(x) r = {sum}"),
    ("log_sum_exp", "ReduceLogSumExp", "q = Exp(x) s = {sum} r = Log(s)"),
    ("log_sum", "ReduceLogSum", "q = Sigmoid(x) s = {sum} r = Log(s)"),
]
# The versions take their axes in different ways.
SUMS = [
    (11, "ReduceSum<axes=[2]>(q)"),
    (13, "ReduceSum(q, last)"),
    (18, "ReduceSum<keepdims=1>(q, middle)"),
    (18, "ReduceSum(q)"),
]


def reductions():
    for name, op, body in REDUCTIONS:
        for opset, total in SUMS:
            left = f"{op} Add" + (" Sigmoid" if "Sigmoid" in body else "")
            yield f"named.{name}", opset, "float float16 double", left, f"{body.format(sum=total)} y = Add(x, r)"


def normalizations():
    for (mean, (text, opset)), square, (deviation, ending), (tail, end) in itertools.product(
        MEANS.items(), ("Mul(d, d)", "Pow(d, two)"), DEVIATIONS.items(), TAILS.items()
    ):
        variance = f"v = {text.format('q')} e = Add(v, epsilon)"
        body = f"m = {text.format('x')} d = Sub(x, m) q = {square} {variance} {ending} {end}"
        left = "LayerNormalization" + (" Identity" if tail == "plain" else "")
        types = "float float16" if deviation == "div" else "float"
        yield f"layer_norm.{mean}.{deviation}.{tail}", opset, types, left, body
        yield f"named.layer_norm.{mean}.{deviation}.{tail}", opset, "double", left, body
        plain = ending.replace("(d", "(x").replace(", d)", ", x)")
        rms = f"q = {square.replace('d', 'x')} {variance} {plain} {end}"
        if mean == "operand" and tail in ("plain", "scale"):
            yield f"rms_norm.{deviation}.{tail}", 23, types, left.replace("Layer", "RMS"), rms
        elif mean == "operand":
            yield f"rms_norm.{deviation}.{tail}", 23, types, "RMSNormalization" + " Add", rms


def deviation(x, axes, epsilon="epsilon"):
    squares = f"q = Mul(d, d) v = ReduceMean<axes={axes}>(q) e = Add(v, {epsilon}) w = Sqrt(e)"
    return f"m = ReduceMean<axes={axes}>({x}) d = Sub({x}, m) {squares}"


def more_normalizations():
    name, layer = "layer_norm", "LayerNormalization"
    factors = deviation("x", [-1]) + " i = Reciprocal(w)"
    shifted = "k = Mul(i, scale) a = Mul(x, k) b = Mul(m, k)"
    yield f"{name}.keras", 17, "float", layer, f"{factors} {shifted} c = Sub(bias, b) y = Add(a, c)"
    yield f"{name}.keras.no_bias", 17, "float", layer, f"{factors} {shifted} y = Sub(a, b)"
    unscaled = "a = Mul(x, i) b = Mul(m, i) c = Sub(bias, b) y = Add(c, a)"
    yield f"{name}.keras.no_scale", 17, "float", layer, f"{factors} {unscaled}"
    casts = f"f = Cast<to=1>(x) {deviation('f', [-1], 'epsilon32')} n = Div(d, w)"
    yield f"{name}.casts", 17, "float16", layer, f"{casts} h = Cast<to=10>(n) s = Mul(h, scale) y = Add(s, bias)"
    yield f"{name}.all_cast", 17, "float16", layer, f"{casts} s = Mul(n, scale32) b = Add(s, bias32) y = Cast<to=10>(b)"
    casts = "f = Cast<to=1>(x) q = Mul(f, f) v = ReduceMean(q, last) e = Add(v, epsilon32) w = Sqrt(e)"
    ending = "i = Reciprocal(w) n = Mul(f, i) h = Cast<to=10>(n) y = Mul(scale, h)"
    yield "rms_norm.casts", 23, "float16", "RMSNormalization", f"{casts} {ending}"
    yield f"{name}.two_axes", 17, "float", layer, f"{deviation('x', [1, 2])} n = Div(d, w) y = Mul(n, plane)"
    left = "ReduceMean Sub Mul ReduceMean Add Sqrt Div Mul"
    yield f"{name}.other_axis", 17, "float", left, f"{deviation('x', [1])} n = Div(d, w) y = Mul(n, scale)"


def all_cases():
    yield from ACTIVATIONS
    yield from reductions()
    yield from normalizations()
    yield from more_normalizations()


def constants(dtype):
    random = np.random.default_rng(3)
    array = ARRAYS[dtype]
    created = {name: np.asarray(number, array) for name, number in CONSTANTS.items()}
    scale, bias = (np.float16(random.standard_normal(8)) for _ in range(2))
    created |= {"scale": scale.astype(array), "bias": bias.astype(array)}
    created |= {"scale_wide": created["scale"][None, None], "bias_wide": created["bias"][None, None]}
    created |= {"scale32": scale.astype(np.float32), "bias32": bias.astype(np.float32), "epsilon32": np.float32(1e-5)}
    created |= {"plane": random.standard_normal((4, 8)).astype(array), "last": np.array([-1])}
    created |= {"middle": np.array([1]), "square": random.standard_normal((8, 8)).astype(array)}
    created["mask"] = np.triu(np.full((4, 4), -1e4), 1).astype(array)
    return created


def model(opset, dtype, body, shape=("n", "4", "8")):
    """Returns the body as a model, with the constants that it names."""
    signature = f"({dtype}[{', '.join(shape)}] x) => ({dtype}[{', '.join(shape)}] y)"
    body = body.replace(") ", ")\n")
    created = parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {signature} {{ {body} }}')
    named = {name for node in created.graph.node for name in node.input}
    for name, array in constants(dtype).items():
        if name in named:
            created.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    created.ir_version = 8 if opset < 20 else 10
    onnx.checker.check_model(created, full_check=True)
    return created


def check(run, given, left, named, work):
    before, after, again = (work / f"{name}.onnx" for name in ("before", "after", "again"))
    onnx.save(given, before)
    run(before, after, named)
    run(after, again, named)
    if after.read_bytes() != again.read_bytes():
        return "a second run changes more"
    found = collections.Counter(node.op_type for node in onnx.load(after).graph.node)
    if found != collections.Counter(left.split()):
        return f"these ops are left: {dict(found)}"
    return outputs.same_outputs(before, after)["why"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--passdock", type=Path, required=True, help="the executable")
    p.add_argument("--plugin-dir", type=Path, action="append", default=[], help="a directory of plugins")
    p.add_argument("--work-dir", type=Path, required=True, help="the working directory")
    p.add_argument("--only", default="", help="only cases whose names start with this")
    args = p.parse_args()
    args.work_dir.mkdir(parents=True, exist_ok=True)

    def run(model, out, named):
        command = [args.passdock, "run", "--passes", PASS, model, "-o", out]
        if named:
            ops = ", ".join(f'"onnx.{op}"' for op in sorted(named))
            command += ["--config", f"relax.FuseOperators.ops=[{ops}]"]
        command += [word for directory in args.plugin_dir for word in ("--plugin-dir", directory)]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-2000:])

    wrong = count = 0
    for name, opset, types, left, body in all_cases():
        for dtype in types.split():
            if not name.startswith(args.only):
                continue
            count += 1
            named = NAMED & {*left.split(), "Softplus"} if name.startswith("named.") else ()
            why = check(run, model(opset, dtype, body), left, named, args.work_dir)
            if why:
                wrong += 1
                print(f"{name}.{SHORT[dtype]}: {why}")
    print(f"{count} models, {wrong} wrong")
    return 1 if wrong or not args.only and count < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
