"""The guides for Python and the READMEs, executed by `guide.py`.

The Python blocks of a guide run in one program, in a directory with the files of the guide and with ``examples`` and
``plugin-api`` of the checkout. ``cargo xtask guides`` runs the commands of the README.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from guide import Block, agree, fits, read, shown, typed, unbroken

ROOT = Path(__file__).resolve().parents[2]
READER = Path(__file__).with_name("read_guide.py")
READMES = [ROOT / "README.md", ROOT / "python" / "README.md"]
GUIDES = [*READMES, ROOT / "docs" / "tvm.md", *sorted((ROOT / "docs" / "guides").glob("python-*.md"))]
#: Packages that a guide needs and that may be missing.
NEEDS = {"python-optimize-a-model": ("onnx", "onnx_ir", "onnxruntime")}


def follow(steps: list[dict[str, str]], directory: Path) -> list[tuple[list[str], int]]:
    """Runs steps in one program; returns the output and exit status of each."""
    files = [directory / ".steps.json", directory / ".printed.json"]
    files[0].write_text(json.dumps(steps))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "XDG_DATA_HOME": f"{directory}/.local/share",
    }
    subprocess.run([sys.executable, READER, *files], cwd=directory, env=environment, check=True)
    printed = json.loads(files[1].read_text())
    return [(shown(each["printed"], directory), each["status"]) for each in printed]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_guide_outputs_match(guide: Path, tmp_path: Path) -> None:
    for package in NEEDS.get(guide.stem, ()):
        pytest.importorskip(package, reason=f"the guide works with {package}, which isn't installed")
    for name in ("examples", "plugin-api"):
        (tmp_path / name).symlink_to(ROOT / name)
    if guide.stem == "python-vendor-plugin" and shutil.which("c++") is None:
        pytest.skip("the plugin of the guide is built by c++, which isn't here")
    languages = ["python"] if guide.name == "README.md" else ["python", "console"]
    wrong = read(guide, tmp_path, languages, follow)
    assert not wrong, "\n\n".join([*wrong, "UPDATE_EXPECT=1 corrects the guide"])


def test_package_description_has_no_relative_links() -> None:
    """The package's description has no relative links."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []


def test_expected_lines_may_have_placeholders() -> None:
    assert fits("a [..] c", "a  b b c")
    assert not fits("a [..] c", "a b b d")
    assert fits("FoldConstant  12.0 ms  3", "FoldConstant    7 ms  3")
    assert agree(["a", "...", "d"], ["a", "b", "c", "d"])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["  a"], ["a"])


def test_wrapped_pass_list_is_joined() -> None:
    assert unbroken(["from a.so: One,", "  Two", "end"]) == ["from a.so: One, Two", "end"]


def test_commands_continue_after_a_backslash() -> None:
    one, two = typed(Block("console", ["$ one \\", "  two", "out", "", "$ three"], 0, 5))
    assert (one.command, one.says, two.command) == ("one \\\n  two", ["out"], "three")
