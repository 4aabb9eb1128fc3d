"""The guides for Python and the README, done as a reader would: each file they show is written, each block of Python run.

- A block ```` ```toml pipeline.toml ```` is a file of that name; so is ```` ```python acme.py ````.
- The other blocks of Python run one after the other in one program, in a directory with the files, and with ``examples`` and
  ``plugin-api`` of the checkout in it. A ```` ```text ```` block right below one is what it prints; without one it prints nothing.
- In a ```` ```console ```` block, a line ``$ …`` is typed into a shell, and the lines below are what it prints; ``? 1`` among them
  is the exit status that isn't 0. The README's are typed by ``cargo xtask guides``.

Times may differ. ``[..]`` stands for anything within a line, a line ``...`` for any lines.
With ``UPDATE_EXPECT=1`` the guide is corrected instead.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READER = Path(__file__).with_name("read_guide.py")
READMES = [ROOT / "README.md", ROOT / "python" / "README.md"]
GUIDES = [*READMES, ROOT / "docs" / "tvm.md", *sorted((ROOT / "docs" / "guides").glob("python-*.md"))]
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


def follow(steps: list[dict[str, str]], directory: Path) -> list[tuple[list[str], int]]:
    """Does steps in one program; what each prints, and its status."""
    files = [directory / ".steps.json", directory / ".printed.json"]
    files[0].write_text(json.dumps(steps))
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PASSDOCK_CACHE": "off",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    subprocess.run([sys.executable, READER, *files], cwd=directory, env=environment, check=True)
    printed = json.loads(files[1].read_text())
    return [(shown(each["printed"], directory), each["status"]) for each in printed]


def write_files(found: list[Block], directory: Path) -> None:
    """Writes the files that a guide shows."""
    for block in found:
        if block.file is not None:
            path = directory / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")


def read(guide: Path, directory: Path) -> list[str]:
    """Does what a guide says; what is otherwise than it says."""
    lines = guide.read_text(encoding="utf-8").splitlines()
    found = blocks(lines)
    write_files(found, directory)
    is_typed = guide.name != "README.md"
    code = [block for block in found if block.info == "python" or (block.info == "console" and is_typed)]
    steps = []
    for block in code:
        if block.info == "python":
            steps.append({"code": "\n".join(block.lines) + "\n"})
        else:
            steps += [{"command": each.command} for each in typed(block)]
    printed = iter(follow(steps, directory))
    wrong: list[str] = []
    # Where the guide is corrected: lines, and what is to be there.
    corrections: list[tuple[int, int, list[str]]] = []

    def complain(block: Block, what: str, says: list[str], prints: list[str]) -> None:
        wrong.append("\n".join([f"{guide.name}:{block.start + 1}: {what} says:", *says, "and prints:", *prints]))

    for block in code:
        if block.info == "console":
            text: list[str] = []
            for each in typed(block):
                prints, status = next(printed)
                prints = [*([f"? {status}"] if status else []), *prints]
                is_right = agree(each.says, prints)
                if not is_right:
                    complain(block, f"`{each.command}`", each.says, prints)
                text += [*([""] if text else []), f"$ {each.command}", *(each.says if is_right else prints)]
            if text != block.lines:
                corrections.append((block.start, block.end, text))
            continue
        output = output_of(block, found, lines)
        says = output.lines if output else []
        prints, status = next(printed)
        if agree(says, prints) and (output is not None or status == 0):
            continue
        complain(block, "the block", says, prints)
        if output is not None:
            corrections.append((output.start, output.end, prints))
        elif status == 0:
            corrections.append((block.end + 1, block.end + 1, ["", "```text", *prints, "```"]))
    if os.environ.get("UPDATE_EXPECT") and corrections:
        # From the end, so that numbers of lines stay what they are.
        for start, end, text in sorted(corrections, reverse=True):
            lines[start:end] = text
        guide.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return wrong


def lay_out_vendors(directory: Path) -> None:
    """What the guide on vendors' plugins has: that of `examples/python-vendor`, as pip would install it."""
    for program in ("cargo", "c++"):
        if shutil.which(program) is None:
            pytest.skip(f"the plugins of the guide are built by {program}, which isn't here")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target" / "python-vendor"))
    crate = ROOT / "examples" / "hello-pass"
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--target-dir", target], cwd=crate, check=True)
    plugins = directory / "hello_passdock" / "plugins"
    plugins.mkdir(parents=True)
    (plugins.parent / "__init__.py").touch()
    shutil.copy(target / "debug" / "libhello_pass.so", plugins)
    project = tomllib.loads((ROOT / "examples" / "python-vendor" / "pyproject.toml").read_text())["project"]
    about = directory / f"hello_passdock-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (points,) = project["entry-points"].items()
    named = "".join(f"{name} = {place}\n" for name, place in points[1].items())
    (about / "entry_points.txt").write_text(f"[{points[0]}]\n{named}")


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_a_guide_is_true(guide: Path, tmp_path: Path) -> None:
    for package in NEEDS.get(guide.stem, ()):
        pytest.importorskip(package, reason=f"the guide works with {package}, which isn't installed")
    for name in ("examples", "plugin-api"):
        (tmp_path / name).symlink_to(ROOT / name)
    if guide.stem == "python-vendor-plugin":
        lay_out_vendors(tmp_path)
    wrong = read(guide, tmp_path)
    assert not wrong, "\n\n".join([*wrong, "UPDATE_EXPECT=1 corrects the guide"])


def test_what_an_index_shows_leads_nowhere_in_the_checkout() -> None:
    """The package's description has no documents beside it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []


def test_lines_may_leave_something_open() -> None:
    assert fits("a [..] c", "a  b b c")
    assert not fits("a [..] c", "a b b d")
    assert fits("FoldConstant  12.0 ms  3", "FoldConstant    7 ms  3")
    assert agree(["a", "...", "d"], ["a", "b", "c", "d"])
    assert not agree(["a"], ["a", "b"])
    assert not agree(["  a"], ["a"])
