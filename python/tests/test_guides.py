"""The guides for Python and the README, done as a reader would: each file they show is written, each block of Python run.

- A block ```` ```toml pipeline.toml ```` is a file of that name; so is ```` ```python acme.py ````.
- The other blocks of Python run one after the other in one program, in a directory with the files, and with ``examples`` of
  the checkout in it. A ```` ```text ```` block right below one is what it prints; without one it prints nothing.
- In a ```` ```console ```` block, a line ``$ …`` is typed into a shell, and the lines below are what it prints; ``? 1`` among them
  is the exit status that isn't 0. The README's are typed by ``cargo xtask guides``.

Times may differ. ``[..]`` stands for anything within a line, a line ``...`` for any lines.
With ``UPDATE_EXPECT=1`` the guide is corrected instead.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READER = Path(__file__).with_name("read_guide.py")
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("python-*.md"))]
#: What a guide works with that not every environment has.
NEEDS = {"python-optimise-a-model": ("onnx", "onnx_ir", "onnxruntime")}


@dataclass
class Block:
    """A block of a guide: what stands behind its fence, its lines, and the numbers of the first one and of the one after."""

    info: str
    lines: list[str]
    start: int
    end: int

    @property
    def language(self) -> str:
        return self.info.split(" ", 1)[0]

    @property
    def file(self) -> str | None:
        _, _, name = self.info.partition(" ")
        return name or None


@dataclass
class Typed:
    """A command of a console block, and what the guide says that it prints."""

    command: str
    says: list[str] = field(default_factory=list)


def blocks(lines: list[str]) -> list[Block]:
    """The blocks of a guide, in order."""
    found: list[Block] = []
    start = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
        else:
            found.append(Block(lines[start][3:], lines[start + 1 : number], start + 1, number))
            start = None
    assert start is None, "a block isn't closed"
    return found


def output_of(block: Block, others: list[Block], lines: list[str]) -> Block | None:
    """The block right below one, if it is what it prints."""
    for other in others:
        if other.start > block.end and other.info == "text":
            between = lines[block.end + 1 : other.start - 1]
            return other if not any(line.strip() for line in between) else None
    return None


def timeless(line: str) -> str:
    """A line without times and percentages, in which columns are a space apart."""
    line = re.sub(r"\d+(\.\d+)?( ?(ms|µs|us|s)\b|%)", "TIME", line.rstrip())
    indent = line[: len(line) - len(line.lstrip())]
    return indent + re.sub(r"\s+", " ", line.lstrip())


def fits(says: str, printed: str) -> bool:
    """Whether a line is as the guide says."""
    parts = map(re.escape, timeless(says).split("[..]"))
    return re.fullmatch(".*".join(parts), timeless(printed)) is not None


def agree(says: list[str], printed: list[str]) -> bool:
    """Whether lines are as the guide says."""
    if not says:
        return not printed
    if says[0] == "...":
        return any(agree(says[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and fits(says[0], printed[0]) and agree(says[1:], printed[1:])


def shown(text: str, directory: Path) -> list[str]:
    """What was printed, as a guide shows it: nobody else has the same directories."""
    lines = [line.rstrip() for line in text.replace(str(directory), ".").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def typed(block: Block) -> list[Typed]:
    """The commands of a console block."""
    found: list[Typed] = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append(Typed(line[2:]))
        else:
            found[-1].says.append(line)
    for each in found:
        while each.says and not each.says[-1]:
            each.says.pop()
    return found


def run_python(code: list[str], directory: Path) -> list[tuple[list[str], bool]]:
    """Runs blocks in one program; what each prints, and whether it failed."""
    (directory / ".code.json").write_text(json.dumps(code))
    files = [directory / ".code.json", directory / ".printed.json"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "PASSDOCK_CACHE": "off"}
    subprocess.run([sys.executable, READER, *files], cwd=directory, env=environment, check=True)
    printed = json.loads(files[1].read_text())
    return [(shown(each["printed"], directory), each["failed"]) for each in printed]


def run_command(command: str, directory: Path) -> list[str]:
    """Types a command; what it prints, and the status if it isn't 0."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    status = [f"? {done.returncode}"] if done.returncode else []
    return status + shown(done.stdout, directory)


def read(guide: Path, directory: Path) -> list[str]:
    """Does what a guide says; what is otherwise than it says."""
    lines = guide.read_text(encoding="utf-8").splitlines()
    found = blocks(lines)
    (directory / "examples").symlink_to(ROOT / "examples")
    for block in found:
        if block.file is not None:
            path = directory / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
    code = [block for block in found if block.info == "python"]
    printed = run_python(["\n".join(block.lines) + "\n" for block in code], directory)
    wrong: list[str] = []
    # From the end, so that numbers of lines stay what they are.
    corrections: list[tuple[int, int, list[str]]] = []
    for block, (prints, failed) in zip(code, printed, strict=True):
        output = output_of(block, found, lines)
        if agree(output.lines if output else [], prints) and (output is not None or not failed):
            continue
        says = "\n".join(output.lines) if output else "(nothing)"
        place = f"{guide.name}:{block.start + 1}"
        wrong.append(f"{place}: the block says:\n{says}\nand prints:\n" + "\n".join(prints))
        if output is not None:
            corrections.append((output.start, output.end, prints))
        elif not failed:
            corrections.append((block.end + 1, block.end + 1, ["", "```text", *prints, "```"]))
    for block in found:
        if block.info != "console" or guide.name == "README.md":
            continue
        text: list[str] = []
        for each in typed(block):
            prints = run_command(each.command, directory)
            if text:
                text.append("")
            if agree(each.says, prints):
                text += [f"$ {each.command}", *each.says]
                continue
            text += [f"$ {each.command}", *prints]
            wrong.append(f"{guide.name}: `{each.command}` says:\n" + "\n".join([*each.says, "and prints:", *prints]))
        if text != block.lines:
            corrections.append((block.start, block.end, text))
    if os.environ.get("UPDATE_EXPECT") and corrections:
        for start, end, text in sorted(corrections, reverse=True):
            lines[start:end] = text
        guide.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return wrong


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_is_true(guide: Path, tmp_path: Path) -> None:
    for package in NEEDS.get(guide.stem, ()):
        pytest.importorskip(package, reason=f"the guide works with {package}, which isn't installed")
    wrong = read(guide, tmp_path)
    assert not wrong, "\n\n".join([*wrong, "UPDATE_EXPECT=1 corrects the guide"])


def test_lines_may_leave_something_open() -> None:
    assert fits("a [..] c", "a  b b c")
    assert not fits("a [..] c", "a b b d")
    assert fits("FoldConstant  12.0 ms  3", "FoldConstant    7 ms  3")
    assert agree(["a", "...", "d"], ["a", "b", "c", "d"])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["  a"], ["a"])
