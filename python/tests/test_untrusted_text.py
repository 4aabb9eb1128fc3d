"""Hostile names in what Python programs print: texts, HTML, JSON and exceptions."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

import passdock

HOSTILE = "a\x1b[31m\x9b5m\x7f\u202e\u200b\xad\u2028\U000e0041<b>&\nforged"
NAME = '"' + "".join(c if c.isascii() and c.isprintable() else f"\\u{{{ord(c):x}}}" for c in HOSTILE) + '"'
MODEL = f"""module {{
  fn @main(%{NAME}: f32[{NAME}]) -> (%y: f32[{NAME}]) opset("" = 17) {{
    %0 = onnx.Relu(%{NAME}) loc({NAME})
    %1 = symbol("d.\\"{NAME[1:-1]}\\"")(%0)
    %2 = onnx.Relu(%1)
    return %2
  }}
}}
"""


def check(text: str) -> None:
    """Checks that a text has no active character, and no line that a name began."""
    for line in text.split("\n"):
        assert not line.startswith("forged"), ascii(text)
        assert not any(unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") for char in line), ascii(line)


def model_file(directory: Path) -> Path:
    path = directory / f"{HOSTILE}.ir"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_ir_objects_are_escaped() -> None:
    module = passdock.Module.from_text(MODEL)
    op = module["main"].ops[0]
    value = op.operand(0)
    assert value is not None
    assert (value.name, op.loc) == (HOSTILE, HOSTILE)
    for item in (module, module["main"], *module["main"].ops, value, value.type):
        check(repr(item))
        check(str(item))


def test_reports_are_escaped(tmp_path: Path) -> None:
    report = passdock.run(model_file(tmp_path), passes=["SimplifyExpr"])
    for text in (str(report), repr(report), report._repr_html_(), report.to_json()):
        check(text)
    assert json.loads(report.to_json())["model"]["input"] == str(tmp_path / f"{HOSTILE}.ir")
    assert "<b>" not in report._repr_html_()


def test_batch_results_are_escaped(tmp_path: Path) -> None:
    model = tmp_path / f"{HOSTILE}.onnx"
    passdock.run(model_file(tmp_path), passes=["InferType"], output=model)
    summary = passdock.batch([model], output=str(tmp_path / f"out{HOSTILE}"), passes=["InferType"]).wait()
    (result,) = summary
    assert result.model == json.loads(result.to_json())["model"] == str(model)
    for text in (str(result), repr(result), result.to_json(), str(summary), repr(summary), summary._repr_html_()):
        check(text)
    check(Path(summary.results).read_text(encoding="utf-8"))
    assert "<b>" not in summary._repr_html_()


@pytest.mark.parametrize(
    "fail",
    [
        lambda path: passdock.run(path, passes=[HOSTILE]),
        lambda path: passdock.run(path, config={HOSTILE: 1}),
        lambda path: passdock.run(path, bind={HOSTILE: HOSTILE}),
        lambda path: passdock.run(path, {HOSTILE: [HOSTILE]}),
        lambda path: passdock.run(path / "gone.ir"),
        lambda path: passdock.Module.from_text(f"module {{ {HOSTILE} }}"),
        lambda path: passdock.load_plugin(path),
        lambda path: passdock.Module.read(path)[HOSTILE],
        lambda path: passdock.get_pass(HOSTILE),
        lambda path: passdock.batch(path / "gone.onnx", output=path).wait(),
        lambda path: passdock.run(path, path / "gone.toml"),
    ],
)
def test_errors_are_escaped(tmp_path: Path, fail: Callable[[Path], object]) -> None:
    with pytest.raises(Exception) as raised:
        fail(model_file(tmp_path))
    check(str(raised.value).replace("\n", " "))
    check(getattr(raised.value, "rendered", "").replace("\n", " "))
