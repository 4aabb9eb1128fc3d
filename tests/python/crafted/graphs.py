"""Graphs: scopes and names, order, outputs, inputs, and ops that can't be folded."""

import onnx
from onnx import TensorProto, helper

from .base import Crafted, entries, floats, graph, model, node, value

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


def ints(name, *values):
    return helper.make_tensor(name, INT64, [len(values)], values)


def scalar(name, dtype, number):
    return helper.make_tensor(name, dtype, [], [number])


def branch(name, nodes, out, **more):
    return graph(nodes, [], [value(out, None)], name=name, **more)


def branch_of(created, name):
    """Returns a branch of a model's first node."""
    return next(attribute.g for attribute in created.graph.node[0].attribute if attribute.name == name)


def models():
    yield from branches()
    yield from loops()
    yield from names()
    yield from interface()
    yield from kept()


def branches():
    inner = node(
        "If",
        "c2",
        "deep",
        then_branch=branch("tt", [node("Add", "x k", "t2")], "t2", initializers=[floats("k", [1, 2])]),
        else_branch=branch("te", [node("Mul", "outer x", "e2")], "e2"),
    )
    then = branch("t", [node("Neg", "x", "outer"), node("Not", "c", "c2"), inner], "deep")
    other = branch("e", [node("Identity", "w", "deep")], "deep", doc_string="the other")
    body = graph(
        [node("If", "c", "y", "choice", then_branch=then, else_branch=other)],
        [value("c", [], BOOL), value("x")],
        [value("y")],
        [floats("w", [5, 6])],
    )
    yield (
        "if_nested",
        Crafted("nested Ifs, captures from two levels, an inner initializer", model(body), runs=True),
    )
    then = branch("t", [node("Abs", "x", "x2"), node("Neg", "x2", "y2")], "y2")
    then.node.reverse()
    body = graph(
        [node("If", "c", "y", then_branch=then, else_branch=branch("e", [node("Abs", "x", "y2")], "y2"))],
        [value("c", [], BOOL), value("x")],
        [value("y")],
    )
    like = model(body)
    branch_of(like, "then_branch").node.reverse()
    yield "if_unsorted", Crafted("a branch whose nodes must be sorted", model(body), like=like)
    capture = branch("t", [node("Neg", "late", "z")], "z")
    nodes = [
        node("If", "c", "y", then_branch=capture, else_branch=branch("e", [node("Abs", "x", "z")], "z")),
        node("Relu", "x", "late"),
    ]
    body = graph(nodes, [value("c", [], BOOL), value("x")], [value("y")])
    like = model(body)
    like.graph.node.reverse()
    yield (
        "if_captures_what_comes_later",
        Crafted("a branch that uses a node after the If", model(body), like=like),
    )
    nodes = [
        node("Constant", "", "c", value=scalar("", BOOL, True)),
        node(
            "If",
            "c",
            "y",
            then_branch=branch("t", [node("Neg", "x", "z")], "z"),
            else_branch=branch("e", [node("Random", "x", "z", domain="acme")], "z"),
        ),
    ]
    yield (
        "if_constant",
        Crafted(
            "a condition that folds", model(graph(nodes, [value("x")], [value("y")]), domains=["acme"]), runs=False
        ),
    )
    empty = graph([], [], [value("x")], name="pass")
    body = graph(
        [node("If", "c", "y", then_branch=empty, else_branch=branch("e", [node("Neg", "x", "z")], "z"))],
        [value("c", [], BOOL), value("x")],
        [value("y")],
    )
    yield "if_branch_without_nodes", Crafted("a branch that yields an outer value", model(body))


