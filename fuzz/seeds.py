#!/usr/bin/env python3
"""Writes seeds for the fuzz targets.

OUT/onnx gets small ONNX models: ONNX's own test cases, the models in the onnx
package, those in the given directories, and crafted models with features that
the others lack. OUT/large gets larger ones, which are run without mutation,
because a fuzzer that needs a millisecond per input finds little.

OUT/manifest gets the manifests of the plugins in the given directories and the
examples in docs/manifests.md, OUT/library crafted libraries, OUT/edits random
bytes, OUT/rules rules, OUT/lock_file lock files, and OUT/provenance
provenance statements.
"""

import argparse
import hashlib
import json
import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from libraries import libraries
from onnx import AttributeProto, TensorProto, helper, numpy_helper

SMALL = 48 * 1024
LARGE = 256 * 1024


def node_cases():
    warnings.filterwarnings("ignore")  # the cases overflow and divide by zero on purpose
    from onnx.backend.test.case.node import collect_testcases  # slow: it computes all expected results

    for case in collect_testcases():
        yield case.model.SerializeToString()


def files(directory):
    for path in sorted(directory.rglob("*.onnx")):
        if path.stat().st_size <= LARGE:
            yield path.read_bytes()


def info(name, dims=(2,), dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs=("x",), outputs=("y",), ir_version=10, edits=b"", functions=(), imports=(("", 17),), **more):
    graph = helper.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs], **more)
    opsets = [helper.make_opsetid(*pair) for pair in imports]
    created = helper.make_model(graph, ir_version=ir_version, opset_imports=opsets, functions=functions)
    # Field 1000, which no version of ONNX has: the edits of the target onnx_write.
    tail = bytes([0xC2, 0x3E, len(edits)]) + edits if edits else b""
    return created.SerializeToString() + tail


