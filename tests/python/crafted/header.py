"""Models: versions, metadata, functions, training, devices."""

import onnx
from onnx import TensorProto, helper

from .base import Crafted, entries, floats, graph, model, node, relu, value


def models():
    for version in range(1, 15):
        yield f"ir_version_{version}", Crafted(f"ir_version {version}", relu(ir_version=version))
    for version in range(1, 30):
        yield f"opset_{version}", Crafted(f"opset {version}", relu(opset=version))
    yield "ir_version_future", Crafted("an ir_version that isn't released yet", relu(ir_version=99))
    yield "no_ir_version", Crafted("a model without ir_version", without("ir_version"))
    yield "no_opset", Crafted("a model without opset imports", without("opset_import"))
    imports = relu()
    imports.opset_import.extend(
        [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("acme", 0), helper.make_opsetid("acme", 2)]
    )
    yield "opset_twice", Crafted("a domain imported twice, and domains that no node uses", imports)
    described = relu(
        producer_name="hand", producer_version="1", domain="org.example", model_version=-3, doc_string="a note\n"
    )
    described.metadata_props.extend(entries(author="somebody", license="", empty=""))
    described.metadata_props.extend(entries(author="once more"))
    yield "header", Crafted("all strings of a model's header", described)
    empty = relu(producer_name="", producer_version="", domain="", doc_string="")
    empty.model_version = 0
    for name in ("producer_name", "producer_version", "domain", "doc_string"):
        setattr(empty, name, "")
    empty.graph.doc_string = ""
    empty.graph.name = ""
    empty.graph.node[0].doc_string = ""
    empty.graph.node[0].overload = ""
    empty.graph.input[0].doc_string = ""
    yield "header_empty", Crafted("strings that are present and empty", empty)
    yield from functions()
    yield "training", Crafted("training information", trained())
    yield "devices", Crafted("device configurations and the sharding of nodes", sharded())


def without(field):
    result = relu()
    result.ClearField(field)
    return result


def functions():
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]

    def make(name, body, overload="", attributes=(), protos=(), **more):
        result = helper.make_function(
            "local",
            name,
            ["a"],
            ["b"],
            body,
            imports,
            list(attributes),
            list(protos),
            overload=overload or None,
            **more,
        )
        return result

    body = graph(
        [node("F", "x", "h", "one", domain="local"), node("F", "h", "y", "two", domain="local")],
        [value("x")],
        [value("y")],
    )
    body.node[1].overload = "wide"
    overloads = [make("F", [node("Relu", "a", "b")]), make("F", [node("Neg", "a", "b")], "wide")]
    yield (
        "function_overloads",
        Crafted("two functions with the same name", model(body, domains=["local"], functions=overloads)),
    )
    noted = make("F", [node("G", "a", "m", "call", domain="local"), node("Neg", "m", "b")], value_info=[value("m")])
    noted.doc_string = "a function"
    noted.metadata_props.extend(entries(kind="test"))
    noted.node[0].doc_string = "calls"
    noted.value_info[0].doc_string = "in between"
    noted.value_info[0].metadata_props.extend(entries(unit="m"))
    inner = make("G", [node("Relu", "a", "b")])
    body = graph([node("F", "x", "y", domain="local")], [value("x")], [value("y")])
    yield (
        "function_notes",
        Crafted(
            "all fields of a function, and a call in a function",
            model(body, domains=["local"], functions=[noted, inner]),
            runs=True,
        ),
    )
    unsorted = make("F", [node("Neg", "m", "b"), node("Relu", "a", "m")])
    like = model(body, domains=["local"], functions=[unsorted])
    like.functions[0].node.reverse()
    yield (
        "function_unsorted",
        Crafted(
            "a function whose nodes must be sorted", model(body, domains=["local"], functions=[unsorted]), like=like
        ),
    )
    own = helper.make_function("", "Relu", ["a"], ["b"], [node("Neg", "a", "b")], [helper.make_opsetid("", 21)])
    yield (
        "function_instead_of_an_op",
        Crafted("a local function has precedence over the op with its name", model(relu().graph, functions=[own])),
    )
    unused = make("Unused", [node("Relu", "a", "b")])
    yield (
        "function_unused",
        Crafted("a function without calls", model(relu().graph, functions=[unused], domains=["local"])),
    )
    through = helper.make_function(
        "local", "F", ["a", "rest"], ["a", "c", "a"], [node("Constant", "", "c", value=floats("", [1, 2]))], imports
    )
    call = node("F", "x _", "y z _", domain="local")
    body = graph([call], [value("x")], [value("y"), value("z")])
    yield (
        "function_hands_on",
        Crafted(
            "a function whose outputs are an input, twice, and a constant",
            model(body, domains=["local"], functions=[through]),
        ),
    )


def trained():
    result = model(graph([node("Add", "x w", "y")], [value("x")], [value("y")], [floats("w", [1, 2])]))
    info = result.training_info.add()
    info.initialization.CopyFrom(graph([node("RandomNormal", "", "w0", shape=[2])], [], [value("w0")], name="init"))
    info.algorithm.CopyFrom(
        graph([node("Sub", "w step", "w1")], [value("step")], [value("w1")], [floats("rate", [0.1])], name="step")
    )
    info.initialization_binding.extend(entries(w="w0"))
    info.update_binding.extend(entries(w="w1"))
    return result


def sharded():
    result = relu(ir_version=14)
    devices = result.configuration.add(name="two", num_devices=2)
    devices.device.extend(["cuda:0", "cuda:1"])
    split = result.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=1)
    spec = split.sharding_spec.add(tensor_name="x", device=[0, -1])
    group = spec.index_to_device_group_map.add(key=-1)
    group.value.extend([0, 1])
    by_value = spec.sharded_dim.add(axis=0)
    by_value.simple_sharding.add(dim_value=2, num_shards=2)
    by_value.simple_sharding.add(dim_param="n", num_shards=2)
    return result