def loops():
    body = graph(
        [
            node("Constant", "", "one", value=floats("", [1, 1])),
            node("Add", "carried one", "next"),
            node("Mul", "next scale", "scan"),
            node("Identity", "going", "still"),
        ],
        [value("i", [], INT64), value("going", [], BOOL), value("carried")],
        [value("still", [], BOOL), value("next"), value("scan")],
        name="body",
    )
    nodes = [node("Loop", "n go x", "y ys", "loop", body=body)]
    whole = graph(
        nodes,
        [value("x")],
        [value("y"), value("ys", ["times", 2])],
        [scalar("n", INT64, 3), scalar("go", BOOL, True), floats("scale", [2, 3])],
    )
    yield "loop", Crafted("a Loop with a Constant in its body, a capture and a scan output", model(whole), runs=True)
    for name, inputs in (("count", "_ go x"), ("condition", "n _ x")):
        whole = graph(
            [node("Loop", inputs, "y ys", body=body)],
            [value("x")],
            [value("y"), value("ys", None)],
            [scalar("n", INT64, 3), scalar("go", BOOL, False), floats("scale", [2, 3])],
        )
        yield f"loop_without_{name}", Crafted(f"a Loop without a {name}", model(whole))
    step = graph(
        [node("Add", "sum row", "sum2"), node("Identity", "sum2", "row2")],
        [value("sum"), value("row")],
        [value("sum2"), value("row2")],
        name="step",
    )
    whole = graph(
        [node("Scan", "start x", "total sums", body=step, num_scan_inputs=1)],
        [value("x", [4, 2])],
        [value("total"), value("sums", [4, 2])],
        [floats("start", [0, 0])],
    )
    yield "scan", Crafted("a Scan", model(whole), runs=True)
    inside = graph(
        [node("SequenceInsert", "list x", "list2"), node("Identity", "go2", "go3")],
        [value("i", [], INT64), value("go2", [], BOOL), helper.make_tensor_sequence_value_info("list", 1, None)],
        [value("go3", [], BOOL), helper.make_tensor_sequence_value_info("list2", 1, None)],
        name="body",
    )
    nodes = [
        node("SequenceEmpty", "", "empty"),
        node("Loop", "n go empty", "full", body=inside),
        node("ConcatFromSequence", "full", "y", axis=0),
        node("Optional", "y", "maybe"),
        node("OptionalHasElement", "maybe", "has"),
    ]
    whole = graph(
        nodes,
        [value("x")],
        [value("y", None), value("has", [], BOOL)],
        [scalar("n", INT64, 2), scalar("go", BOOL, True)],
    )
    yield "loop_of_a_sequence", Crafted("a Loop that carries a sequence, and an optional", model(whole))


def names():
    then = branch("t", [node("Neg", "x", "h"), node("Abs", "h", "z")], "z")
    other = branch("e", [node("Abs", "x", "h"), node("Neg", "h", "z")], "z")
    body = graph(
        [node("If", "c", "y", then_branch=then, else_branch=other)], [value("c", [], BOOL), value("x")], [value("y")]
    )
    yield "names_of_siblings", Crafted("two branches with the same names", model(body), runs=True)
    shadow = graph([node("Abs", "x", "h"), node("Neg", "h", "z")], [], [value("z")], name="t")
    nodes = [
        node("Relu", "x", "h"),
        node("If", "c", "k", then_branch=shadow, else_branch=branch("e", [node("Identity", "h", "z")], "z")),
        node("Add", "h k", "y"),
    ]
    yield (
        "names_shadowed",
        Crafted(
            "a branch that redefines an outer name",
            model(graph(nodes, [value("c", [], BOOL), value("x")], [value("y")])),
        ),
    )
    hidden = graph([node("Abs", "w", "z")], [], [value("z")], [floats("w", [9, 9])], name="t")
    nodes = [node("If", "c", "y", then_branch=hidden, else_branch=branch("e", [node("Identity", "w", "z")], "z"))]
    yield (
        "names_shadowed_by_an_initializer",
        Crafted(
            "a branch's initializer with the name of an outer one",
            model(graph(nodes, [value("c", [], BOOL)], [value("y")], [floats("w", [1, 2])])),
        ),
    )
    for odd in ("a b", "%0", "größe", 'q"\\n', "a/b:0", "return", "", "\x07"):
        nodes = [node("Relu", "x", "h", odd), node("Neg", "h", "y", odd)]
        nodes[0].output[0] = nodes[1].input[0] = odd or "plain"
        body = graph(nodes, [value("x")], [value("y")], name=odd or "g")
        yield f"names_odd_{odd.encode().hex() or 'empty'}", Crafted(f"values and nodes called {odd!r}", model(body))
    nodes = [node("Relu", "x", "a", "same"), node("Neg", "a", "y", "same")]
    yield "names_of_nodes_twice", Crafted("two nodes with one name", model(graph(nodes, [value("x")], [value("y")])))
    nodes = [node("Relu", "x", "a", "r", domain="ai.onnx"), node("Neg", "a", "y", domain="")]
    nodes[1].domain = ""
    body = model(graph(nodes, [value("x")], [value("y")]))
    body.opset_import[0].domain = "ai.onnx"
    yield "domain_spelt_out", Crafted("ONNX's own domain by its long name", body)
    nodes = [
        node("Scaler", "x", "s", domain="ai.onnx.ml", scale=[2.0], offset=[0.5]),
        node("Made-Up", "s", "u", domain="acme.corp", depth=3),
        node("NotInOnnx", "u", "y"),
    ]
    yield (
        "domains",
        Crafted(
            "ai.onnx.ml, a custom domain, an unknown op in ONNX's domain",
            model(graph(nodes, [value("x")], [value("y")]), domains=["ai.onnx.ml", "acme.corp"]),
        ),
    )
    odd = [node("Op", "x", "a", domain=domain) for domain in ("onnx", "a.b c", 'q"', "ä")]
    for at, op in enumerate(odd):
        op.input[0], op.output[0] = ("x", "a", "b", "c")[at], ("a", "b", "c", "y")[at]
        op.op_type = ("Op", "A.B", "C#1", "")[at]
    yield (
        "domains_odd",
        Crafted(
            "domains and ops with dots, quotes or nothing in their names",
            model(graph(odd, [value("x")], [value("y")]), domains=["onnx", "a.b c", 'q"', "ä"]),
        ),
    )


