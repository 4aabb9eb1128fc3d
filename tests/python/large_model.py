"""Measures the CPU time and memory of the default pipeline for decoders with large weights.

    large_model.py --passdock PASSDOCK --work-dir DIR [--layers N] [--width N] [--ratio X]

Each variant is a decoder with external data. Memory is the peak outside of mapped files, minus that of a decoder with one narrow
layer. It may be a quarter of the data file, or all of it if weights are folded, and at most 500 MB. CPU time is printed next to
that of ONNX Runtime's basic offline optimization, which writes the model like passdock; `--ratio` is the maximum ratio.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HEAD = 64
# The maximum memory outside of mapped files, in bytes.
MOST = 500_000_000


class Decoder:
    """A decoder and its weights file."""

    def __init__(self, path, layers, width, dtype="float16", scale=None, quantized=False, tied=False):
        self.path, self.width, self.dtype, self.scale = path, width, np.dtype(dtype), scale
        self.quantized, self.names = quantized, 0
        self.kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes, self.weights = [], []
        self.random = np.random.default_rng(0)
        self.block = (self.random.standard_normal(1 << 22) * 0.02).astype(self.dtype)
        with open(f"{path}.data", "wb") as self.data:
            self.result = self.graph(layers, tied)
        self.save()

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def small(self, values, dtype=None):
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype or self.dtype), self.name()))
        return self.weights[-1].name

    def large(self, *shape):
        """Adds a weight. Each is at another offset of a random block."""
        block = self.block.view("int8") if self.quantized else self.block
        start = self.data.seek(-(-self.data.tell() // 4096) * 4096)
        left, at = int(np.prod(shape)), self.names * 7919 % len(block)
        while left:
            part = block[at : at + left]
            self.data.write(part.tobytes())
            left, at = left - len(part), 0
        kind = TensorProto.INT8 if self.quantized else self.kind
        created = TensorProto(name=self.name(), data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        where = {"location": f"{self.path.name}.data", "offset": start, "length": self.data.tell() - start}
        for key, value in where.items():
            created.external_data.add(key=key, value=str(value))
        self.weights.append(created)
        if self.quantized:
            return self.op("DequantizeLinear", created.name, self.small(0.02))
        return created.name

    def op(self, kind, *operands, **attributes):
        result = self.name()
        self.nodes.append(helper.make_node(kind, list(operands), [result], name=result, **attributes))
        return result

    def product(self, x, rows, columns):
        if self.scale is not None:
            x = self.op("Mul", x, self.small(np.linspace(self.scale, 2 * self.scale, rows)))
        return self.op("MatMul", x, self.large(rows, columns))

    def norm(self, x):
        wide = self.op("Cast", x, to=TensorProto.FLOAT)
        squares = self.op("Pow", wide, self.small(2, "float32"))
        mean = self.op("ReduceMean", squares, axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.small(1e-5, "float32")))
        narrow = self.op("Cast", self.op("Div", wide, root), to=self.kind)
        return self.op("Mul", narrow, self.small(np.linspace(0.5, 1.5, self.width)))

    def heads(self, x):
        shape = self.small([0, 0, self.width // HEAD, HEAD], "int64")
        return self.op("Transpose", self.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def layer(self, x):
        width, y = self.width, self.norm(x)
        q, k, v = (self.heads(self.product(y, width, width)) for _ in range(3))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Softmax", self.op("Div", scores, self.small(8)), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, self.small([0, 0, width], "int64"))
        x = self.op("Add", x, self.product(mixed, width, width))
        y = self.norm(x)
        gate = self.product(y, width, 4 * width)
        gate = self.op("Mul", gate, self.op("Sigmoid", gate))
        gate = self.op("Mul", gate, self.product(y, width, 4 * width))
        return self.op("Add", x, self.product(gate, 4 * width, width))

    def graph(self, layers, tied):
        words = self.large(16 * self.width, self.width)
        x = self.op("Gather", words, "ids")
        for _ in range(layers):
            x = self.layer(x)
        if tied:
            return self.op("MatMul", self.norm(x), self.op("Transpose", words, perm=[1, 0]))
        return self.product(self.norm(x), self.width, 16 * self.width)

    def save(self):
        value = helper.make_tensor_value_info
        ids = value("ids", TensorProto.INT64, ["batch", "sequence"])
        result = value(self.result, self.kind, ["batch", "sequence", 16 * self.width])
        graph = helper.make_graph(self.nodes, "decoder", [ids], [result], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.path)


# The variants: the differences, and whether weights are folded.
VARIANTS = {
    "float16": ({}, False),
    "float32": ({"dtype": "float32"}, False),
    "embedding used twice": ({"tied": True}, False),
    "int8": ({"dtype": "float32", "quantized": True}, False),
    "scales that fold": ({"scale": 0.5}, True),
    # Products in float16 would be below its normal numbers.
    "scales that don't": ({"scale": 1e-5}, False),
}


def anonymous(pid):
    """Returns the bytes of anonymous memory of a process and its children; 0 if it has ended."""
    process = pathlib.Path("/proc", str(pid))
    try:
        lines = process.joinpath("status").read_text().splitlines()
        own = sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon", "RssShmem")))
        children = process.joinpath("task", str(pid), "children").read_text().split()
        return own + sum(anonymous(child) for child in children)
    except OSError:
        return 0


def measured(command):
    """Returns the CPU seconds of a process and its children, and the peak memory, sampled every few milliseconds."""
    before, most = os.times(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, anonymous(process.pid))
        time.sleep(0.003)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, most


def onnxruntime(given, created):
    """Runs ONNX Runtime's basic offline optimization, with external data."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = created
    options.log_severity_level = 4
    external = "session.optimized_model_external_initializers_"
    options.add_session_config_entry(f"{external}file_name", f"{os.path.basename(created)}.data")
    options.add_session_config_entry(f"{external}min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def main():
    if sys.argv[1:2] == ["onnxruntime"]:
        return onnxruntime(*sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--passdock", required=True)
    parser.add_argument("--work-dir", type=pathlib.Path, required=True)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--ratio", type=float)
    asked = parser.parse_args()
    shutil.rmtree(asked.work_dir, ignore_errors=True)
    failed = []
    for name, (variant, folds) in VARIANTS.items():
        asked.work_dir.joinpath("out").mkdir(parents=True)
        model, out = asked.work_dir / "model.onnx", asked.work_dir / "out" / "model.onnx"
        run = [os.path.abspath(asked.passdock), "run", "default", model, "--output", out, "--quiet"]
        Decoder(model, 1, HEAD, **variant)
        _, least = measured(run)
        Decoder(model, asked.layers, asked.width, **variant)
        size = model.with_name("model.onnx.data").stat().st_size
        seconds, most = measured(run)
        shutil.rmtree(out.parent)
        out.parent.mkdir()
        theirs, _ = measured([sys.executable, __file__, "onnxruntime", model, out])
        shutil.rmtree(asked.work_dir)
        allowed = min(size if folds else size // 4, MOST)
        ratio, over = seconds / theirs, most - least
        print(
            f"{name:<22} {size / 1e6:6.0f} MB: {seconds:5.2f} s of CPU, {ratio:.2f} x ONNX Runtime's; "
            f"{over / 1e6:.0f} MB of memory besides the file, at most {allowed / 1e6:.0f}",
            flush=True,
        )
        if over > allowed or asked.ratio and ratio > asked.ratio:
            failed.append(name)
    if failed:
        sys.exit(f"too much CPU or memory: {', '.join(failed)}")


if __name__ == "__main__":
    main()
