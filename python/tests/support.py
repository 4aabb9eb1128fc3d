"""Helpers for several test files: IR text as input and output, and instruments that record their calls."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from passdock import Function, Module, PassContext, PassInfo, PassInstrument, function_pass, get_pass, module_pass
from passdock.transform import FunctionPass, ModulePass


def built_plugin(name: str) -> Path:
    """Returns a plugin for tests, built by the suite's other tests or by a build."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or Path(__file__).parents[2] / "target")
    file = {"win32": "{}.dll", "darwin": "lib{}.dylib"}.get(sys.platform, "lib{}.so").format(name)
    for place in (target / "debug" / "examples" / file, target / "debug" / file, target / "debug" / "deps" / file):
        if place.is_file():
            return place
    pytest.skip(f"the plugin {name} isn't built")


def ir(text: str) -> str:
    """Dedents IR text to the form in which a module prints it."""
    return textwrap.dedent(text).strip() + "\n"


def module(text: str) -> Module:
    """Parses indented IR text."""
    return Module.from_text(ir(text))


def with_data(path: Path) -> Path:
    """Writes a model whose weight is in an external file, ``m.data``, and has to be read to be folded."""
    onnx = pytest.importorskip("onnx", reason="onnx isn't installed, which writes external data")
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.arange(1000, dtype="f4"), "w")
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1000]) for name in "xy"]
    nodes = [helper.make_node("Mul", ["w", "w"], ["s"]), helper.make_node("Add", ["x", "s"], ["y"])]
    graph = helper.make_graph(nodes, "g", types[:1], types[1:], [weight])
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.parent.mkdir(exist_ok=True)
    onnx.save(result, path, save_as_external_data=True, location="m.data", size_threshold=0)
    return path


def check(after: Module, expected: str) -> None:
    """Checks that a module prints as the IR text, and that the text parses to the same."""
    assert str(after) == ir(expected)
    assert str(Module.from_text(str(after))) == str(after)


def two_functions() -> Module:
    """Returns a module with two graph functions of one op each."""
    return module("""
        module {
          fn @main(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2,3]
            return %y
          }
          fn @other(%x: f32[2,3]) -> (%y: f32[2,3]) opset("" = 17) {
            %y = onnx.Abs(%x) : f32[2,3]
            return %y
          }
        }
    """)


def one_function() -> Module:
    """Returns a module with a graph function of one op."""
    return module("""
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            %y = onnx.Relu(%x) : f32[2]
            return %y
          }
        }
    """)


class Watch(PassInstrument):
    """An instrument that records its calls, and fails in the given callbacks."""

    def __init__(self, events: list[str], name: str = "", fails: dict[str, BaseException] | None = None) -> None:
        self.events = events
        self.label = name
        self.fails = fails if fails is not None else {}

    @property
    def name(self) -> str:
        return self.label or "watch"

    def _record(self, hook: str, of: str = "") -> None:
        self.events.append(" ".join(part for part in (self.label, hook, of) if part))
        if hook in self.fails:
            raise self.fails[hook]

    def enter_pass_ctx(self) -> None:
        self._record("enter")

    def exit_pass_ctx(self) -> None:
        self._record("exit")

    def should_run(self, mod: Module, info: PassInfo) -> bool:
        self._record("should_run", info.name)
        return True

    def run_before_pass(self, mod: Module, info: PassInfo) -> None:
        self._record("before", info.name)

    def run_after_pass(self, mod: Module, info: PassInfo) -> None:
        self._record("after", info.name)

    def pass_failed(self, mod: Module, info: PassInfo, error: BaseException) -> None:
        self._record("failed", info.name)


def recorder(events: list[str], name: str, opt_level: int = 0, required: list[str] | None = None) -> ModulePass:
    """Returns a module pass that records its runs and changes nothing."""

    @module_pass(opt_level=opt_level, name=name, required=required)
    def record(mod: Module, ctx: PassContext) -> Module:
        events.append(name)
        return mod

    result: ModulePass = record
    return result


def raiser(error: BaseException, name: str = "Raises") -> ModulePass:
    """Returns a module pass that raises an exception."""

    @module_pass(opt_level=0, name=name)
    def fail(mod: Module, ctx: PassContext) -> Module:
        raise error

    result: ModulePass = fail
    return result


def on_functions(name: str, body: Callable[[Any, Any], Any], opt_level: int = 0) -> FunctionPass:
    """Returns a function pass from a function ``(func, ctx)``."""

    def run(func: Any, mod: Any, ctx: Any) -> Any:
        return body(func, ctx)

    return function_pass(run, opt_level=opt_level, name=name)


#: A module with a single function.
ADD = """
    module {
      fn @my_add(%x: f32[5,10], %y: f32[5,10]) -> (%z: f32[5,10]) opset("" = 17) {
        %z = onnx.Add(%x, %y) : f32[5,10]
        return %z
      }
    }
"""

SUB_AND_LOG = """
    module {
      fn @my_sub(%x: f32[10], %y: f32[10]) -> (%d: f32[10]) opset("" = 17) {
        %d = onnx.Sub(%x, %y) : f32[10]
        return %d
      }
      fn @my_log(%z: f32[10]) -> (%l: f32[10]) opset("" = 17) {
        %l = onnx.Log(%z) : f32[10]
        return %l
      }
    }
"""


def add_abs(mod: Module, ctx: PassContext) -> Module:
    """Adds a function that returns the absolute value of its parameter."""
    func = mod.create("my_abs", like=next(iter(mod)))
    a = func.add_param("a", "f32[5,10]")
    b = ctx.create_value(func, "onnx.Abs", [a])
    func.set_results([b], names=["b"])
    return mod


def double_params(func: Function, mod: Module, ctx: PassContext) -> Function:
    """Replaces each parameter with twice its value."""
    first = func.ops[0]
    for param in func.params:
        uses = param.uses
        twice = ctx.create_value(func, "onnx.Add", [param, param], before=first)
        for op, index in uses:
            func.set_operand(op, index, twice)
    return func


def model() -> Module:
    return module("""
        module {
          fn @main(%x: f32[3,4], %y: f32[3,4], %z: f32[3,4]) -> (%r: f32[3,4]) opset("" = 17) {
            %a = onnx.Add(%x, %y) : f32[3,4]
            %b = onnx.Sub(%x, %z) : f32[3,4]
            %c = onnx.Div(%a, %b) : f32[3,4]
            %d = onnx.Mul(%a, %c) : f32[3,4]
            %r = onnx.Add(%d, %b) : f32[3,4]
            return %r
          }
        }
    """)


def run_three(mod: Module) -> Module:
    for name in ("CanonicalizeBindings", "ToANormalForm", "InferType"):
        mod = get_pass(name)(mod)
    return mod
