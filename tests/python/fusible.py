"""Writes models that ONNX Runtime runs with fused and quantized kernels: transformer blocks and QDQ models, like exporters'.

    fusible.py DIRECTORY

This writes the models that are large enough for measurements. `all_models()` yields a name and a model for each small one.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT2, TANH_FACTOR, TANH_CUBE = 2**0.5, (2 / np.pi) ** 0.5, 0.044715
SCALE, WEIGHT_SCALE = 0.05, 0.02


class Builder:
    """A graph under construction. Each method adds ops and returns the name of their result."""

    def __init__(self, opset, integer=np.uint8, per_channel=False, width=16, heads=2, trained=True):
        self.opset, self.integer, self.per_channel = opset, integer, per_channel
        self.width, self.heads, self.trained = width, heads, trained
        self.random = np.random.default_rng(5)
        self.nodes, self.constants, self.inputs = [], {}, []
        # The scales of dequantized values.
        self.scales = {}

    def op(self, op_type, *operands, count=1, **attributes):
        operands = [self.constant(each) if isinstance(each, np.ndarray) else each for each in operands]
        created = [f"v{len(self.nodes)}_{at}" for at in range(count)]
        self.nodes.append(helper.make_node(op_type, operands, created, f"n{len(self.nodes)}", **attributes))
        return created[0] if count == 1 else created

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def number(self, value):
        return self.constant(np.float32(value))

    def floats(self, *shape):
        return self.constant(self.random.standard_normal(shape).astype(np.float32) / max(shape[0], 1) ** 0.5)

    def given(self, *shape, dtype=TensorProto.FLOAT):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def model(self, *results):
        graph = helper.make_graph(
            self.nodes, "g", self.inputs,
            [helper.make_empty_tensor_value_info(name) for name in results],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        created = helper.make_model(graph, opset_imports=opsets, ir_version=8 if self.opset < 19 else 10)
        known = {value.name: value for value in onnx.shape_inference.infer_shapes(created).graph.output}
        for value in graph.output:
            value.CopyFrom(known[value.name])
        created = helper.make_model(graph, opset_imports=opsets, ir_version=created.ir_version)
        onnx.checker.check_model(created)
        return created

    # --- of transformers ---

    def linear(self, x, width, out, bias=True):
        y = self.op("MatMul", x, self.floats(width, out))
        if not bias:
            return y
        # Older exporters put the bias second.
        b = self.floats(out)
        return self.op("Add", b, y) if self.opset >= 13 else self.op("Add", y, b)

    def mean(self, x, axes=(-1,)):
        if self.opset < 18:
            return self.op("ReduceMean", x, axes=axes)
        return self.op("ReduceMean", x, np.array(axes))

    def of_norm(self, start):
        """Returns a scale or a bias, which starts as all ones or all zeros."""
        return self.floats(self.width) if self.trained else self.constant(np.full(self.width, start, np.float32))

    def layer_norm(self, x):
        d = self.op("Sub", x, self.mean(x))
        variance = self.mean(self.op("Pow", d, self.number(2)))
        n = self.op("Div", d, self.op("Sqrt", self.op("Add", variance, self.number(1e-5))))
        return self.op("Add", self.op("Mul", n, self.of_norm(1)), self.of_norm(0))

    def rms_norm(self, x):
        variance = self.mean(self.op("Pow", x, self.number(2)))
        root = self.op("Sqrt", self.op("Add", variance, self.number(1e-5)))
        return self.op("Mul", self.of_norm(1), self.op("Mul", x, self.op("Div", self.number(1), root)))

    def gelu(self, x):
        e = self.op("Erf", self.op("Div", x, self.number(ROOT2)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", e, self.number(1))), self.number(0.5))

    def tanh_gelu(self, x):
        cubes = self.op("Mul", self.op("Pow", x, self.number(3)), self.number(TANH_CUBE))
        t = self.op("Tanh", self.op("Mul", self.op("Add", x, cubes), self.number(TANH_FACTOR)))
        return self.op("Mul", self.op("Mul", x, self.number(0.5)), self.op("Add", t, self.number(1)))

    def quick_gelu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", self.op("Mul", x, self.number(1.702))))

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def split(self, x, perm):
        """Returns each head's part of a value."""
        y = self.op("Reshape", x, np.array([0, 0, self.heads, self.width // self.heads]))
        return self.op("Transpose", y, perm=perm)

    def mask(self, *shape):
        """Returns a mask to add to scores, which is large and negative where the mask has 0."""
        x = self.given(*shape, dtype=TensorProto.INT64)
        x = self.op("Cast", self.axes("Unsqueeze", [2])(self.axes("Unsqueeze", [1])(x)), to=TensorProto.FLOAT)
        return self.op("Mul", self.op("Sub", self.number(1), x), self.number(-10000))

    def attention(self, x, bias, mask=None):
        width = self.width
        q, k, v = (self.linear(x, width, width, bias) for _ in range(3))
        q, k, v = self.split(q, [0, 2, 1, 3]), self.split(k, [0, 2, 3, 1]), self.split(v, [0, 2, 1, 3])
        scores = self.op("Div", self.op("MatMul", q, k), self.number((width / self.heads) ** 0.5))
        scores = self.op("Add", scores, mask) if mask else scores
        y = self.op("MatMul", self.op("Softmax", scores, axis=3), v)
        y = self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), np.array([0, 0, width]))
        return self.linear(y, width, width, bias)

    # --- of QDQ models ---

    def zero(self):
        return self.constant(self.integer(0 if self.integer == np.int8 else 128))

    def quantized(self, x, scale=None, zero=None):
        """Adds a QuantizeLinear and a DequantizeLinear with one scale."""
        scale = scale or self.number(SCALE * self.random.uniform(0.5, 2))
        zero = zero or self.zero()
        y = self.op("DequantizeLinear", self.op("QuantizeLinear", x, scale, zero), scale, zero)
        self.scales[y] = self.constants[scale]
        return y

    def dequantized(self, array, scale, axis=None):
        """Adds a DequantizeLinear of a constant, with one scale or one for each channel."""
        scale = np.float32(scale)
        more = {}
        if self.per_channel and axis is not None:
            scale, more = np.full(array.shape[axis], scale), {"axis": axis}
        return self.op("DequantizeLinear", array, np.asarray(scale), np.zeros(scale.shape, array.dtype), **more)

    def weights(self, axis, *shape):
        return self.dequantized(self.random.integers(-100, 100, shape).astype(np.int8), WEIGHT_SCALE, axis)

    def bias(self, x, count):
        """Adds the bias of an op with quantized weights. Its scale is the product of the input's and the weights'."""
        return self.dequantized(self.random.integers(-99, 99, count, np.int32), WEIGHT_SCALE * self.scales[x], 0)

    def operand(self, *shape):
        """Returns a constant with the distribution of activations."""
        array = self.random.integers(-100, 100, shape)
        array = (array if self.integer == np.int8 else array + 128).astype(self.integer)
        return self.op("DequantizeLinear", array, np.array(SCALE, np.float32), self.zero())

    def conv(self, x):
        return self.op("Conv", x, self.weights(0, 4, 4, 3, 3), self.bias(x, 4), pads=[1, 1, 1, 1])

    def moved(self, op_type, *more, **attributes):
        return lambda x: self.op(op_type, x, *more, **attributes)

    def axes(self, op_type, axes):
        if self.opset < 13:
            return lambda x: self.op(op_type, x, axes=axes)
        return lambda x: self.op(op_type, x, np.array(axes))

    def padded(self, x, mode):
        return self.op("Pad", x, np.array([0, 0, 1, 1, 0, 0, 1, 1]), mode=mode)


NORMS, GELUS = ("layer_norm", "rms_norm"), ("gelu", "tanh_gelu", "quick_gelu", "silu")


def transformer(opset, norm, gelu, tokens=6, blocks=2, **sizes):
    """Returns a model with blocks of attention and two matrix products with weights. Blocks with RMSNorm have no biases."""
    b = Builder(opset, **sizes)
    normed, act, bias = getattr(b, norm), getattr(b, gelu), norm == "layer_norm"
    x = b.given("batch", tokens, b.width)
    y = normed(x)
    for _ in range(blocks):
        x = b.op("Add", x, b.attention(y, bias))
        y = act(b.linear(normed(x), b.width, 4 * b.width, bias))
        x = b.op("Add", x, b.linear(y, 4 * b.width, b.width, bias))
        y = normed(x)
    return b.model(y)


def masked_transformer(opset, batch, tokens, blocks=2):
    """Returns a model with blocks of attention with a mask, normalized after each sum."""
    b = Builder(opset)
    y, mask = b.layer_norm(b.given(batch, tokens, b.width)), b.mask(batch, tokens)
    for _ in range(blocks):
        y = b.layer_norm(b.op("Add", b.attention(y, True, mask), y))
        inner = b.linear(b.gelu(b.linear(y, b.width, 4 * b.width)), 4 * b.width, b.width)
        y = b.layer_norm(b.op("Add", inner, y))
    return b.model(y)


def transformers():
    for opset, norm, gelu in itertools.product((13, 17, 20, 23), NORMS, GELUS):
        yield f"transformer.{norm}.{gelu}.{opset}", transformer(opset, norm, gelu)
    for opset, norm in itertools.product((13, 17), NORMS):
        yield f"transformer.untrained.{norm}.{opset}", transformer(opset, norm, "gelu", trained=False)
    for opset, sizes in itertools.product((11, 13, 17), [("batch", 6), (2, "tokens"), ("batch", "tokens")]):
        yield f"transformer.masked.{'.'.join(map(str, sizes))}.{opset}", masked_transformer(opset, *sizes)


# Ops of shape [2, 4, 8, 8] between a DequantizeLinear and a QuantizeLinear. If they only move elements, both have the
# same scale.
UNITS = {
    "conv": lambda b: b.conv,
    "conv_relu": lambda b: lambda x: b.op("Relu", b.conv(x)),
    "conv_clip": lambda b: lambda x: b.op("Clip", b.conv(x), b.number(0), b.number(6)),
    "conv_of_floats": lambda b: lambda x: b.op("Conv", x, b.floats(4, 4, 1, 1), b.floats(4)),
    "pad_conv": lambda b: lambda x: b.op("Conv", b.padded(x, "constant"), b.weights(0, 4, 4, 3, 3)),
    "matmul": lambda b: lambda x: b.op("MatMul", x, b.weights(1, 8, 5)),
    "matmul_bias": lambda b: lambda x: b.op("Add", b.op("MatMul", x, b.weights(1, 8, 5)), b.floats(5)),
    "add": lambda b: lambda x: b.op("Add", x, b.quantized(b.given(2, 4, 8, 8))),
    "add_itself": lambda b: lambda x: b.op("Add", x, x),
    "add_constant": lambda b: lambda x: b.op("Add", x, b.operand(1)),
    "mul": lambda b: lambda x: b.op("Mul", x, b.quantized(b.given(2, 4, 8, 8))),
    "mul_constant": lambda b: lambda x: b.op("Mul", x, b.operand(4, 1, 1)),
    "silu": lambda b: lambda x: b.op("Mul", x, b.quantized(b.op("Sigmoid", x))),
    "sigmoid": lambda b: b.moved("Sigmoid"),
    "leaky_relu": lambda b: b.moved("LeakyRelu", alpha=0.1),
    "softmax": lambda b: b.moved("Softmax", axis=-1),
    "average_pool": lambda b: b.moved("AveragePool", kernel_shape=[2, 2], strides=[2, 2]),
    "padded_average_pool": lambda b: lambda x: b.op("AveragePool", b.padded(x, "constant"), kernel_shape=[2, 2]),
    "global_average_pool": lambda b: b.moved("GlobalAveragePool"),
    "spatial_mean": lambda b: lambda x: b.mean(x, [2, 3]),
    "relu": lambda b: b.moved("Relu"),
    "where": lambda b: lambda x: b.op(
        "Where", b.op("Less", b.given(2, 4, 8, 8), b.number(0)), x, b.quantized(b.given(2, 4, 8, 8))),
    "concat_of_two": lambda b: lambda x: b.op("Concat", x, b.quantized(b.given(2, 4, 8, 8)), axis=1),
}
MOVES = {
    "transpose": lambda b: b.moved("Transpose", perm=[0, 2, 3, 1]),
    "two_transposes": lambda b: lambda x: b.op(
        "Transpose", b.op("Transpose", x, perm=[0, 2, 3, 1]), perm=[0, 2, 1, 3]),
    "reshape": lambda b: b.moved("Reshape", np.array([2, 4, 64])),
    "flatten": lambda b: b.moved("Flatten"),
    "unsqueeze": lambda b: b.axes("Unsqueeze", [1]),
    "slice": lambda b: b.moved("Slice", np.array([1]), np.array([7]), np.array([2])),
    "gather": lambda b: b.moved("Gather", np.array([1, 0, 2]), axis=1),
    "expand": lambda b: lambda x: b.op("Expand", b.axes("Unsqueeze", [0])(x), np.array([3, 1, 1, 1, 1])),
    "tile": lambda b: b.moved("Tile", np.array([1, 2, 1, 1])),
    "max_pool": lambda b: b.moved("MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    "padded_max_pool": lambda b: lambda x: b.op("MaxPool", b.padded(b.op("Relu", x), "constant"), kernel_shape=[3, 3]),
    "resize": lambda b: b.moved("Resize", "", np.array([1, 1, 2, 2], np.float32), mode="nearest"),
    "reflected": lambda b: lambda x: b.padded(x, "reflect"),
    "concat_with_itself": lambda b: lambda x: b.op("Concat", x, x, axis=1),
    "depth_to_space": lambda b: b.moved("DepthToSpace", blocksize=2),
}


def squeezed(b, x):
    return b.axes("Squeeze", [2, 3])(x)


def gemm(b, x, width=4):
    return b.op("Gemm", x, b.weights(0, 5, width), b.bias(x, 5), transB=1)


def quantized_kinds():
    """Yields the quantization variants: the opset, the floating-point type, and whether weights have a scale per channel."""
    yield from itertools.product((13, 19), (np.uint8, np.int8), (False, True))


def units():
    """Yields each op alone, and each op that moves elements between two that compute."""
    for opset, integer, per_channel in quantized_kinds():
        kind = f"{opset}.{np.dtype(integer)}{'.per_channel' if per_channel else ''}"
        for name, unit in UNITS.items():
            b = Builder(opset, integer, per_channel)
            x = b.quantized(b.given(2, 4, 8, 8))
            y = b.quantized(unit(b)(x))
            yield f"qdq.{name}.{kind}", b.model(y)
        if per_channel:
            continue
        for name, move in MOVES.items():
            b = Builder(opset, integer)
            scale, zero = b.number(SCALE), b.zero()
            x = b.quantized(b.conv(b.quantized(b.given(2, 4, 8, 8))), scale, zero)
            y = b.quantized(move(b)(x), scale, zero)
            yield f"qdq.moved.{name}.{kind}", b.model(b.quantized(b.op("Sigmoid", y)))


def chains():
    """Yields units that share a scale, a DequantizeLinear or a QuantizeLinear, and units at the ends of a model."""
    for opset, integer, per_channel in quantized_kinds():
        kind = f"{opset}.{np.dtype(integer)}{'.per_channel' if per_channel else ''}"

        def start():
            b = Builder(opset, integer, per_channel)
            return b, b.number(SCALE), b.zero(), b.quantized(b.given(2, 4, 8, 8))

        for name, view in (("flatten", lambda b, x: b.op("Flatten", x)), ("squeeze", squeezed)):
            b, scale, zero, x = start()
            y = b.quantized(b.op("GlobalAveragePool", b.quantized(b.conv(x))), scale, zero)
            y = b.quantized(view(b, y), scale, zero)
            yield f"qdq.classifier.{name}.{kind}", b.model(b.quantized(gemm(b, y)))

        b, scale, zero, x = start()
        y = b.op("ArgMax", b.quantized(b.conv(x), scale, zero), axis=1)
        yield f"qdq.arg_max.{kind}", b.model(y)

        b, scale, zero, x = start()
        q = b.op("QuantizeLinear", b.conv(x), scale, zero)
        again = b.quantized(b.op("DequantizeLinear", q, scale, zero), scale, zero)
        yield f"qdq.quantized_twice.{kind}", b.model(b.quantized(b.op("Sigmoid", again)))

        b, scale, zero, x = start()
        q = b.op("QuantizeLinear", b.conv(x), scale, zero)
        again = b.op("QuantizeLinear", b.op("DequantizeLinear", q, scale, zero), scale, zero)
        yield f"qdq.quantized_twice_at_the_end.{kind}", b.model(again)

        b, scale, zero, x = start()
        y = b.quantized(b.conv(x), scale, zero)
        again = b.op("QuantizeLinear", y, scale, zero)
        yield f"qdq.quantized_for_another.{kind}", b.model(b.quantized(b.op("Sigmoid", y)), again)

        b, scale, zero, x = start()
        y = b.quantized(b.conv(x), scale, zero)
        moved = b.op("QuantizeLinear", b.op("Transpose", y, perm=[0, 2, 3, 1]), scale, zero)
        yield f"qdq.moved_at_the_end.{kind}", b.model(moved)

        b, scale, zero, x = start()
        results = [b.quantized(b.op(op, x)) for op in ("Sigmoid", "GlobalAveragePool", "LeakyRelu")]
        yield f"qdq.shared.{kind}", b.model(*results)

        b, scale, zero, x = start()
        s = b.op("Sigmoid", x)
        results = [b.quantized(b.op(op, b.quantized(s, scale, zero))) for op in ("GlobalAveragePool", "Softmax")]
        yield f"qdq.same_again.{kind}", b.model(*results)

        b, scale, zero, x = start()
        parts = b.op("Split", x, count=2, axis=1, **({"num_outputs": 2} if opset >= 18 else {}))
        parts = [b.op("Sigmoid", b.quantized(part, scale, zero)) for part in parts]
        yield f"qdq.split.{kind}", b.model(b.quantized(b.op("Concat", *map(b.quantized, parts), axis=1)))

        b, scale, zero, x = start()
        halves = [(np.array([at]), np.array([at + 2]), np.array([1])) for at in (0, 2)]
        halves = [b.quantized(b.op("Slice", x, *half), scale, zero) for half in halves]
        yield f"qdq.slices.{kind}", b.model(b.quantized(b.op("Add", *halves)))

        b, scale, zero, x = start()
        y = b.quantized(b.op("Transpose", x, perm=[0, 3, 1, 2]), scale, zero)
        y = b.quantized(b.op("Sigmoid", y))
        yield f"qdq.transposed_and_back.{kind}", b.model(b.quantized(b.op("Transpose", y, perm=[0, 2, 3, 1])))

        b, scale, zero, x = start()
        y = b.op("Sigmoid", b.op("Transpose", x, perm=[0, 3, 1, 2]))
        yield f"qdq.transposed_between.{kind}", b.model(b.op("Transpose", b.quantized(y), perm=[0, 2, 3, 1]))

        b, scale, zero, x = start()
        y = b.quantized(b.op("Concat", x, b.quantized(b.op("Sigmoid", x), scale, zero), axis=1), scale, zero)
        y = b.quantized(b.op("Transpose", y, perm=[0, 2, 3, 1]), scale, zero)
        yield f"qdq.concat_moved.{kind}", b.model(b.quantized(b.op("MatMul", y, b.weights(1, 8, 5))))

        b, scale, zero, x = start()
        results = [b.quantized(b.op("MatMul", x, b.weights(1, 8, 5))) for _ in range(3)]
        yield f"qdq.parallel_matmuls.{kind}", b.model(*results)

        b, scale, zero, x = start()
        y = b.quantized(b.op("Identity", b.conv(x)))
        yield f"qdq.identities.{kind}", b.model(b.quantized(b.op("Sigmoid", y)))


def effnet(opset=17, integer=np.int8, blocks=4):
    """Returns a small QDQ model with convolutions, SiLU, squeeze-and-excitation and a classifier."""
    b = Builder(opset, integer, per_channel=True)
    scale, zero = b.number(SCALE), b.zero()

    def conv(x, inputs, outputs, size=1, groups=1):
        weights = b.weights(0, outputs, inputs // groups, size, size)
        return b.quantized(b.op("Conv", x, weights, b.bias(x, outputs), pads=[size // 2] * 4, group=groups))

    def silu(x):
        return b.quantized(b.op("Mul", x, b.quantized(b.op("Sigmoid", x))))

    x = silu(conv(b.quantized(b.given(1, 16, 32, 32)), 16, 16, 3))
    for _ in range(blocks):
        y = silu(conv(silu(conv(x, 16, 64)), 64, 64, 3, 64))
        pooled = b.quantized(b.op("GlobalAveragePool", y))
        gate = b.quantized(b.op("Sigmoid", conv(silu(conv(pooled, 64, 8)), 8, 64)))
        x = b.quantized(b.op("Add", x, conv(b.quantized(b.op("Mul", y, gate)), 64, 16)))
    y = b.quantized(b.op("Flatten", b.quantized(b.op("GlobalAveragePool", x), scale, zero)), scale, zero)
    return b.model(b.quantized(gemm(b, y, 16)))


def all_models():
    yield from transformers()
    yield from units()
    yield from chains()
    yield "qdq.effnet", effnet()


def measured_models():
    for opset, norm, gelu in [(13, "layer_norm", "gelu"), (17, "layer_norm", "tanh_gelu"), (13, "rms_norm", "silu"),
                              (17, "rms_norm", "gelu"), (20, "layer_norm", "quick_gelu"), (23, "rms_norm", "tanh_gelu")]:
        yield f"block_{norm}_{gelu}_op{opset}", transformer(opset, norm, gelu, tokens=64, width=128, heads=4)
    yield "effnet_qdq_int8", effnet()
    yield "effnet_qdq_uint8", effnet(integer=np.uint8)


if __name__ == "__main__":
    for name, model in measured_models():
        onnx.save(model, Path(sys.argv[1]) / f"{name}.onnx")
