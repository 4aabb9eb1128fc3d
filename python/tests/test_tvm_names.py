"""The tables of docs/tvm.md: listed names exist, and listed aliases refer to the listed passes."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import passdock

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tvm.md"


def tables() -> dict[str, list[list[list[str]]]]:
    """Returns the tables by heading: for each row, the names in each column."""
    found: dict[str, list[list[list[str]]]] = {}
    heading = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| `"):
            cells = re.split(r"(?<!\\)\|", line.strip("|"))
            found.setdefault(heading, []).append([re.findall("`([^`]*)`", cell) or [cell.strip()] for cell in cells])
    return found


TABLES = tables() if PAGE.exists() else {}
pytestmark = pytest.mark.skipif(not TABLES, reason="the page is in the checkout, which isn't here")


def rows(heading: str) -> pytest.MarkDecorator:
    """Returns a parametrisation with a case per row of a table."""
    found = TABLES.get(heading, [])
    assert found or not TABLES, f"the page has no table below {heading!r}"
    return pytest.mark.parametrize("row", found, ids=lambda row: row[0][0])


def canonical(name: str) -> str:
    """Returns the full name of the pass that a name refers to."""
    return str(passdock.get_pass(name).info.name)


def is_unknown(name: str) -> bool:
    """Returns whether no pass has the name."""
    try:
        passdock.get_pass(name)
    except passdock.UnknownNameError:
        return True
    return False


@rows("Passes")
def test_pass_aliases(row: list[list[str]]) -> None:
    theirs, ours = row
    # Two names in a row are two passes.
    stands_for = ours if len(ours) == len(theirs) else ours * len(theirs)
    assert [canonical(name) for name in theirs] == stands_for


@rows("Similar passes under other names")
def test_similar_passes(row: list[list[str]]) -> None:
    theirs, ours, _ = row
    assert all(map(is_unknown, theirs))
    assert [canonical(name) for name in ours] == ours


@rows("Levels")
def test_levels(row: list[list[str]]) -> None:
    (name,), _, (level,) = row
    assert passdock.get_pass(name).info.opt_level == int(level)


@rows("Python")
def test_python_names(row: list[list[str]]) -> None:
    for name in row[1]:
        parts = name.split(".")
        assert parts[0] == "passdock"
        found: Any = passdock
        for at, part in enumerate(parts[1:], 2):
            try:
                found = getattr(found, part)
            except AttributeError:
                found = importlib.import_module(".".join(parts[:at]))
        assert found is not None


@rows("Instruments")
def test_instrument_aliases(row: list[list[str]], tmp_path: Path) -> None:
    theirs, (ours,) = row
    options = {"dir": tmp_path / "dump"} if ours == "dump" else {}
    result = [
        passdock.get_instrument(name, **{key: str(path) for key, path in options.items()}) for name in [*theirs, ours]
    ]
    assert len({instrument.name for instrument in result}) == 1


@rows("Config keys")
def test_config_keys(row: list[list[str]]) -> None:
    theirs, (ours,), _ = row
    keys = passdock.list_configs()
    assert ours in keys
    context = passdock.PassContext(opt_level=1)
    for key in theirs:
        assert keys[key] == (keys[ours] if key == ours else {**keys[ours], "alias_of": ours})
        assert context.get_config(key) == context.get_config(ours) == context.config[key]


@rows("Not available")
def test_unavailable_passes(row: list[list[str]]) -> None:
    assert all(map(is_unknown, row[0]))


def test_page_lists_every_standard_pass() -> None:
    text = PAGE.read_text(encoding="utf-8")
    # Passes without a TVM name.
    own = {"relax.transform.RaiseOpset"}
    standard = [name for name in passdock.list_passes() if name.startswith(("relax.", "tir."))]
    assert [name for name in standard if name not in own and f"`{name}`" not in text] == []
