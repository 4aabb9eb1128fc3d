"""Messages for Python programs use Python's terms, and name their subject."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import onnx
import onnx_ir
import pytest

import passdock
from passdock import (
    ConfigError,
    Module,
    PassContext,
    PipelineError,
    Report,
    UnknownNameError,
    module_pass,
    optimize,
    run,
)
from passdock.diagnostics import Diagnostic, DiagnosticLevel, override_renderer
from passdock.rewrite import Rules
from support import module, one_function

BIG = """
    module {
      fn @main(%x: f32[2]) -> (%y: f32[100000]) opset("" = 17) {
        %shape = const i64[1] [100000]
        %one = const f32[1] [1.0]
        %y = onnx.Expand(%one, %shape) : f32[100000]
        return %y
      }
    }
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opt_level": -1}, r"^opt_level must be at least 0, not -1$"),
        ({"opt_level": "high"}, r"^opt_level must be an int, not str$"),
        ({"jobs": 1.5}, r"^jobs must be an int, not float$"),
        ({"raise_opset": True}, r"^raise_opset must be an int, not bool$"),
        ({"verify": "yes"}, r"^verify must be 'changed', 'all' or 'off', not 'yes'$"),
        ({"external_data": True}, r"^external_data must be 'keep', 'all' or 'none', not True$"),
        ({"allow_growth": "yes"}, r"^allow_growth must be True or False, not 'yes'$"),
        ({"allow_outside_data": 1}, r"^allow_outside_data must be True or False, not 1$"),
        ({"bind": ["n"]}, r"^bind must be a dict, not list$"),
        ({"config": 3}, r"^config must be a dict, not int$"),
        ({"passes": [3]}, r"^passes: "),
    ],
)
def test_option_errors_name_the_option(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        run(one_function(), **options)


def test_sequential_diagnostics_use_python_terms(capsys: pytest.CaptureFixture[str]) -> None:
    fold = passdock.Sequential([passdock.relax.FoldConstant()])
    fold(module(BIG))
    shown = capsys.readouterr().err
    assert "allow_growth=True" in shown and "--" not in shown.replace("-->", "")
    messages: list[str] = []
    override_renderer(
        lambda ctx: messages.extend(text for one in ctx.diagnostics for text in (*one.notes, one.message))
    )
    fold(module(BIG))
    assert "allow_growth=True" in "".join(messages)

    @passdock.function_pass(opt_level=0, name="tests.Says")
    def says(func: Any, mod: Any, ctx: Any) -> Any:
        ctx.emit(Diagnostic(DiagnosticLevel.WARNING, None, "see `tool --loud`"))
        return func

    says(one_function())
    assert messages[-1] == "see `tool --loud`"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: run(one_function(), passes=["Frobnicates"]), r"`passdock\.list_passes\(\)`"),
        (lambda: passdock.get_pass("Frobnicates"), r"`passdock\.list_passes\(\)`"),
        (lambda: run(one_function(), bind={"n": 2}), r"^bind: the model has no dim symbol"),
        (lambda: run(one_function(), config={"tir.UnrollLop": {}}), r"^config: Invalid config option `tir\.UnrollLop`"),
    ],
)
def test_errors_use_python_terms(ask: Callable[[], object], message: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=message) as raised:
        ask()
    assert "--" not in str(raised.value)
    assert "passdock list" not in raised.value.rendered


def test_reports_use_python_terms() -> None:
    report = run(module(BIG), passes=["FoldConstant"])
    assert "allow_growth=True" in str(report) + str(report["diagnostics"])
    assert "--allow" not in str(report["diagnostics"]) + str(report["passes"]) + str(report)


def test_run_rejects_models_in_memory() -> None:
    for given in (one_function().to_onnx(), str(one_function())):
        with pytest.raises(TypeError, match=r"run expects the path of a model or a passdock\.Module.*optimize"):
            run(given)  # type: ignore[arg-type, unused-ignore]


def test_python_entry_errors_name_the_entry() -> None:
    for entry, error in {
        "no_such_module:x": ModuleNotFoundError,
        "os:nothing": AttributeError,
        "os": ValueError,
    }.items():
        with pytest.raises(error) as raised:
            run(one_function(), {"passes": [{"python": entry}]})
        assert f'python = "{entry}"' in "\n".join(raised.value.__notes__)


def test_unknown_name_in_run_pass() -> None:
    @module_pass(opt_level=0)
    def runs(mod: Module, ctx: PassContext) -> Module:
        ctx.run_pass(mod, "FoldConstan")
        return mod

    with pytest.raises(UnknownNameError, match=r"no pass is named `FoldConstan`") as raised:
        runs(one_function())
    assert "passdock list" not in f"{raised.value} {raised.value.help}"


def test_unknown_operator_error_names_the_list_command() -> None:
    with pytest.raises(PipelineError, match=r"`python -m passdock list ops`"):
        Rules("rule a { onnx.Relu(%x) => onnx.Frobnicate(%x) }")


def test_valid_keys_are_listed_once() -> None:
    with pytest.raises(PipelineError) as raised:
        run(one_function(), {"passes": [{"python": "m:C", "limit": 4}]})
    assert str(raised.value.help).count("`python`") == 1


def test_tvm_config_keys() -> None:
    ctx = PassContext(config={"relay.fallback_device_type": 2, "tirx.UnrollLoop": {"auto_max_step": 3}})
    assert ctx.get_config("relax.fallback_device_type") == ctx.get_config("relay.fallback_device_type") == 2
    assert ctx.get_config("tir.UnrollLoop")["auto_max_step"] == 3
    assert ctx.config == {"relax.fallback_device_type": 2, "tir.UnrollLoop": {"auto_max_step": 3}}
    with pytest.raises(ConfigError, match=r"`tirx\.UnrollLoop` is an alias of `tir\.UnrollLoop`, which is also set"):
        PassContext(config={"tir.UnrollLoop": {}, "tirx.UnrollLoop": {}})
    assert run(one_function(), config={"tirx.UnrollLoop": {"auto_max_step": 3}})["ok"]


def test_optimize_return_types(tmp_path: Path) -> None:
    """For type checkers, and checked at run time, too."""
    mod = one_function()
    path = tmp_path / "model.onnx"
    mod.write(path)
    data = mod.to_onnx()
    assert isinstance(assert_type(optimize(mod), Module), Module)
    assert isinstance(assert_type(optimize(data), bytes), bytes)
    assert isinstance(assert_type(optimize(path, tmp_path / "out.onnx"), Report), Report)
    assert isinstance(optimize(str(path)), Module)
    assert isinstance(optimize(str(mod)), str)
    proto: onnx.ModelProto = onnx.load_from_string(data)
    assert isinstance(assert_type(optimize(proto), onnx.ModelProto), onnx.ModelProto)
    model: onnx_ir.Model = onnx_ir.from_proto(proto)
    assert isinstance(assert_type(optimize(model), onnx_ir.Model), onnx_ir.Model)
