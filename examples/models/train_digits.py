#!/usr/bin/env python3
"""Trains the example model and writes it as ONNX, with its held-out test set.

A small convolutional network learns scikit-learn's digits (1,797 pictures of
8x8 pixels, which that package contains). It is written in plain numpy, so that
no deep learning framework is needed. The graph has the redundancy of exported
models: shape arithmetic, constants that are computed instead of stored,
Identity ops in place of Dropout, a Relu after a Relu, and a dead branch.
Passes can thus be demonstrated, and the accuracy shows whether they are
correct.

Writes digits.onnx, digits_inputs.npy and digits_labels.npy to its directory.
"""

import os
from pathlib import Path

# More threads would sum the same numbers in another order.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 2026
EPOCHS = 40
BATCH = 32
HELD_OUT = 360
BN_EPSILON = 1e-5
HERE = Path(__file__).resolve().parent


# --- layers: each forward function returns (result, data for backward) --------


def conv(x, w, b):
    """Computes a 3x3 convolution with one pixel of padding."""
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return np.einsum("ncijhw,ochw->noij", windows, w, optimize=True) + b[None, :, None, None], windows


def conv_backward(grad, windows, w):
    grad_windows = sliding_window_view(np.pad(grad, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    grad_x = np.einsum("noijhw,ochw->ncij", grad_windows, w[:, :, ::-1, ::-1], optimize=True)
    grad_w = np.einsum("ncijhw,noij->ochw", windows, grad, optimize=True)
    return grad_x, grad_w, grad.sum((0, 2, 3))


def batch_norm(x, scale, shift, running):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    running[0] += 0.1 * (mean - running[0])
    running[1] += 0.1 * (var - running[1])
    deviation = np.sqrt(var + BN_EPSILON)[None, :, None, None]
    normal = (x - mean[None, :, None, None]) / deviation
    return normal * scale[None, :, None, None] + shift[None, :, None, None], (normal, deviation)


def batch_norm_backward(grad, saved, scale):
    normal, deviation = saved
    grad_scale, grad_shift = (grad * normal).sum((0, 2, 3)), grad.sum((0, 2, 3))
    count = grad.size / grad.shape[1]
    inner = grad - (grad_shift[None, :, None, None] + normal * grad_scale[None, :, None, None]) / count
    return inner * scale[None, :, None, None] / deviation, grad_scale, grad_shift


def max_pool(x):
    blocks = x.reshape(x.shape[0], x.shape[1], x.shape[2] // 2, 2, x.shape[3] // 2, 2)
    best = blocks.max((3, 5))
    return best, blocks == best[:, :, :, None, :, None]


def max_pool_backward(grad, mask):
    spread = mask * grad[:, :, :, None, :, None]
    return spread.reshape(grad.shape[0], grad.shape[1], grad.shape[2] * 2, grad.shape[3] * 2)


# --- training ------------------------------------------------------------------


def initial_weights(rng):
    def he(*shape):
        return rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape).astype(np.float32)

    zeros, ones = (lambda n: np.zeros(n, np.float32)), (lambda n: np.ones(n, np.float32))
    return {
        "conv1.weight": he(8, 1, 3, 3), "conv1.bias": zeros(8),
        "bn1.weight": ones(8), "bn1.bias": zeros(8),
        "conv2.weight": he(16, 8, 3, 3), "conv2.bias": zeros(16),
        "fc.weight": he(10, 256), "fc.bias": zeros(10),
    }  # fmt: skip


def gradients(p, running, x, labels):
    """Returns the gradient of the loss for each weight, after a forward and a backward pass."""
    c1, c1_saved = conv(x / 16, p["conv1.weight"], p["conv1.bias"])
    n1, n1_saved = batch_norm(c1, p["bn1.weight"], p["bn1.bias"], running)
    p1, p1_saved = max_pool(np.maximum(n1, 0))
    c2, c2_saved = conv(p1, p["conv2.weight"], p["conv2.bias"])
    flat = np.maximum(c2, 0).reshape(len(x), -1)
    scores = flat @ p["fc.weight"].T + p["fc.bias"]

    odds = np.exp(scores - scores.max(1, keepdims=True))
    grad = odds / odds.sum(1, keepdims=True)
    grad[np.arange(len(x)), labels] -= 1
    grad /= len(x)
    g = {"fc.weight": grad.T @ flat, "fc.bias": grad.sum(0)}
    grad = (grad @ p["fc.weight"]).reshape(c2.shape) * (c2 > 0)
    grad, g["conv2.weight"], g["conv2.bias"] = conv_backward(grad, c2_saved, p["conv2.weight"])
    grad = max_pool_backward(grad, p1_saved) * (n1 > 0)
    grad, g["bn1.weight"], g["bn1.bias"] = batch_norm_backward(grad, n1_saved, p["bn1.weight"])
    _, g["conv1.weight"], g["conv1.bias"] = conv_backward(grad, c1_saved, p["conv1.weight"])
    return g


def train(images, labels, rng):
    """Trains with Adam, with a step size that decreases to zero."""
    p = initial_weights(rng)
    running = [np.zeros(8, np.float32), np.ones(8, np.float32)]
    first = {k: np.zeros_like(v) for k, v in p.items()}
    second = {k: np.zeros_like(v) for k, v in p.items()}
    steps, t = EPOCHS * (len(images) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            t += 1
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * t / steps))
            pick = order[start : start + BATCH]
            for k, g in gradients(p, running, images[pick], labels[pick]).items():
                first[k] += 0.1 * (g - first[k])
                second[k] += 0.01 * (g * g - second[k])
                step = (first[k] / (1 - 0.9**t)) / (np.sqrt(second[k] / (1 - 0.99**t)) + 1e-8)
                p[k] = (p[k] - rate * (step + 1e-4 * p[k])).astype(np.float32)
    p["bn1.running_mean"], p["bn1.running_var"] = (r.astype(np.float32) for r in running)
    return p


# --- export --------------------------------------------------------------------


def node(op, inputs, outputs, name, doc="", origin="", **attributes):
    created = helper.make_node(op, inputs, outputs, name=name, doc_string=doc, **attributes)
    if origin:
        helper.set_model_props(created, {"origin": origin})
    return created


def constant(value, output, name):
    return node("Constant", [], [output], name, value=numpy_helper.from_array(np.asarray(value), ""))


def export(p):
    """Returns the network as an exporter would write it: correct but redundant."""
    nodes = [
        # 1/16, computed at run time from two constants.
        constant(np.int64(16), "/Constant_output_0", "/Constant"),
        node("Cast", ["/Constant_output_0"], ["/Cast_output_0"], "/Cast", to=TensorProto.FLOAT),
        constant(np.float32(1), "/Constant_1_output_0", "/Constant_1"),
        node("Div", ["/Constant_1_output_0", "/Cast_output_0"], ["/Div_output_0"], "/Div"),
        node("Mul", ["image", "/Div_output_0"], ["/Mul_output_0"], "/Mul", doc="Pixels come as 0..16.", origin="forward: x = image / 16"),
        node("Conv", ["/Mul_output_0", "conv1.weight", "conv1.bias"], ["/conv1/Conv_output_0"], "/conv1/Conv", origin="conv1: Conv2d(1, 8, 3)", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1], group=1),
        node("BatchNormalization", ["/conv1/Conv_output_0", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"], ["/bn1/BatchNormalization_output_0"], "/bn1/BatchNormalization", origin="bn1: BatchNorm2d(8)", epsilon=BN_EPSILON, momentum=0.9),
        node("Relu", ["/bn1/BatchNormalization_output_0"], ["/relu/Relu_output_0"], "/relu/Relu"),
        # A second activation, from a wrapper around the first block.
        node("Relu", ["/relu/Relu_output_0"], ["/block1/Relu_output_0"], "/block1/Relu"),
        node("MaxPool", ["/block1/Relu_output_0"], ["/pool/MaxPool_output_0"], "/pool/MaxPool", origin="pool: MaxPool2d(2)", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=0),
        # Dropout has no effect outside of training.
        node("Identity", ["/pool/MaxPool_output_0"], ["/drop1/Identity_output_0"], "/drop1/Identity", origin="drop1: Dropout(0.25)"),
        node("Conv", ["/drop1/Identity_output_0", "conv2.weight", "conv2.bias"], ["/conv2/Conv_output_0"], "/conv2/Conv", origin="conv2: Conv2d(8, 16, 3)", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], dilations=[1, 1], group=1),
        node("Relu", ["/conv2/Conv_output_0"], ["/relu_1/Relu_output_0"], "/relu_1/Relu"),
        # x.reshape(x.shape[0], -1), decomposed.
        node("Shape", ["/relu_1/Relu_output_0"], ["/Shape_output_0"], "/Shape"),
        constant(np.int64(0), "/Constant_2_output_0", "/Constant_2"),
        node("Gather", ["/Shape_output_0", "/Constant_2_output_0"], ["/Gather_output_0"], "/Gather", axis=0),
        constant(np.array([0]), "/Constant_3_output_0", "/Constant_3"),
        node("Unsqueeze", ["/Gather_output_0", "/Constant_3_output_0"], ["/Unsqueeze_output_0"], "/Unsqueeze"),
        constant(np.array([-1]), "/Constant_4_output_0", "/Constant_4"),
        node("Concat", ["/Unsqueeze_output_0", "/Constant_4_output_0"], ["/Concat_output_0"], "/Concat", axis=0),
        node("Reshape", ["/relu_1/Relu_output_0", "/Concat_output_0"], ["/Reshape_output_0"], "/Reshape", origin="forward: x.reshape(x.shape[0], -1)"),
        node("Identity", ["/Reshape_output_0"], ["/drop2/Identity_output_0"], "/drop2/Identity", origin="drop2: Dropout(0.5)"),
        # The weight is stored like in training and transposed at run time.
        node("Transpose", ["fc.weight"], ["/fc/Transpose_output_0"], "/fc/Transpose", perm=[1, 0]),
        node("MatMul", ["/drop2/Identity_output_0", "/fc/Transpose_output_0"], ["/fc/MatMul_output_0"], "/fc/MatMul", origin="fc: Linear(256, 10)"),
        node("Add", ["/fc/MatMul_output_0", "fc.bias"], ["/fc/Add_output_0"], "/fc/Add"),
        # The head of an auxiliary loss, which is dead now.
        node("GlobalAveragePool", ["/relu_1/Relu_output_0"], ["/aux/GlobalAveragePool_output_0"], "/aux/GlobalAveragePool", origin="aux: training only"),
        node("Flatten", ["/aux/GlobalAveragePool_output_0"], ["/aux/Flatten_output_0"], "/aux/Flatten", axis=1),
        node("Softmax", ["/fc/Add_output_0"], ["/Softmax_output_0"], "/Softmax", doc="One probability for each digit.", axis=-1),
        node("Identity", ["/Softmax_output_0"], ["probabilities"], "/Identity"),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8], doc_string="Grey pictures, 0 to 16.")],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", 10])],
        initializer=[numpy_helper.from_array(v, k) for k, v in p.items()],
        doc_string="Recognises hand-written digits of 8x8 pixels.",
    )
    model = helper.make_model(
        graph,
        producer_name="train_digits",
        producer_version="1",
        ir_version=10,
        opset_imports=[helper.make_opsetid("", 17)],
        doc_string="The example model of passdock; see README.md beside it.",
    )
    helper.set_model_props(model, {"data": "scikit-learn digits", "seed": str(SEED)})
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    rng = np.random.default_rng(SEED)
    data = load_digits()
    images = data.images.astype(np.float32)[:, None]
    order = rng.permutation(len(images))
    train_on, held_out = order[:-HELD_OUT], order[-HELD_OUT:]
    p = train(images[train_on], data.target[train_on], rng)
    onnx.save(export(p), HERE / "digits.onnx")
    np.save(HERE / "digits_inputs.npy", images[held_out])
    np.save(HERE / "digits_labels.npy", data.target[held_out].astype(np.int64))
    print(f"trained on {len(train_on)} pictures, {len(held_out)} held out")


if __name__ == "__main__":
    main()
