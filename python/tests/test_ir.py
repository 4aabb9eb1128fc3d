"""Reading IR: modules, functions, ops, values, types and regions; files and bytes."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from pathlib import Path

import onnx
import pytest

import passdock
from passdock import Function, Module, Op, PassContext, Region, Type, Value
from support import check, ir, module, on_functions, one_function, two_functions

MODEL = """
    module {
      fn @main(%x: f32[n,3,?], %c: bool[]) -> (%y: f32[n,3,?]) opset("" = 17) {
        %w = const f32[3,1] [1.0, 2.0, 3.0] loc("weights")
        %a = onnx.Mul(%x, %w) {alpha = 0.1, axes = [0, 1], mode = "linear", names = ["a", "b"], scales = [1.5, 2.0]} : f32[n,3,?] loc("mul")
        %y = onnx.If(%c) : f32[n,3,?]
          region then_branch {
            %t = onnx.Relu(%a) : f32[n,3,?]
            yield %t
          }
          region else_branch {
            %e = onnx.Clip(%a, _, _) : f32[n,3,?]
            yield %e
          }
        return %y
      }
      fn @helper(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        %y = onnx.Abs(%x) : f32[2]
        return %y
      }
    }
"""


def main() -> Function:
    return module(MODEL)["main"]


def test_module_is_a_mapping_of_functions() -> None:
    mod = module(MODEL)
    assert list(mod) == ["main", "helper"]
    assert len(mod) == 2
    assert "main" in mod and "nothing" not in mod
    assert [func.name for func in mod.functions] == ["main", "helper"]
    assert mod["main"] is mod["main"] is mod.functions[0]
    assert mod.get("nothing") is None
    assert mod.get("nothing", 5) == 5
    assert mod.op_count == 5
    assert repr(mod) == "<passdock.Module, 2 functions, 5 ops>"
    assert repr(one_function()) == "<passdock.Module, 1 function, 1 op>"
    with pytest.raises(KeyError, match="the module has no function `nothing`"):
        mod["nothing"]


def test_text_is_parsed_and_printed() -> None:
    check(module(MODEL), MODEL)
    assert module(MODEL).text() == ir(MODEL)
    assert "const" in module(MODEL).text(brief=True)
    with pytest.raises(passdock.ModelError, match=r"model\.ir:2:6: .*expected"):
        Module.from_text("module {\n  fn {}\n}", "model.ir")


def test_modules_can_be_copied_and_pickled() -> None:
    mod = module(MODEL)
    for created in (copy.copy(mod), copy.deepcopy(mod), pickle.loads(pickle.dumps(mod))):
        assert created is not mod
        check(created, MODEL)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(mod["main"])
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(mod["main"].ops[0])


def test_function_properties() -> None:
    func = main()
    assert (func.name, func.kind, func.op_count) == ("main", "fn", 4)
    assert func.opsets == {"": 17}
    assert func.attrs == {}
    assert [param.name for param in func.params] == ["x", "c"]
    assert [value.name for value in func.results] == ["y"]
    assert [value.name for value in func.constants] == ["w"]
    assert not func.is_editable
    assert repr(func) == "<passdock.Function @main, 4 ops>"
    assert str(func).startswith("fn @main(%x: f32[n,3,?], %c: bool[])")
    assert func.value("t").name == "t"
    with pytest.raises(KeyError, match="no value is named `nothing`"):
        func.value("nothing")


def test_ops_in_order() -> None:
    func = main()
    assert [op.name for op in func.ops] == ["onnx.Mul", "onnx.If", "onnx.Relu", "onnx.Clip"]
    assert [op.name for op in func.body.ops] == ["onnx.Mul", "onnx.If"]
    assert [op.name for op in func.ops_named("onnx.Relu")] == ["onnx.Relu"]
    assert func.ops_named("onnx.Nothing") == []
    mul, if_, _, clip = func.ops
    order = [[one.is_before(other) for other in func.ops] for one in func.ops]
    assert order == [[at < than for than in range(4)] for at in range(4)]
    with pytest.raises(ValueError, match="the ops belong to different functions"):
        mul.is_before(main().ops[0])
    assert func.body.terminator is not None
    assert func.body.terminator.name == "return"
    assert (mul.callee, mul.is_live) == (None, True)
    assert mul.loc == "mul" and if_.loc is None
    assert repr(mul) == "<passdock.Op onnx.Mul at mul>"
    assert repr(if_) == "<passdock.Op onnx.If>"
    assert clip.operands == [mul.result, None, None]
    assert (clip.operand_count, clip.operand(0), clip.operand(1), clip.operand(9)) == (3, mul.result, None, None)
    with pytest.raises(IndexError, match=r"the last operand is `op\.operands\[-1\]`"):
        clip.operand(-1)
    with pytest.raises(ValueError, match="expected one result, found 0"):
        _ = func.body.terminator.result


def test_op_attributes() -> None:
    mul = main().ops[0]
    assert mul.attrs == {
        "alpha": 0.1,
        "axes": [0, 1],
        "mode": "linear",
        "names": ["a", "b"],
        "scales": [1.5, 2.0],
    }
    assert mul.attr("alpha") == 0.1
    assert mul.attr("nothing") is None
    assert mul.attr("nothing", 3) == 3


def test_value_properties() -> None:
    func = main()
    x, _ = func.params
    mul = func.ops[0]
    a = mul.result
    assert (x.name, x.dtype, x.shape, x.rank, x.index) == ("x", "f32", ("n", 3, None), 3, 0)
    assert x.defining_op is None and x.constant is None
    assert a.defining_op == mul
    assert a.use_count == 2
    assert {op.name for op in a.users} == {"onnx.Relu", "onnx.Clip"}
    assert {(op.name, index) for op, index in a.uses} == {("onnx.Relu", 0), ("onnx.Clip", 0)}
    assert x.function is func and mul.function is func
    assert repr(x) == "<passdock.Value %x: f32[n,3,?]>"
    w = mul.operands[1]
    assert w is not None and w.constant is not None
    assert repr(w.constant) == "<passdock.Constant f32(3, 1)>"


def test_handles_compare_by_identity() -> None:
    func = main()
    assert func.ops[0] == func.ops[0]
    assert func.ops[0] != func.ops[1]
    assert len({func.ops[0], func.ops[0], func.ops[0].result, func.ops[0].result}) == 2
    assert func.params[0] == func.value("x")
    assert func.ops[0] != main().ops[0]
    assert func.body == func.body
    assert func.ops[0] != "onnx.Mul"


def test_type_properties() -> None:
    func = main()
    ty = func.params[0].type
    assert (ty.kind, ty.dtype, ty.shape) == ("tensor", "f32", ("n", 3, None))
    assert str(ty) == "f32[n,3,?]"
    assert repr(ty) == "<passdock.Type f32[n,3,?]>"
    assert ty == func.ops[0].result.type == "f32[n,3,?]"
    assert ty != func.params[1].type
    assert hash(ty) == hash(main().params[0].type)
    # Equal keys are found by either form.
    assert ty in {"f32[n,3,?]"} and "f32[n,3,?]" in {ty}
    assert ty != "f32[n, 3, ?]"


def test_region_properties() -> None:
    func = main()
    if_ = func.ops[1]
    then, else_ = if_.regions
    assert (then.name, else_.name) == ("then_branch", "else_branch")
    assert if_.region("then_branch") == then
    assert then.parent_op == if_ and func.body.parent_op is None
    assert [op.name for op in then.ops] == ["onnx.Relu"]
    assert then.args == []
    assert then.ops[0].parent_region == then
    assert func.body.args == func.params
    assert repr(then) == "<passdock.Region then_branch>"
    with pytest.raises(KeyError, match="the op has no region `body`"):
        if_.region("body")


def test_handles_keep_their_module_alive() -> None:
    """Even if the module object was deleted."""
    op: Op = main().ops[0]
    value: Value = main().params[0]
    region: Region = main().body
    ty: Type = main().params[0].type
    gc.collect()
    assert (op.name, value.name, len(region.ops), str(ty)) == ("onnx.Mul", "x", 2, "f32[n,3,?]")


def test_modules_and_functions_support_weak_references() -> None:
    """By weak references."""
    mod = two_functions()
    func = mod["main"]
    module_gone, function_gone = weakref.ref(mod), weakref.ref(func)
    del mod
    assert module_gone() is None
    assert function_gone() is func
    del func
    assert function_gone() is None


def test_edits_outside_a_pass_are_rejected() -> None:
    func = main()
    for edit in (
        lambda: func.erase_op(func.ops[0]),
        lambda: func.create_op("onnx.Relu", [func.params[0]]),
        lambda: func.add_constant(1.0),
        lambda: func.set_function_attr("a", 1),
        lambda: func.set_results([func.params[0]]),
        lambda: module(MODEL).create("new"),
        lambda: module(MODEL).remove("helper"),
    ):
        with pytest.raises(ValueError, match="is read-only; edit the one that the pass received"):
            edit()


def test_onnx_model_is_read_and_written(tmp_path: Path) -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"], "relu")],
        "graph",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 4])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 4])],
    )
    proto = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    expected = """
        fn @main(%x: f32[n,4]) -> (%y: f32[n,4]) opset("" = 17) loc("graph") {
          %y = onnx.Relu(%x) : f32[n,4] loc("relu")
          return %y
        }
    """
    for mod in (Module.read(str(path)), Module.read(path), Module.from_onnx(proto.SerializeToString())):
        assert str(mod["main"]) == ir(expected)
        onnx.checker.check_model(onnx.load_from_string(mod.to_onnx()))
        mod.write(tmp_path / "out.onnx")
        mod.write(tmp_path / "out.ir", value_info=True)
        assert str(Module.read(tmp_path / "out.onnx")["main"]) == ir(expected)
    with pytest.raises(passdock.ModelError, match=r"nothing\.onnx"):
        Module.read(tmp_path / "nothing.onnx")
    with pytest.raises(passdock.ModelError, match="invalid model `<bytes>`"):
        Module.from_onnx(b"nonsense")
    with pytest.raises(passdock.PassError, match="nowhere"):
        Module.read(path).write(tmp_path / "nowhere" / "model.onnx")


def test_metadata_of_onnx_models_is_read_and_written(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) <float[2] a> { a = Relu(x) y = Neg(a) }'
    )
    given = {"stack": "net.py:3", "owner": "vision"}
    graph = model.graph
    for noted in (graph.node[0], graph.input[0], graph.output[0], graph.value_info[0]):
        onnx.helper.set_model_props(noted, given)  # type: ignore[arg-type]
    path = tmp_path / "noted.onnx"
    onnx.save(model, path)

    def edit(func: Function, ctx: PassContext) -> None:
        relu, neg = func.ops
        values = (relu, func.params[0], relu.result, neg.result)
        assert [noted.metadata for noted in values] == [given] * 4
        assert neg.metadata == {}
        func.set_metadata(neg, "checked", "yes")
        for noted in values:
            func.set_metadata(noted, "owner", "")
            func.set_metadata(noted, "stack", "net.py:4")

    def run(func: Function, ctx: PassContext) -> Function:
        edit(func, ctx)
        return func

    on_functions("Notes", run)(Module.read(path)).write(path)
    graph = onnx.load(path).graph
    noted = [graph.node[0], graph.input[0], graph.output[0], graph.value_info[0]]
    assert [{entry.key: entry.value for entry in one.metadata_props} for one in noted] == [{"stack": "net.py:4"}] * 4
    assert [(entry.key, entry.value) for entry in graph.node[1].metadata_props] == [("checked", "yes")]
