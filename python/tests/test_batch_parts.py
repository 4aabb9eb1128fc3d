"""Unit tests of the parts of a batch: the file of results, the models."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from passdock._batch.items import items
from passdock._batch.results import ModelResult, ResultFile


def test_results_file_keeps_last_result_per_model(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    report = {
        "ok": True,
        "exit_status": 0,
        "seconds": 0.5,
        "model": {"ops_before": 3, "ops_after": 2},
        "diagnostics": [],
    }
    kept = ResultFile(str(path))
    for mark in ("1", "2"):
        kept.add(ModelResult.of_report("ä\udcff.onnx", "out/ä\udcff.onnx", report, mark))
    kept.close()
    assert path.read_bytes().startswith(b'{"model":"\xc3\xa4\xef\xbf\xbd.onnx"')
    kept = ResultFile(str(path))
    assert kept.done("ä\udcff.onnx", "out/ä\udcff.onnx", "1") is None
    again = kept.done("ä\udcff.onnx", "out/ä\udcff.onnx", "2")
    assert again is not None and again.up_to_date and again.ops_before == 3
    kept.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_process_does_not_hold_results_file(tmp_path: Path) -> None:
    kept = ResultFile(str(tmp_path / "o.jsonl"))
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        kept.close()
        ResultFile(str(tmp_path / "o.jsonl")).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_model_listed_twice_is_one_item(tmp_path: Path) -> None:
    model = tmp_path / "models" / "sub" / "a.onnx"
    model.parent.mkdir(parents=True)
    model.touch()
    found = items([str(tmp_path / "models"), str(model)], str(tmp_path / "out"))
    assert [output for _, output in found] == [str(tmp_path / "out" / "sub" / "a.onnx")]