def crafted():
    relu = helper.make_node("Relu", ["x"], ["y"], name="relu")
    chain = [helper.make_node("Relu", ["x" if i == 0 else f"t{i}"], [f"t{i + 1}"], name=f"n{i}") for i in range(6)]
    chain[-1].output[0] = "y"
    weight = numpy_helper.from_array(np.arange(2, dtype=np.float32), "w")
    add = helper.make_node("Add", ["x", "w"], ["y"], doc_string="adds")
    for step in range(16):
        edits = bytes([step, 0, step, 1, step, 0, 2, 3])
        yield model(chain, edits=edits)
        yield model([add], initializer=[weight], edits=edits)
    yield model([relu])
    yield model(chain[::-1])  # not sorted
    for ir_version in (3, 10):  # an initializer that is an input
        yield model([add], inputs=("x", "w"), initializer=[weight], ir_version=ir_version)
    for name in TensorProto.DataType.keys():
        code = TensorProto.DataType.Value(name)
        if name in ("UNDEFINED", "STRING"):
            continue
        try:
            typed = helper.make_tensor("w", code, [3], [0, 1, 1])
            yield model([add], initializer=[typed])
            size = helper.tensor_dtype_to_np_dtype(code).itemsize
            yield model([add], initializer=[TensorProto(name="w", data_type=code, dims=[2], raw_data=bytes(2 * size))])
        except (TypeError, ValueError, KeyError):
            continue
    strings = helper.make_tensor("w", TensorProto.STRING, [3], [b"a", b"", b"\xff"])
    yield model([add], initializer=[strings])
    outside = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "4"), ("length", "8"), ("checksum", "0")):
        outside.external_data.add(key=key, value=value)
    yield model([add], initializer=[outside])
    sparse = helper.make_sparse_tensor(weight, helper.make_tensor("i", TensorProto.INT64, [2], [0, 3]), [4])
    yield model([add], sparse_initializer=[sparse])
    for attribute in (
        {"value_int": 3}, {"value_ints": [1, -1]}, {"value_float": 0.5}, {"value_floats": [0.5, 1.5]},
        {"value_string": "s"}, {"value_strings": ["s", ""]}, {"value": weight}, {"sparse_value": sparse},
    ):
        yield model([helper.make_node("Constant", [], ["w"], **attribute), add])
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["x2"])], "inner", [], [info("x2")])
    shadow = helper.make_graph([helper.make_node("Neg", ["y0"], ["x"])], "shadow", [info("y0")], [info("x")], initializer=[weight])
    both = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=shadow, name="if")
    yield model([both])
    deeper = helper.make_graph([helper.make_node("If", ["x"], ["z"], then_branch=inner, else_branch=shadow)], "deeper", [], [info("z")])
    yield model([helper.make_node("Scan", ["x"], ["y"], body=deeper, num_scan_inputs=1), helper.make_node("Loop", ["", "", "x"], ["u", ""], body=deeper)])
    many = helper.make_node("Many", ["x", "", "x"], ["y", "", "z"], domain="com.example", a=1, b=2.0, c="s", d=[1, 2], e=[1.0], f=["s", "t"], g=weight, h=[weight, weight], i=[inner, deeper])
    many.attribute.append(helper.make_attribute("j", helper.make_tensor_type_proto(TensorProto.INT8, ["n", None, 3])))
    many.attribute.append(helper.make_attribute("k", [helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [1]))]))
    many.attribute.append(helper.make_attribute("l", sparse))
    yield model([many], imports=(("", 17), ("com.example", 1)))
    body = [helper.make_node("Relu", ["a"], ["b"])]
    referring = helper.make_node("Selu", ["b"], ["c"])
    referring.attribute.append(helper.make_attribute_ref("alpha", AttributeProto.FLOAT))
    imports = [helper.make_opsetid("", 17)]
    plain = helper.make_function("local", "F", ["a"], ["b"], body, imports)
    full = helper.make_function("local", "G", ["a"], ["c"], [*body, referring], imports, ["alpha"], [helper.make_attribute("beta", 2)])
    calls = [helper.make_node("F", ["x"], ["t"], domain="local"), helper.make_node("G", ["t"], ["y"], domain="local", alpha=0.5)]
    yield model(calls, functions=[plain, full], imports=(("", 17), ("local", 1)), edits=bytes([0, 1, 0, 1, 3, 2, 0, 1]))
    annotated = onnx.load_from_string(model([add], initializer=[weight]))
    annotated.doc_string, annotated.producer_name, annotated.domain = "doc", "seeds", "d"
    annotated.metadata_props.add(key="k", value="v")
    annotated.graph.metadata_props.add(key="k", value="v")
    annotated.graph.node[0].metadata_props.add(key="k", value="v")
    annotation = annotated.graph.quantization_annotation.add(tensor_name="w")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    annotated.graph.value_info.extend([info("x", ("n", 4)), info("y", None)])
    yield annotated.SerializeToString()


def crowds(count=20_000):
    """Yields files that repeat a minimal entity, which find steps that are slow or need much memory."""

    def field(number, body=b""):
        return varint(number << 3 | 2) + varint(len(body)) + body

    def varint(value):
        head = b""
        while value >= 128:
            head, value = head + bytes([value & 127 | 128]), value >> 7
        return head + bytes([value])

    def named(number, inside=1):
        return b"".join(field(number, field(inside, b"%x" % i)) for i in range(count))

    node, graph = field(1), field(5, field(1, b"g") + field(6))
    shape = field(11, field(2, field(1, field(2, field(1) * count))))
    for body in (
        node * count, field(5) * count, field(12) * count, named(11), named(13), named(1, 2), shape,
        field(1, field(1) * count), field(1, field(2) * count), field(1, graph) * count,
        field(1, named(5)), b"".join(field(15, field(1, field(8, b"%x" % i))) for i in range(count)),
    ):
        yield bytes([8, 10]) + field(7, body)
    for outer in (named(8), named(25)):
        yield bytes([8, 10]) + field(7) + outer


def manifests(directories):
    page = Path("docs/manifests.md").read_text()
    plugin = '[plugin]\nname = "a"\nabi = "1.0"\nir = "1.0"\npanic = "none"\n'
    for example in re.findall(r"\n```toml\n(.*?)```", page, re.S):
        yield (example if "[plugin]" in example else plugin + example).encode()
    for path in (path for directory in directories for path in sorted(directory.iterdir())):
        data = path.read_bytes() if path.suffix in (".so", ".dll", ".dylib") else b""
        at = data.find(b"[plugin]\nname = ")
        if at >= 0:
            yield data[at:data.index(0, at)]


