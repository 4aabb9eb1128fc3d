"""The notebook in examples/notebooks, executed: its outputs match, except for times.

With ``UPDATE_EXPECT=1``, the outputs are updated instead.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from guide import agree

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "notebooks" / "passdock.ipynb"


def shows(cell: dict[str, Any]) -> list[str]:
    """Returns the output of a cell as lines."""
    lines: list[str] = []
    for output in cell.get("outputs", ()):
        assert output["output_type"] != "error", "\n".join(output["traceback"])
        texts = [output["text"]] if "text" in output else [text for _, text in sorted(output["data"].items())]
        lines += [line for text in texts for line in "".join(text).splitlines()]
    return lines


@pytest.mark.skipif(not NOTEBOOK.exists(), reason="the notebook is in the checkout, which isn't here")
def test_notebook_outputs_match(monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient isn't installed, which executes notebooks")
    pytest.importorskip("ipykernel", reason="ipykernel isn't installed, in which notebooks run")
    nbformat: Any = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    kept = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    for cell in notebook.cells:
        # The time at which a cell ran isn't stored.
        cell.metadata.pop("execution", None)
    if os.environ.get("UPDATE_EXPECT"):
        notebook.metadata = kept["metadata"]
        text = json.dumps(json.loads(nbformat.writes(notebook)), indent=1, ensure_ascii=False)
        NOTEBOOK.write_text(text + "\n", encoding="utf-8")
        return
    for expected, actual in zip(kept["cells"], notebook.cells, strict=True):
        assert agree(shows(expected), shows(actual)), "".join(expected["source"])
    reports = [cell for cell in notebook.cells if any("<table>" in line for line in shows(cell))]
    assert reports, "a report is a table"
