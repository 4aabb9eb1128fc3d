"""Panics while an analysis or an instrument of a plugin is freed are reported."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import passdock
from passdock import PassContext, PassError, get_instrument, get_pass
from passdock.transform import Pass
from support import built_plugin, one_function

KEEPS = "bad.transform.KeepBomb"
MESSAGE = f"Error in pass {KEEPS}: the destructor of an analysis of the pass panicked at .*: it went off"


@pytest.fixture
def keeps_bomb() -> Pass:
    """Returns a pass that caches a value on a function; freeing the value panics."""
    passdock.load_plugin(built_plugin("passdock_misbehaving"))
    return get_pass(KEEPS)


def test_context_exit_raises_destructor_panic(keeps_bomb: Pass) -> None:
    with pytest.raises(PassError, match=MESSAGE) as raised, PassContext() as ctx:
        keeps_bomb(one_function())
    assert raised.value.code == "pass-panicked"
    # Only once.
    with ctx:
        pass


def test_body_error_has_destructor_panic_as_note(keeps_bomb: Pass) -> None:
    error = ValueError("body")
    with pytest.raises(ValueError, match="body") as raised, PassContext():
        keeps_bomb(one_function())
        raise error
    assert raised.value is error
    (note,) = error.__notes__
    assert note.startswith(f"could not leave the pass context: PassError: Error in pass {KEEPS}: the destructor")


def test_panic_after_context_exit_is_printed(keeps_bomb: Pass, capfd: pytest.CaptureFixture[str]) -> None:
    with PassContext():
        mod = keeps_bomb(one_function())
    del mod
    gc.collect()
    assert "error[pass-panicked]: the destructor of an analysis of the pass panicked" in capfd.readouterr().err
    # Under the thread's own context, the next call reports it and doesn't fail.
    keeps_bomb(one_function())
    gc.collect()
    get_pass("InferType")(one_function())
    assert capfd.readouterr().err.count("error[pass-panicked]") == 1


def test_runs_and_batches_report_destructor_panic(
    keeps_bomb: Pass, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.onnx").write_bytes(one_function().to_onnx())
    for run in (passdock.run, passdock.optimize):
        with pytest.raises(PassError, match=MESSAGE):
            run(tmp_path / "a.onnx", output=tmp_path / "out.onnx", passes=[KEEPS])
    assert not (tmp_path / "out.onnx").exists()
    (result,) = passdock.batch(tmp_path / "a.onnx", None, tmp_path / "out", passes=[KEEPS])
    assert not result.ok
    assert [diagnostic["code"] for diagnostic in result.diagnostics if diagnostic["severity"] == "error"] == [
        "pass-panicked"
    ]
    assert capfd.readouterr().err == ""
    # The program holds the module, and the function with the cached value.
    given = one_function()
    passdock.optimize(given, passes=[KEEPS])
    assert capfd.readouterr().err == ""
    del given
    gc.collect()
    assert capfd.readouterr().err.count("error[pass-panicked]") == 1


def test_instrument_destructor_panic_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    passdock.load_plugin(built_plugin("passdock_tap"))
    with PassContext(instruments=[get_instrument("tap.tap", panics="drop")]):
        get_pass("InferType")(one_function())
    gc.collect()
    stderr = capfd.readouterr().err
    assert "error[instrument]: instrument `tap.tap` of plugin" in stderr
    assert "panicked in destroy" in stderr
    with pytest.raises(PassError, match="panicked in destroy"):
        passdock.optimize(
            one_function(),
            pipeline={"passes": [{"name": "InferType"}], "instruments": [{"name": "tap.tap", "panics": "drop"}]},
        )