def interface():
    body = graph([node("Relu", "x", "y")], [value("x"), value("z")], [value("y"), value("x"), value("z"), value("y")])
    yield "output_is_input", Crafted("outputs that are inputs, one of them twice", model(body))
    body = graph([], [value("x")], [value("x")])
    yield "no_nodes", Crafted("a graph that returns its input", model(body))
    body = graph([], [], [])
    yield "no_graph_to_speak_of", Crafted("an empty graph", model(body))
    body = graph([], [], [value("w")], [floats("w", [1, 2])])
    yield "output_is_initializer", Crafted("an output that is an initializer", model(body))
    nodes = [node("Constant", "", "y", value=floats("", [1, 2]))]
    yield "output_is_constant", Crafted("an output that is a Constant", model(graph(nodes, [], [value("y")])))
    body = graph([node("Add", "x w", "y")], [value("x"), value("w")], [value("y")], [floats("w", [1, 2])])
    for version in range(1, 15):
        yield (
            f"overridable_{version}",
            Crafted(
                f"an initializer that is also an input, ir_version {version}",
                model(body, ir_version=version, opset=7 if version < 8 else 21),
            ),
        )
    body = graph(
        [node("Add", "w w", "c"), node("Add", "x c", "y")],
        [value("x"), value("w")],
        [value("y")],
        [floats("w", [1, 2])],
    )
    yield (
        "overridable_not_folded",
        Crafted("results of an overridable initializer aren't constant", model(body), runs=True),
    )
    nodes = [
        node("Clip", "x _ top", "a"),
        node("Op", "_ a _ _", "b _ c _", domain="acme"),
        node("Op", "_", "_", domain="acme"),
        node("Dropout", "b", "d _"),
        node("Relu", "d", "y"),
    ]
    nodes[0].input.append("")
    body = graph(nodes, [value("x")], [value("y"), value("c", None)], [scalar("top", 1, 6.0)])
    yield "left_out", Crafted("omitted operands and results, also the last ones", model(body, domains=["acme"]))
    body = graph([node("Relu", "x", "y")], [value("x")], [value("y")])
    body.input[0].ClearField("type")
    body.output[0].ClearField("type")
    yield "untyped", Crafted("inputs and outputs without a type", model(body))
    info = [value("m"), value("nowhere"), value("x"), value("w"), value("y", ("n",))]
    for one in info:
        one.doc_string = f"about {one.name}"
        one.metadata_props.extend(entries(unit="m/s"))
    body = graph([node("Add", "x w", "m"), node("Relu", "m", "y")], [value("x")], [value("y")], [floats("w", [1, 2])])
    body.value_info.extend([*info, info[0]])
    yield "value_infos", Crafted("value infos of all kinds of values, one twice, one of no value", model(body))
    unsorted = [node("Relu", "b", "y"), node("Neg", "a", "b"), node("Abs", "x", "a")]
    like = model(graph(unsorted[::-1], [value("x")], [value("y")]))
    yield "unsorted", Crafted("unsorted nodes", model(graph(unsorted, [value("x")], [value("y")])), like=like)