def rules():
    """Yields the example files, and each rule of the examples and the tests."""
    rule = re.compile(r"rule \w+[\w ]*\{(?:[^{}]|\{[^{}]*\})*\}")
    examples = [path.read_text() for path in sorted(Path("examples").rglob("*.rules"))]
    tests = [path.read_text() for path in sorted(Path("plugins/relax/tests/rules").glob("*.rs"))]
    cases = sorted(Path("plugin-api/src/rewrite/cases").glob("*.ir"))
    tests += [path.read_text().replace("\n; ", "\n") for path in cases]
    for text in examples:
        yield text.encode()
    for text in examples + tests:
        yield from (found.encode() for found in rule.findall(text))


def lock_files():
    """Yields lock files with different numbers of plugins."""
    plugin = (
        '[[plugins]]\nname = "acme{0}"\nversion = "1.{0}.0"\nabi = "1.0"\norigin = "plugins/acme.so"\n'
        'pipelines = ["p.toml", "q.toml"]\n\n[plugins.blake3]\nlinux-x86_64 = "{1}"\nmacos-aarch64 = "{1}"\n\n'
    )
    for count in range(4):
        plugins = (plugin.format(number, str(number) * 64) for number in range(count))
        yield ("version = 1\n\n" + "".join(plugins)).encode()


def statements():
    """Yields provenance statements with different numbers of inputs."""
    for count in range(3):
        files = [{"name": f"m{i}.onnx", "digest": {"sha256": "0" * 64}, "annotations": {"role": "model"}} for i in range(3)]
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": files[:1],
            "predicateType": "https://slsa.dev/provenance/v1",
            "predicate": {
                "buildDefinition": {
                    "buildType": "urn:passdock:run:v1",
                    "externalParameters": {"opt_level": 3},
                    "resolvedDependencies": files[:count],
                },
                "runDetails": {"builder": {"id": "urn:passdock", "version": {"passdock": "1.0.0"}}},
            },
        }
        yield json.dumps(statement).encode()


def worker_messages():
    """Yields requests of a worker for changes to files."""
    paths = ["@/out/dumps/001_a.ir", "@/out/trace", "@/mine", "@/out/dumps/../../mine"]
    for path in paths:
        change = {"from": "@/temporary/0", "path": path}
        for request in (
            {"Check": {"path": path}},
            {"CreateDirectory": {"path": path}},
            {"File": {**change, "durable": True}},
            {"Directory": {**change, "from": "@/temporary/sub", "marker": "0"}},
            {"RemoveNumbered": {"path": path, "suffix": ".ir"}},
        ):
            yield json.dumps({"Output": request}).encode()


def edits(count=400):
    """Yields random bytes."""
    numbers = random.Random(1)
    for _ in range(count):
        yield numbers.randbytes(numbers.choice((60, 120, 240, 600)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path, help="the directory to write to")
    p.add_argument("models", type=Path, nargs="*", help="directories of models and plugins")
    args = p.parse_args()
    for name in ("onnx", "large", "manifest", "library", "edits", "rules", "lock_file", "provenance", "worker_messages"):
        (args.out / name).mkdir(parents=True, exist_ok=True)
    for name, data in enumerate(crowds()):
        (args.out / "large" / f"crowd{name}.onnx").write_bytes(data)
    for name, data in libraries().items():
        (args.out / "library" / name).write_bytes(data)
    texts = {
        "manifest": manifests(args.models),
        "edits": edits(),
        "rules": rules(),
        "lock_file": lock_files(),
        "provenance": statements(),
        "worker_messages": worker_messages(),
    }
    for kind, created in texts.items():
        for name, data in enumerate(created):
            (args.out / kind / f"{name}").write_bytes(data)
    sources = [crafted(), node_cases(), files(Path(onnx.__file__).parent), *map(files, args.models)]
    seeds = {hashlib.sha256(data).hexdigest()[:16]: data for source in sources for data in source if len(data) <= LARGE}
    for name, data in seeds.items():
        (args.out / ("onnx" if len(data) <= SMALL else "large") / f"{name}.onnx").write_bytes(data)
    print(f"{len(seeds)} seeds, {sum(map(len, seeds.values())) >> 10} KiB, in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
