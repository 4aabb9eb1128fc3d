"""Modules built from functions: the cases of TVM's ``test_ir_module``, and further ones."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped, unused-ignore]
import pytest

import passdock
from passdock import (
    EditError,
    Function,
    Module,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    function_pass,
    module_pass,
)
from support import ADD, SUB_AND_LOG, add_abs, ir, module, one_function, two_functions


class GlobalVar:
    """A stand-in for TVM's class, with the part that modules use."""

    def __init__(self, name_hint: str) -> None:
        self.name_hint = name_hint


def call_of(callee: str, opset: int = 17, shape: str = "2") -> Module:
    """Returns a module whose ``main`` calls a function ``acme.F`` of one op."""
    return Module.from_text(f"""
        module {{
          fn @main(%x: f32[{shape}]) -> (%y: f32[{shape}]) opset("" = {opset}, "acme" = 1) {{
            %y = acme.F(%x) : f32[{shape}]
            return %y
          }}
          fn @acme.F(%x: f32[{shape}]) -> (%y) opset("" = {opset}) {{
            %y = onnx.{callee}(%x) : f32[{shape}]
            return %y
          }}
        }}
    """)


def result(mod: Module, x: Any) -> Any:
    """Returns the outputs computed by ONNX Runtime for a model that passes onnx's checker."""
    data = mod.to_onnx()
    onnx.checker.check_model(onnx.load_from_string(data))
    (created,) = onnxruntime.InferenceSession(data).run(None, {"x": x})
    return created


def test_module_from_a_dict() -> None:
    """TVM's ``tvm.IRModule({v_sub: sub, v_log: log})``."""
    mod = module(SUB_AND_LOG)
    created = Module({GlobalVar("my_sub"): mod["my_sub"], "my_log": mod["my_log"]})
    assert str(created) == str(mod)
    assert created[GlobalVar("my_log")] is created["my_log"] is created.get(GlobalVar("my_log"))
    assert GlobalVar("my_sub") in created and GlobalVar("other") not in created
    assert str(Module(created)) == str(created)
    assert str(Module({})) == str(Module()) == str(Module(None)) == "module {\n}\n"
    # Under other names, in the order of the dict.
    assert list(Module({"b": mod["my_log"], "a": mod["my_sub"]})) == ["b", "a"]
    assert pickle.loads(pickle.dumps(created)).functions[0].name == "my_sub"


def test_update_with_a_module() -> None:
    """TVM's ``mod.update(new_mod)``: functions with a known name are replaced, others are appended."""
    mod, other = module(ADD), two_functions()
    mod.update(other)
    assert list(mod) == ["my_add", "main", "other"]
    mod.update({"other": other["main"]})
    assert [op.name for op in mod["other"].ops] == ["onnx.Relu"]
    # The source modules aren't changed.
    assert str(other) == str(two_functions())
    mod.update(mod)
    assert list(mod) == ["my_add", "main", "other"]


def test_set_a_function() -> None:
    """TVM's ``mod[gv] = func``: a copy, independent of the other module."""
    mod, other = one_function(), two_functions()
    before = mod["main"]
    mod["main"] = other["other"]
    assert [op.name for op in mod["main"].ops] == ["onnx.Abs"]
    assert mod["main"].name == "main"
    # Earlier objects of the function keep the old state.
    assert [op.name for op in before.ops] == ["onnx.Relu"]
    other["other"] = other["main"]
    assert [op.name for op in mod["main"].ops] == ["onnx.Abs"]
    mod["acme.twin"] = mod["main"]
    assert list(mod) == ["main", "acme.twin"]
    assert [op.name for op in mod["acme.twin"].ops] == ["onnx.Abs"]


def test_copies_are_independent() -> None:
    mod = one_function()
    copies = [copy.copy(mod), copy.deepcopy(mod), Module(mod)]
    mod["main"] = two_functions()["other"]
    assert [str(created) for created in copies] == [str(one_function())] * 3


def test_callees_are_copied_with_their_callers() -> None:
    mod = Module({"main": call_of("Neg")["main"]})
    assert list(mod) == ["main", "acme.F"]
    x = np.ones(2, np.float32)
    assert result(mod, x).tolist() == [-1.0, -1.0]
    # A different function with the callee's name is an error, an equal one isn't.
    mod["acme.G"] = call_of("Neg")["main"]
    before = str(mod)
    with pytest.raises(EditError, match=r"`@acme\.F` that differs from the `@acme\.F` of the module"):
        mod["main"] = call_of("Abs")["main"]
    assert str(mod) == before
    # `update` replaces it explicitly.
    mod.update(call_of("Abs"))
    assert result(mod, -x).tolist() == [1.0, 1.0]
    mod.update({"main": call_of("Neg")["main"], "acme.F": call_of("Neg")["acme.F"]})
    assert result(mod, x).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("typed", [True, False])
def test_functions_of_earlier_opset_are_upgraded(typed: bool) -> None:
    """Before opset 13, a Softmax sums to 1 over all axes but the first, and a model has one opset."""
    shape = "1,2,3"
    old, new = call_of("Softmax", 11, shape), call_of("Relu", 17, shape)
    if not typed:
        old = Module.from_text(str(old).replace(f" : f32[{shape}]", ""))
    x = np.linspace(0, 1, 6, dtype=np.float32).reshape(1, 2, 3)
    # A function into a module of a later opset, and a function of a later opset into a module.
    into = call_of("Relu", 17, shape)
    into["acme.F"] = old["acme.F"]
    assert {function.opsets[""] for function in into.functions} == {17}
    assert np.isclose(result(into, x).sum(), 1.0)
    back = Module(old)
    back["acme.Other"] = new["acme.F"]
    assert {function.opsets[""] for function in back.functions} == {17}
    assert np.isclose(result(back, x).sum(), 1.0)
    created = Module({"main": old["main"], "acme.R": new["acme.F"]})
    assert {function.opsets[""] for function in created.functions} == {17}
    assert np.isclose(result(created, x).sum(), 1.0)
    assert old["main"].opsets[""] == 11