def kept():
    shape = {"shape": [2]}
    nodes = [node("RandomUniform", "", "a", **shape), node("RandomUniform", "", "b", **shape), node("Sub", "a b", "y")]
    yield "random_twice", Crafted("random ops aren't merged or folded", model(graph(nodes, [], [value("y")])))
    nodes = [
        node("Expand", "one big", "wide"),
        node("ReduceSum", "wide", "s", keepdims=0),
        node("Add", "x s", "y"),
    ]
    body = graph(nodes, [value("x")], [value("y")], [floats("one", [1]), ints("big", 5000, 5000)])
    yield "expand_huge", Crafted("an op that would fold a few bytes to a hundred megabytes", model(body))
    nodes = [node("Add", "big one", "more"), node("Mul", "x more", "y")]
    body = graph(
        nodes, [value("x", [1], INT64)], [value("y", [1], INT64)], [ints("big", (1 << 53) + 1), ints("one", 1 << 60)]
    )
    yield "int64_beyond_doubles", Crafted("int64 arithmetic beyond 2^53", model(body), runs=True)
    half = helper.make_tensor("h", TensorProto.BFLOAT16, [2], [1.5, -0.0])
    nodes = [node("Add", "h h", "d"), node("Cast", "d", "f", to=1), node("Add", "x f", "y")]
    yield "bfloat16", Crafted("bfloat16, folded or not", model(graph(nodes, [value("x")], [value("y")], [half])))
    four = helper.make_tensor("q", TensorProto.INT4, [3], [-8, 7, 1])
    nodes = [node("DequantizeLinear", "q s", "d"), node("Add", "x d", "y")]
    body = graph(nodes, [value("x", [3])], [value("y", [3])], [four, scalar("s", 1, 0.5)])
    yield "int4_dequantized", Crafted("int4 through DequantizeLinear", model(body), runs=True)
    noted = [node("Relu", "x", "a", "first"), node("Add", "k k", "c", "folds"), node("Add", "a c", "y", "last")]
    for one in noted:
        one.doc_string = f"about {one.name}"
        one.metadata_props.extend(entries(source=f"line of {one.name}", stage="1"))
    body = graph(noted, [value("x")], [value("y")], [floats("k", [1, 2])], doc_string="the graph")
    body.metadata_props.extend(entries(graph="notes"))
    yield "notes_of_nodes", Crafted("doc strings and metadata of nodes, one of which folds", model(body), runs=True)
    nodes = [node("Relu", "x", "a"), node("Add", "k k", "c"), node("Add", "a c", "y")]
    tensors = [floats("k", [1, 2]), floats("a_scale", [0.5]), ints("a_zero", 3), floats("k_scale", [0.25])]
    body = graph(nodes, [value("x")], [value("y")], tensors)
    for name in ("a", "k", "y"):
        note = body.quantization_annotation.add(tensor_name=name)
        note.quant_parameter_tensor_names.extend(entries(SCALE_TENSOR=f"{name}_scale"))
    body.quantization_annotation[0].quant_parameter_tensor_names.extend(entries(ZERO_POINT_TENSOR="a_zero"))
    yield (
        "quantization_annotations",
        Crafted("values that only annotations name are kept", model(body), runs=True),
    )
    body = graph(
        [node("Relu", "x", "y"), node("Neg", "x", "dead"), node("Abs", "dead", "dead2")], [value("x")], [value("y")]
    )
    yield "dead_nodes", Crafted("dead nodes", model(body), runs=True)