def test_op_without_upgrade_is_an_error() -> None:
    old = Module.from_text("""
        module {
          fn @main(%x: f32[2], %y: f32[1]) -> (%z: f32[2]) opset("" = 6) {
            %z = onnx.Add(%x, %y) {broadcast = 1, axis = 7} : f32[2]
            return %z
          }
        }
    """)
    mod = two_functions()
    before = str(mod)
    with pytest.raises(passdock.PassError):
        mod["acme.F"] = old["main"]
    assert str(mod) == before


@pytest.mark.parametrize("name", ["", "a b", "onnx.", ".F"])
def test_invalid_function_names_are_rejected(name: str) -> None:
    mod = one_function()
    with pytest.raises(EditError):
        mod[name] = mod["main"]
    assert list(mod) == ["main"]


def test_non_functions_are_rejected() -> None:
    mod: Any = one_function()
    make: Any = Module
    with pytest.raises(TypeError, match=r"^a function name must be a string, not int"):
        mod[1] = mod["main"]
    with pytest.raises(TypeError, match="name must be a string, not NoneType"):
        make({None: mod["main"]})
    with pytest.raises(TypeError, match="Function"):
        mod["main"] = "fn @main() {}"
    with pytest.raises(TypeError, match=r"^function `main` must be a passdock\.Function, not str$"):
        mod.update({"main": "fn @main() {}"})
    with pytest.raises(TypeError, match="functions must be a dict of names to functions, or a Module"):
        make([mod["main"]])
    assert str(mod) == str(one_function())


def test_modules_are_edited_in_a_module_pass() -> None:
    """TVM's ``OptTester``: a pass that creates a module of one function and updates it with its input."""

    @module_pass(opt_level=0)
    def adds(mod: Module, ctx: PassContext) -> Module:
        created = Module({"my_abs": two_functions()["other"]})
        created.update(mod)
        return created

    @module_pass(opt_level=0)
    def puts(mod: Module, ctx: PassContext) -> Module:
        before = mod["main"]
        op = mod["other"].ops[0]
        mod["main"] = call_of("Neg", shape="2,3")["main"]
        with pytest.raises(passdock.StaleError):
            _ = before.ops
        mod["twin"] = mod["main"]
        # Unchanged functions stay valid and editable.
        assert op.name == "onnx.Abs"
        main = mod["main"]
        main.replace_op_with(main.ops[0], [main.params[0]])
        mod.update({"more": mod["other"]})
        return mod

    mod = two_functions()
    assert list(adds(mod)) == ["my_abs", "main", "other"]
    created = puts(mod)
    assert list(created) == ["main", "other", "acme.F", "twin", "more"]
    assert created["main"].ops == []
    assert [op.name for op in created["twin"].ops] == ["acme.F"]
    assert str(mod) == str(two_functions())


def test_module_from_the_function_of_a_pass() -> None:
    kept: list[Module] = []

    @function_pass(opt_level=0)
    def keeps(func: Function, mod: Module, ctx: PassContext) -> Function:
        kept.append(Module({"main": func}))
        with pytest.raises(EditError, match="is read-only"):
            mod["other"] = func
        return func

    keeps(one_function())
    assert str(kept[0]) == str(one_function())


def test_instruments_cannot_edit_the_module() -> None:
    class Changes(PassInstrument):
        def run_before_pass(self, mod: Module, info: PassInfo) -> None:
            with pytest.raises(EditError, match="the module is read-only"):
                mod["main"] = two_functions()["other"]
            with pytest.raises(EditError, match="the module is read-only"):
                mod.update({})

    mod = one_function()
    with PassContext(instruments=[Changes()]):
        assert passdock.get_pass("InferType")(mod) is mod


def test_r080_returned_module_is_the_same_object() -> None:
    given, other = one_function(), two_functions()
    same = module_pass(lambda mod, ctx: mod, opt_level=0, name="same")
    replaces = module_pass(lambda mod, ctx: other, opt_level=0, name="replaces")
    edits = module_pass(add_abs, opt_level=0, name="edits")
    calls = module_pass(lambda mod, ctx: same(mod), opt_level=0, name="calls")
    for pass_ in (same, calls, Sequential([same, calls]), Sequential([])):
        assert pass_(given) is given
        assert passdock.run(given, pass_).module is given
    for pass_ in (replaces, Sequential([replaces, same]), Sequential([same, Sequential([replaces])])):
        assert pass_(given) is other
        assert passdock.run(given, pass_).module is other
    created = Sequential([replaces, edits])(given)
    assert created is not other and list(created) == ["main", "other", "my_abs"]
    assert list(other) == ["main", "other"]
    # Objects returned by a run of another module aren't reused.
    assert same(given) is given
    assert passdock.run(given, {"passes": [{"name": "InferType"}]}).module is given
    # A function that no pass changed is the same function.
    changes = function_pass(lambda func, mod, ctx: func, opt_level=0, name="changes")
    assert changes(given) is given


def test_module_from_functions_round_trips() -> None:
    created = Module({"main": two_functions()["main"]})
    assert (
        str(Module.from_text(str(created)))
        == str(created)
        == ir("""
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2,3]
            return %y
          }
        }
    """)
    )
